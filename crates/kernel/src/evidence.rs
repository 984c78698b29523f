//! The evidence gate: whether the rows that the engine wrote prove a task (EP-18, EP-19).
//!
//! An agent's claim has no way in: a row has one possible source, and a claim is only ever compared.

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

/// One row of the ledger, as the gate needs it. It is stored as a line of text (`row_text.rs`), many to an event; with
/// names it stands in the facts of the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "kebab-case")]
pub struct Row {
    pub check: String,
    pub phase: RowPhase,
    /// None for a record that is no check of the cascade, such as `revert-<task>`.
    pub tier: Option<Tier>,
    pub passed: bool,
    /// None where no process ran, or it was ended from outside.
    pub exit_code: Option<i32>,
    /// The verification iteration, from 1; 0 at the baseline.
    pub iteration: u32,
    pub superseded: bool,
    /// How many tests were collected; none where the check runs no tests.
    pub collected: Option<u32>,
    pub duration_ms: u64,
    /// Why, for a marker such as `tier3-infeasible`.
    #[serde(default)]
    pub reason: String,
    pub source: Source,
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

/// Who wrote a row. Only what the engine ran is evidence, so there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    Engine,
}

/// How large a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    Standard,
    Large,
}

/// What the gate says; each reason is one sentence that names what failed or is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ruled {
    Passed,
    Failed(Vec<String>),
}

/// A number that is no tier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{number} is no tier: use 1 to 4")]
pub struct TierError {
    pub number: u8,
}

/// Rules on the rows of one task. Superseded rows do not exist for it, and of the after-rows only those of the
/// latest iteration.
pub fn rule(rows: &[Row], size: Size) -> Ruled {
    let standing = Standing::of(rows);
    let mut reasons = standing.missing(size);
    reasons.extend(standing.failures());
    if reasons.is_empty() { Ruled::Passed } else { Ruled::Failed(reasons) }
}

/// What the rows say besides: shown to people and reviewers, decides nothing.
pub fn notes(rows: &[Row]) -> Vec<String> {
    Standing::of(rows).notes()
}

/// The checks that fail and fail no gate, since they failed at the baseline too. They show nothing of the change.
pub fn excused(rows: &[Row]) -> BTreeSet<&str> {
    let standing = Standing::of(rows);
    let failing = standing.cascade().filter(|row| row.fails() && standing.failed_before(&row.check));
    failing.map(|row| row.check.as_str()).collect()
}

/// A test that passed before and does not pass after.
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

/// Compares test by test: what passed on any of the earlier trees, and fails after, is skipped or is gone. A flaky
/// test is neither a pass nor a failure.
pub fn regressions(before: &[&[TestResult]], after: &[TestResult]) -> Vec<Regression> {
    let after = ends(after);
    let passed: BTreeSet<&str> = before
        .iter()
        .flat_map(|results| ends(results))
        .filter(|(_, end)| *end == TestEnd::Passed)
        .map(|(test, _)| test)
        .collect();
    passed
        .into_iter()
        .filter_map(|test| {
            let how = match after.get(test) {
                Some(TestEnd::Passed | TestEnd::Flaky) => return None,
                Some(TestEnd::Failed) => RegressionKind::Failed,
                Some(TestEnd::Skipped) => RegressionKind::Skipped,
                None => RegressionKind::Gone,
            };
            Some(Regression { test: test.into(), how })
        })
        .collect()
}

/// What an agent says a check gave at the baseline; it is compared with the engine's rows, and that is all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaselineClaim {
    pub check: String,
    pub passed: bool,
}

/// Compares claimed with measured baselines: one `baseline-discrepancy` row, never passed, per difference.
/// A claim about a check that the engine did not run at the baseline differs too.
pub fn baseline_discrepancies(claims: &[BaselineClaim], rows: &[Row], iteration: u32) -> Vec<Row> {
    let standing = Standing::of(rows);
    let differs = |claim: &&BaselineClaim| {
        let mut measured = standing.baseline.iter().filter(|row| row.check == claim.check).peekable();
        measured.peek().is_none() || measured.any(|row| (row.passed && !row.exits_badly()) != claim.passed)
    };
    claims.iter().filter(differs).map(|claim| discrepancy(claim, iteration)).collect()
}

struct Standing<'a> {
    baseline: Vec<&'a Row>,
    after: Vec<&'a Row>,
}

impl<'a> Standing<'a> {
    fn of(rows: &'a [Row]) -> Standing<'a> {
        let of = |phase| rows.iter().filter(move |row| !row.superseded && row.phase == phase);
        let latest = of(RowPhase::After).map(|row| row.iteration).max();
        Standing {
            baseline: of(RowPhase::Baseline).filter(|row| row.tier.is_some()).collect(),
            after: of(RowPhase::After).filter(|row| Some(row.iteration) == latest).collect(),
        }
    }

    fn missing(&self, size: Size) -> Vec<String> {
        let needed = match size {
            Size::Standard => 2,
            Size::Large => 3,
        };
        let passing: Vec<Tier> =
            self.cascade().filter(|row| row.proves()).filter_map(|row| row.tier).collect();
        let mut reasons = Vec::new();
        if self.baseline.is_empty() {
            reasons.push("there is no baseline row: run the checks on the tree before the task".to_string());
        }
        if passing.len() < needed {
            let found = passing.len();
            reasons.push(format!("{found} passing after-rows of tiers 1 to 3, but {needed} are needed"));
        }
        if !passing.iter().any(|tier| *tier > Tier::One) && !self.is_infeasible() {
            let red: Vec<String> = self.red().map(|row| format!("`{}`", row.check)).collect();
            reasons.push(if red.is_empty() {
                format!("no passing after-row is of tier 2 or 3, and no `{INFEASIBLE}` with a reason is recorded")
            } else {
                let red = red.join(", ");
                format!("{red} failed at the baseline and still fails, and nothing else of tier 2 or 3 passes: mend it")
            });
        }
        reasons
    }

    fn failures(&self) -> Vec<String> {
        let secrets = self.after.iter().copied().filter(|row| row.check == SECRETS && !row.passed);
        self.cascade()
            .filter(|row| row.fails())
            .chain(secrets)
            .filter(|row| !self.failed_before(&row.check))
            .map(|row| format!("{row} failed{} and did not fail at the baseline", row.exit_in_words()))
            .collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for row in &self.after {
            let fails = row.fails() || (row.tier == Some(Tier::Four) && !row.passed);
            if row.is_vacuous() {
                notes.push(format!("{row} collected no test and is no pass"));
            } else if row.check == INFEASIBLE && row.reason.trim().is_empty() {
                notes.push(format!("{row} gives no reason and excuses nothing"));
            } else if fails && self.failed_before(&row.check) {
                notes.push(format!("{row} failed at the baseline too"));
            } else if row.tier == Some(Tier::Four) && row.check != SECRETS && !row.passed {
                notes.push(format!("{row} failed, which decides nothing"));
            } else if row.check == DISCREPANCY {
                notes.push(format!("{row}: {}", row.reason));
            }
        }
        notes
    }

    /// Builds and tests that failed before the change too: no reason to fail, and no proof either.
    fn red(&self) -> impl Iterator<Item = &'a Row> {
        let failed_before = |row: &&Row| self.failed_before(&row.check);
        self.cascade().filter(|row| row.tier > Some(Tier::One) && row.fails()).filter(failed_before)
    }

    /// The after-rows of tiers 1 to 3; the marker is no check.
    fn cascade(&self) -> impl Iterator<Item = &'a Row> {
        self.after.iter().copied().filter(|row| row.is_cascade())
    }

    fn is_infeasible(&self) -> bool {
        self.after.iter().any(|row| row.check == INFEASIBLE && !row.reason.trim().is_empty())
    }

    /// Two baselines may be there, the run's and the task's: one pass among them makes it a regression.
    fn failed_before(&self, check: &str) -> bool {
        let mut before = self.baseline.iter().filter(|row| row.check == check).peekable();
        before.peek().is_some() && before.all(|row| !row.passed || row.exits_badly())
    }
}

impl Row {
    fn is_cascade(&self) -> bool {
        self.tier.is_some_and(|tier| tier < Tier::Four) && self.check != INFEASIBLE
    }

    fn is_vacuous(&self) -> bool {
        self.is_cascade() && self.passed && self.collected == Some(0)
    }

    fn proves(&self) -> bool {
        self.passed && !self.exits_badly() && !self.is_vacuous()
    }

    fn fails(&self) -> bool {
        self.is_cascade() && (!self.passed || self.exits_badly())
    }

    fn exits_badly(&self) -> bool {
        self.is_cascade() && self.exit_code.is_some_and(|code| code != 0)
    }

    fn exit_in_words(&self) -> String {
        self.exit_code.map_or_else(String::new, |code| format!(" with exit code {code}"))
    }
}

impl fmt::Display for Row {
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

fn discrepancy(claim: &BaselineClaim, iteration: u32) -> Row {
    let claimed = if claim.passed { "passed" } else { "failed" };
    Row {
        check: DISCREPANCY.into(),
        phase: RowPhase::After,
        tier: None,
        passed: false,
        exit_code: None,
        iteration,
        superseded: false,
        collected: None,
        duration_ms: 0,
        reason: format!(
            "`{}` is claimed to have {claimed} at the baseline, which the engine did not see",
            claim.check
        ),
        source: Source::Engine,
    }
}

/// One end per test; a test that is listed with different ends is flaky.
fn ends(results: &[TestResult]) -> BTreeMap<&str, TestEnd> {
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
