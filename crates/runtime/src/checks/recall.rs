//! Runs what has to be run, takes over what holds already, and runs failures again that may be flaky.

use super::affected::LeftOut;
use super::cache::{Setting, holds, recalled};
use super::compare::Before;
use super::outcome::{CheckOutcome, End, Known, Listed, Steadiness};
use super::run::{Which, not_run, unmet};
use super::spec::CheckSpec;
use remand_kernel::change::{TestEnd, TestResult};
use remand_ledger::Reader;
use std::collections::{BTreeMap, BTreeSet};

/// Stands between the outputs of several runs.
const AGAIN: &[u8] = b"\n--- run again on the same tree ---\n";

/// How checks are run where earlier results may do.
pub struct Recall<'r> {
    pub which: Which,
    pub setting: Setting<'r>,
    /// Where earlier results are; none where nothing is to be taken over.
    pub reader: Option<&'r Reader>,
    pub left_out: &'r LeftOut,
    /// What earlier trees gave, to know which failures are new.
    pub before: &'r [Before],
}

impl Recall<'_> {
    /// One outcome for each selected check, in order. `run` is asked only for what has to be run; its first error
    /// ends it all.
    pub fn outcomes<E>(
        &self,
        specs: &[CheckSpec],
        run: &mut dyn FnMut(&CheckSpec) -> Result<CheckOutcome, E>,
    ) -> Result<Vec<CheckOutcome>, E> {
        let specs: Vec<&CheckSpec> =
            specs.iter().filter(|spec| self.which == Which::All || spec.quick).collect();
        let mut recalled: Vec<Option<CheckOutcome>> = specs.iter().map(|spec| self.recalled(spec)).collect();
        // What has to be run may build on what the checks that it needs leave behind.
        for at in (0..specs.len()).rev().filter(|at| recalled[*at].is_none()).collect::<Vec<_>>() {
            forget_needed(&specs, at, &mut recalled);
        }
        let mut outcomes: Vec<CheckOutcome> = Vec::new();
        for (spec, recalled) in specs.iter().zip(recalled) {
            let is_left_out = self.left_out.get(&spec.name).is_some();
            let outcome = match (unmet(spec, &outcomes), recalled) {
                (Some(reason), _) if !is_left_out => not_run(spec, End::Skipped, reason),
                (_, Some(outcome)) => outcome,
                (_, None) => self.made(spec, run)?,
            };
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    /// What holds for all members of a workspace is worth more than what holds for some.
    fn recalled(&self, spec: &CheckSpec) -> Option<CheckOutcome> {
        if let Some(reason) = self.left_out.get(&spec.name) {
            return Some(not_run(spec, End::Skipped, reason.clone()));
        }
        let reader = self.reader?;
        let taken = |spec: &CheckSpec| {
            let row = reader.result(self.setting.key(spec)).ok().flatten()?;
            recalled(spec, &row, reader)
        };
        let of_some = || Some(of_members(taken(&self.left_out.narrowed(spec)?)?));
        taken(spec).or_else(of_some)
    }

    /// Members that do not pass by themselves may do so together, where they share features or have no tests of their
    /// own: unless single tests fail, the whole is asked.
    fn made<E>(
        &self,
        spec: &CheckSpec,
        run: &mut dyn FnMut(&CheckSpec) -> Result<CheckOutcome, E>,
    ) -> Result<CheckOutcome, E> {
        if let Some(narrowed) = self.left_out.narrowed(spec) {
            let first = run(&narrowed)?;
            let is_told = match first.end {
                End::Passed | End::TimedOut | End::Skipped | End::Environment | End::Cancelled => true,
                End::Failed => first.tests.iter().any(|test| test.end == TestEnd::Failed),
                End::Vacuous => false,
            };
            if is_told {
                return self.settled(&narrowed, first, run).map(of_members);
            }
        }
        let first = run(spec)?;
        self.settled(spec, first, run)
    }

    fn settled<E>(
        &self,
        spec: &CheckSpec,
        first: CheckOutcome,
        run: &mut dyn FnMut(&CheckSpec) -> Result<CheckOutcome, E>,
    ) -> Result<CheckOutcome, E> {
        let key = self.setting.key(spec);
        let mut outcome = self.again(spec, first, run)?;
        let is_flaky = outcome.tests.iter().any(|test| test.end == TestEnd::Flaky);
        outcome.known = if is_flaky || outcome.steadiness == Steadiness::Flaky {
            Known::Withdraw(key)
        } else if holds(spec, &outcome) {
            Known::Keep(key)
        } else {
            Known::Unkept
        };
        Ok(outcome)
    }

    /// A failure that is new is run again; what ends differently on the same tree is flaky, and no pass.
    fn again<E>(
        &self,
        spec: &CheckSpec,
        first: CheckOutcome,
        run: &mut dyn FnMut(&CheckSpec) -> Result<CheckOutcome, E>,
    ) -> Result<CheckOutcome, E> {
        if first.end != End::Failed || first.exit_code.is_none() || !self.is_new(&first) {
            return Ok(first);
        }
        let mut more: Vec<CheckOutcome> = Vec::new();
        let is_first = !self.before.iter().any(|before| before.check == spec.name);
        let reruns = if is_first { spec.reruns.min(1) } else { spec.reruns };
        for _ in 0..reruns {
            let next = run(spec)?;
            match next.end {
                End::Passed | End::Failed => more.push(next),
                // Nothing can be said by a run that did not come to its end.
                End::Vacuous | End::TimedOut | End::Skipped | End::Environment | End::Cancelled => break,
            }
            if more.last().is_some_and(CheckOutcome::passed) {
                break;
            }
        }
        Ok(merged(first, more))
    }

    /// Whether something fails that passed on an earlier tree, or that no earlier tree tells of: what is kept as the
    /// baseline of others must not have failed by chance.
    fn is_new(&self, outcome: &CheckOutcome) -> bool {
        let mut earlier = self.before.iter().filter(|before| before.check == outcome.name).peekable();
        earlier.peek().is_none()
            || earlier.any(|before| {
                let passed = |name: &str| {
                    before.tests.iter().any(|test| test.name == name && test.end == TestEnd::Passed)
                };
                let failed = outcome.tests.iter().filter(|test| test.end == TestEnd::Failed);
                before.passed || failed.into_iter().any(|test| passed(&test.name))
            })
    }
}

fn of_members(outcome: CheckOutcome) -> CheckOutcome {
    CheckOutcome { listed: Listed::Members, ..outcome }
}

/// Has the checks that one needs run as well, unless one of them is known not to pass: then nothing is.
fn forget_needed(specs: &[&CheckSpec], at: usize, recalled: &mut [Option<CheckOutcome>]) {
    let needed: Vec<usize> = specs
        .iter()
        .enumerate()
        .filter(|(_, spec)| specs[at].needs.contains(&spec.name))
        .map(|(at, _)| at)
        .collect();
    if needed.iter().any(|at| recalled[*at].as_ref().is_some_and(|outcome| !outcome.passed())) {
        return;
    }
    for need in needed {
        recalled[need] = None;
        forget_needed(specs, need, recalled);
    }
}

/// Several runs of one check on one tree as one outcome: that of the last, with what differed marked as flaky. A check
/// that does not tell its tests has failed if it failed once.
fn merged(first: CheckOutcome, more: Vec<CheckOutcome>) -> CheckOutcome {
    let mut ends: BTreeMap<String, BTreeSet<TestEnd>> = BTreeMap::new();
    let (mut differ, mut duration, mut output) = (false, first.duration, first.output.clone());
    for test in [&first].into_iter().chain(&more).flat_map(|outcome| &outcome.tests) {
        ends.entry(test.name.clone()).or_default().insert(test.end);
    }
    for outcome in &more {
        differ |= outcome.end != first.end;
        duration += outcome.duration;
        output.extend_from_slice(AGAIN);
        output.extend_from_slice(&outcome.output);
    }
    let count = more.len() + 1;
    let tells_tests = first.tests.iter().any(|test| test.end == TestEnd::Failed);
    let mut outcome = match more.into_iter().next_back() {
        Some(last) if tells_tests => last,
        Some(_) | None => first,
    };
    let steady = |ends: BTreeSet<TestEnd>| match ends.len() {
        1 => ends.into_iter().next().unwrap_or(TestEnd::Flaky),
        _ => TestEnd::Flaky,
    };
    outcome.tests = ends.into_iter().map(|(name, ends)| TestResult { name, end: steady(ends) }).collect();
    if differ || outcome.tests.iter().any(|test| test.end == TestEnd::Flaky) {
        outcome.steadiness = Steadiness::Flaky;
        outcome.reason = format!("flaky: it ended differently in {count} runs on the same tree");
    }
    CheckOutcome { duration, output, ..outcome }
}

#[cfg(test)]
#[path = "recall_tests.rs"]
mod recall_tests;
