//! Forges: services where issues and pull requests live, such as GitHub. A row of data describes each one and names the
//! program that talks to it, so a new one needs a row, not code.

mod call;
mod issue;
mod remote;

pub use call::{PublishedCommand, run_command};
pub use issue::{quoted_request, read_issue};
pub use remote::Remote;

use regex::Regex;
use remand_engine::config::Config;
use remand_terminal::CommandFailure;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The rows that Remand brings.
const BUILT_IN: [(&str, &str); 2] = [
    ("github", include_str!("../../../../forges/github.toml")),
    ("gitlab", include_str!("../../../../forges/gitlab.toml")),
];

/// How one forge is used.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ForgeRow {
    /// Its name as people write it.
    pub title: String,
    /// The hosts of the git remotes that belong to it.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Regular expressions of what names an issue. Their groups are the variables of `read`.
    #[serde(default)]
    pub issues: Vec<String>,
    /// The command that prints an issue.
    #[serde(default)]
    pub read: Vec<String>,
    /// The command that opens a pull request for a branch.
    #[serde(default)]
    pub publish: Vec<String>,
    #[serde(default)]
    pub fields: IssueFields,
    /// How to install its program.
    #[serde(default)]
    pub install: String,
    #[serde(default)]
    pub sign_in: String,
}

/// JSON pointers into what `read` prints. Without one of the title, the output is the text of the issue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct IssueFields {
    pub title: String,
    pub text: String,
    pub url: String,
    pub by: String,
    /// A list of comments; the next two are inside each of them.
    pub comments: String,
    pub comment_by: String,
    pub comment_text: String,
}

/// The values of a row's variables, such as `number`.
pub type Variables = BTreeMap<String, String>;

/// The forges that a user has: the built-in rows, changed or extended by `[forges]`.
#[derive(Debug)]
pub struct Forges {
    rows: BTreeMap<String, ForgeRow>,
}

/// An issue that somebody named, and the forge where it is.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedIssue<'f> {
    pub forge: &'f ForgeRow,
    pub variables: Variables,
}

impl Forges {
    pub fn from_config(config: &Config) -> Result<Forges, CommandFailure> {
        let mut tables = BTreeMap::new();
        for (name, text) in BUILT_IN {
            tables.insert(name.to_string(), parsed(name, text)?);
        }
        for (name, changes) in &config.forges {
            tables.entry(name.clone()).or_insert_with(toml::Table::new).extend(changes.clone());
        }
        let rows = tables.into_iter().map(|(name, table)| {
            let row: Result<ForgeRow, _> = toml::Value::Table(table).try_into();
            let row = row.map_err(|error| invalid(&name, error.message()))?;
            row.issues.iter().try_for_each(|issue| pattern(&name, issue).map(drop))?;
            Ok((name, row))
        });
        Ok(Forges { rows: rows.collect::<Result<_, CommandFailure>>()? })
    }

    /// The forge of a git remote.
    pub fn of_remote(&self, remote: &Remote) -> Option<&ForgeRow> {
        self.rows.values().find(|row| row.hosts.contains(&remote.host))
    }

    /// The issue that somebody named. If several forges know such a name, the one of a remote of this repository counts.
    pub fn issue(&self, name: &str, remotes: &[Remote]) -> Result<Option<NamedIssue<'_>>, CommandFailure> {
        let mut found = Vec::new();
        for (forge, row) in &self.rows {
            for issue in &row.issues {
                let pattern = pattern(forge, issue)?;
                let Some(groups) = pattern.captures(name) else { continue };
                let names = pattern.capture_names().flatten();
                let mut variables: Variables = names
                    .filter_map(|group| Some((group.to_string(), groups.name(group)?.as_str().to_string())))
                    .collect();
                variables.insert("issue".to_string(), name.to_string());
                let own = remotes.iter().find(|remote| row.hosts.contains(&remote.host));
                if let Some(own) = own {
                    variables.entry("repository".to_string()).or_insert_with(|| own.repository.clone());
                }
                let is_complete = row.read.iter().all(|word| missing_variable(word, &variables).is_none());
                if is_complete {
                    found.push((own.is_none(), NamedIssue { forge: row, variables }));
                }
                break;
            }
        }
        found.sort_by_key(|(is_elsewhere, _)| *is_elsewhere);
        Ok(found.into_iter().next().map(|(_, issue)| issue))
    }

    /// The names of all forges, for messages.
    pub fn titles(&self) -> String {
        let titles: Vec<&str> = self.rows.values().map(|row| row.title.as_str()).collect();
        titles.join(", ")
    }
}

/// A command with the values of its variables. A variable stands for one word or a part of one.
pub fn with_variables(command: &[String], variables: &Variables) -> Vec<String> {
    let replaced = |word: &String| {
        variables
            .iter()
            .fold(word.clone(), |word, (name, value)| word.replace(&format!("${{{name}}}"), value))
    };
    command.iter().map(replaced).collect()
}

/// The first variable in a word that has no value.
fn missing_variable<'w>(word: &'w str, variables: &Variables) -> Option<&'w str> {
    let names = word.split("${").skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name));
    names.into_iter().find(|name| !variables.contains_key(*name))
}

/// A pattern that must match a whole name.
fn pattern(forge: &str, issue: &str) -> Result<Regex, CommandFailure> {
    Regex::new(&format!("^(?:{issue})$")).map_err(|error| invalid(forge, &error.to_string()))
}

fn parsed(name: &str, text: &str) -> Result<toml::Table, CommandFailure> {
    text.parse().map_err(|error: toml::de::Error| invalid(name, error.message()))
}

fn invalid(name: &str, detail: &str) -> CommandFailure {
    CommandFailure::user(
        format!("the forge `{name}` is not described correctly: {detail}"),
        format!("correct `[forges.{name}]` in ~/.config/remand/config.toml"),
    )
}
