//! What the kernel asks of the host, in the imperative; every command is idempotent by its id.

use crate::change::{Approach, Digest};
use crate::ids::{ArtifactId, BudgetId, CommandId, ContractId, OperationId, SignalId};
use crate::state::End;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One thing for the host to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    Dispatch(Dispatch),
    Operate {
        id: CommandId,
        operation: OperationId,
        #[serde(skip_serializing_if = "Option::is_none")]
        task: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<u32>,
    },
    Ask(Question),
    /// Kill what this command started and put its tree back.
    Cancel {
        id: CommandId,
    },
    /// Put these artifacts back to the run's base.
    Discard {
        artifacts: Vec<ArtifactId>,
    },
    /// Put these artifacts back to these versions; nothing is deleted.
    Restore {
        round: u16,
        versions: Vec<(ArtifactId, Digest)>,
    },
    /// The run is over; nothing follows.
    Finish {
        end: End,
    },
}

/// One invocation of an agent in a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    pub id: CommandId,
    pub contract: ContractId,
    /// The role of the agent closest to the failure, where that one must speak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<ContractId>,
    /// The item of the list: a focus, a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub advisory: bool,
    /// The exact versions that the dispatch reads.
    pub reads: Vec<(ArtifactId, Digest)>,
    /// Findings addressed to this phase, as positions in the run's list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<u32>,
    /// Open findings that the work goes on with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<u32>,
    /// How many failures came before on this seat; the host backs off by it.
    pub failures: u16,
}

/// A gate: a question that waits for a human at no cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub id: CommandId,
    pub kind: QuestionKind,
    /// The options that can be followed now.
    pub options: Vec<SignalId>,
    /// Options that are written but not offered, with the budget that is empty, if that is why.
    pub withheld: Vec<(SignalId, Option<BudgetId>)>,
    pub default: Option<SignalId>,
    /// The approaches that failed before, for the human to see.
    pub approaches: Vec<Approach>,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionKind {
    /// A phase of the workflow.
    Phase,
    /// The kernel itself: go on, or stop.
    Hold(String),
}

impl Command {
    /// The id, for commands that are answered by an event.
    pub fn id(&self) -> Option<CommandId> {
        match self {
            Command::Dispatch(dispatch) => Some(dispatch.id),
            Command::Operate { id, .. } => Some(*id),
            Command::Ask(question) => Some(question.id),
            Command::Cancel { .. }
            | Command::Discard { .. }
            | Command::Restore { .. }
            | Command::Finish { .. } => None,
        }
    }
}
