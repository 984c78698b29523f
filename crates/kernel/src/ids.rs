//! The ids of the kernel: indexes into the lists of a program, and command ids derived from the position in the run.

use serde::{Deserialize, Serialize};

pub use crate::name::NotACommandId;

macro_rules! dense_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u16);

        impl $name {
            /// The id as an index.
            pub fn index(self) -> usize {
                usize::from(self.0)
            }
        }
    )*};
}

dense_id! {
    /// A phase, by its position in the file; the phases of a sub-flow follow the phase that owns it.
    PhaseId;
    /// A signal name of the program.
    SignalId;
    /// A budget, declared or made from `rounds`.
    BudgetId;
    /// An artifact.
    ArtifactId;
    /// A flag that phases set and conditions read.
    FlagId;
    /// A list of items, such as the tasks of a plan.
    ListId;
    /// A role's contract in one of the role's modes.
    ContractId;
    /// An engine operation.
    OperationId;
}

/// Where work happens: on the main line of the flow, or in the sub-flow of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    Main,
    /// The task at this position of its list, in the batch with this number.
    Task {
        batch: u16,
        index: u16,
    },
}

/// Identifies one command by its position in the run, so a repeated command is recognised as the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId {
    pub phase: PhaseId,
    pub lane: Lane,
    /// 1-based number of this entry into the phase on this lane.
    pub visit: u16,
    /// Which member of the phase: an item, a panel seat, a failure operation.
    pub seat: u16,
    /// 1-based number of the dispatch on this seat in this visit.
    pub attempt: u16,
}
