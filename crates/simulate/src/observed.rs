//! What a ledger shows of a run that is over: the observations that parameters are fitted from.

use serde::Serialize;

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ObservedRun {
    pub workflow: String,
    /// The number of tasks of its plan; 0 without a plan.
    pub tasks: u16,
    pub dispatches: Vec<ObservedDispatch>,
    pub operations: Vec<ObservedOperation>,
    pub total_dispatches: u64,
    /// Micro-units of the currency; `None` if the cost of a dispatch is unknown.
    pub total_money: Option<u64>,
    pub total_tokens: Option<u64>,
    /// Milliseconds.
    pub total_time: u64,
}

/// One dispatch that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObservedDispatch {
    pub phase: String,
    pub task: Option<String>,
    pub visit: u16,
    pub advisory: bool,
    /// The verdict; `None` without a valid result.
    pub says: Option<String>,
    /// The kind of failure, by its name.
    pub failure: Option<String>,
    pub tokens: Option<u64>,
    pub money: Option<u64>,
    /// Milliseconds.
    pub time: Option<u64>,
}

/// One operation of the engine that ended with a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObservedOperation {
    pub phase: String,
    /// Whether the phase had run before, at the same task.
    pub is_repeated: bool,
    pub result: String,
}
