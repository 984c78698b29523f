//! The engine operations that a phase can `do`: their results, and the artifacts that they change and need.

use EngineOperation::*;
use remand_kernel::EngineOperation;

/// The properties of an operation that workflows depend on.
#[derive(Clone, Copy, Debug)]
pub struct OperationSpec {
    pub operation: EngineOperation,
    pub about: &'static str,
    /// The possible results, the success result first.
    pub results: &'static [&'static str],
    /// Whether it reports findings and test results, in which detectors can find repetition and circles.
    pub judges: bool,
    /// Artifacts that it may change. The phase must declare them in `writes`.
    pub changes: &'static [&'static str],
    /// Artifacts that it needs. The phase must declare them in `reads`.
    pub needs: &'static [&'static str],
    /// Lists that its result produces.
    pub lists: &'static [&'static str],
    /// Whether its result stays valid although it reads nothing.
    pub idempotent: bool,
    /// Whether it adds the design's approach to the list of failed ones.
    pub records_approach: bool,
    /// Whether it abandons the tasks that did not finish.
    pub gives_up: bool,
}

const NO_PROPERTIES: OperationSpec = OperationSpec {
    operation: Prepare,
    about: "",
    results: &[],
    judges: false,
    changes: &[],
    needs: &[],
    lists: &[],
    idempotent: false,
    records_approach: false,
    gives_up: false,
};

const fn op(
    operation: EngineOperation,
    about: &'static str,
    results: &'static [&'static str],
) -> OperationSpec {
    OperationSpec { operation, about, results, ..NO_PROPERTIES }
}

const fn judging(operation: EngineOperation, about: &'static str) -> OperationSpec {
    OperationSpec { judges: true, needs: &["code"], ..op(operation, about, &["passed", "failed"]) }
}

const fn changing(
    operation: EngineOperation,
    about: &'static str,
    results: &'static [&'static str],
    changes: &'static [&'static str],
) -> OperationSpec {
    OperationSpec { changes, ..op(operation, about, results) }
}

const fn needing(
    operation: EngineOperation,
    about: &'static str,
    results: &'static [&'static str],
    needs: &'static [&'static str],
) -> OperationSpec {
    OperationSpec { needs, ..op(operation, about, results) }
}

/// All operations, in the order of the reference.
pub const OPERATIONS: &[OperationSpec] = &[
    op(
        Prepare,
        "Checks prerequisites, the checkout and the request, and creates the run's branch and work tree.",
        &["ready", "concerns", "refused"],
    ),
    op(Sanity, "Looks for reasons not to start a run on the issue.", &["clean", "refused"]),
    OperationSpec {
        lists: &["areas"],
        ..changing(
            FocusAreas,
            "Lists the areas of research that a human named in the note of the last answer.",
            &["named", "none"],
            &["focus-areas"],
        )
    },
    OperationSpec {
        idempotent: true,
        changes: &["baseline"],
        ..op(Baseline, "Tags the base and runs the checks on it.", &["recorded"])
    },
    changing(
        TakeChange,
        "Puts the change that the run was given into its work tree, merged onto the base.",
        &["taken", "empty", "conflict"],
        &["code"],
    ),
    judging(QuickChecks, "Runs the checks that take only seconds, on the tree of a task."),
    judging(Checks, "Runs all checks and applies the evidence gate."),
    judging(Integrate, "Runs all checks on the merged tree."),
    needing(Merge, "Merges a task's change into the run's tree.", &["merged", "conflict"], &["code"]),
    OperationSpec {
        gives_up: true,
        ..changing(
            TakeBack,
            "Reverts the changes of tasks that did not finish, and of tasks that depend on them.",
            &["reverted", "nothing-left"],
            &["code"],
        )
    },
    changing(
        ProposeInstructions,
        "Applies the proposals of the knowledge role to a copy of the instruction files, for a human to approve.",
        &["none", "proposed"],
        &["proposals"],
    ),
    OperationSpec {
        changes: &["instructions"],
        ..needing(
            ApproveInstructions,
            "Makes the approved changes to instruction files part of the commit.",
            &["approved"],
            &["proposals"],
        )
    },
    op(Bundle, "Writes the evidence bundle from the ledger.", &["done"]),
    op(Commit, "Commits the run's work on the run's branch.", &["committed", "hook-refused"]),
    op(HandOver, "Leaves the work to the user, with the commands to accept or discard it.", &["done"]),
    op(
        LogDefects,
        "Writes the run's defect log from the ledger, with figures from earlier runs.",
        &["logged"],
    ),
    op(
        StartIssue,
        "Moves the issue to In Progress, in its file, the README and its parent.",
        &["started", "not-found"],
    ),
    needing(
        FileSubIssues,
        "Files all tasks except the first as sub-issues; a repetition files nothing twice.",
        &["filed"],
        &["tasks"],
    ),
    needing(
        CheckStubs,
        "Compiles the stubs and compares their signatures with the plan.",
        &["sound", "unsound"],
        &["code"],
    ),
    needing(
        VerifyRed,
        "Runs the new tests and verifies that they fail for the expected reason.",
        &["red", "wrong-failure", "structural-only", "already-green"],
        &["tests"],
    ),
    needing(EntryCheck, "Runs all tests before the code is written.", &["ready", "unfit"], &["tests"]),
    changing(
        WriteManifest,
        "Records which task is built without tests, why, and who approved that.",
        &["written"],
        &["manifest"],
    ),
    changing(
        WriteTaskFix,
        "Writes the findings of a review, word for word, into a task file.",
        &["written"],
        &["task-fix"],
    ),
    changing(
        ApplyCosmetic,
        "Applies a reviewer's patch if it does not change the syntax trees.",
        &["applied", "not-cosmetic"],
        &["code"],
    ),
    op(CloseIssue, "Ticks criteria, files follow-ups and commits the changes to the tracker.", &["closed"]),
    op(CommentIssue, "Adds a comment to the issue that explains why the run ended.", &["done"]),
    op(BackToTodo, "Moves the issue back to Todo.", &["done"]),
    op(DiscardWorkTree, "Removes the run's work tree.", &["done"]),
    changing(
        LookBack,
        "Restores the findings and the design of a revision that was approved in an earlier run on the ticket.",
        &["fresh", "revising"],
        &["design", "findings"],
    ),
    OperationSpec {
        records_approach: true,
        ..needing(
            RecordApproach,
            "Adds the failed approach to the ticket's list and counts the revision.",
            &["recorded"],
            &["findings"],
        )
    },
    OperationSpec {
        lists: &["gaps"],
        ..changing(
            OpenBoard,
            "Opens the gap board, with the given gaps, if any.",
            &["empty", "given"],
            &["gaps"],
        )
    },
    changing(
        RecordDecision,
        "Records a human's decisions; they bind the next round.",
        &["recorded", "undecided"],
        &["gaps", "decisions"],
    ),
    needing(
        JudgeProgress,
        "Reports whether the last round gave a warning that nobody has answered yet.",
        &["steady", "warning"],
        &["gaps"],
    ),
    OperationSpec {
        lists: &["batches"],
        changes: &["gaps"],
        ..needing(
            AssignGaps,
            "Assigns gaps to the round, blocking ones first, in independent batches.",
            &["assigned", "review-owed", "all-blocked", "none-open"],
            &["gaps"],
        )
    },
    changing(
        BlockExternal,
        "Blocks gaps that have no proposal because they depend on something external.",
        &["marked"],
        &["gaps"],
    ),
    changing(
        CloseRound,
        "Updates the gaps, adds accepted text to the specification and computes the convergence of the round.",
        &["complete", "converging", "stalled", "warning", "diverging", "conflict", "waiting", "empty"],
        &["gaps", "spec"],
    ),
    OperationSpec {
        changes: &["gaps"],
        ..needing(AddGaps, "Adds the gaps found by the last review to the board.", &["added"], &["last-look"])
    },
    changing(
        NarrowGaps,
        "Defers gaps of medium and low severity that block nothing.",
        &["narrowed"],
        &["gaps"],
    ),
    changing(AcceptComplexity, "Resets the count of stalled rounds.", &["accepted"], &["gaps"]),
    changing(
        KeepBest,
        "Continues with the best attempt at the last round.",
        &["kept"],
        &["gaps", "spec", "decisions"],
    ),
    OperationSpec {
        changes: &["gaps"],
        ..needing(
            WriteSpec,
            "Closes the gaps, commits the final specification and writes its summary.",
            &["committed"],
            &["spec", "gaps"],
        )
    },
    needing(
        WriteDraft,
        "Commits the specification as a draft and lists what is open.",
        &["committed"],
        &["spec", "gaps"],
    ),
];

/// The operation with this name.
pub fn operation(name: &str) -> Option<&'static OperationSpec> {
    name.parse().ok().and_then(spec)
}

/// The properties of this operation. A test checks that every operation has an entry.
pub fn spec(operation: EngineOperation) -> Option<&'static OperationSpec> {
    OPERATIONS.iter().find(|spec| spec.operation == operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_the_engine_has_one_entry() {
        let listed: Vec<EngineOperation> = OPERATIONS.iter().map(|spec| spec.operation).collect();
        assert_eq!(listed, EngineOperation::ALL);
    }
}
