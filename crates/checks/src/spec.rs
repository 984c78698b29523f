//! One check as data that a run can store.

use super::action::CheckAction;
use super::members::Members;
use remand_kernel::evidence::Tier;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The placeholder for the scratch folder in environment values, arguments and report paths.
pub const SCRATCH: &str = "{scratch}";

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Enough for compilers and linkers of large projects.
const DEFAULT_MEMORY: u64 = 8 * 1024 * 1024 * 1024;

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CheckSpec {
    pub name: String,
    /// The program that the evidence names.
    pub tool: String,
    pub tier: Tier,
    pub action: CheckAction,
    /// Relative to the work tree; empty for its root.
    pub folder: String,
    /// Variables in addition to the environment of all checks.
    pub environment: BTreeMap<String, String>,
    pub quick: bool,
    pub time: Duration,
    pub parser: Parser,
    /// The path of the report that the parser reads, relative to the folder; `None` if it reads the output.
    pub report: Option<String>,
    /// Checks that must pass before this one is worth running.
    pub needs: Vec<String>,
    /// How often the check runs again after a new failure, to see whether it is flaky.
    #[serde(default = "default_reruns")]
    pub reruns: u32,
    /// File extensions: the command runs once for each file with one of them, with the file as its last argument. If empty,
    /// the command runs once, without a file.
    pub each: Vec<String>,
    #[serde(default)]
    pub scope: CheckScope,
    /// How to run it for some members of a workspace only; `None` if it always runs for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Members>,
    /// Whether it may use the network.
    #[serde(default)]
    pub network: bool,
    /// Memory limit of each process, in bytes.
    #[serde(default = "default_memory")]
    pub memory: u64,
    /// Files and folders of the user's checkout that a clean work tree does not have, relative to its root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
}

/// Which changes can affect a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckScope {
    #[default]
    Whole,
    /// Changes to files below these folders, and to files outside every project.
    Folders(Vec<String>),
}

/// How individual tests are read from the output or the report of a check.
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
    /// A check that runs a command at the root; quick if it belongs to tier 1.
    pub fn new(name: &str, tier: Tier, action: CheckAction) -> CheckSpec {
        CheckSpec {
            name: name.to_string(),
            tool: action.tool(),
            tier,
            action,
            folder: String::new(),
            environment: BTreeMap::new(),
            quick: tier == Tier::One,
            time: DEFAULT_TIMEOUT,
            parser: Parser::None,
            report: None,
            needs: Vec::new(),
            each: Vec::new(),
            scope: CheckScope::Whole,
            members: None,
            network: false,
            memory: DEFAULT_MEMORY,
            copies: Vec::new(),
            reruns: default_reruns(),
        }
    }

    pub(super) fn parsed_by(self, parser: Parser) -> CheckSpec {
        CheckSpec { parser, ..self }
    }

    pub(super) fn needing(mut self, check: &str) -> CheckSpec {
        self.needs.push(check.to_string());
        self
    }

    pub(super) fn with_members(self, members: Members) -> CheckSpec {
        CheckSpec { members: Some(members), ..self }
    }

    pub(super) fn with_variable(mut self, variable: &str, value: &str) -> CheckSpec {
        self.environment.insert(variable.to_string(), value.to_string());
        self
    }
}

fn default_memory() -> u64 {
    DEFAULT_MEMORY
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

    /// The extension of the report files that the parser reads; `None` if it reads the output.
    pub(super) fn report_extension(self) -> Option<&'static str> {
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

    /// The parser with this name.
    pub fn by_name(name: &str) -> Option<Parser> {
        let at = Parser::NAMES.iter().position(|known| *known == name)?;
        Parser::ALL.get(at).copied()
    }
}

fn default_reruns() -> u32 {
    2
}
