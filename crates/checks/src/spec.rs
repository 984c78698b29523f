//! One check as data, so that a run can pin it.

use super::action::CheckAction;
use super::members::Members;
use remand_kernel::evidence::Tier;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Stands for the scratch folder in environment values, arguments and reports.
pub const SCRATCH: &str = "{scratch}";

const TIME: Duration = Duration::from_secs(15 * 60);

/// Enough for compilers and linkers of large projects.
const MEMORY: u64 = 8 * 1024 * 1024 * 1024;

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
    /// In addition to the environment of all checks.
    pub environment: BTreeMap<String, String>,
    pub quick: bool,
    pub time: Duration,
    pub parser: Parser,
    /// Where the parser finds its report, if not in the output; relative to the folder.
    pub report: Option<String>,
    /// Checks that must pass before this one is worth running.
    pub needs: Vec<String>,
    /// How often a new failure runs again, to see whether it is flaky.
    #[serde(default = "twice")]
    pub reruns: u32,
    /// Endings of files: the command runs once for each such file, which becomes its last argument.
    pub each: Vec<String>,
    #[serde(default)]
    pub scope: CheckScope,
    /// How it runs for some members of a workspace; none if it always runs as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Members>,
    /// Whether it may use the network.
    #[serde(default)]
    pub network: bool,
    /// Memory limit of each process, in bytes of private writable memory.
    #[serde(default = "memory")]
    pub memory: u64,
}

/// Which changes can affect a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckScope {
    #[default]
    Whole,
    /// Changes of files below these folders, and of files outside every project.
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
            time: TIME,
            parser: Parser::None,
            report: None,
            needs: Vec::new(),
            each: Vec::new(),
            scope: CheckScope::Whole,
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

    /// The ending of the report files that it reads; none if it reads the output.
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
