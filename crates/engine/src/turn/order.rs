//! Orders: the effects to perform once a turn is committed.

use remand_kernel::Command;
use remand_kernel::ids::CommandId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One effect to perform. Every order can be performed again after a crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectOrder {
    /// Start a dispatch or an operation. Its ending comes back as a message.
    Start(CommandStart),
    /// Kill the processes of this command. Its ending still comes back as a message.
    Stop { id: CommandId },
    /// Restore the working tree of this cancelled command; the process that started the command is gone.
    Restore { id: CommandId },
    /// Write the files that a human reads before answering this question.
    PrepareQuestion { id: CommandId },
    /// The run is over: write its files for people, and release its working trees.
    Finish,
}

/// A dispatch or an operation to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandStart {
    pub id: CommandId,
    pub command: Command,
    pub issuance: Issuance,
    /// The number of this start: one more than the interruptions in the journal.
    pub number: u64,
    /// How long to wait before the start, after failures of the environment.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub wait: Duration,
}

/// Whether a command was started before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Issuance {
    First,
    /// The command was open when another process stopped driving the run.
    Again,
}
