//! What the page and the terminal view show of runs, in the same order and in the same words.
//!
//! Everything is read from ledgers; nothing here holds the state of a run or decides. What a person asks of a run goes
//! through the one door.

mod door;
mod problem;
mod repository;
mod site;

pub mod progress;
mod pulse;
mod words;

mod lanes;
mod list;
mod marks;
mod sight;
mod transcript;

pub use door::{GivenAnswer, RunDoor};
pub use lanes::{LaneBar, LaneBarKind, LaneBarSource, lane_bars};
pub use list::{ListedRun, RunGroup, RunList, UnreadState};
pub use marks::run_marks;
pub use problem::ViewProblem;
pub use pulse::{Pulse, Watched};
pub use repository::RepositoryState;
pub use sight::{OpenGate, RunSight, flags_of};
pub use site::RunSite;
pub use transcript::{Transcript, transcript};
pub use words::{cost, given_answer, of_task};
