//! The keys of workflow, role and walk files with their meanings, for the reference.

/// A key, the form of its value, and its meaning.
pub type KeyDoc = (&'static str, &'static str, &'static str);

pub const WORKFLOW_KEYS: &[KeyDoc] = &[
    ("name", "a name", "The name of the workflow."),
    ("about", "a sentence", "What it is for."),
    ("subject", "a name", "What a run is about; also the artifact that exists from the start."),
    ("flags", "`NAME: meaning`", "Facts that phases set and conditions test. A flag is initially not set."),
    ("injects", "a list of phases", "The phases that a finding may name as its origin."),
    (
        "confirm-origin",
        "`true`",
        "In interactive mode, a human confirms or changes the origin before `remand injector` is followed. The routes and bounds are the same.",
    ),
    ("budgets", "`NAME: BUDGET`", "Counters that limit how often work is sent back."),
    (
        "defaults",
        "`SIGNAL: ROUTE [except PHASE, …]`, `retries: N`",
        "Routes for signals that phases do not route themselves. A phase must be listed as an exception if and only if it has its own route.",
    ),
    ("phases", "`NAME: keys`", "The phases, in the order of the flow."),
    (
        "failure",
        "a list of operations",
        "The operations to perform when the run fails or is cancelled, in this order.",
    ),
    ("guarantees", "a list of guarantees", "What is proven for every path before anything runs."),
];

pub const PHASE_KEYS: &[KeyDoc] = &[
    ("role", "a role, or `ROLE/MODE`", "One dispatch in this role; with `each`, one for each item."),
    ("as", "`caller`", "The agent of the phase that led here takes this role."),
    (
        "each",
        "`[a, b]`, or the name of a list",
        "The items: with `role`, one dispatch each, in parallel; with `phases`, one sub-flow each, in dependency order.",
    ),
    ("up-to", "a number", "The maximum number of items of the list that are processed."),
    ("phases", "`NAME: keys`", "The sub-flow of one item."),
    ("at-once", "a number", "How many sub-flows run in parallel; 4 by default."),
    ("tally", "`SIGNAL: ROW`", "How the members' signals are combined into one: the first row that holds."),
    ("quorum", "a number", "How many results are enough; by default, all members must give one."),
    ("diverse", "`true`", "Members should run on different models; if they do not, that is a degradation."),
    ("panel", "a list of roles", "Roles with a veto: the most severe verdict counts."),
    (
        "advisors",
        "a list of roles",
        "Roles whose results are only recorded; never a reason for another round.",
    ),
    ("do", "an operation", "Something that the engine does itself, without a dispatch."),
    (
        "ask",
        "a question",
        "A question to a human. Without `mode` it is asked in every mode and waits without limit.",
    ),
    (
        "mode",
        "`interactive`",
        "The question is asked only in interactive runs; otherwise its default applies and is recorded.",
    ),
    ("default", "an option", "The answer of an autonomous run."),
    (
        "options",
        "a list of `NAME` or `NAME if CONDITION`",
        "The answers; each has a route in `on`. An option is not offered if its budget is empty and nothing replaces its route.",
    ),
    (
        "reads",
        "artifacts",
        "The artifacts that the phase reads. Its result stays valid while none of them changes and no finding is addressed to the phase. `everything` stands for all artifacts and for every result of the run.",
    ),
    ("may-read", "artifacts", "Like `reads`, for artifacts that may not exist yet."),
    ("writes", "artifacts", "The artifacts that the phase writes."),
    (
        "discards",
        "artifacts",
        "The artifacts that are reset to the run's base when work is sent back to this phase.",
    ),
    ("sets", "flags", "The flags that the phase's result may set."),
    ("when", "a condition", "The phase is skipped unless the condition holds."),
    (
        "aside",
        "`true`",
        "Runs only when a route names it: `next` skips it. Its own `next` leads to the phase after it in the file.",
    ),
    (
        "rounds",
        "a number",
        "How often the phase may run each time it is entered; a route back spends a round with `spending round`, and the route for `spent` decides what happens after the last round.",
    ),
    ("repeats", "a number", "How often a finding must be reported to count as repeated; 2 by default."),
    ("retries", "a number", "How often one dispatch is repeated after a failure. Retries spend no budget."),
    ("status", "a string", "The subject's status while the phase runs."),
    ("checkpoint", "`true`", "A round that can be rolled back starts here."),
    (
        "afresh",
        "`true`",
        "When the phase runs again, it starts from nothing: it does not get its own earlier work.",
    ),
    (
        "on",
        "`SIGNAL: ROUTE`",
        "Where each signal leads. A detector can be combined with the verdict it comes with: `repeated VERDICT`.",
    ),
];

pub const ROLE_KEYS: &[KeyDoc] = &[
    ("about", "a sentence", "What the role does."),
    ("says", "a list of verdicts", "The success verdict first, then from mild to severe."),
    ("mild", "a verdict", "It counts as the success verdict when all its findings are minor."),
    ("findings", "`true`", "The role reports findings. Each needs a location and evidence."),
    (
        "by-kind",
        "`true`",
        "A rejecting verdict becomes the signal of the earliest kind among the findings: `plan-finding`, `test-finding`, `production-finding`, `cosmetic-finding`. Each finding needs a kind.",
    ),
    ("changes", "artifacts", "The artifacts that it may change."),
    ("states-approach", "`true`", "Its result states the design's approach."),
    ("guarded", "`true`", "The approach in its result is compared with those that failed before."),
    (
        "delta",
        "`true`",
        "Its result changes only the parts of a design that its findings cite; the engine verifies that.",
    ),
    ("lists", "lists", "The lists that its result produces, such as `tasks`."),
    (
        "judges",
        "a list of criteria",
        "The criteria that each of its results must judge, with a location; its result is a `verdict`.",
    ),
    (
        "needs",
        "a list of needs",
        "What it must be given on every way in: an artifact, `A or B`, `A if any`, `report of ROLE`, `report of author`, `evidence`, `own work`, `reason`, or `everything`. `subject` stands for what the run works on, whatever its name; in `A or subject`, it does not count if some phase writes `A`. A406 proves that each workflow supplies it.",
    ),
    ("result", "the name of a result", "The schema of its result; `completion-contract` by default."),
    ("time", "minutes", "How long one dispatch may take; 30 by default."),
    (
        "may-write",
        "a list of write permissions",
        "Where it may write. Its report is always included; with nothing else, the role is read-only.",
    ),
    ("shell", "`false`", "It may not run commands; by default it may."),
    ("tree", "`false`", "It sees only the documents it is given; by default it also sees the work tree."),
    ("network", "`true`", "It may use the network; by default it may not."),
    (
        "remembers",
        "`true`",
        "It continues its session when its work is sent back; by default it starts a new one.",
    ),
    ("model", "a name", "Its model, as its agent names it; the configuration takes precedence."),
    (
        "modes",
        "`NAME: keys`",
        "Other contracts of the same role, named `ROLE/MODE`. A mode declares its own verdicts, findings and changes; it inherits `result`, `time`, `may-write`, `shell`, `tree`, `network`, `remembers` and `model` unless it sets them.",
    ),
];

/// Budgets, conditions, tallies and guarantees by example.
pub const PHRASES: &[(&str, &[(&str, &str)])] = &[
    (
        "Budgets",
        &[
            (
                "`1 per run, then fail`",
                "can be spent once in a run; after that, the route is replaced by `fail`",
            ),
            ("`2 per subject`", "counted over all runs on the same subject"),
            (
                "`9 per design-review, then to stuck`",
                "refilled whenever work is sent back to `design-review` or an earlier phase",
            ),
            (
                "`10 or gaps / 2 rounds per run, then to out-of-rounds`",
                "the greater of 10 and half the list, fixed when the list is first known; the first round is free",
            ),
        ],
    ),
    (
        "Conditions",
        &[
            ("`tasks > 1`", "the length of a list"),
            ("`confidence >= medium`", "`low`, `medium`, `high`"),
            ("`mode is interactive`", "`autonomous`, `interactive`"),
            ("`risk = red`", "`green`, `yellow`, `red`"),
            ("`plan-rework > 0`", "what is left of a budget"),
            ("`new-symbols`, `not new-symbols`", "a flag"),
            ("`tasks > 1 and new-symbols`", "both"),
        ],
    ),
    (
        "Tallies",
        &[
            ("`any blocker`", "at least one member returned it"),
            ("`all approve`", "every member returned it"),
            ("`2 of 3 approve`", "at least two of the three returned it"),
            ("`otherwise`", "the last row"),
        ],
    ),
    (
        "Guarantees",
        &[
            (
                "`no commit unless verify passed since change of code`",
                "whenever `commit` runs, `verify` has ended with `passed`, and `code` was not written since",
            ),
            ("`no commit after blockers`", "once the run continued `with blockers`, `commit` never runs"),
            (
                "`no commit after review security-blocker unless review`",
                "whenever `commit` runs, the last `review` did not end with `security-blocker`",
            ),
            ("`knowledge always leads to done`", "once `knowledge` ran, the run ends with `done`"),
            (
                "`happy path 14 + 2 per task dispatches`",
                "exactly this many when every phase ends with its first signal",
            ),
            (
                "`never more than 42 + 48 per task dispatches`",
                "at most this many in any mode, not counting retries",
            ),
            (
                "`…, when tasks > 1`",
                "applies only to more than one task; `when gaps <= 20` only to short lists",
            ),
        ],
    ),
];

/// The keys of a walk file.
pub const WALK_KEYS: &[KeyDoc] = &[
    ("workflow", "a name or a file", "The workflow to walk through."),
    ("mode", "`autonomous` or `interactive`", "Autonomous by default."),
    ("tasks", "a number, ids, or `{id, needs, files, spec}`", "The tasks that planning produces."),
    ("gaps", "like `tasks`", "The gaps that an inventory produces."),
    ("batches", "like `tasks`", "The batches in which gaps are assigned."),
    ("flags", "`NAME: true`", "Flags that are set from the start."),
    ("spent", "`BUDGET: N`", "What earlier runs on the subject spent."),
    ("approaches", "strings", "Approaches that failed in earlier runs."),
    (
        "happens",
        "a list",
        "`PHASE: SIGNAL`, `TASK/PHASE: SIGNAL` or `PHASE: [VERDICT, …]` with details; `until: PHASE` and `finish` (everything succeeds); `pause`, `resume`, `cancel`; `hold: go-on` or `hold: stop`; `roll-back: N` to the start of round N, at a question or while paused; `remove-approach: N`.",
    ),
];

pub const WALK_ENTRY_KEYS: &[KeyDoc] = &[
    (
        "findings",
        "`{id, claim, severity, category, kind, place, symbol, injected-by, task, patch, repeats}`",
        "What a reviewer found. `severity` is minor, major (default), critical or blocker; `category` security, correctness (default), performance, maintainability or design; `kind` plan, test, production or cosmetic. With several members, the finding belongs to those who object.",
    ),
    ("changes", "`FILE: {removed: […], added: […]}`", "What was changed; the detectors check it."),
    ("tree", "a string", "Represents the tree after the change; equal strings mean equal trees."),
    ("hypothesis", "a string", "What the agent was trying."),
    ("tests", "`NAME: passed|failed|flaky`", "Test results."),
    ("approach", "a string, with `decisions`", "The approach of a design or a proposal."),
    ("tasks", "like `tasks` of a walk", "Another list of tasks."),
    ("flags", "`NAME: true`", "Flags that the result or the answer sets."),
    ("models", "strings", "The models that the members ran on."),
    ("unchanged", "`true`", "The phase wrote only what was already there."),
    ("disputes", "`true`", "The phase disputes its findings instead of changing something."),
    ("by", "a name", "Who answered."),
    ("note", "a string", "The note with the answer."),
];
