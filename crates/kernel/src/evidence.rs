//! The evidence gate: decides whether the rows that the engine wrote prove that a task is done.
//!
//! An agent's claim never counts as evidence: a row has one possible source, and a claim is only compared with rows.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

use crate::change::{TestEnd, TestResult};

const INFEASIBLE: &str = "tier3-infeasible";
const SECRETS: &str = "readiness-secrets";
const DISCREPANCY: &str = "baseline-discrepancy";

/// One row of evidence. Events usually store it as a line of text; see `row_text.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "kebab-case")]
pub struct EvidenceRow {
    pub check: String,
    pub phase: RowPhase,
    /// `None` for a record that is not a check, such as `revert-<task>`.
    pub tier: Option<Tier>,
    pub passed: bool,
    /// `None` if no process ran or the process was killed.
    pub exit_code: Option<i32>,
    /// The verification iteration, from 1; 0 at the baseline.
    pub iteration: u32,
    pub superseded: bool,
    /// The number of collected tests; `None` if the check runs no tests.
    pub collected: Option<u32>,
    pub duration_ms: u64,
    /// The reason, for a marker such as `tier3-infeasible`.
    #[serde(default)]
    pub reason: String,
    pub source: RowSource,
    /// The number of failing tests, if each of them also failed before the change and is allowed to keep failing;
    /// otherwise 0.
    #[serde(default)]
    pub red_before: u32,
}

/// When a row was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowPhase {
    Baseline,
    After,
    Review,
}

/// The tier of a check: diagnostics, build and tests, smoke, readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Tier {
    One,
    Two,
    Three,
    Four,
}

/// Who wrote a row. Only checks that the engine ran are evidence, so there is one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowSource {
    Engine,
}

/// How large a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskSize {
    Standard,
    Large,
}

/// The gate's result; each reason is one sentence that names what failed or is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateResult {
    Passed,
    Failed(Vec<String>),
}

/// A number that is not a tier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{number} is not a tier: use 1 to 4")]
pub struct TierError {
    pub number: u8,
}

/// What the gate demands of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateDemand {
    /// Passing checks, and no failing one.
    Proof,
    /// No failing check: the user accepts work that nothing can prove.
    NoFailure,
}

/// Applies the gate to the rows of one task. Superseded rows do not count; of the rows after the change, only those of
/// the latest iteration count.
pub fn rule(rows: &[EvidenceRow], size: TaskSize, demand: GateDemand) -> GateResult {
    let counted = CountedRows::new(rows);
    let mut reasons = match demand {
        GateDemand::Proof => counted.missing(size),
        GateDemand::NoFailure => Vec::new(),
    };
    reasons.extend(counted.failures());
    if reasons.is_empty() { GateResult::Passed } else { GateResult::Failed(reasons) }
}

/// Remarks on the rows for people and reviewers; they do not affect the gate.
pub fn notes(rows: &[EvidenceRow]) -> Vec<String> {
    CountedRows::new(rows).notes()
}

/// The failing checks that the gate excuses, because they failed at the baseline too.
pub fn excused(rows: &[EvidenceRow]) -> BTreeSet<&str> {
    let counted = CountedRows::new(rows);
    let failing =
        counted.tier_1_to_3_checks().filter(|row| counted.fails(row) && counted.failed_before(&row.check));
    failing.map(|row| row.check.as_str()).collect()
}

/// A test that passed before the change and does not pass after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Regression {
    pub test: String,
    pub how: RegressionKind,
}

/// How a test regressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegressionKind {
    Failed,
    Skipped,
    Gone,
}

/// Compares test by test: finds tests that passed on an earlier tree and now fail, are skipped, or are gone. A flaky
/// test counts as neither a pass nor a failure.
pub fn regressions(before: &[&[TestResult]], after: &[TestResult]) -> Vec<Regression> {
    let after = end_by_test(after);
    let passed: BTreeSet<&str> = before
        .iter()
        .flat_map(|results| end_by_test(results))
        .filter(|(_, end)| *end == TestEnd::Passed)
        .map(|(test, _)| test)
        .collect();
    passed
        .into_iter()
        .filter_map(|test| {
            let how = match after.get(test).copied().or_else(|| end_of_variants(&after, test)) {
                Some(TestEnd::Passed | TestEnd::Flaky) => return None,
                Some(TestEnd::Failed) => RegressionKind::Failed,
                Some(TestEnd::Skipped) => RegressionKind::Skipped,
                None => RegressionKind::Gone,
            };
            Some(Regression { test: test.into(), how })
        })
        .collect()
}

/// Whether one of the names, which are in order and start where `test` would be, is that of the test with a parameter:
/// `test[a]`.
pub fn variant_of<'n>(names: impl Iterator<Item = &'n str>, test: &str) -> bool {
    names.take_while(|name| name.starts_with(test)).any(|name| is_variant(name, test))
}

fn is_variant(name: &str, test: &str) -> bool {
    name.strip_prefix(test).is_some_and(|rest| rest.starts_with('['))
}

/// How a test ended that has become several, one for each of its parameters (`test[a]`, `test[b]`): as the worst of them, and
/// skipped only if all are.
fn end_of_variants(after: &BTreeMap<&str, TestEnd>, test: &str) -> Option<TestEnd> {
    let variants = after.range(test..).take_while(|(name, _)| name.starts_with(test));
    let ends: Vec<TestEnd> =
        variants.filter(|(name, _)| is_variant(name, test)).map(|(_, end)| *end).collect();
    let worst = [TestEnd::Failed, TestEnd::Flaky, TestEnd::Passed, TestEnd::Skipped];
    worst.into_iter().find(|end| ends.contains(end))
}

/// An agent's claim about a check at the baseline; it is only compared with the engine's rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineClaim {
    pub check: String,
    pub passed: bool,
}

/// Compares claimed with measured baselines and returns one failed `baseline-discrepancy` row per difference. A claim
/// about a check that the engine did not run at the baseline is a difference too.
pub fn baseline_discrepancies(
    claims: &[BaselineClaim],
    rows: &[EvidenceRow],
    iteration: u32,
) -> Vec<EvidenceRow> {
    let counted = CountedRows::new(rows);
    let differs = |claim: &&BaselineClaim| {
        let mut measured = counted.baseline.iter().filter(|row| row.check == claim.check).peekable();
        measured.peek().is_none()
            || measured.any(|row| (row.passed && !row.has_bad_exit_code()) != claim.passed)
    };
    claims.iter().filter(differs).map(|claim| discrepancy(claim, iteration)).collect()
}

/// The rows that the gate counts.
struct CountedRows<'a> {
    baseline: Vec<&'a EvidenceRow>,
    after: Vec<&'a EvidenceRow>,
}

impl<'a> CountedRows<'a> {
    fn new(rows: &'a [EvidenceRow]) -> CountedRows<'a> {
        let in_phase = |phase| rows.iter().filter(move |row| !row.superseded && row.phase == phase);
        let latest = in_phase(RowPhase::After).map(|row| row.iteration).max();
        CountedRows {
            baseline: in_phase(RowPhase::Baseline).filter(|row| row.tier.is_some()).collect(),
            after: in_phase(RowPhase::After).filter(|row| Some(row.iteration) == latest).collect(),
        }
    }

    fn missing(&self, size: TaskSize) -> Vec<String> {
        let needed = match size {
            TaskSize::Standard => 2,
            TaskSize::Large => 3,
        };
        let passing: Vec<Tier> =
            self.tier_1_to_3_checks().filter(|row| self.proves(row)).filter_map(|row| row.tier).collect();
        let mut reasons = Vec::new();
        if self.baseline.is_empty() {
            reasons.push("there is no baseline: run the checks on the tree before the task".to_string());
        }
        if passing.len() < needed {
            let found = passing.len();
            reasons.push(format!("{found} of {needed} required checks of tiers 1 to 3 passed"));
        }
        if !passing.iter().any(|tier| *tier > Tier::One) && !self.is_infeasible() {
            let failing: Vec<String> =
                self.failing_since_baseline().map(|row| format!("`{}`", row.check)).collect();
            reasons.push(if failing.is_empty() {
                format!("no build, test or smoke check (tier 2 or 3) passed, and no `{INFEASIBLE}` with a reason is recorded")
            } else {
                let failing = failing.join(", ");
                format!("{failing} failed at the baseline and still fails, and nothing else of tier 2 or 3 passed: fix it")
            });
        }
        reasons
    }

    fn failures(&self) -> Vec<String> {
        let secrets = self.after.iter().copied().filter(|row| row.check == SECRETS && !row.passed);
        self.tier_1_to_3_checks()
            .filter(|row| self.fails(row))
            .chain(secrets)
            .filter(|row| !self.failed_before(&row.check))
            .map(|row| format!("{row} failed{} but not at the baseline", row.exit_code_phrase()))
            .collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for row in &self.after {
            let fails = self.fails(row) || (row.tier == Some(Tier::Four) && !row.passed);
            if row.is_vacuous() {
                notes.push(format!("{row} collected no tests, so it does not count as passed"));
            } else if row.check == INFEASIBLE && row.reason.trim().is_empty() {
                notes.push(format!("{row} gives no reason, so it excuses nothing"));
            } else if self.has_only_red_before(row) {
                let (count, tests) = (row.red_before, if row.red_before == 1 { "test" } else { "tests" });
                notes.push(format!("{row} has {count} failing {tests}, red before the change too"));
            } else if fails && self.failed_before(&row.check) {
                notes.push(format!("{row} failed at the baseline too"));
            } else if row.tier == Some(Tier::Four) && row.check != SECRETS && !row.passed {
                notes.push(format!("{row} failed, which does not affect the gate"));
            } else if row.check == DISCREPANCY {
                notes.push(format!("{row}: {}", row.reason));
            }
        }
        notes
    }

    /// Checks of tiers 2 and 3 that failed before the change too: they neither fail the gate nor prove anything.
    fn failing_since_baseline(&self) -> impl Iterator<Item = &'a EvidenceRow> {
        let failed_before = |row: &&EvidenceRow| self.failed_before(&row.check);
        self.tier_1_to_3_checks()
            .filter(|row| row.tier > Some(Tier::One) && self.fails(row))
            .filter(failed_before)
    }

    /// The checks of tiers 1 to 3 after the change, without the `tier3-infeasible` marker.
    fn tier_1_to_3_checks(&self) -> impl Iterator<Item = &'a EvidenceRow> {
        self.after.iter().copied().filter(|row| row.is_tier_1_to_3_check())
    }

    fn is_infeasible(&self) -> bool {
        self.after.iter().any(|row| row.check == INFEASIBLE && !row.reason.trim().is_empty())
    }

    fn proves(&self, row: &EvidenceRow) -> bool {
        row.is_clean_pass() || self.has_only_red_before(row)
    }

    fn fails(&self, row: &EvidenceRow) -> bool {
        row.is_tier_1_to_3_check()
            && (!row.passed || row.has_bad_exit_code())
            && !self.has_only_red_before(row)
    }

    /// Whether tests passed, and every failing one also failed before the change and is allowed to keep failing.
    fn has_only_red_before(&self, row: &EvidenceRow) -> bool {
        row.is_tier_1_to_3_check()
            && row.red_before > 0
            && row.collected.is_some_and(|count| count > row.red_before)
            && self.failed_before(&row.check)
    }

    /// Whether the check failed at every baseline: the run's and, if there is one, the task's.
    fn failed_before(&self, check: &str) -> bool {
        let mut before = self.baseline.iter().filter(|row| row.check == check).peekable();
        before.peek().is_some() && before.all(|row| !row.passed || row.has_bad_exit_code())
    }
}

impl EvidenceRow {
    fn is_tier_1_to_3_check(&self) -> bool {
        self.tier.is_some_and(|tier| tier < Tier::Four) && self.check != INFEASIBLE
    }

    fn is_vacuous(&self) -> bool {
        self.is_tier_1_to_3_check() && self.passed && self.collected == Some(0)
    }

    fn is_clean_pass(&self) -> bool {
        self.passed && !self.has_bad_exit_code() && !self.is_vacuous()
    }

    fn has_bad_exit_code(&self) -> bool {
        self.is_tier_1_to_3_check() && self.exit_code.is_some_and(|code| code != 0)
    }

    fn exit_code_phrase(&self) -> String {
        self.exit_code.map_or_else(String::new, |code| format!(" with exit code {code}"))
    }
}

impl fmt::Display for EvidenceRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (", self.check)?;
        if let Some(tier) = self.tier {
            write!(f, "tier {}, ", u8::from(tier))?;
        }
        write!(f, "iteration {})", self.iteration)
    }
}

impl TryFrom<u8> for Tier {
    type Error = TierError;

    fn try_from(number: u8) -> Result<Tier, TierError> {
        match number {
            1 => Ok(Tier::One),
            2 => Ok(Tier::Two),
            3 => Ok(Tier::Three),
            4 => Ok(Tier::Four),
            number => Err(TierError { number }),
        }
    }
}

impl From<Tier> for u8 {
    fn from(tier: Tier) -> u8 {
        match tier {
            Tier::One => 1,
            Tier::Two => 2,
            Tier::Three => 3,
            Tier::Four => 4,
        }
    }
}

fn discrepancy(claim: &BaselineClaim, iteration: u32) -> EvidenceRow {
    let claimed = if claim.passed { "passed" } else { "failed" };
    EvidenceRow {
        check: DISCREPANCY.into(),
        phase: RowPhase::After,
        tier: None,
        passed: false,
        exit_code: None,
        iteration,
        superseded: false,
        collected: None,
        red_before: 0,
        duration_ms: 0,
        reason: format!(
            "the agent claims that `{}` {claimed} at the baseline; the engine did not see that",
            claim.check
        ),
        source: RowSource::Engine,
    }
}

/// How each test ended; a test that is listed with different results is flaky.
fn end_by_test(results: &[TestResult]) -> BTreeMap<&str, TestEnd> {
    let mut ends = BTreeMap::new();
    for result in results {
        let end = ends.entry(result.name.as_str()).or_insert(result.end);
        if *end != result.end {
            *end = TestEnd::Flaky;
        }
    }
    ends
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
