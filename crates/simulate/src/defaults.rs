//! The parameters of a simulation with their default values, and what each value rests on.

use ParameterUnit::{Count, Factor, Money, Probability, Seconds, Tokens};

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterUnit {
    /// From 0 to 1.
    Probability,
    /// A mean number of things.
    Count,
    /// A multiplier, an exponent or a deviation.
    Factor,
    Seconds,
    Tokens,
    /// Units of the currency.
    Money,
}

/// A parameter with its default.
#[derive(Clone, Copy, Debug)]
pub struct DefaultValue {
    pub key: &'static str,
    pub value: f64,
    pub unit: ParameterUnit,
    pub about: &'static str,
    /// The publication or figure that the value comes from; an assumption says why it is plausible.
    pub source: &'static str,
}

const fn row(
    key: &'static str,
    value: f64,
    unit: ParameterUnit,
    about: &'static str,
    source: &'static str,
) -> DefaultValue {
    DefaultValue { key, value, unit, about, source }
}

const TSP: &str =
    "TSP plan of the Process Dashboard: .25, .25, .75, 2 and .067 defects per hour; only the ratios are used";
const ASSUMED: &str = "assumption";
const REVIEWED: &str = "TSP plan of the Process Dashboard: reviews find .70 of the defects";
const TESTED: &str = "TSP plan of the Process Dashboard: compiling finds .50, testing .50 of the rest";
const SEEDED: &str = "no_human: 15 of 19 seeded defects found";
const REJECTED: &str = "no_human: 3 of 10 good changes rejected, an interval of .07 to .65; near its lower end, as \
                        several reviews look at each change";

/// Every parameter, in the order in which it is printed.
pub const DEFAULTS: &[DefaultValue] = &[
    row("tasks", 3.0, Count, "tasks of a plan", ASSUMED),
    row("tasks.need", 0.3, Probability, "a task needs the one before it", ASSUMED),
    row("size", 60.0, Count, "lines that a task changes", ASSUMED),
    row("size.spread", 0.8, Factor, "deviation of the logarithm of the size", ASSUMED),
    row(
        "inject.requirements",
        0.25,
        Count,
        "defects from writing requirements for a task of usual size",
        TSP,
    ),
    row("inject.plan", 0.25, Count, "defects from planning one", TSP),
    row("inject.design", 0.75, Count, "defects from designing one", TSP),
    row("inject.code", 2.0, Count, "defects from coding one", TSP),
    row("inject.tests", 0.067, Count, "defects from writing tests for one", TSP),
    row("inject.scale", 0.5, Factor, "multiplies all of them: hours of a person for one dispatch", ASSUMED),
    row("severity.minor", 0.4, Probability, "a defect is minor", ASSUMED),
    row("severity.critical", 0.15, Probability, "a defect is critical", ASSUMED),
    row("severity.blocker", 0.05, Probability, "a defect is a blocker; the rest is major", ASSUMED),
    row("severity.security", 0.05, Probability, "a defect is about security", ASSUMED),
    row("cannot", 0.06, Probability, "an agent cannot do its task", ASSUMED),
    row(
        "cannot.claims-success",
        0.465,
        Probability,
        "it claims success although it failed",
        "arXiv 2606.09863: .45 to .48 of failures",
    ),
    row(
        "recall.minor",
        0.23,
        Probability,
        "a reviewer finds a minor defect",
        "arXiv 2603.26130: .15 to .31 of what people flag",
    ),
    row("recall.major", 0.70, Probability, "a reviewer finds a major defect", REVIEWED),
    row("recall.critical", 0.79, Probability, "a reviewer finds a critical defect", SEEDED),
    row("recall.blocker", 0.79, Probability, "a reviewer finds a blocker", SEEDED),
    row(
        "recall.size",
        0.5,
        Factor,
        "exponent by which recall falls above the usual size",
        "arXiv 2606.15689: F1 .657 below 10 lines, .043 above 150, an exponent of 1; half, as F1 counts false alarms too",
    ),
    row("recall.author", 0.3, Factor, "recall of a role that works on from what it reads", ASSUMED),
    row(
        "common-cause",
        0.5,
        Factor,
        "correlation of what reviewers of one model overlook",
        "assumption: what one look overlooked, the next look of that model tends to overlook",
    ),
    row(
        "common-cause.diverse",
        0.1,
        Factor,
        "the same for reviewers of different models",
        "zenodo 20519584: coverage of 1 to 4 providers .336, .571, .746, .887 is near independence",
    ),
    row("false-alarm.minor", 0.5, Count, "minor false findings of a review", ASSUMED),
    row("false-alarm.major", 0.10, Count, "major false findings of a review", REJECTED),
    row("false-alarm.critical", 0.02, Count, "critical false findings of a review", REJECTED),
    row("false-alarm.size", 0.25, Factor, "exponent by which false findings grow with the size", ASSUMED),
    row(
        "findings.scale",
        1.0,
        Factor,
        "multiplies the odds of each finding of a review or check",
        "no effect at 1",
    ),
    row("findings.later", 1.0, Factor, "the same from the second visit of a phase", "no effect at 1"),
    row("attribution.error", 0.2, Probability, "a finding names a wrong origin", ASSUMED),
    row("attribution.unknown", 0.1, Probability, "a finding names no origin", ASSUMED),
    row("fix.origin", 0.9, Probability, "work at its origin removes a defect", ASSUMED),
    row("fix.patch", 0.5, Probability, "a patch in a later phase removes a defect", ASSUMED),
    row("fix.hides", 0.2, Probability, "a patch hides a defect from reviewers and leaves it", ASSUMED),
    row("fix.breaks", 0.15, Probability, "work on a finding injects another defect", ASSUMED),
    row("rework.renews", 0.3, Factor, "share of the work that is made again when its input changed", ASSUMED),
    row("rework.tokens", 0.6, Factor, "tokens of repeated work, compared with the first time", ASSUMED),
    row("rework.time", 0.6, Factor, "time of repeated work, compared with the first time", ASSUMED),
    row("checks.catch", 0.5, Probability, "the checks catch a defect of the code", TESTED),
    row("checks.new-tests", 0.5, Probability, "new tests catch a defect that the checks miss", TESTED),
    row("checks.upstream", 0.2, Probability, "the checks catch a defect that the code took over", ASSUMED),
    row(
        "checks.lucky",
        0.107,
        Probability,
        "a check passes by luck",
        "arXiv 2605.12925: .107 of passes are lucky",
    ),
    row("checks.flaky", 0.01, Probability, "a check fails without a defect", ASSUMED),
    row("failure.malformed", 0.02, Probability, "a result violates its contract", ASSUMED),
    row("failure.timeout", 0.01, Probability, "a dispatch takes too long", ASSUMED),
    row("failure.crashed", 0.005, Probability, "an agent ends without a result", ASSUMED),
    row("failure.violation", 0.005, Probability, "an agent exceeds its permissions", ASSUMED),
    row("failure.environment", 0.002, Probability, "an agent's service does not answer", ASSUMED),
    row(
        "tokens",
        500_000.0,
        Tokens,
        "tokens of a dispatch that writes something",
        "assumption: with the price below, the median costs what a median session costs",
    ),
    row("tokens.review", 0.5, Factor, "tokens of a reviewing dispatch, compared with a writing one", ASSUMED),
    row(
        "tokens.spread",
        1.1,
        Factor,
        "deviation of their logarithm",
        "arXiv 2604.22750: up to 30 times apart for the same task",
    ),
    row("tokens.run-spread", 0.8, Factor, "the same between runs", ASSUMED),
    row(
        "price",
        3.0,
        Money,
        "cost of a million tokens",
        "arXiv 2606.30560: half of all sessions cost less than .59; with the tokens above",
    ),
    row("time", 420.0, Seconds, "time of a dispatch that writes something", ASSUMED),
    row("time.review", 0.5, Factor, "time of a reviewing dispatch, compared with a writing one", ASSUMED),
    row("time.spread", 0.7, Factor, "deviation of its logarithm; it varies with the tokens", ASSUMED),
    row("checks.time", 90.0, Seconds, "time of a run of the checks", ASSUMED),
    row("operation.time", 2.0, Seconds, "time of any other operation of the engine", ASSUMED),
    row("people.time", 1800.0, Seconds, "time until a person answers", ASSUMED),
    row("people.first", 0.8, Probability, "a person takes the default or first option", ASSUMED),
    row("people.go-on", 0.8, Probability, "a person lets a run continue past a limit", ASSUMED),
    row("flag", 0.2, Probability, "a flag is set", ASSUMED),
    row(
        "verdict.other",
        0.03,
        Probability,
        "a role that neither reviews nor codes reports an obstacle",
        ASSUMED,
    ),
    row("gaps", 8.0, Count, "gaps that the inventory of a specification finds", ASSUMED),
    row("gaps.close", 0.5, Probability, "a round closes a gap", ASSUMED),
    row("gaps.new", 0.1, Count, "new gaps for each one that is closed", ASSUMED),
    row("gaps.conflict", 0.05, Probability, "a round ends with a conflict", ASSUMED),
    row("limit.money", 0.0, Money, "limit of a run on money; 0 is none", "none is set"),
    row("limit.tokens", 0.0, Tokens, "limit of a run on tokens; 0 is none", "none is set"),
    row("limit.time", 0.0, Seconds, "limit of a run on time; 0 is none", "none is set"),
    row("limit.dispatches", 0.0, Count, "limit of a run on dispatches; 0 is none", "none is set"),
    row("result.merge.conflict", 0.05, Probability, "a merge ends with a conflict", ASSUMED),
    row("result.commit.hook-refused", 0.01, Probability, "a hook refuses the commit", ASSUMED),
    row("result.prepare.concerns", 0.03, Probability, "the request raises concerns", ASSUMED),
    row(
        "result.propose-instructions.proposed",
        0.2,
        Probability,
        "changes to instructions are proposed",
        ASSUMED,
    ),
    row("result.verify-red.wrong-failure", 0.05, Probability, "new tests fail for the wrong reason", ASSUMED),
    row("result.verify-red.structural-only", 0.03, Probability, "new tests do not compile", ASSUMED),
    row("result.verify-red.already-green", 0.05, Probability, "new tests pass without the change", ASSUMED),
    row("result.check-stubs.unsound", 0.1, Probability, "stubs differ from the plan", ASSUMED),
    row("result.entry-check.unfit", 0.03, Probability, "old tests fail before the change", ASSUMED),
    row(
        "result.apply-cosmetic.not-cosmetic",
        0.1,
        Probability,
        "a cosmetic patch changes behaviour",
        ASSUMED,
    ),
    row("verdict.diagnosis.test-design", 0.3, Probability, "a diagnosis blames the tests", ASSUMED),
    row("verdict.diagnosis.production-logic", 0.67, Probability, "a diagnosis blames the code", ASSUMED),
    row("verdict.diagnosis.split-needed", 0.03, Probability, "a diagnosis finds the task too large", ASSUMED),
    row(
        "verdict.final-review.gaps-found",
        0.4,
        Probability,
        "the last look finds gaps that nobody saw",
        ASSUMED,
    ),
    row("verdict.blocked.task", 0.4, Probability, "tests are blocked by the task", ASSUMED),
    row("verdict.blocked.plan", 0.4, Probability, "tests are blocked by the plan", ASSUMED),
    row("verdict.blocked.environment", 0.2, Probability, "tests are blocked by the environment", ASSUMED),
];

/// The default of a parameter.
pub fn default_value(key: &str) -> Option<&'static DefaultValue> {
    DEFAULTS.iter().find(|row| row.key == key)
}
