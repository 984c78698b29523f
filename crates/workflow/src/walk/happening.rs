//! What is said to have happened, and why that may be impossible.

use remand_kernel::Refusal;
use remand_kernel::change::{Approach, Change, TestResult};
use remand_kernel::event::Item;
use remand_kernel::finding::Finding;

/// What is said to have happened at a phase.
#[derive(Clone, Debug, Default)]
pub struct Happening {
    pub phase: String,
    pub task: Option<String>,
    pub says: Says,
    pub findings: Vec<Finding>,
    pub change: Option<Change>,
    pub tests: Vec<TestResult>,
    pub approach: Option<Approach>,
    /// Lists that the result brings, in place of the walk's own.
    pub lists: Vec<(String, Vec<Item>)>,
    pub flags: Vec<(String, bool)>,
    pub models: Vec<String>,
    /// The phase wrote what was there already.
    pub unchanged: bool,
    pub disputes: bool,
    pub by: String,
    pub note: String,
}

/// The signal of a phase, or one verdict for each member.
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

impl Happening {
    pub fn new(phase: &str, says: &str) -> Happening {
        Happening { phase: phase.to_string(), says: Says::Signal(says.to_string()), ..Happening::default() }
    }
}

/// Why a walk cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The run does not wait for this phase; it waits for those.
    NotWaiting {
        phase: String,
        waiting: Vec<String>,
    },
    /// The phase cannot end with this signal; it can end with those.
    NotPossible {
        phase: String,
        signal: String,
        possible: Vec<String>,
    },
    /// The number of verdicts is not the number of members.
    WrongCount {
        phase: String,
        given: usize,
        members: usize,
    },
    /// No phase is called so.
    NoSuchPhase {
        phase: String,
        remedy: String,
    },
    /// A paused run gives nothing out.
    Paused,
    Refused(Refusal),
    /// The run is over.
    Over(String),
    /// `until` leads round in a circle, or to the end.
    NotReached(String),
}

impl std::fmt::Display for WalkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WalkError::NotWaiting { phase, waiting } => {
                write!(f, "the run does not wait for `{phase}`; it waits for {}", waiting.join(", "))
            }
            WalkError::NotPossible { phase, signal, possible } => {
                write!(
                    f,
                    "`{phase}` cannot end with `{signal}` here; it can end with {}",
                    possible.join(", ")
                )
            }
            WalkError::WrongCount { phase, given, members } => {
                write!(f, "`{phase}` has {members} members, and {given} verdicts are given")
            }
            WalkError::NoSuchPhase { phase, remedy } => write!(f, "there is no phase `{phase}`: {remedy}"),
            WalkError::Paused => write!(f, "the run is paused: write `resume` first"),
            WalkError::Refused(refusal) => write!(f, "the kernel refuses it: {refusal}"),
            WalkError::Over(end) => write!(f, "the run is over: {end}"),
            WalkError::NotReached(phase) => write!(f, "`{phase}` is not reached by happy ends alone"),
        }
    }
}

impl std::error::Error for WalkError {}
