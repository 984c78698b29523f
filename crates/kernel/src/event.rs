//! What happened. Time, randomness and the outside world reach the kernel only through events.

use crate::change::{Approach, Change, Digest, TestResult};
use crate::evidence::{EvidenceRow, TaskSize};
use crate::finding::Finding;
use crate::gaps::RetryMode;
use crate::ids::{CommandId, SignalId};
use crate::signal::Failure;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One recorded event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    Started(Start),
    /// A dispatch or an operation ended.
    Ended {
        id: CommandId,
        outcome: Outcome,
        usage: Usage,
    },
    /// The process that drove the run stopped while it performed a command. The command stays open and is performed
    /// again when the run resumes.
    Interrupted {
        id: CommandId,
        /// Whether an agent had started.
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
        /// What the answer grants, if it lets the run continue past a limit.
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
    /// A human retried a run that an agent's failure or a commit hook ended.
    Retried {
        by: String,
    },
    /// A human rolled the run back to the start of this round.
    RolledBack {
        to: u16,
        by: String,
        reason: String,
        /// How the round is tried again.
        #[serde(default)]
        mode: RetryMode,
        /// Instructions for the retry, in addition to the reason.
        #[serde(default)]
        context: String,
    },
    /// A human removed an approach from the list of failed ones.
    ApproachRemoved {
        at: u16,
        by: String,
    },
    /// A human corrected which phases injected the finding at this index.
    Reattributed {
        at: u32,
        /// The origin before the correction.
        from: Vec<String>,
        to: Vec<String>,
        by: String,
        note: String,
    },
    /// A human reverted the run's commit; `commit` is the reverting commit on the run's branch.
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
    /// Whether the user accepts work that nothing can prove. The confidence is then low.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub unproven: bool,
}

/// Whether a human is at the terminal to answer.
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

/// How risky a change is, riskiest last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    #[default]
    Green,
    Yellow,
    Red,
}

/// The limits of a run; `None` means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Micro-units of the currency.
    pub money: Option<u64>,
    pub tokens: Option<u64>,
    /// Milliseconds in which anything ran; parallel work counts once.
    pub time: Option<u64>,
    pub dispatches: Option<u64>,
}

impl Limits {
    pub const DISPATCHES: &str = "dispatches";
    pub const TOKENS: &str = "tokens";
    /// The only limit that the host can notice while a dispatch runs.
    pub const TIME: &str = "time";
    pub const MONEY: &str = "money";
    /// A limit on tokens while some token counts are unknown.
    pub const UNKNOWN_TOKENS: &str =
        "tokens (it cannot be kept: some are unknown, and dispatches are not limited)";
    /// A limit on money while costs are unknown.
    pub const UNKNOWN_COSTS: &str =
        "money (it cannot be kept: costs are unknown, and neither tokens nor dispatches are limited)";
}

/// How much a human grants when letting a run continue past a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grants {
    /// Every limit counts from zero again. An answer in an old journal, which records no grant, means this.
    #[default]
    Everything,
    /// The limit that was asked about counts from zero again.
    AskedFor,
    /// The limit that was asked about counts from zero again, and this amount is the new limit.
    Amount(u64),
}

/// What one command used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Micro-units of the currency; `None` means unknown, never zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<u64>,
    /// `None` means unknown, never zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Milliseconds that this command ran.
    pub time: u64,
    /// How long any command of the run was active since the last report, in milliseconds. `None` in old journals,
    /// which count the time of each command separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<u64>,
}

impl Usage {
    /// The milliseconds that the command adds to the run's time.
    pub fn run_time(&self) -> u64 {
        self.wall.unwrap_or(self.time)
    }
}

/// How a dispatch or an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A valid result.
    Said(Box<Report>),
    /// No valid result. `in_a_row` counts consecutive environment failures of the same agent across runs.
    Failed { failure: Failure, detail: String, in_a_row: u16 },
    /// A signal that a walk, a simulation or a proof assumes; a host never sends it.
    Supposed(SignalId),
}

/// A valid result with everything the engine observed about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The verdict of the role, or the result of the operation.
    pub says: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The artifacts written, with the digests of their content.
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
    /// The role disputes the findings it received instead of changing something.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub disputes: bool,
    /// A degradation was recorded, which lowers the confidence.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub degraded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The evidence for a result of checks; the kernel applies the gate to it again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<EvidenceRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<TaskSize>,
}

impl Report {
    /// A report with this verdict and nothing else.
    pub fn saying(says: &str) -> Report {
        Report { says: String::from(says), ..Report::default() }
    }
}

/// One item of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Item {
    pub id: String,
    /// Ids of items that must be finished first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The hash of the item's specification.
    pub spec: Digest,
    /// The files that the item is about. A finding without a task belongs to the task that lists its file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}
