//! One check as it is to be run; fit to be pinned with a run.

use super::members::Members;
use remand_kernel::evidence::Tier;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Stands for the throw-away folder of a run of checks, in environment values, arguments and reports.
pub const SCRATCH: &str = "{scratch}";

const TIME: Duration = Duration::from_secs(15 * 60);

/// Compilers and linkers of large projects stay below this.
const MEMORY: u64 = 8 * 1024 * 1024 * 1024;

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CheckSpec {
    pub name: String,
    /// The program that the evidence names.
    pub tool: String,
    pub tier: Tier,
    pub action: Action,
    /// Relative to the work tree; empty for its root.
    pub folder: String,
    /// On top of the environment that all checks get.
    pub environment: BTreeMap<String, String>,
    pub quick: bool,
    pub time: Duration,
    pub parser: Parser,
    /// Where the parser finds its report, if not in the output; relative to the folder.
    pub report: Option<String>,
    /// Checks that must pass before this one is worth running.
    pub needs: Vec<String>,
    /// How often a new failure is run again, to know whether it is flaky.
    #[serde(default = "twice")]
    pub reruns: u32,
    /// Endings of files: the command is run once for each such file, which is its last argument.
    pub each: Vec<String>,
    #[serde(default)]
    pub scope: Scope,
    /// How it is run for some members of a workspace; none where it is run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Members>,
    /// Whether it may use the network.
    #[serde(default)]
    pub network: bool,
    /// Bytes of private writable memory of each of its processes.
    #[serde(default = "memory")]
    pub memory: u64,
}

/// Which changes can affect a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    #[default]
    Whole,
    /// Those of files below these folders, and of files that are in no project at all.
    Folders(Vec<String>),
}

/// What a check does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Argv(Vec<String>),
    /// For `sh -c`.
    Shell(String),
    BuiltIn(BuiltIn),
}

/// What the engine checks without a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuiltIn {
    Syntax,
}

/// How single tests are read from what a check leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parser {
    None,
    Cargo,
    Nextest,
    Pytest,
    Unittest,
    Node,
    /// Jest's JSON, which Vitest writes too.
    Jest,
    Go,
    Tap,
    Junit,
}

impl CheckSpec {
    /// A check that runs a command at the root; quick if it is of tier 1.
    pub fn new(name: &str, tier: Tier, action: Action) -> CheckSpec {
        CheckSpec {
            name: name.to_string(),
            tool: action.tool(),
            tier,
            action,
            folder: String::new(),
            environment: BTreeMap::new(),
            quick: tier == Tier::One,
            time: TIME,
            parser: Parser::None,
            report: None,
            needs: Vec::new(),
            each: Vec::new(),
            scope: Scope::Whole,
            members: None,
            network: false,
            memory: MEMORY,
            reruns: twice(),
        }
    }

    pub(super) fn parsed_by(self, parser: Parser) -> CheckSpec {
        CheckSpec { parser, ..self }
    }

    pub(super) fn needing(mut self, check: &str) -> CheckSpec {
        self.needs.push(check.to_string());
        self
    }

    pub(super) fn by_member(self, members: Members) -> CheckSpec {
        CheckSpec { members: Some(members), ..self }
    }

    pub(super) fn with(mut self, variable: &str, value: &str) -> CheckSpec {
        self.environment.insert(variable.to_string(), value.to_string());
        self
    }
}

impl Action {
    /// A command as a list of words.
    pub fn argv(words: &[&str]) -> Action {
        Action::Argv(words.iter().map(|word| word.to_string()).collect())
    }

    /// The same with every word changed.
    pub(super) fn with_words(&self, change: impl Fn(&str) -> String) -> Action {
        match self {
            Action::Argv(argv) => Action::Argv(argv.iter().map(|word| change(word)).collect()),
            Action::Shell(text) => Action::Shell(change(text)),
            Action::BuiltIn(built_in) => Action::BuiltIn(*built_in),
        }
    }

    /// The program that does the work.
    pub fn tool(&self) -> String {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
        match self {
            Action::Argv(argv) => argv.first().map_or_else(String::new, |first| name(first)),
            Action::Shell(text) => name(program(text)),
            Action::BuiltIn(BuiltIn::Syntax) => "remand".to_string(),
        }
    }

    /// The command as a person would type it; none where there is none.
    pub fn typed(&self) -> Option<String> {
        match self {
            Action::Argv(argv) => Some(argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
            Action::Shell(text) => Some(text.clone()),
            Action::BuiltIn(BuiltIn::Syntax) => None,
        }
    }
}

/// The first program that a shell text names, past assignments and `exec`.
pub fn program(text: &str) -> &str {
    let is_assignment = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    text.split_whitespace().find(|word| *word != "exec" && !is_assignment(word)).unwrap_or_default()
}

fn memory() -> u64 {
    MEMORY
}

impl Parser {
    pub const ALL: [Parser; 10] = [
        Parser::Cargo,
        Parser::Nextest,
        Parser::Pytest,
        Parser::Unittest,
        Parser::Node,
        Parser::Jest,
        Parser::Go,
        Parser::Tap,
        Parser::Junit,
        Parser::None,
    ];

    /// The names for configuration files, in the order of `ALL`.
    pub const NAMES: &'static [&'static str] =
        &["cargo", "nextest", "pytest", "unittest", "node", "jest", "go", "tap", "junit", "none"];

    /// The ending of the report files that it reads; none where it reads the output.
    pub(super) fn report(self) -> Option<&'static str> {
        match self {
            Parser::Junit => Some("xml"),
            Parser::Jest => Some("json"),
            Parser::None
            | Parser::Cargo
            | Parser::Nextest
            | Parser::Pytest
            | Parser::Unittest
            | Parser::Node
            | Parser::Go
            | Parser::Tap => None,
        }
    }

    /// The parser of this name.
    pub fn named(name: &str) -> Option<Parser> {
        let at = Parser::NAMES.iter().position(|known| *known == name)?;
        Parser::ALL.get(at).copied()
    }
}

fn twice() -> u32 {
    2
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%{}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
