//! What the kernel asks the host to do. Performing a command twice is harmless.

use crate::change::{Approach, Digest};
use crate::end::End;
use crate::ids::{ArtifactId, BudgetId, CommandId, ContractId, OperationId, SignalId};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One action that the host performs.
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
    /// Kill what this command started and restore its tree.
    Cancel {
        id: CommandId,
    },
    /// Reset these artifacts to the run's base.
    Discard {
        artifacts: Vec<ArtifactId>,
    },
    /// Restore these versions of these artifacts; nothing is deleted.
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
    /// The contract of the phase that failed, if the agent of that phase must do this dispatch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<ContractId>,
    /// The list item that the dispatch is for: a focus, a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub advisory: bool,
    /// The exact versions that the dispatch reads.
    pub reads: Vec<(ArtifactId, Digest)>,
    /// Findings addressed to this phase, as indexes into the run's list of findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<u32>,
    /// Known issues: open findings that do not stop the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<u32>,
    /// The number of earlier failures on this seat; the host derives the back-off from it.
    pub failures: u16,
}

/// A gate: a question to a human. Waiting for the answer costs nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub id: CommandId,
    pub kind: QuestionKind,
    /// The options that can be chosen now.
    pub options: Vec<SignalId>,
    /// Options of the workflow that are not offered now, with the empty budget if that is the reason.
    pub withheld: Vec<(SignalId, Option<BudgetId>)>,
    pub default: Option<SignalId>,
    /// The approaches that failed before, shown to the human.
    pub approaches: Vec<Approach>,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionKind {
    /// A phase of the workflow.
    Phase,
    /// The kernel, which asks whether to continue or stop.
    Hold(String),
    /// The kernel, which asks whether the phases named by the findings injected the defects.
    Origin,
}

impl Command {
    /// The id, if an event answers the command.
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
