//! A compiled workflow: phases, routes and budgets by dense ids. The workflow crate builds it; nothing changes it.

use crate::ids::{ArtifactId, BudgetId, ContractId, FlagId, ListId, OperationId, PhaseId, SignalId};
use crate::operation::EngineOperation;
use crate::signal;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A compiled workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    pub about: String,
    /// What a run works on; also the name of the artifact that holds it.
    pub subject: String,
    /// In file order; the phases of a sub-flow follow the phase that owns it.
    pub phases: Vec<Phase>,
    /// Declared budgets first, then one for each phase with `rounds`.
    pub budgets: Vec<Budget>,
    pub artifacts: Vec<String>,
    /// The implicit signals first (see `signal.rs`).
    pub signals: Vec<String>,
    pub flags: Vec<String>,
    pub lists: Vec<String>,
    pub contracts: Vec<Contract>,
    pub operations: Vec<Operation>,
    /// The phases that a finding may name as its origin, earliest first.
    pub injects: Vec<PhaseId>,
    /// In interactive mode, a human confirms the origin of findings before they are sent back to it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub confirms_origin: bool,
    /// The operations to perform when the run fails or is cancelled.
    pub failure: Vec<OperationId>,
}

/// One phase of the flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    pub name: String,
    /// The phase whose sub-flow this one belongs to.
    pub owner: Option<PhaseId>,
    /// Only a route that names the phase leads to it; `next` skips it.
    pub aside: bool,
    /// The phase is skipped when this does not hold.
    pub when: Option<Condition>,
    pub work: Work,
    pub reads: Vec<ArtifactId>,
    pub may_read: Vec<ArtifactId>,
    pub writes: Vec<ArtifactId>,
    /// Artifacts that are reset to the run's base when a remand enters the phase.
    pub discards: Vec<ArtifactId>,
    pub sets: Vec<FlagId>,
    /// Sorted by signal.
    pub routes: Vec<(SignalId, Route)>,
    /// Which signal a detection gives when it comes with a certain verdict: detector, verdict, signal.
    pub qualified: Vec<(SignalId, SignalId, SignalId)>,
    /// The budget made from `rounds`.
    pub round: Option<BudgetId>,
    /// How often one dispatch may be repeated after a failure.
    pub retries: u8,
    /// How often a finding must be reported to count as repeated.
    pub repeats: u8,
    /// The subject's status while the phase runs; empty if the phase does not change it.
    pub status: String,
    /// Entering the phase starts a round that can be rolled back.
    pub checkpoint: bool,
    /// The phase is given every result of the run.
    #[serde(default)]
    pub everything: bool,
    /// The phase starts from nothing when it runs again: its own earlier work is not given to it.
    #[serde(default)]
    pub afresh: bool,
    /// Line in the workflow file, from 1.
    pub line: u32,
}

/// The work of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// One dispatch.
    Role { contract: ContractId, nearest: Nearest },
    /// One dispatch for each item, in parallel.
    Each { contract: ContractId, items: Items, tally: Vec<TallyRow>, quorum: Option<u16>, diverse: bool },
    /// Roles with a veto, and advisors whose results are only recorded.
    Panel { members: Vec<ContractId>, advisors: Vec<ContractId> },
    /// A sub-flow for each item of a list, in dependency order; at most `at_once` run in parallel.
    Flow { list: ListId, at_once: u16, tally: Vec<TallyRow> },
    /// An engine operation; costs no dispatch.
    Operation { operation: OperationId },
    /// A question to a human.
    Ask { question: String, default: Option<SignalId>, options: Vec<QuestionOption> },
}

/// Whose agent performs a single dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nearest {
    /// The role that the phase names.
    Named,
    /// The role of the phase that led here, since it is closest to the failure.
    Caller,
}

/// The items of a phase that runs once per item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Items {
    Fixed(Vec<String>),
    Listed { list: ListId, up_to: u16 },
}

/// An option of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionOption {
    pub signal: SignalId,
    /// The option is offered only when this holds.
    pub offered: Option<Condition>,
}

/// A row of a tally. The first row whose test holds gives the signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallyRow {
    pub signal: SignalId,
    pub test: TallyTest,
}

/// A test of the members' signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TallyTest {
    Any(SignalId),
    All(SignalId),
    AtLeast(u16, SignalId),
    Otherwise,
}

/// Where a signal leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    pub action: Action,
    pub spends: Vec<BudgetId>,
    /// The route to follow when a budget is empty; it takes precedence over the phase's `spent` and the budget's
    /// `then`.
    pub otherwise: Option<Box<Route>>,
    pub effect: Option<Effect>,
    pub line: u32,
}

/// What a route does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Next,
    To(PhaseId),
    Remand(PhaseId),
    /// Remands to the earliest phase that the findings name as their origin.
    RemandInjector,
    /// Restores the artifacts of the last checkpoint, then remands to it.
    Restore(PhaseId),
    /// Leaves an aside and continues after the phase that led to it.
    Return,
    /// Leaves a sub-flow with this signal.
    Raise(SignalId),
    Done,
    Fail,
    Stop(String),
    /// Waits until a human lets the run continue, then enters the phase again.
    Hold,
    /// Ignores a detector's signal.
    Ignore,
}

impl Action {
    /// Whether the action sends work back.
    pub fn is_back(&self) -> bool {
        match self {
            Action::Remand(_) | Action::RemandInjector | Action::Restore(_) => true,
            Action::Next
            | Action::To(_)
            | Action::Return
            | Action::Raise(_)
            | Action::Done
            | Action::Fail
            | Action::Stop(_)
            | Action::Hold
            | Action::Ignore => false,
        }
    }

    /// Whether the action accepts the work: the flow continues, or the run is done.
    pub fn is_accepting(&self) -> bool {
        match self {
            Action::Next | Action::Return | Action::Done => true,
            Action::To(_)
            | Action::Remand(_)
            | Action::RemandInjector
            | Action::Restore(_)
            | Action::Raise(_)
            | Action::Fail
            | Action::Stop(_)
            | Action::Hold
            | Action::Ignore => false,
        }
    }

    /// Whether the action ends the run.
    pub fn is_end(&self) -> bool {
        match self {
            Action::Done | Action::Fail | Action::Stop(_) => true,
            Action::Next
            | Action::To(_)
            | Action::Remand(_)
            | Action::RemandInjector
            | Action::Restore(_)
            | Action::Return
            | Action::Raise(_)
            | Action::Hold
            | Action::Ignore => false,
        }
    }

    /// The phase that the action names.
    pub fn target_phase(&self) -> Option<PhaseId> {
        match self {
            Action::To(target) | Action::Remand(target) | Action::Restore(target) => Some(*target),
            Action::Next
            | Action::RemandInjector
            | Action::Return
            | Action::Raise(_)
            | Action::Done
            | Action::Fail
            | Action::Stop(_)
            | Action::Hold
            | Action::Ignore => None,
        }
    }
}

/// What a route does to the confidence of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    Dissent,
    Degradation,
    Blockers,
    /// The open findings bind the next phase, whose contract demands an answer to each.
    Constraints,
}

impl Effect {
    pub const ALL: [Effect; 4] =
        [Effect::Dissent, Effect::Degradation, Effect::Constraints, Effect::Blockers];

    pub fn name(self) -> &'static str {
        match self {
            Effect::Dissent => "dissent",
            Effect::Degradation => "degradation",
            Effect::Blockers => "blockers",
            Effect::Constraints => "constraints",
        }
    }

    /// The highest confidence that is left after this effect.
    pub fn ceiling(self) -> Confidence {
        match self {
            Effect::Dissent | Effect::Degradation | Effect::Constraints => Confidence::Medium,
            Effect::Blockers => Confidence::Low,
        }
    }
}

/// How far the run's result can be relied on; it only falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A budget was exhausted, work was reverted, or a required signal is missing.
    Low,
    /// All gates passed, with dissent, degradation or constraints that the plan meets.
    Medium,
    /// All gates passed, nothing open above minor, nothing degraded.
    High,
}

impl Confidence {
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }

    /// What the level means, in one sentence.
    pub fn definition(self) -> &'static str {
        match self {
            Confidence::High => "all gates passed, no finding above minor is open, nothing was degraded",
            Confidence::Medium => "all gates passed, with recorded dissent or degradation",
            Confidence::Low => "a budget was exhausted, work was reverted, or a required signal is missing",
        }
    }
}

/// A counter that limits how often work goes back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub name: String,
    pub size: BudgetSize,
    pub scope: Scope,
    /// The route to follow when this budget is empty, unless the route that spends it has an `otherwise`.
    pub then: Option<Route>,
    pub line: u32,
}

/// How much a budget holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetSize {
    Fixed(u16),
    /// The greater of `floor` and the list's length divided by `divisor`, minus `free`; fixed when the list is first
    /// known.
    Share {
        floor: u16,
        list: ListId,
        divisor: u16,
        free: u16,
    },
}

/// When a budget is refilled, from narrow to wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// For `rounds`: by a remand from this phase or a later one to this phase or an earlier one.
    Entry(PhaseId),
    /// By a remand to this phase or an earlier one.
    Phase(PhaseId),
    /// Never.
    Run,
    /// Never, and spending by earlier runs on the same subject counts.
    Subject,
}

/// A conjunction of simple comparisons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    pub all: Vec<Comparison>,
}

/// One comparison of a fact with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    pub fact: Fact,
    pub order: Order,
    pub value: u16,
}

/// A small number that a condition can test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// The length of a list.
    Count(ListId),
    /// 0 low, 1 medium, 2 high.
    Confidence,
    /// 0 autonomous, 1 interactive.
    Mode,
    /// 0 green, 1 yellow, 2 red.
    Risk,
    /// 0 or 1.
    Flag(FlagId),
    /// What is left of a budget.
    Left(BudgetId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    Below,
    AtMost,
    Equal,
    Unequal,
    AtLeast,
    Above,
}

impl Comparison {
    /// `Some(true)` if it holds for every value from 0 to `max`, `Some(false)` if for none, `None` if only for some.
    pub fn holds_up_to(&self, max: u16) -> Option<bool> {
        // The truth of a comparison changes only around its value.
        let near = [0, self.value.saturating_sub(1), self.value, self.value.saturating_add(1), max];
        let mut truths = near.into_iter().filter(|value| *value <= max).map(|value| self.holds(value));
        let first = truths.next()?;
        truths.all(|truth| truth == first).then_some(first)
    }

    /// Whether the comparison holds for this value of its fact.
    pub fn holds(&self, fact: u16) -> bool {
        match self.order {
            Order::Below => fact < self.value,
            Order::AtMost => fact <= self.value,
            Order::Equal => fact == self.value,
            Order::Unequal => fact != self.value,
            Order::AtLeast => fact >= self.value,
            Order::Above => fact > self.value,
        }
    }
}

/// What a role returns and may change in one of its modes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    pub role: String,
    /// Empty for the role without a mode.
    pub mode: String,
    /// The verdicts: the success verdict first, then from mild to severe.
    pub says: Vec<SignalId>,
    /// The verdict that counts as the success verdict when all its findings are minor.
    pub mild: Option<SignalId>,
    /// Whether the role reports findings.
    pub findings: bool,
    /// Whether a rejecting verdict becomes the signal of the earliest kind among the findings.
    pub by_kind: bool,
    /// The artifacts that the role may change.
    pub changes: Vec<ArtifactId>,
    /// Whether the role's result states the design's approach.
    pub states_approach: bool,
    /// Whether the approach in the result is compared with those that failed before.
    pub guarded: bool,
    /// The lists that the result produces.
    pub lists: Vec<ListId>,
}

impl Contract {
    /// The role as workflow files name it: `check` or `check/code`.
    pub fn title(&self) -> String {
        if self.mode.is_empty() { self.role.clone() } else { alloc::format!("{}/{}", self.role, self.mode) }
    }

    /// Whether the role judges work: it reports findings, and changes nothing or has a verdict for minor findings only.
    pub fn judges(&self) -> bool {
        self.findings && (self.changes.is_empty() || self.mild.is_some())
    }
}

/// An engine operation: its results and what it may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    pub name: EngineOperation,
    /// The success result first.
    pub results: Vec<SignalId>,
    /// Whether the operation reports findings and test results.
    pub judges: bool,
    pub changes: Vec<ArtifactId>,
    /// Whether the result can be reused although the operation reads nothing.
    pub idempotent: bool,
    /// Whether the operation adds the current approach to the list of failed ones.
    pub records_approach: bool,
    /// Whether the operation gives up the tasks that did not finish.
    pub gives_up: bool,
    pub lists: Vec<ListId>,
}

impl Program {
    pub fn phase(&self, id: PhaseId) -> &Phase {
        &self.phases[id.index()]
    }

    pub fn budget(&self, id: BudgetId) -> &Budget {
        &self.budgets[id.index()]
    }

    pub fn contract(&self, id: ContractId) -> &Contract {
        &self.contracts[id.index()]
    }

    pub fn operation(&self, id: OperationId) -> &Operation {
        &self.operations[id.index()]
    }

    pub fn signal(&self, id: SignalId) -> &str {
        &self.signals[id.index()]
    }

    pub fn signal_named(&self, name: &str) -> Option<SignalId> {
        position(&self.signals, name).map(SignalId)
    }

    pub fn phase_named(&self, name: &str) -> Option<PhaseId> {
        let at = self.phases.iter().position(|phase| phase.name == name)?;
        u16::try_from(at).ok().map(PhaseId)
    }

    pub fn artifact_named(&self, name: &str) -> Option<ArtifactId> {
        position(&self.artifacts, name).map(ArtifactId)
    }

    pub fn list_named(&self, name: &str) -> Option<ListId> {
        position(&self.lists, name).map(ListId)
    }

    pub fn flag_named(&self, name: &str) -> Option<FlagId> {
        position(&self.flags, name).map(FlagId)
    }

    pub fn budget_named(&self, name: &str) -> Option<BudgetId> {
        let at = self.budgets.iter().position(|budget| budget.name == name)?;
        u16::try_from(at).ok().map(BudgetId)
    }

    /// All phase ids, in file order.
    pub fn phase_ids(&self) -> impl Iterator<Item = PhaseId> + use<> {
        (0..self.phases.len()).map(|at| PhaseId(u16::try_from(at).unwrap_or(u16::MAX)))
    }

    /// The phases of the sub-flow of `owner`, or of the main flow.
    pub fn flow(&self, owner: Option<PhaseId>) -> impl Iterator<Item = PhaseId> + '_ {
        self.phase_ids().filter(move |id| self.phase(*id).owner == owner)
    }

    /// Every condition of the program, with the phase that it belongs to.
    pub fn conditions(&self) -> impl Iterator<Item = (PhaseId, &Condition)> {
        self.phase_ids().flat_map(|id| {
            let phase = self.phase(id);
            let options: &[QuestionOption] = match &phase.work {
                Work::Ask { options, .. } => options,
                Work::Role { .. }
                | Work::Each { .. }
                | Work::Panel { .. }
                | Work::Flow { .. }
                | Work::Operation { .. } => &[],
            };
            let offered = options.iter().filter_map(|option| option.offered.as_ref());
            phase.when.iter().chain(offered).map(move |condition| (id, condition))
        })
    }

    /// The size of a full budget, given the length of each list.
    pub fn capacity(&self, budget: BudgetId, count: impl Fn(ListId) -> u16) -> u16 {
        match self.budget(budget).size {
            BudgetSize::Fixed(size) => size,
            BudgetSize::Share { floor, list, divisor, free } => {
                floor.max(count(list).div_ceil(divisor.max(1))).saturating_sub(free)
            }
        }
    }
}

impl Phase {
    /// The workflow's route for this signal.
    pub fn route(&self, signal: SignalId) -> Option<&Route> {
        let at = self.routes.binary_search_by_key(&signal, |(key, _)| *key).ok()?;
        Some(&self.routes[at].1)
    }

    /// The signal of a detection that comes with this verdict.
    pub fn detection_signal(&self, detector: SignalId, verdict: SignalId) -> SignalId {
        self.qualified
            .iter()
            .find(|(key, with, _)| *key == detector && *with == verdict)
            .map_or(detector, |(_, _, signal)| *signal)
    }

    /// Whether some route of this detector, with or without a verdict, does more than ignore it.
    pub fn acts_on_detection(&self, detector: SignalId) -> bool {
        let qualified =
            self.qualified.iter().filter(|(key, _, _)| *key == detector).map(|(_, _, signal)| *signal);
        let mut routes = qualified.chain([detector]).filter_map(|signal| self.route(signal));
        routes.any(|route| route.action != Action::Ignore)
    }

    /// The contracts of the members whose verdicts count; advisors are not among them.
    pub fn contracts(&self) -> &[ContractId] {
        match &self.work {
            Work::Role { contract, .. } | Work::Each { contract, .. } => core::slice::from_ref(contract),
            Work::Panel { members, .. } => members,
            Work::Flow { .. } | Work::Operation { .. } | Work::Ask { .. } => &[],
        }
    }
}

/// Whether a signal comes from a detector, with or without a verdict.
pub fn is_detector(phase: &Phase, id: SignalId) -> bool {
    signal::DETECTORS.contains(&id) || phase.qualified.iter().any(|(_, _, qualified)| *qualified == id)
}

fn position(names: &[String], name: &str) -> Option<u16> {
    let at = names.iter().position(|known| known == name)?;
    u16::try_from(at).ok()
}
