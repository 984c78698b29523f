//! One agent program as data: how it is started, what it needs of the user's, and how its output is read.
//!
//! A row is a TOML table: those that are known are in `agents/`, and `[agents.NAME]` in the configuration changes or
//! adds one. A program that nobody thought of needs a row and no code.

use super::fill::{FillError, Part};
use super::pick::Pick;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// How one agent program is driven.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Row {
    /// As its makers write it.
    pub title: String,
    /// The program and its first arguments.
    pub command: Vec<String>,
    #[serde(default)]
    pub speaks: Speech,
    /// The version that it was tried with; none where nobody tried.
    #[serde(default)]
    pub tried: Option<String>,
    /// The arguments by which it tells its version.
    #[serde(default = "version")]
    pub version: Vec<String>,
    /// How a person gets it.
    #[serde(default)]
    pub install: String,
    /// How a person signs in.
    #[serde(default)]
    pub sign_in: String,
    /// Whom a dispatch sends the prompt and the code to, and whose account pays.
    #[serde(default)]
    pub spends: String,
    /// Variables of the user's environment that it sees: keys, and where its service is.
    #[serde(default)]
    pub variables: Vec<String>,
    /// Those among them that sign it in by themselves.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Files below the user's home that sign it in; it finds copies of them in its own home.
    #[serde(default)]
    pub credentials: Vec<String>,
    /// Files below the user's home that it finds copies of besides, such as the list of its services.
    #[serde(default)]
    pub copies: Vec<String>,
    /// More of the user's files and folders that it has to read; `~/` stands for the home.
    #[serde(default)]
    pub reads: Vec<String>,
    /// TCP ports that it connects to besides 443 and those of addresses in its variables.
    #[serde(default)]
    pub ports: Vec<u16>,
    /// Names at the root of a repository that hold settings of this program: they are out of the tree while it works.
    /// One that begins with `**/` counts in every folder.
    #[serde(default)]
    pub unseen: Vec<String>,
    /// The model when a role names none.
    #[serde(default)]
    pub model: Option<String>,
    pub arguments: Vec<Part>,
    /// Arguments of the user's that come after all others.
    #[serde(default)]
    pub more: Vec<String>,
    #[serde(default)]
    pub environment: BTreeMap<String, Vec<Part>>,
    /// Files that are written for it below its home.
    #[serde(default)]
    pub files: BTreeMap<String, Vec<Part>>,
    #[serde(default)]
    pub prompt: PromptBy,
    /// Seconds without a sign of life, outside of tools that run, after which it is ended. One that does not tell when a tool
    /// begins has none: a long tool would look like silence.
    #[serde(default)]
    pub silence: Option<u64>,
    #[serde(default)]
    pub hear: Hear,
    /// What a conversation takes besides, if that is how it speaks.
    #[serde(default)]
    pub acp: Acp,
    /// What its failures are, beyond what all have in common; the first that fits counts.
    #[serde(default)]
    pub failures: Vec<Told>,
}

/// What a program says on its standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speech {
    /// A JSON value in each line.
    #[default]
    Lines,
    /// The Agent Client Protocol. Of `hear` only what tells sessions and tokens matters then: it is read in its books.
    Acp,
    /// Text alone: all of it is the answer, and exit code 0 is a positive end.
    Text,
}

/// How a conversation with it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Acp {
    /// The mode that its session is set to.
    pub mode: Vec<Part>,
    /// What its session is told beside the protocol, as JSON.
    pub meta: Vec<Part>,
    /// Whether it is offered to read files through the client.
    pub reads: bool,
    /// Whether the tokens that it tells at the end are those of the whole turn; if not, they are unknown.
    pub tokens: bool,
    /// Where it keeps what it spent; that counts then, and not what it tells.
    pub books: Option<Books>,
}

/// The books of an agent: where it keeps what a session spent. `hear` says where things are in that: its session, and its tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Books {
    /// Lines of JSON in files below a folder of its home; a file that names another session does not count.
    Files {
        below: String,
        /// How their names end.
        ends: String,
        /// The path of what tells an entry from others, where entries are written again when they change.
        #[serde(default)]
        by: Option<String>,
    },
    /// JSON that it prints when it is started with these arguments; `${session}` stands for the session.
    Told(Vec<String>),
}

impl Default for Acp {
    fn default() -> Acp {
        Acp { mode: Vec::new(), meta: Vec::new(), reads: true, tokens: true, books: None }
    }
}

/// How the prompt reaches the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptBy {
    #[default]
    Stdin,
    /// As `${prompt}` among the arguments; long prompts do not fit there.
    Argument,
}

/// Where things are in its output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hear {
    pub session: Vec<Pick>,
    pub model: Vec<Pick>,
    pub answer: Vec<Pick>,
    /// A positive end: without one, exit code 0 is no result (CORE-15).
    pub end: Vec<Pick>,
    pub errors: Vec<Pick>,
    /// Permissions that it was denied by its own rules.
    pub denied: Vec<Pick>,
    /// The names of those that change files.
    pub writers: Vec<String>,
    /// What its tools said when they failed.
    pub failed: Vec<Pick>,
    /// The same of tools for changing files: reaching beyond the role's permissions by one costs the dispatch.
    pub failed_writes: Vec<Pick>,
    pub input: Vec<Pick>,
    pub output: Vec<Pick>,
    /// Tokens of what it thought, where `output` does not count them.
    pub thoughts: Vec<Pick>,
    /// All tokens together, where some are counted nowhere else: these are output.
    pub total: Vec<Pick>,
    /// Tokens read from the service's cache.
    pub cached: Vec<Pick>,
    /// Tokens written to the service's cache.
    pub stored: Vec<Pick>,
    /// Whether `input` counts the cached ones too.
    pub input_has_cached: bool,
    /// Whether the counts of tokens go on through a session that is taken up again.
    pub cumulative: bool,
    /// In units of the currency.
    pub cost: Vec<Pick>,
    /// Whether the cost goes on through a session that is taken up again.
    pub cumulative_cost: bool,
    /// Tells that a tool began or ended: as long as one runs, silence means nothing.
    pub tool_began: Vec<Pick>,
    pub tool_ended: Vec<Pick>,
}

/// A failure by its signs; all given ones have to fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Told {
    pub kind: Kind,
    /// A regular expression that errors or the standard error match.
    #[serde(default)]
    pub says: Option<String>,
    /// A regular expression that the answer matches, which is an error then and no answer.
    #[serde(default)]
    pub answers: Option<String>,
    #[serde(default)]
    pub exit: Option<i32>,
}

/// Why an agent's service or program did not do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Authentication,
    RateLimit,
    Overload,
    Network,
    ContextTooLong,
    /// The program does not know what it was asked, by its arguments.
    Version,
    /// The service refuses the request as such.
    Refused,
}

fn version() -> Vec<String> {
    vec!["--version".to_string()]
}

/// Why a row cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    #[error("`[agents.{name}]` cannot be read: {why}")]
    Malformed { name: String, why: String },
    #[error("`[agents.{name}]`, {place}: {source}")]
    Fill { name: String, place: String, source: FillError },
    #[error("`[agents.{name}]`: `{pattern}` is no regular expression")]
    Pattern { name: String, pattern: String },
    #[error("there is no agent `{name}`; there are {known}")]
    Unknown { name: String, known: String },
}

impl Row {
    /// Reads a row and proves all that can be proven before anything runs.
    pub fn read(name: &str, table: toml::Table) -> Result<Row, RowError> {
        let malformed = |error: toml::de::Error| RowError::Malformed {
            name: name.to_string(),
            why: error.message().to_string(),
        };
        let row: Row = table.try_into().map_err(malformed)?;
        row.prove(name)?;
        Ok(row)
    }

    /// Tells whether a key in the environment signs it in.
    pub fn has_key(&self) -> bool {
        self.keys.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
    }

    /// The keys by which it is handed something of the user's, or reaches more than any agent does.
    pub fn handed(&self) -> Vec<&'static str> {
        let lists = [
            ("credentials", self.credentials.is_empty()),
            ("copies", self.copies.is_empty()),
            ("reads", self.reads.is_empty()),
            ("keys", self.keys.is_empty()),
            ("variables", self.variables.is_empty()),
            ("ports", self.ports.is_empty()),
        ];
        lists.into_iter().filter(|(_, is_empty)| !is_empty).map(|(key, _)| key).collect()
    }

    fn prove(&self, name: &str) -> Result<(), RowError> {
        let wrong = |place: String| {
            move |source| RowError::Fill { name: name.to_string(), place: place.clone(), source }
        };
        if self.command.iter().all(|word| word.is_empty()) {
            let why = "`command` names no program".to_string();
            return Err(RowError::Malformed { name: name.to_string(), why });
        }
        for part in &self.arguments {
            part.prove().map_err(wrong("arguments".to_string()))?;
        }
        for (key, parts) in self.environment.iter().chain(&self.files) {
            for part in parts {
                part.prove().map_err(wrong(key.clone()))?;
            }
        }
        for part in self.acp.mode.iter().chain(&self.acp.meta) {
            part.prove().map_err(wrong("acp".to_string()))?;
        }
        if let Some(Books::Files { below, .. }) = &self.acp.books
            && !Path::new(below).components().all(|part| matches!(part, Component::Normal(_)))
        {
            let why = format!("`{below}` is no folder below its home");
            return Err(RowError::Malformed { name: name.to_string(), why });
        }
        let patterns = self.failures.iter().flat_map(|told| [&told.says, &told.answers]);
        for pattern in patterns.flatten() {
            regex::Regex::new(pattern)
                .map_err(|_| RowError::Pattern { name: name.to_string(), pattern: pattern.clone() })?;
        }
        Ok(())
    }
}
