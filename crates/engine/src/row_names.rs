//! Names in table rows that one part of the engine writes and another part looks for.

/// The result of an operation that merged a task.
pub const MERGED: &str = "merged";

/// The prefix of the name of an evidence row about a revert; the id of the task follows.
pub const REVERT: &str = "revert-";

/// Precedes the name of a check in the name of its row.
pub const OLD_TESTS: &str = "old-tests:";

/// The row of the proof.
pub const PROOF: &str = "test-proof";
