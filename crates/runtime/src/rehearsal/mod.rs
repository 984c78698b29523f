//! Scripted agents: a file says what each dispatch does, and a real process does it.
//!
//! For demos, tests and teaching, and for bug reports: any run can be recorded as a rehearsal. The format is
//! described in `docs/guide/rehearsals.md`.

mod action;
mod content;
mod dispatch;
mod fault;
mod header;
mod perform;
mod play;
mod recording;
mod script;
mod usage;

pub use action::{Action, Always, Base64, Link, Mode, ModeChange, Outage, Pause, Replacement};
pub use content::{Content, FileContent};
pub use dispatch::{DISPATCH, DispatchInfo, InfoError};
pub use fault::ScriptError;
pub use header::completed;
pub use perform::{Ending, FAILED, NO_ENTRY, OUTAGE, missing, perform};
pub use play::play;
pub use recording::{Change, Recorded, Recording, RecordingError};
pub use script::{Entry, OnFailure, Script};
pub use usage::{Kinds, Money, Tokens, Usage};

#[cfg(test)]
mod play_tests;
#[cfg(test)]
mod recording_tests;
#[cfg(test)]
mod script_tests;
