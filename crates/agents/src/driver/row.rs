//! Describes one agent program: how to start it, which of the user's files it needs, and how to read its output.
//!
//! A row is a TOML table. The built-in rows are in `agents/`; `[agents.NAME]` in the configuration changes a row or adds
//! one. A new agent program needs a row, not code.

use super::template::{Template, TemplateError};
use crate::output::OutputRules;
use remand_process::confine::ServiceAddress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// How one agent program is driven.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AgentRow {
    /// The program's name as its vendor writes it.
    pub title: String,
    /// The program, and arguments that always come first.
    pub command: Vec<String>,
    #[serde(default)]
    pub speaks: AgentProtocol,
    /// The version that this row was tested with; `None` if it is untested.
    #[serde(default)]
    pub tried: Option<String>,
    /// The arguments that make the program print its version.
    #[serde(default = "default_version")]
    pub version: Vec<String>,
    /// How to install it.
    #[serde(default)]
    pub install: String,
    /// How to sign in.
    #[serde(default)]
    pub sign_in: String,
    /// Where a dispatch sends the prompt and the code, and whose account pays.
    #[serde(default)]
    pub spends: String,
    /// Environment variables that are passed to it, such as the address of its service.
    #[serde(default)]
    pub variables: Vec<String>,
    /// Environment variables that are passed to it and sign it in.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Files in the user's home that sign it in. They are copied into the agent's home.
    #[serde(default)]
    pub credentials: Vec<String>,
    /// More files in the user's home that are copied into the agent's home, such as a list of providers.
    #[serde(default)]
    pub copies: Vec<String>,
    /// More files and folders of the user that it may read; `~/` is the user's home.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Hosts that it may reach, each as `host`, `host:port` or URL, in addition to the addresses in its settings. `None` in a row
    /// that names none, and in one that an earlier version pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// What earlier versions pinned in place of hosts.
    #[serde(default, skip_serializing)]
    ports: Vec<u16>,
    /// Files at the root of a repository that configure this program. They are removed while the program works.
    /// A name that begins with `**/` applies to every folder.
    #[serde(default)]
    pub unseen: Vec<String>,
    /// Text in every command that the program itself runs, in contrast to its model.
    #[serde(default)]
    pub own_commands: Option<String>,
    /// The model to use if a role names none.
    #[serde(default)]
    pub model: Option<String>,
    pub arguments: Vec<Template>,
    /// The user's arguments, which come last.
    #[serde(default)]
    pub more: Vec<String>,
    #[serde(default)]
    pub environment: BTreeMap<String, Vec<Template>>,
    /// Files that are written into its home.
    #[serde(default)]
    pub files: BTreeMap<String, Vec<Template>>,
    #[serde(default)]
    pub prompt: PromptBy,
    /// Seconds without output after which the program is killed, unless a tool runs. `None` for a program that does not
    /// report when a tool starts, because a long tool would look like silence.
    #[serde(default)]
    pub silence: Option<u64>,
    #[serde(default, rename = "hear")]
    pub output_rules: OutputRules,
    /// Settings for programs that speak the Agent Client Protocol.
    #[serde(default)]
    pub acp: AcpSettings,
    /// Failures that are specific to this program. The first match counts.
    #[serde(default)]
    pub failures: Vec<FailurePattern>,
}

/// What a program writes to its standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentProtocol {
    /// One JSON value per line.
    #[default]
    Lines,
    /// The Agent Client Protocol. The output rules under `hear` then apply to the program's session log, where only
    /// sessions and tokens matter.
    Acp,
    /// Plain text: all of it is the answer, and exit code 0 means that the program finished.
    Text,
}

/// Settings of a conversation over the Agent Client Protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AcpSettings {
    /// The mode to set for the session.
    pub mode: Vec<Template>,
    /// Settings for a new session that the protocol does not define, as JSON.
    pub meta: Vec<Template>,
    /// Whether the client offers to read files for it.
    pub reads: bool,
    /// Whether the token count that it reports at the end covers the whole turn. If not, the count is ignored.
    pub tokens: bool,
    /// Where its session log is. If present, token counts come from there.
    #[serde(rename = "books")]
    pub session_log: Option<SessionLogLocation>,
}

/// Where to find the log that an agent program keeps of a session. The output rules under `hear` describe its format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum SessionLogLocation {
    /// JSON lines in files below a folder of the agent's home. A file that names another session is ignored.
    Files {
        below: String,
        /// Suffix of the file names.
        ends: String,
        /// Path of the value that identifies an entry, if the program writes changed entries again.
        #[serde(default)]
        by: Option<String>,
    },
    /// JSON that the program prints with these arguments; `${session}` is the session's id.
    #[serde(rename = "told")]
    Command(Vec<String>),
}

impl Default for AcpSettings {
    fn default() -> AcpSettings {
        AcpSettings { mode: Vec::new(), meta: Vec::new(), reads: true, tokens: true, session_log: None }
    }
}

/// How the prompt reaches the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptBy {
    #[default]
    Stdin,
    /// The arguments contain `${prompt}`. A long prompt may exceed the system's limit.
    Argument,
}

/// A pattern that identifies a failure. All given fields must match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FailurePattern {
    pub kind: ServiceFailure,
    /// A regular expression for a line of the errors or the standard error.
    #[serde(default)]
    pub says: Option<String>,
    /// A regular expression for an answer that is really an error message.
    #[serde(default)]
    pub answers: Option<String>,
    #[serde(default)]
    pub exit: Option<i32>,
}

/// Why an agent's service or program failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceFailure {
    /// The account has no money left.
    Account,
    /// The program needs an environment variable that is not set.
    MissingVariable,
    Authentication,
    RateLimit,
    Overload,
    Network,
    ContextTooLong,
    /// The program rejects its arguments.
    Version,
    /// The service rejects the request.
    Refused,
}

fn default_version() -> Vec<String> {
    vec!["--version".to_string()]
}

/// Why a row cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    #[error("`[agents.{name}]` cannot be read: {why}")]
    Malformed { name: String, why: String },
    #[error("`[agents.{name}]`, {key}: {source}")]
    Template { name: String, key: String, source: TemplateError },
    #[error("`[agents.{name}]`: `{pattern}` is not a valid regular expression")]
    Pattern { name: String, pattern: String },
    #[error("there is no agent `{name}`; use one of {known}")]
    Unknown { name: String, known: String },
}

impl AgentRow {
    /// Reads a row and checks it as far as possible without running the program.
    pub fn read(name: &str, table: toml::Table) -> Result<AgentRow, RowError> {
        let malformed = |error: toml::de::Error| RowError::Malformed {
            name: name.to_string(),
            why: error.message().to_string(),
        };
        if table.contains_key("ports") {
            let why = "`ports` has been replaced: remove it, and list the service in `hosts`, such as \
                       `hosts = [\"api.example.org\", \"10.0.0.5:8080\"]`";
            return Err(RowError::Malformed { name: name.to_string(), why: why.to_string() });
        }
        let row: AgentRow = table.try_into().map_err(malformed)?;
        row.check(name)?;
        Ok(row)
    }

    /// Whether the environment has a key that signs the program in.
    pub fn has_key(&self) -> bool {
        self.keys.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
    }

    /// The keys of this row that give the agent access to the user's files, variables or further hosts.
    pub fn access_keys(&self) -> Vec<&'static str> {
        let lists = [
            ("credentials", self.credentials.is_empty()),
            ("copies", self.copies.is_empty()),
            ("reads", self.reads.is_empty()),
            ("keys", self.keys.is_empty()),
            ("variables", self.variables.is_empty()),
            ("hosts", self.hosts.as_ref().is_none_or(Vec::is_empty)),
        ];
        lists.into_iter().filter(|(_, is_empty)| !is_empty).map(|(key, _)| key).collect()
    }

    fn check(&self, name: &str) -> Result<(), RowError> {
        let invalid = |key: &str| {
            let key = key.to_string();
            move |source| RowError::Template { name: name.to_string(), key, source }
        };
        if self.command.iter().all(|word| word.is_empty()) {
            let why = "`command` does not name a program".to_string();
            return Err(RowError::Malformed { name: name.to_string(), why });
        }
        for part in &self.arguments {
            part.check().map_err(invalid("arguments"))?;
        }
        for (key, parts) in self.environment.iter().chain(&self.files) {
            for part in parts {
                part.check().map_err(invalid(key))?;
            }
        }
        for part in self.acp.mode.iter().chain(&self.acp.meta) {
            part.check().map_err(invalid("acp"))?;
        }
        if let Some(SessionLogLocation::Files { below, .. }) = &self.acp.session_log
            && !Path::new(below).components().all(|part| matches!(part, Component::Normal(_)))
        {
            let why = format!("`{below}` must be a relative path below the agent's home");
            return Err(RowError::Malformed { name: name.to_string(), why });
        }
        let hosts = self.hosts.iter().flatten();
        if let Some(host) = hosts.into_iter().find(|host| ServiceAddress::parse(host).is_none()) {
            let why = format!("`{host}` in `hosts` is not a host, a host with a port, or a URL");
            return Err(RowError::Malformed { name: name.to_string(), why });
        }
        let patterns = self.failures.iter().flat_map(|failure| [&failure.says, &failure.answers]);
        for pattern in patterns.flatten() {
            regex::Regex::new(pattern)
                .map_err(|_| RowError::Pattern { name: name.to_string(), pattern: pattern.clone() })?;
        }
        Ok(())
    }
}
