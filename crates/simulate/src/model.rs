//! A program with the parameters that each of its phases needs, looked up once for all runs.

use crate::draws::name_key;
use crate::parameters::ParameterSet;
use remand_kernel::EngineOperation;
use remand_kernel::event::{Limits, Mode};
use remand_kernel::finding::{FindingKind, Severity};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::{Phase, Program, Work};

/// Severities, mildest first; the index of tables below.
pub const SEVERITIES: [Severity; 4] =
    [Severity::Minor, Severity::Major, Severity::Critical, Severity::Blocker];

/// What a phase produces, which decides how many defects it injects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Production {
    Requirements,
    Plan,
    Design,
    Code,
    Tests,
}

impl Production {
    /// The most telling artifact that a phase writes.
    fn of(program: &Program, phase: &Phase) -> Option<Production> {
        let names = phase.writes.iter().map(|id| program.artifacts[id.index()].as_str());
        names
            .filter_map(|name| match name {
                "code" | "prototype" => Some(Production::Code),
                "tests" => Some(Production::Tests),
                "design" => Some(Production::Design),
                "plan" | "tasks" => Some(Production::Plan),
                "spec" | "research" | "request" | "proposals" => Some(Production::Requirements),
                _ => None,
            })
            .max()
    }

    fn key(self) -> &'static str {
        match self {
            Production::Requirements => "inject.requirements",
            Production::Plan => "inject.plan",
            Production::Design => "inject.design",
            Production::Code => "inject.code",
            Production::Tests => "inject.tests",
        }
    }

    pub fn kind(self) -> FindingKind {
        match self {
            Production::Requirements | Production::Plan | Production::Design => FindingKind::Plan,
            Production::Tests => FindingKind::Test,
            Production::Code => FindingKind::Production,
        }
    }
}

/// What a simulation needs to know about a phase.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseModel {
    pub key: u64,
    pub production: Option<Production>,
    pub inject: f64,
    pub tokens: f64,
    pub tokens_spread: f64,
    pub tokens_run_spread: f64,
    pub time: f64,
    pub time_spread: f64,
    pub price: f64,
    pub rework_tokens: f64,
    pub rework_time: f64,
    pub rework_renews: f64,
    pub recall: [f64; 4],
    pub recall_size: f64,
    pub common_cause: f64,
    pub false_alarms: [f64; 4],
    pub false_alarm_size: f64,
    pub findings_scale: f64,
    pub findings_later: f64,
    pub attribution_error: f64,
    pub attribution_unknown: f64,
    pub fix_origin: f64,
    pub fix_patch: f64,
    pub fix_hides: f64,
    pub fix_breaks: f64,
    pub cannot: f64,
    pub claims_success: f64,
    /// In the order of `FAILURES`.
    pub failures: [f64; 5],
    pub checks_catch: f64,
    pub checks_new_tests: f64,
    pub checks_upstream: f64,
    pub checks_lucky: f64,
    pub checks_flaky: f64,
    /// The probability of each result or verdict after the first, if it does not follow from defects.
    pub others: Vec<f64>,
    pub operation_time: f64,
}

/// The failures of dispatches that are simulated.
pub(crate) const FAILURES: [&str; 5] = ["malformed", "timeout", "crashed", "violation", "environment"];

/// A program with parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SimulationModel<'p> {
    pub program: &'p Program,
    pub mode: Mode,
    pub phases: Vec<PhaseModel>,
    /// The cumulated probabilities of minor, major and critical defects.
    pub severity: [f64; 4],
    pub security: f64,
    pub tasks: f64,
    pub tasks_need: f64,
    pub size: f64,
    pub size_spread: f64,
    pub people_time: f64,
    pub people_first: f64,
    pub people_go_on: f64,
    pub flags: Vec<f64>,
    pub gaps: GapModel,
    pub limits: Limits,
}

/// The parameters of a gap board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GapModel {
    pub found: f64,
    pub close: f64,
    pub new: f64,
    pub conflict: f64,
}

impl<'p> SimulationModel<'p> {
    pub fn new(program: &'p Program, mode: Mode, parameters: &ParameterSet) -> SimulationModel<'p> {
        let value = |key: &str| parameters.value(key);
        let others = 1.0 - value("severity.minor") - value("severity.critical") - value("severity.blocker");
        let phases = program.phase_ids().map(|id| phase_model(program, id, parameters)).collect();
        let flags = program.flags.iter().map(|flag| parameters.at("flag", flag)).collect();
        SimulationModel {
            program,
            mode,
            phases,
            severity: [
                value("severity.minor"),
                others.max(0.0),
                value("severity.critical"),
                value("severity.blocker"),
            ],
            security: value("severity.security"),
            tasks: value("tasks"),
            tasks_need: value("tasks.need"),
            size: value("size"),
            size_spread: value("size.spread"),
            people_time: value("people.time"),
            people_first: value("people.first"),
            people_go_on: value("people.go-on"),
            flags,
            gaps: GapModel {
                found: value("gaps"),
                close: value("gaps.close"),
                new: value("gaps.new"),
                conflict: value("gaps.conflict"),
            },
            limits: limits(parameters),
        }
    }

    pub fn phase(&self, id: PhaseId) -> &PhaseModel {
        &self.phases[id.index()]
    }

    /// The phases that a finding can have as its origin, earliest first.
    pub fn origins(&self) -> Vec<PhaseId> {
        match self.program.injects.is_empty() {
            false => self.program.injects.clone(),
            true => self.program.phase_ids().filter(|id| self.phase(*id).production.is_some()).collect(),
        }
    }
}

fn limits(parameters: &ParameterSet) -> Limits {
    let limit = |key: &str, scale: f64| whole(parameters.value(key) * scale).filter(|limit| *limit > 0);
    Limits {
        money: limit("limit.money", 1e6),
        tokens: limit("limit.tokens", 1.0),
        time: limit("limit.time", 1e3),
        dispatches: limit("limit.dispatches", 1.0),
    }
}

/// A number that is not negative, rounded.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
pub(crate) fn whole(value: f64) -> Option<u64> {
    (0.0..9e15).contains(&value).then(|| libm::round(value) as u64)
}

fn phase_model(program: &Program, id: PhaseId, parameters: &ParameterSet) -> PhaseModel {
    let phase = program.phase(id);
    let at = |key: &str| parameters.at(key, &phase.name);
    let production = Production::of(program, phase).filter(|_| !phase.contracts().is_empty());
    let reviews_only =
        phase.contracts().iter().all(|id| program.contract(*id).findings) && production.is_none();
    let inject = production.map_or(0.0, |production| at(production.key()) * at("inject.scale"));
    let share = |key: &str| if reviews_only { at(key) } else { 1.0 };
    let is_author =
        production.is_some() && !phase.contracts().iter().any(|id| program.contract(*id).judges());
    let author = if is_author { at("recall.author") } else { 1.0 };
    let is_diverse = matches!(phase.work, Work::Each { diverse: true, .. });
    PhaseModel {
        key: name_key(&phase.name),
        production,
        inject,
        tokens: at("tokens") * share("tokens.review"),
        tokens_spread: at("tokens.spread"),
        tokens_run_spread: at("tokens.run-spread"),
        time: at("time") * share("time.review") * 1e3,
        time_spread: at("time.spread"),
        price: at("price"),
        rework_tokens: at("rework.tokens"),
        rework_time: at("rework.time"),
        rework_renews: at("rework.renews").min(1.0),
        recall: ["recall.minor", "recall.major", "recall.critical", "recall.blocker"]
            .map(|key| (at(key) * author).min(1.0)),
        recall_size: at("recall.size"),
        common_cause: at(if is_diverse { "common-cause.diverse" } else { "common-cause" }).min(1.0),
        false_alarms: ["false-alarm.minor", "false-alarm.major", "false-alarm.critical", ""]
            .map(|key| if key.is_empty() { 0.0 } else { at(key) * author }),
        false_alarm_size: at("false-alarm.size"),
        findings_scale: at("findings.scale"),
        findings_later: at("findings.later"),
        attribution_error: at("attribution.error"),
        attribution_unknown: at("attribution.unknown"),
        fix_origin: at("fix.origin"),
        fix_patch: at("fix.patch"),
        fix_hides: at("fix.hides"),
        fix_breaks: at("fix.breaks"),
        cannot: at("cannot"),
        claims_success: at("cannot.claims-success"),
        failures: FAILURES.map(|name| at(&format!("failure.{name}"))),
        checks_catch: at("checks.catch"),
        checks_new_tests: at("checks.new-tests"),
        checks_upstream: at("checks.upstream"),
        checks_lucky: at("checks.lucky"),
        checks_flaky: at("checks.flaky"),
        others: others(program, phase, parameters),
        operation_time: 1e3
            * match &phase.work {
                Work::Operation { operation } if runs_checks(program.operation(*operation).name) => {
                    at("checks.time")
                }
                _ => at("operation.time"),
            },
    }
}

/// The probabilities of the results or verdicts after the first.
fn others(program: &Program, phase: &Phase, parameters: &ParameterSet) -> Vec<f64> {
    if let Work::Operation { operation } = &phase.work {
        let operation = program.operation(*operation);
        let key = |signal| format!("result.{}.{}", operation.name, program.signal(signal));
        return operation
            .results
            .iter()
            .skip(1)
            .map(|signal| parameters.at(&key(*signal), &phase.name))
            .collect();
    }
    let Some(contract) = phase.contracts().first().map(|id| program.contract(*id)) else {
        return Vec::new();
    };
    let key = |signal| format!("verdict.{}.{}", phase.name, program.signal(signal));
    let more = contract.says.len().saturating_sub(1).max(1);
    let usual =
        parameters.at("verdict.other", &phase.name) / f64::from(u16::try_from(more).unwrap_or(u16::MAX));
    let is_known = contract.says.iter().any(|signal| parameters.has(&key(*signal)));
    let verdicts = contract.says.iter().skip(1);
    verdicts.map(|signal| if is_known { parameters.value(&key(*signal)) } else { usual }).collect()
}

/// Whether an operation runs the checks of the project.
pub(crate) fn runs_checks(operation: EngineOperation) -> bool {
    matches!(
        operation,
        EngineOperation::Baseline
            | EngineOperation::QuickChecks
            | EngineOperation::Checks
            | EngineOperation::Integrate
            | EngineOperation::VerifyRed
            | EngineOperation::EntryCheck
            | EngineOperation::CheckStubs
    )
}
