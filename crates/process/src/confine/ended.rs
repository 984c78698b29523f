//! How a confined program ended.

use rustix::process::WaitStatus;
use serde::{Deserialize, Serialize};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProgramEnd {
    Code(i32),
    Signal(i32),
}

impl From<WaitStatus> for ProgramEnd {
    fn from(status: WaitStatus) -> ProgramEnd {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => ProgramEnd::Code(code),
            (None, Some(signal)) => ProgramEnd::Signal(signal),
            (None, None) => ProgramEnd::Code(1),
        }
    }
}
