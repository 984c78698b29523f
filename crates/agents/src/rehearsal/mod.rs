//! Scripted agents: a file describes what each dispatch does, and a real process does it.
//!
//! Rehearsals serve demonstrations, tests and bug reports: any run can be recorded as one. The format is described in
//! `docs/reference/rehearsals.md`.

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

pub use action::{
    Base64, FileMode, ModeChange, OnlyTrue, Outage, Pause, Replacement, ScriptAction, ScriptedLink,
};
pub use content::{FileContent, ScriptedContent};
pub use dispatch::{DISPATCH, DispatchInfo, InfoError};
pub use fault::ScriptError;
pub use header::fill_in_header;
pub use perform::{FAILED, NO_ENTRY, OUTAGE, PlayEnding, missing_entry, perform};
pub use play::play;
pub use recording::{RecordedChange, RecordedDispatch, Recording, RecordingError};
pub use script::{OnFailure, Script, ScriptEntry};
pub use usage::{Money, ScriptedTokenKinds, ScriptedTokens, ScriptedUsage};

#[cfg(test)]
mod play_tests;
#[cfg(test)]
mod recording_tests;
#[cfg(test)]
mod script_tests;
