//! One step of a walk, and the errors that stop a walk.

use remand_kernel::Refusal;
use remand_kernel::change::{Approach, Change, TestResult};
use remand_kernel::event::Item;
use remand_kernel::finding::Finding;

/// The result of a phase in a walk, with details.
#[derive(Clone, Debug, Default)]
pub struct WalkStep {
    pub phase: String,
    pub task: Option<String>,
    pub says: Says,
    pub findings: Vec<Finding>,
    pub change: Option<Change>,
    pub tests: Vec<TestResult>,
    pub approach: Option<Approach>,
    /// Lists that the result produces instead of those of the walk.
    pub lists: Vec<(String, Vec<Item>)>,
    pub flags: Vec<(String, bool)>,
    pub models: Vec<String>,
    /// The phase wrote only what was already there.
    pub unchanged: bool,
    pub disputes: bool,
    pub by: String,
    pub note: String,
}

/// The signal of a phase, or one verdict per member.
#[derive(Clone, Debug)]
pub enum Says {
    Signal(String),
    Members(Vec<String>),
}

impl Default for Says {
    fn default() -> Self {
        Says::Signal(String::new())
    }
}

impl WalkStep {
    pub fn new(phase: &str, says: &str) -> WalkStep {
        WalkStep { phase: phase.to_string(), says: Says::Signal(says.to_string()), ..WalkStep::default() }
    }
}

/// Why a walk cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The run waits for other phases.
    NotWaiting {
        phase: String,
        waiting: Vec<String>,
    },
    /// The phase cannot end with this signal.
    NotPossible {
        phase: String,
        signal: String,
        possible: Vec<String>,
    },
    /// The number of verdicts differs from the number of members.
    WrongCount {
        phase: String,
        given: usize,
        members: usize,
    },
    /// No phase has this name.
    NoSuchPhase {
        phase: String,
        remedy: String,
    },
    /// The run is paused, so nothing can happen.
    Paused,
    Refused(Refusal),
    /// The run is over.
    Over(String),
    /// `until` does not reach the phase.
    NotReached(String),
    /// The run does not end although everything succeeds.
    NotEnded,
}

impl std::fmt::Display for WalkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WalkError::NotWaiting { phase, waiting } => {
                write!(f, "the run is not waiting for `{phase}`; it is waiting for {}", waiting.join(", "))
            }
            WalkError::NotPossible { phase, signal, possible } => {
                write!(
                    f,
                    "`{phase}` cannot end with `{signal}` here; it can end with {}",
                    possible.join(", ")
                )
            }
            WalkError::WrongCount { phase, given, members } => {
                write!(f, "`{phase}` has {members} members, but there are {given} verdicts")
            }
            WalkError::NoSuchPhase { phase, remedy } => {
                write!(f, "the workflow has no phase `{phase}`: {remedy}")
            }
            WalkError::Paused => write!(f, "the run is paused: write `resume` first"),
            WalkError::Refused(refusal) => write!(f, "the kernel refuses this: {refusal}"),
            WalkError::Over(end) => write!(f, "the run has ended: {end}"),
            WalkError::NotEnded => write!(f, "the run does not end when everything succeeds"),
            WalkError::NotReached(phase) => {
                write!(f, "the run does not reach `{phase}` when everything succeeds")
            }
        }
    }
}

impl std::error::Error for WalkError {}
