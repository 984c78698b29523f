//! The members of a workspace: a check that covers all of them can run for some.

use super::action::CheckAction;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// The word of a command that stands for its members.
pub const MEMBERS: &str = "{members}";

/// How a check runs for some members of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Members {
    /// The command, with `MEMBERS` as one of its words.
    pub command: Vec<String>,
    pub naming: Naming,
    /// Names of the files that list members and their dependencies.
    pub manifests: Vec<String>,
    pub all: Vec<Member>,
}

/// How a command names members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Naming {
    /// Each after this word.
    Flag(String),
    /// All in one word, separated by commas.
    List,
}

/// One member. All paths are relative to the root of the repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Member {
    /// As the command names it.
    pub name: String,
    /// Its folders. A folder of another member inside them belongs to that one.
    pub own: Vec<String>,
    /// Paths outside its folder that its files name.
    pub reads: Vec<String>,
    /// The members that it depends on, by name.
    pub leans: Vec<String>,
}

impl Members {
    /// A command whose members are not known yet.
    pub(super) fn of_command(words: &[&str], naming: Naming) -> Members {
        let command = words.iter().map(|word| word.to_string()).collect();
        Members { command, naming, manifests: Vec::new(), all: Vec::new() }
    }

    /// Whether a file lists the members.
    pub(super) fn is_manifest(&self, file: &str) -> bool {
        let name = Path::new(file).file_name();
        self.manifests.iter().any(|manifest| name.is_some_and(|name| name == manifest.as_str()))
    }

    /// The command for the members that a change of these files can affect: members that own or read them, and all that
    /// depend on such a member. None where that is every member, or unknown. A file of no member counts only where
    /// `matters` says so.
    pub(super) fn narrowed(&self, changed: &[String], matters: impl Fn(&str) -> bool) -> Option<CheckAction> {
        let mut affected: BTreeSet<&str> = BTreeSet::new();
        for file in changed {
            let readers = self.all.iter().filter(|member| holds(&member.reads, file));
            let readers: Vec<&str> = readers.map(|member| member.name.as_str()).collect();
            match self.owner(file) {
                Some(member) => affected.extend([member.name.as_str()].into_iter().chain(readers)),
                None if readers.is_empty() && !matters(file) => {}
                None => return None,
            }
        }
        let mut known = 0;
        while known < affected.len() {
            known = affected.len();
            let leaning = self
                .all
                .iter()
                .filter(|member| member.leans.iter().any(|name| affected.contains(name.as_str())));
            let leaning: Vec<&str> = leaning.map(|member| member.name.as_str()).collect();
            affected.extend(leaning);
        }
        let is_part = !affected.is_empty() && affected.len() < self.all.len();
        is_part.then(|| self.naming(&affected))
    }

    fn owner(&self, file: &str) -> Option<&Member> {
        let depth = |member: &Member| {
            let own = member.own.iter().filter(|folder| Path::new(file).starts_with(folder));
            own.map(|folder| folder.len()).max()
        };
        self.all.iter().filter(|member| depth(member).is_some()).max_by_key(|member| depth(member))
    }

    fn naming(&self, names: &BTreeSet<&str>) -> CheckAction {
        let named: Vec<String> = match &self.naming {
            Naming::Flag(flag) => names.iter().flat_map(|name| [flag.clone(), name.to_string()]).collect(),
            Naming::List => vec![names.iter().copied().collect::<Vec<_>>().join(",")],
        };
        let words = self
            .command
            .iter()
            .flat_map(|word| if word == MEMBERS { named.clone() } else { vec![word.clone()] });
        CheckAction::Argv(words.collect())
    }
}

fn holds(paths: &[String], file: &str) -> bool {
    paths.iter().any(|path| Path::new(file).starts_with(path))
}
