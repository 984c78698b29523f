//! Names in table rows that one part of the engine writes and another part looks for.

/// The result of an operation that merged a task.
pub const MERGED: &str = "merged";

/// Prefix of the name of the check after a revert, before the task.
pub const REVERT: &str = "revert-";
