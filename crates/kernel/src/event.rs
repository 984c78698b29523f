//! What happened, in the past tense. Time, randomness and the world reach the kernel only in here.

use crate::change::{Approach, Change, Digest, TestResult};
use crate::evidence::{Row, Size};
use crate::finding::Finding;
use crate::gaps::RetryMode;
use crate::ids::{CommandId, SignalId};
use crate::signal::Failure;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One recorded happening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    Started(Start),
    /// A dispatch or an operation came to its end.
    Ended {
        id: CommandId,
        outcome: Outcome,
        usage: Usage,
    },
    /// What carried a command out was stopped together with the process that drove the run. The command is open, and is
    /// carried out again when the run is resumed.
    Interrupted {
        id: CommandId,
        /// Whether an agent had begun with it.
        began: bool,
        usage: Usage,
    },
    /// A human answered a gate.
    Answered {
        id: CommandId,
        option: String,
        by: String,
        note: String,
        flags: Vec<(String, bool)>,
        /// What it grants where it lets the run go on past a limit.
        #[serde(default)]
        grants: Grants,
    },
    Cancelled {
        by: String,
    },
    Paused {
        by: String,
    },
    Resumed {
        by: String,
    },
    /// A human took the run back to the start of this round.
    RolledBack {
        to: u16,
        by: String,
        reason: String,
        /// How the round is tried again.
        #[serde(default)]
        mode: RetryMode,
        /// What whoever tries it again is told besides the reason.
        #[serde(default)]
        context: String,
    },
    /// A human removed an approach from the list of those that failed.
    ApproachRemoved {
        at: u16,
        by: String,
    },
    /// A human said which phases injected the defect at this position of the run's findings.
    Reattributed {
        at: u32,
        /// What it said until then.
        from: Vec<String>,
        to: Vec<String>,
        by: String,
        note: String,
    },
    /// A human undid what the run had committed, by this commit on its branch.
    Reverted {
        commit: String,
        by: String,
    },
}

/// What a run starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    pub mode: Mode,
    pub subject: Digest,
    pub flags: Vec<(String, bool)>,
    /// What earlier runs on the same subject spent, by budget.
    pub spent: Vec<(String, u16)>,
    /// Approaches that failed in earlier runs on the same subject.
    pub approaches: Vec<Approach>,
    pub limits: Limits,
    /// Lists that are known from the start.
    pub lists: Vec<(String, Vec<Item>)>,
}

/// Whether somebody sits at the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    #[default]
    Autonomous,
    Interactive,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Autonomous => "autonomous",
            Mode::Interactive => "interactive",
        }
    }
}

/// How risky a change is; the order is the order of risk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    #[default]
    Green,
    Yellow,
    Red,
}

/// Ceilings of a run; `None` is no ceiling (CORE-07).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Micro-units of the currency.
    pub money: Option<u64>,
    pub tokens: Option<u64>,
    /// Milliseconds in which something was under way, each once however much it was.
    pub time: Option<u64>,
    pub dispatches: Option<u64>,
}

impl Limits {
    pub const DISPATCHES: &str = "dispatches";
    pub const TOKENS: &str = "tokens";
    /// The host sees this one reached while a dispatch is under way.
    pub const TIME: &str = "time";
    pub const MONEY: &str = "money";
    /// A limit on tokens of which some are unknown.
    pub const UNTOLD: &str = "tokens (it cannot be kept: some are unknown, and dispatches are not limited)";
    /// A limit on money where costs are unknown.
    pub const UNPRICED: &str =
        "money (it cannot be kept: costs are unknown, and neither tokens nor dispatches are limited)";
}

/// How much a human grants who lets a run go on past a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grants {
    /// As much again of every limit, asked about or not; so it is in journals of versions that do not tell.
    #[default]
    Everything,
    /// As much again of the limit that was asked about.
    AskedFor,
    /// So much of the limit that was asked about, which is the limit from here on.
    Amount(u64),
}

/// What one command used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Micro-units of the currency; `None` is unknown, never zero (CORE-11).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<u64>,
    /// `None` is unknown, never zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Milliseconds that it was at work itself.
    pub time: u64,
    /// Milliseconds in which anything of the run was under way since this was last told; none in journals of versions
    /// that counted the time of each command by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<u64>,
}

impl Usage {
    /// What it adds to the time of its run.
    pub fn of_run(&self) -> u64 {
        self.wall.unwrap_or(self.time)
    }
}

/// How a dispatch or an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A valid result.
    Said(Box<Report>),
    /// No valid result. `in_a_row` counts environment failures of the same agent across runs.
    Failed { failure: Failure, detail: String, in_a_row: u16 },
    /// What a walk, a simulation or a proof supposes, by signal alone; a host never says this.
    Supposed(SignalId),
}

/// A valid result with all that the engine saw of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The verdict of the role, or the result of the operation.
    pub says: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The artifacts written, with their content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrote: Vec<(String, Digest)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approach: Option<Approach>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<(String, Vec<Item>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<(String, bool)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// The role answers its findings instead of changing something.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub disputes: bool,
    /// Something had to be done without on the way to it, which lowers the confidence.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub degraded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The evidence behind a result of checks; the gate over it is recomputed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

impl Report {
    /// A report that says this and nothing else.
    pub fn saying(says: &str) -> Report {
        Report { says: String::from(says), ..Report::default() }
    }
}

/// One item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Item {
    pub id: String,
    /// Ids of items that must be finished before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Hash of the item's own specification.
    pub spec: Digest,
    /// The files that the item is about; findings without a task are addressed by them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}
