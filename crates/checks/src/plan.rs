//! A plan of the checks that must run and the results that are known, and its execution step by step.
//!
//! Nothing here starts a process. The owner of a `CheckRun` runs the check that `next_check` returns, and passes the
//! result to `record`.

use super::affected::LeftOut;
use super::key::{Conditions, KnownResults, is_reusable};
use super::result::{CheckEnd, CheckResult, Steadiness, TestListing, earlier};
use super::spec::CheckSpec;
use remand_kernel::change::{TestEnd, TestResult};
use remand_ledger::BlobId;
use remand_ledger::fact::Reuse;
use std::collections::{BTreeMap, BTreeSet};

/// Separates the outputs of several runs.
const RERUN_SEPARATOR: &[u8] = b"\n--- run again on the same tree ---\n";

/// Which checks are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    Quick,
    All,
}

/// The checks to plan, with the results of earlier trees.
#[derive(Clone, Copy)]
pub struct CheckRequest<'r> {
    /// In the order of their needs.
    pub specs: &'r [CheckSpec],
    pub selection: Selection,
    pub left_out: &'r LeftOut,
    /// Results on earlier trees, to distinguish new failures from old ones.
    pub before: &'r [CheckResult],
    /// Checks that failed in their last run. If one passes now, leftover build output may be the reason, so everything runs
    /// again without build output.
    pub suspects: &'r BTreeSet<String>,
}

/// One step for each selected check, in order.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    steps: Vec<Step>,
    suspects: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct Step {
    whole: Keyed,
    /// The same check for the members of a workspace that the change can affect.
    narrowed: Option<Keyed>,
    action: StepAction,
    /// Results of this check on earlier trees.
    before: Vec<CheckResult>,
    /// How often the check runs again after a new failure.
    reruns: u32,
}

/// A check and the cache key of its result; without a key, the result is not kept.
#[derive(Clone, Debug)]
struct Keyed {
    spec: CheckSpec,
    key: Option<BlobId>,
}

#[derive(Clone, Debug)]
enum StepAction {
    Run,
    /// The change cannot affect the check.
    LeaveOut(CheckResult),
    Reuse(CheckResult),
}

impl CheckPlan {
    /// The number of checks that must run.
    pub fn to_run(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.action, StepAction::Run)).count()
    }

    /// Plans the requested checks, and reuses results of earlier occasions.
    pub fn new(
        request: CheckRequest<'_>,
        conditions: &Conditions<'_>,
        known: &dyn KnownResults,
    ) -> CheckPlan {
        let keyed = |spec: CheckSpec| Keyed { key: Some(conditions.key(&spec)), spec };
        let step = |spec: &CheckSpec| {
            let before: Vec<CheckResult> = earlier(request.before, &spec.name).cloned().collect();
            // Later results are compared with the first one, so a first failure is repeated once to rule out chance.
            let reruns = if before.is_empty() { spec.reruns.min(1) } else { spec.reruns };
            if let Some(reason) = request.left_out.get(&spec.name) {
                let result = CheckResult::not_run(spec, CheckEnd::Skipped, reason.clone());
                let whole = Keyed { spec: spec.clone(), key: None };
                return Step { whole, narrowed: None, action: StepAction::LeaveOut(result), before, reruns };
            }
            let whole = keyed(spec.clone());
            let narrowed = request.left_out.narrowed(spec).map(keyed);
            // A result for the whole workspace says more than one for some members.
            let reused =
                whole.look_up(known).or_else(|| Some(for_members(narrowed.as_ref()?.look_up(known)?)));
            let action = reused.map_or(StepAction::Run, StepAction::Reuse);
            Step { whole, narrowed, action, before, reruns }
        };
        let is_selected = |spec: &&CheckSpec| request.selection == Selection::All || spec.quick;
        let steps = request.specs.iter().filter(is_selected).map(step).collect();
        let mut plan = CheckPlan { steps, suspects: request.suspects.clone() };
        // A check that runs may use output of the checks that it needs, so these run too.
        for at in (0..plan.steps.len()).rev() {
            if matches!(plan.steps[at].action, StepAction::Run) {
                plan.run_needed_by(at);
            }
        }
        plan
    }

    /// Plans to run each check once; nothing is reused or repeated.
    pub fn once(specs: &[CheckSpec], selection: Selection) -> CheckPlan {
        let is_selected = |spec: &&CheckSpec| selection == Selection::All || spec.quick;
        let step = |spec: &CheckSpec| Step {
            whole: Keyed { spec: spec.clone(), key: None },
            narrowed: None,
            action: StepAction::Run,
            before: Vec::new(),
            reruns: 0,
        };
        let steps = specs.iter().filter(is_selected).map(step).collect();
        CheckPlan { steps, suspects: BTreeSet::new() }
    }

    /// Plans to run the checks that the step at this index needs. If one of them is known to fail, nothing changes: the
    /// step cannot run either.
    fn run_needed_by(&mut self, at: usize) {
        let needs = &self.steps[at].whole.spec.needs;
        let is_needed = |step: &Step| needs.contains(&step.whole.spec.name);
        let needed: Vec<usize> =
            (0..self.steps.len()).filter(|other| is_needed(&self.steps[*other])).collect();
        let is_known_to_fail = |step: &Step| match &step.action {
            StepAction::Run => false,
            StepAction::LeaveOut(result) | StepAction::Reuse(result) => !result.passed(),
        };
        if needed.iter().any(|other| is_known_to_fail(&self.steps[*other])) {
            return;
        }
        for other in needed {
            self.steps[other].action = StepAction::Run;
            self.run_needed_by(other);
        }
    }

    /// Whether a check passed that failed in its last run, on a tree that still has the build output of that failure.
    pub fn needs_clean_run(&self, results: &[CheckResult]) -> bool {
        results
            .iter()
            .any(|result| result.passed() && !result.is_reused() && self.suspects.contains(&result.name))
    }
}

/// The execution of a plan. A step that needs no process gets its result automatically.
pub struct CheckRun<'p> {
    plan: &'p CheckPlan,
    results: Vec<CheckResult>,
    /// The results of the current step so far.
    attempts: Vec<CheckResult>,
    width: Width,
}

/// Which members the current step runs for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Narrowed,
    Whole,
}

impl<'p> CheckRun<'p> {
    pub fn new(plan: &'p CheckPlan) -> CheckRun<'p> {
        CheckRun { plan, results: Vec::new(), attempts: Vec::new(), width: Width::Narrowed }
    }

    /// The check to run next; `None` once every check has a result.
    pub fn next_check(&mut self) -> Option<&'p CheckSpec> {
        loop {
            let step = self.plan.steps.get(self.results.len())?;
            let unmet = unmet_need(&step.whole.spec, &self.results);
            let result = match (&step.action, unmet) {
                (StepAction::LeaveOut(result), _) => result.clone(),
                (StepAction::Reuse(_) | StepAction::Run, Some(reason)) => {
                    CheckResult::not_run(&step.whole.spec, CheckEnd::Skipped, reason)
                }
                (StepAction::Reuse(result), None) => result.clone(),
                (StepAction::Run, None) => return Some(&self.current(step).spec),
            };
            self.results.push(result);
        }
    }

    /// Records the result of the check that `next_check` returned.
    pub fn record(&mut self, result: CheckResult) {
        let Some(step) = self.plan.steps.get(self.results.len()) else { return };
        let is_narrowed = self.width == Width::Narrowed && step.narrowed.is_some();
        if self.attempts.is_empty() && is_narrowed && !is_conclusive(&result) {
            self.width = Width::Whole;
            return;
        }
        let failed = result.end == CheckEnd::Failed;
        // A rerun that did not finish proves nothing about the first run.
        if self.attempts.is_empty() || failed || result.passed() {
            self.attempts.push(result);
        }
        let may_be_flaky = self.attempts.first().is_some_and(|first| is_new_failure(first, &step.before));
        if failed && may_be_flaky && self.attempts.len() <= step.reruns as usize {
            return;
        }
        let keyed = self.current(step);
        let attempts = std::mem::take(&mut self.attempts);
        let final_result = if may_be_flaky { merge(attempts) } else { attempts.into_iter().next() };
        let Some(mut result) = final_result else { return };
        result.reuse = keyed.key.and_then(|key| reuse(&keyed.spec, &result, key));
        self.results.push(if is_narrowed { for_members(result) } else { result });
        self.width = Width::Narrowed;
    }

    /// The results so far; one for each check of the plan once `next_check` returns `None`.
    pub fn into_results(self) -> Vec<CheckResult> {
        self.results
    }

    fn current(&self, step: &'p Step) -> &'p Keyed {
        match (&step.narrowed, self.width) {
            (Some(narrowed), Width::Narrowed) => narrowed,
            (Some(_), Width::Whole) | (None, _) => &step.whole,
        }
    }
}

impl Keyed {
    fn look_up(&self, known: &dyn KnownResults) -> Option<CheckResult> {
        let result = known.result(self.key?)?;
        // A stored row that does not count as evidence has no tier.
        Some(CheckResult { tier: Some(self.spec.tier), ..result })
    }
}

/// Why a check cannot run: a check that it needs did not pass. A needed check that was not selected, or found no file to
/// look at, does not matter.
fn unmet_need(spec: &CheckSpec, results: &[CheckResult]) -> Option<String> {
    let is_unmet = |result: &&CheckResult| {
        spec.needs.contains(&result.name) && !result.passed() && result.end != CheckEnd::NoFiles
    };
    let unmet = results.iter().find(is_unmet)?;
    Some(format!("not run, because `{}` did not pass", unmet.name))
}

/// Whether the result for some members is final. It is not final if the check ran no test, or failed without a failed
/// test: in a run for the whole workspace, other members may have tests or enable features.
fn is_conclusive(result: &CheckResult) -> bool {
    match result.end {
        CheckEnd::Passed
        | CheckEnd::TimedOut
        | CheckEnd::Skipped
        | CheckEnd::NoFiles
        | CheckEnd::Environment
        | CheckEnd::Cancelled => true,
        CheckEnd::Failed => result.tests.iter().any(|test| test.end == TestEnd::Failed),
        CheckEnd::Vacuous => false,
    }
}

fn for_members(result: CheckResult) -> CheckResult {
    CheckResult { listing: TestListing::Members, ..result }
}

/// Whether a process failed, and the check or one of its failed tests passed on an earlier tree. Without any earlier
/// result, every failure is new.
fn is_new_failure(result: &CheckResult, before: &[CheckResult]) -> bool {
    if result.end != CheckEnd::Failed || result.exit_code.is_none() {
        return false;
    }
    before.is_empty()
        || before.iter().any(|before| {
            let passed =
                |name: &str| before.tests.iter().any(|test| test.name == name && test.end == TestEnd::Passed);
            let mut failed = result.tests.iter().filter(|test| test.end == TestEnd::Failed);
            before.passed() || failed.any(|test| passed(&test.name))
        })
}

/// A flaky result shows that the key does not determine the result, so nothing stored under the key is valid.
fn reuse(spec: &CheckSpec, result: &CheckResult, key: BlobId) -> Option<Reuse> {
    let is_flaky =
        result.steadiness == Steadiness::Flaky || result.tests.iter().any(|test| test.end == TestEnd::Flaky);
    if is_flaky {
        Some(Reuse::Withdrawn { key })
    } else {
        is_reusable(spec, result).then_some(Reuse::Kept { key })
    }
}

/// Merges several runs of one check on one tree into the last result, in which tests that ended differently are flaky. If
/// the first run, which failed, reports no failed test, its result counts instead.
fn merge(attempts: Vec<CheckResult>) -> Option<CheckResult> {
    let count = attempts.len();
    let mut ends: BTreeMap<String, BTreeSet<TestEnd>> = BTreeMap::new();
    for test in attempts.iter().flat_map(|attempt| &attempt.tests) {
        ends.entry(test.name.clone()).or_default().insert(test.end);
    }
    let duration = attempts.iter().map(|attempt| attempt.duration).sum();
    let outputs: Vec<&[u8]> = attempts.iter().map(|attempt| attempt.output.as_slice()).collect();
    let output = outputs.join(RERUN_SEPARATOR);
    let differ = attempts.windows(2).any(|pair| pair[0].end != pair[1].end);
    let reports_tests =
        attempts.first().is_some_and(|first| first.tests.iter().any(|test| test.end == TestEnd::Failed));
    let mut attempts = attempts.into_iter();
    let mut result = if reports_tests { attempts.next_back() } else { attempts.next() }?;
    let merged_end = |ends: BTreeSet<TestEnd>| match ends.len() {
        1 => ends.into_iter().next().unwrap_or(TestEnd::Flaky),
        _ => TestEnd::Flaky,
    };
    result.tests = ends.into_iter().map(|(name, ends)| TestResult { name, end: merged_end(ends) }).collect();
    if differ || result.tests.iter().any(|test| test.end == TestEnd::Flaky) {
        result.steadiness = Steadiness::Flaky;
        result.reason = format!("flaky: {count} runs on the same tree ended differently");
    }
    Some(CheckResult { duration, output, ..result })
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod plan_tests;
