//! Orders: what a committed turn wants done in the world.

use remand_kernel::Command;
use remand_kernel::ids::CommandId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One thing to do. Every order can be performed again after a crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectOrder {
    /// Start a dispatch or an operation. Its ending comes back as a message.
    Start(CommandStart),
    /// Kill what this command started. Its ending still comes back.
    Stop { id: CommandId },
    /// Put the working tree of this cancelled command back; the process that started the command is gone.
    Restore { id: CommandId },
    /// Write down what a human wants to read before answering this question.
    PrepareQuestion { id: CommandId },
    /// The run is over: lay out what people will read, and release its working trees.
    Finish,
}

/// A dispatch or an operation to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandStart {
    pub id: CommandId,
    pub command: Command,
    pub issuance: Issuance,
    /// 1-based number of this start, counting the interruptions that the journal already holds.
    pub number: u64,
    /// How long to wait first, after failures of the environment.
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
