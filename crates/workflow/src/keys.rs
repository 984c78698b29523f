//! The keys of a workflow file with what they mean, for the reference.

/// A key, the form of its value, and its meaning.
pub type KeyDoc = (&'static str, &'static str, &'static str);

pub const WORKFLOW_KEYS: &[KeyDoc] = &[
    ("name", "a name", "How the workflow is called."),
    ("about", "a sentence", "What it is for."),
    ("subject", "a name", "What a run is about; also the artifact that is there from the start."),
    ("flags", "`NAME: meaning`", "Facts that phases set and conditions look at. A flag is not set at first."),
    ("injects", "a list of phases", "The phases that a finding may name as its origin."),
    ("budgets", "`NAME: BUDGET`", "Counters that bound the ways back."),
    (
        "defaults",
        "`SIGNAL: ROUTE [except PHASE, …]`, `retries: N`",
        "Routes for signals that phases do not route themselves. An exception is listed if and only if the phase has its own route.",
    ),
    ("phases", "`NAME: keys`", "The steps. Their order is the order of the flow."),
    ("failure", "a list of operations", "What is done when the run fails or is cancelled, in this order."),
    ("guarantees", "a list of guarantees", "What is proven of every path before anything runs."),
];

pub const PHASE_KEYS: &[KeyDoc] = &[
    ("role", "a role, or `ROLE/MODE`", "One dispatch in this role; with `each`, one for each item."),
    ("as", "`caller`", "The agent of the phase that led here speaks in the role."),
    (
        "each",
        "`[a, b]`, or the name of a list",
        "The items: with `role` one dispatch each at the same time, with `phases` a sub-flow each in dependency order.",
    ),
    ("up-to", "a number", "At most so many items of a list are worked on."),
    ("phases", "`NAME: keys`", "The sub-flow of one item."),
    ("at-once", "a number", "So many sub-flows run at the same time; 4 if nothing is said."),
    ("tally", "`SIGNAL: ROW`", "How the members' signals become one: the first row that holds."),
    ("quorum", "a number", "So many results are enough; without it all members must have one."),
    (
        "diverse",
        "`true`",
        "Members should run on different models; where they do not, that is a degradation.",
    ),
    ("panel", "a list of roles", "Roles with a veto: the gravest verdict counts."),
    ("advisors", "a list of roles", "Heard and recorded; never a reason for another round."),
    ("do", "an operation", "Something that the engine does itself; it costs no dispatch."),
    (
        "ask",
        "a question",
        "A question to a human. Without `mode` it is asked in every mode and waits for ever.",
    ),
    (
        "mode",
        "`interactive`",
        "The question is asked only when somebody is there; otherwise its default is taken and recorded.",
    ),
    ("default", "an option", "The answer of an autonomous run."),
    (
        "options",
        "a list of `NAME` or `NAME if CONDITION`",
        "The answers; each has a route in `on`. An option whose budget is empty and that nothing replaces is not offered.",
    ),
    (
        "reads",
        "artifacts",
        "What the phase reads. Its result stands while none of them changes and no finding is addressed to it.",
    ),
    ("may-read", "artifacts", "The same, but they need not have been written."),
    ("writes", "artifacts", "What the phase writes."),
    ("discards", "artifacts", "What goes back to the run's base when work is sent back to this phase."),
    ("sets", "flags", "The flags that the phase's result may set."),
    ("when", "a condition", "The phase is passed by unless the condition holds."),
    (
        "aside",
        "`true`",
        "Reached by name only: `next` passes it by, and `next` from it goes on in the order of the file.",
    ),
    (
        "rounds",
        "a number",
        "How often the phase may run for one entry; `spending round` pays for a way back, `spent` says what happens after the last.",
    ),
    (
        "repeats",
        "a number",
        "How often a finding must be reported to count as repeated; 2 if nothing is said.",
    ),
    ("retries", "a number", "How often one dispatch is repeated after a failure. Retries spend no budget."),
    ("status", "a text", "What the subject's status says meanwhile."),
    ("checkpoint", "`true`", "A round begins here that can be rolled back."),
    (
        "on",
        "`SIGNAL: ROUTE`",
        "Where each signal leads. A detector can be told apart by the verdict it comes with: `repeated VERDICT`.",
    ),
];

pub const ROLE_KEYS: &[KeyDoc] = &[
    ("about", "a sentence", "What the role does."),
    ("says", "a list of verdicts", "The happy one first, then from mild to grave."),
    ("mild", "a verdict", "It counts as the happy one when all its findings are minor."),
    ("findings", "`true`", "The role reports findings."),
    (
        "by-kind",
        "`true`",
        "A rejecting verdict becomes the earliest kind among the findings: `plan-finding`, `test-finding`, `production-finding`, `cosmetic-finding`.",
    ),
    ("changes", "artifacts", "What its permissions let it change."),
    ("states-approach", "`true`", "Its result states the approach that the design takes."),
    ("guarded", "`true`", "The approach in its result is held against those that failed before."),
    (
        "delta",
        "`true`",
        "Its result changes what the findings it reads cite in a design, and nothing else; the engine compares.",
    ),
    ("lists", "lists", "The lists that its result brings, such as `tasks`."),
    (
        "judges",
        "a list of criteria",
        "What every result of it must judge, each by this id, with a place; its result is a `verdict`.",
    ),
    (
        "result",
        "the name of a result",
        "The schema that its result must fit; `completion-contract` if nothing is said.",
    ),
    ("time", "minutes", "How long one dispatch may take; 30 if nothing is said."),
    (
        "may-write",
        "a list of places",
        "Where it may write. Its report is always among them; with nothing else the role is read-only.",
    ),
    ("shell", "`false`", "It runs no commands; it may if nothing is said."),
    (
        "tree",
        "`false`",
        "It sees the documents that it is given and no work tree; it does if nothing is said.",
    ),
    ("network", "`true`", "It may use the network; it may not if nothing is said."),
    (
        "remembers",
        "`true`",
        "It goes on with its session when its work comes back; it begins a new one if nothing is said.",
    ),
    ("model", "a name", "The model for it, as its agent names it; the configuration comes before."),
    (
        "modes",
        "`NAME: keys`",
        "Other contracts of the same role, named `ROLE/MODE`. A mode says anew what it says, reports and changes; `result`, `time`, `may-write`, `shell`, `tree`, `network`, `remembers` and `model` hold on unless it says otherwise.",
    ),
];

/// Budgets, conditions, tallies and guarantees by example.
pub const PHRASES: &[(&str, &[(&str, &str)])] = &[
    (
        "Budgets",
        &[
            ("`1 per run, then fail`", "spent once in a run; afterwards the route is replaced by `fail`"),
            ("`2 per subject`", "counted over all runs on the same subject"),
            (
                "`9 per design-review, then to stuck`",
                "full again whenever work is sent back to `design-review` or before it",
            ),
            (
                "`10 or gaps / 2 rounds per run, then to out-of-rounds`",
                "the greater of 10 and half the list, fixed when the list is first known; of rounds the first costs nothing",
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
            ("`any blocker`", "at least one member said it"),
            ("`all approve`", "every member said it"),
            ("`2 of 3 approve`", "at least two of the three said it"),
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
            (
                "`no commit after blockers`",
                "once something went on `with blockers`, `commit` does not run any more",
            ),
            (
                "`no commit after review security-blocker unless review`",
                "the same, until `review` ended in another way",
            ),
            ("`knowledge always leads to done`", "once `knowledge` ran, the run ends with `done`"),
            (
                "`happy path 14 + 2 per task dispatches`",
                "exactly so many when every phase ends with its first signal",
            ),
            (
                "`never more than 42 + 48 per task dispatches`",
                "at most so many in any mode, retries not counted",
            ),
            ("`…, when tasks > 1`", "claimed for more than one task only; `when gaps <= 20` for short lists"),
        ],
    ),
];

/// The keys of a walk file.
pub const WALK_KEYS: &[KeyDoc] = &[
    ("workflow", "a name or a file", "The workflow to walk through."),
    ("mode", "`autonomous` or `interactive`", "Autonomous if nothing is said."),
    ("tasks", "a number, ids, or `{id, needs, files, spec}`", "The tasks that planning brings."),
    ("gaps", "the same", "The gaps that an inventory brings."),
    ("batches", "the same", "The batches that gaps are assigned in."),
    ("flags", "`NAME: true`", "Flags that are set from the start."),
    ("spent", "`BUDGET: N`", "What earlier runs on the subject spent."),
    ("approaches", "texts", "Approaches that failed in earlier runs."),
    (
        "happens",
        "a list",
        "`PHASE: SIGNAL`, `TASK/PHASE: SIGNAL` or `PHASE: [VERDICT, …]` with details; `until: PHASE` and `finish` (all ends happily); `pause`, `resume`, `cancel`; `hold: go-on` or `hold: stop`; `roll-back: N` to the start of round N, at a question or while paused; `remove-approach: N`.",
    ),
];

pub const HAPPENING_KEYS: &[KeyDoc] = &[
    (
        "findings",
        "`{id, claim, severity, category, kind, place, symbol, injected-by, task, patch, repeats}`",
        "What a reviewer found. `severity` is minor, major (if nothing is said), critical or blocker; `category` security, correctness (if nothing is said), performance, maintainability or design; `kind` plan, test, production or cosmetic. Of several members it belongs to those who object.",
    ),
    ("changes", "`FILE: {removed: […], added: […]}`", "What was changed; detectors look at it."),
    ("tree", "a text", "Stands for the tree after the change; equal texts are equal trees."),
    ("hypothesis", "a text", "What the agent was trying."),
    ("tests", "`NAME: passed|failed|flaky`", "Test results."),
    ("approach", "a text, with `decisions`", "The approach of a design or a proposal."),
    ("tasks", "as above", "Another list of tasks."),
    ("flags", "`NAME: true`", "Flags that the result or the answer sets."),
    ("models", "texts", "The models that the members ran on."),
    ("unchanged", "`true`", "The phase wrote what was there already."),
    ("disputes", "`true`", "The phase answers its findings instead of changing something."),
    ("by", "a name", "Who answered."),
    ("note", "a text", "What was said with it."),
];
