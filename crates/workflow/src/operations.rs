//! The engine operations that a phase can `do`: what each ends with, changes and needs.

/// What a workflow has to know of an operation.
#[derive(Clone, Copy, Debug)]
pub struct OperationSpec {
    pub name: &'static str,
    pub about: &'static str,
    /// The happy one first.
    pub results: &'static [&'static str],
    /// It reports findings and test results, so it can find repetition and circles.
    pub judges: bool,
    /// Artifacts that it may change: the phase must write them.
    pub changes: &'static [&'static str],
    /// Artifacts that it looks at: the phase must read them.
    pub needs: &'static [&'static str],
    /// Lists that its result brings.
    pub lists: &'static [&'static str],
    /// Its result stands although it reads nothing.
    pub idempotent: bool,
    /// It puts the design's approach on the list of those that failed.
    pub records_approach: bool,
    /// It gives up the tasks that did not get through.
    pub gives_up: bool,
}

const PLAIN: OperationSpec = OperationSpec {
    name: "",
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

const fn op(name: &'static str, about: &'static str, results: &'static [&'static str]) -> OperationSpec {
    OperationSpec { name, about, results, ..PLAIN }
}

const fn judging(name: &'static str, about: &'static str) -> OperationSpec {
    OperationSpec { judges: true, needs: &["code"], ..op(name, about, &["passed", "failed"]) }
}

const fn changing(
    name: &'static str,
    about: &'static str,
    results: &'static [&'static str],
    changes: &'static [&'static str],
) -> OperationSpec {
    OperationSpec { changes, ..op(name, about, results) }
}

const fn needing(
    name: &'static str,
    about: &'static str,
    results: &'static [&'static str],
    needs: &'static [&'static str],
) -> OperationSpec {
    OperationSpec { needs, ..op(name, about, results) }
}

/// All operations, in the order of the reference.
pub const OPERATIONS: &[OperationSpec] = &[
    op(
        "prepare",
        "Looks at prerequisites, the checkout and the request, and makes the run's branch and work tree.",
        &["ready", "concerns", "refused"],
    ),
    op(
        "sanity",
        "Looks for everything that must stop a run on an issue before it starts.",
        &["clean", "refused"],
    ),
    OperationSpec {
        idempotent: true,
        changes: &["baseline"],
        ..op("baseline", "Tags the base and runs the checks on it.", &["recorded"])
    },
    judging("quick-checks", "Runs the checks that answer within seconds on a task's own tree."),
    judging("checks", "Runs the whole cascade and rules on the evidence."),
    judging("integrate", "Runs the whole cascade on the merged tree."),
    needing("merge", "Merges a task's change into the run's tree.", &["merged", "conflict"], &["code"]),
    OperationSpec {
        gives_up: true,
        ..changing(
            "take-back",
            "Takes back the changes of tasks that did not get through, and of those that need them.",
            &["reverted"],
            &["code"],
        )
    },
    op("bundle", "Writes the evidence bundle from the ledger.", &["done"]),
    op("commit", "Commits the run's work on the run's branch.", &["committed", "hook-refused"]),
    op("hand-over", "Leaves the work to the user, with the commands to take or discard it.", &["done"]),
    op(
        "log-defects",
        "Writes the defect log of the run, with the figures of earlier ones, from the ledger.",
        &["logged"],
    ),
    op(
        "start-issue",
        "Moves the issue to In Progress, in its file, the README and its parent.",
        &["started", "not-found"],
    ),
    needing("file-sub-issues", "Files all tasks but the first as sub-issues, once.", &["filed"], &["tasks"]),
    needing(
        "check-stubs",
        "Compiles the stubs and compares their signatures with the plan.",
        &["sound", "unsound"],
        &["code"],
    ),
    needing(
        "verify-red",
        "Runs the new tests and sees them fail for the expected reason.",
        &["red", "wrong-failure", "structural-only", "already-green"],
        &["tests"],
    ),
    needing(
        "entry-check",
        "Runs the whole suite before the code is written.",
        &["ready", "unfit"],
        &["tests"],
    ),
    changing(
        "write-manifest",
        "Writes down which task is built without tests, why, and who signed that off.",
        &["written"],
        &["manifest"],
    ),
    changing(
        "write-task-fix",
        "Writes the findings of a review, word for word, into a task file.",
        &["written"],
        &["task-fix"],
    ),
    changing(
        "apply-cosmetic",
        "Applies a reviewer's patch if the syntax trees stay the same.",
        &["applied", "not-cosmetic"],
        &["code"],
    ),
    op("close-issue", "Ticks criteria, files follow-ups and commits the tracker.", &["closed"]),
    op("comment-issue", "Writes into the issue why the run ended.", &["done"]),
    op("back-to-todo", "Moves the issue back to Todo.", &["done"]),
    op("discard-work-tree", "Removes the run's work tree.", &["done"]),
    changing(
        "look-back",
        "Takes up the findings of a revision that was approved in an earlier run on the ticket, with their design.",
        &["fresh", "revising"],
        &["design", "findings"],
    ),
    OperationSpec {
        records_approach: true,
        ..needing(
            "record-approach",
            "Puts the approach that failed on the ticket's list and counts the revision.",
            &["recorded"],
            &["findings"],
        )
    },
    OperationSpec {
        lists: &["gaps"],
        ..changing(
            "open-board",
            "Opens the gap board with the gaps that are given, if any.",
            &["empty", "given"],
            &["gaps"],
        )
    },
    changing(
        "record-decision",
        "Writes a human's decisions down; they bind the next round.",
        &["recorded", "undecided"],
        &["gaps", "decisions"],
    ),
    OperationSpec {
        lists: &["batches"],
        changes: &["gaps"],
        ..needing(
            "assign-gaps",
            "Gives the round its gaps, blocking ones first, in independent batches.",
            &["assigned", "review-owed", "all-blocked", "none-open"],
            &["gaps"],
        )
    },
    changing(
        "block-external",
        "Marks the gaps nobody can propose for as blocked from outside.",
        &["marked"],
        &["gaps"],
    ),
    changing(
        "close-round",
        "Moves the gaps on, puts accepted text into the specification and reckons the convergence of the round.",
        &["complete", "converging", "stalled", "warning", "diverging", "conflict", "waiting", "empty"],
        &["gaps", "spec"],
    ),
    OperationSpec {
        changes: &["gaps"],
        ..needing(
            "add-gaps",
            "Puts the gaps that the last look found on the board.",
            &["added"],
            &["last-look"],
        )
    },
    changing(
        "narrow-gaps",
        "Defers gaps of medium and low severity that block nothing.",
        &["narrowed"],
        &["gaps"],
    ),
    changing("accept-complexity", "Sets the count of stalled rounds back.", &["accepted"], &["gaps"]),
    changing("keep-best", "Goes on from the best round so far.", &["kept"], &["gaps", "spec", "decisions"]),
    OperationSpec {
        changes: &["gaps"],
        ..needing(
            "write-spec",
            "Closes the gaps, commits the final specification and writes its summary.",
            &["committed"],
            &["spec", "gaps"],
        )
    },
    needing(
        "write-draft",
        "Commits the specification as a draft and says what is open.",
        &["committed"],
        &["spec", "gaps"],
    ),
];

/// The operation of this name.
pub fn operation(name: &str) -> Option<&'static OperationSpec> {
    OPERATIONS.iter().find(|spec| spec.name == name)
}
