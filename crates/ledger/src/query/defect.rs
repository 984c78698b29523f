//! The defect log of a run: where each defect came from, where it was found, and what its correction cost.

use super::{CorrectionEnd, CorrectionRow, FindingRow, Reader};
use crate::column::{Count, Json, column_words};
use crate::error::LedgerError;
use crate::fact::{Millis, RunId};
use remand_kernel::Event;
use remand_kernel::event::Usage;
use remand_kernel::finding::{Category, Location, Severity};
use remand_kernel::state::FiledStatus;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const WORK: &str = "SELECT events.seq, phase, task, commands.kind = 'dispatch', tokens, money, time
    FROM events JOIN commands ON commands.id BETWEEN events.id << 16 AND events.id << 16 | 65535
    WHERE events.run = ?1 AND completed_at IS NOT NULL ORDER BY events.seq, n";

const REATTRIBUTED: &str =
    "SELECT seq, at, body FROM events WHERE run = ?1 AND kind = 'reattributed' ORDER BY seq";

/// One defect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DefectRow {
    /// The position of the finding in the run's list.
    pub position: u32,
    /// The id of the finding.
    pub id: String,
    pub severity: Severity,
    pub category: Category,
    pub place: Location,
    pub claim: String,
    /// The phases that injected it, earliest first.
    pub injected: Vec<String>,
    /// Whether `injected` is only the phase that the finding was sent to, because nobody named the injecting phase.
    pub assumed: bool,
    /// The phase that found it.
    pub detected: String,
    /// Dispatches between sending it back and settling it, by phase, in the order of the work.
    pub attempts: Vec<Attempts>,
    /// The dispatches of the correction. One that dealt with several defects is divided among them.
    pub shared: SharedCost,
    /// Tokens of the dispatches that reported them.
    pub tokens: u64,
    /// Dispatches that did not report their tokens.
    #[serde(rename = "untold")]
    pub unmetered: u32,
    /// Cost of the dispatches with a known cost, in micro-units of the currency.
    pub money: u64,
    /// Dispatches with an unknown cost.
    pub unpriced: u32,
    /// Milliseconds of work.
    pub time: u64,
    pub resolution: DefectResolution,
    /// The changes that humans made to its origin, in order.
    pub reattributions: Vec<ReattributionRow>,
}

/// Dispatches, each divided by the number of defects that it dealt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SharedCost {
    pub dispatches: f64,
    /// Dispatches with an unknown cost.
    pub unpriced: f64,
    /// Dispatches that did not report their tokens.
    #[serde(rename = "untold")]
    pub unmetered: f64,
}

/// The number of dispatches of one phase for a correction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attempts {
    pub phase: String,
    pub dispatches: u32,
}

/// How a defect was resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefectResolution {
    Corrected,
    /// The phase that reported the defect accepted the unchanged work: it was not a defect.
    Withdrawn,
    /// A later report of the same defect replaced it.
    ReportedAgain,
    /// It was passed on when work was sent further back.
    PassedOn,
    /// It is minor, and recorded for later.
    FollowUp,
    /// The run continued with it.
    KnownIssue,
    Open,
}

column_words! {
    DefectResolution {
        DefectResolution::Corrected => "corrected",
        DefectResolution::Withdrawn => "withdrawn",
        DefectResolution::ReportedAgain => "reported-again",
        DefectResolution::PassedOn => "passed-on",
        DefectResolution::FollowUp => "follow-up",
        DefectResolution::KnownIssue => "known-issue",
        DefectResolution::Open => "open",
    }
}

/// A human changed the origin of a defect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReattributionRow {
    pub seq: u64,
    pub at: Millis,
    #[serde(skip)]
    pub position: u32,
    pub from: Vec<String>,
    pub to: Vec<String>,
    pub by: String,
    pub note: String,
}

/// One dispatch or operation that ended.
struct Work {
    seq: u64,
    phase: String,
    task: Option<String>,
    is_dispatch: bool,
    usage: Usage,
}

impl DefectResolution {
    pub fn name(self) -> &'static str {
        crate::column::ColumnWord::word(self)
    }

    /// Whether the report counts as a defect: it is neither a duplicate nor a false report.
    pub fn counts_as_defect(self) -> bool {
        match self {
            DefectResolution::Corrected
            | DefectResolution::PassedOn
            | DefectResolution::FollowUp
            | DefectResolution::KnownIssue
            | DefectResolution::Open => true,
            DefectResolution::Withdrawn | DefectResolution::ReportedAgain => false,
        }
    }
}

impl Reader {
    /// The defects of a run in the order they were reported. Advice is not a defect.
    pub fn defects(&self, run: &RunId) -> Result<Vec<DefectRow>, LedgerError> {
        let findings = self.findings(run)?;
        let corrections = self.corrections(run)?;
        let work = self.work(run)?;
        let reattributions = self.reattributions(run)?;
        let is_defect = |finding: &&FindingRow| finding.status != FiledStatus::Advice;
        Ok(findings
            .iter()
            .filter(is_defect)
            .map(|finding| {
                let reattributions = reattributions.iter().filter(|row| row.position == finding.position);
                defect(finding, &corrections, &work, reattributions.cloned().collect())
            })
            .collect())
    }

    /// The changes that humans made to the origins of this run's findings, in order.
    pub fn reattributions(&self, run: &RunId) -> Result<Vec<ReattributionRow>, LedgerError> {
        let rows = self.rows(REATTRIBUTED, [run], |row| {
            let (seq, at) = (row.get::<_, Count>(0)?.0, row.get(1)?);
            Ok(match row.get::<_, Json<Event>>(2)?.0 {
                Event::Reattributed { at: position, from, to, by, note } => {
                    Some(ReattributionRow { seq, at, position, from, to, by, note })
                }
                _ => None,
            })
        })?;
        Ok(rows.into_iter().flatten().collect())
    }

    fn work(&self, run: &RunId) -> Result<Vec<Work>, LedgerError> {
        self.rows(WORK, [run], |row| {
            let count =
                |column: usize| row.get::<_, Option<Count>>(column).map(|count| count.map(|count| count.0));
            Ok(Work {
                seq: row.get::<_, Count>(0)?.0,
                phase: row.get(1)?,
                task: row.get(2)?,
                is_dispatch: row.get(3)?,
                usage: Usage {
                    tokens: count(4)?,
                    money: count(5)?,
                    time: count(6)?.unwrap_or(0),
                    wall: None,
                },
            })
        })
    }
}

fn defect(
    finding: &FindingRow,
    corrections: &[CorrectionRow],
    all_work: &[Work],
    reattributions: Vec<ReattributionRow>,
) -> DefectRow {
    let finding_corrections: Vec<&CorrectionRow> =
        corrections.iter().filter(|correction| correction.position == finding.position).collect();
    let assumed = finding.injected_by.is_empty();
    let injected = match assumed {
        true => finding_corrections.first().map(|first| first.target.clone()).into_iter().collect(),
        false => finding.injected_by.clone(),
    };
    let mut defect = DefectRow {
        position: finding.position,
        id: finding.id.clone(),
        severity: finding.severity,
        category: finding.category,
        place: finding.place.clone(),
        claim: finding.claim.clone(),
        assumed: assumed && !finding_corrections.is_empty(),
        injected,
        detected: finding.phase.clone(),
        attempts: Vec::new(),
        shared: SharedCost::default(),
        tokens: 0,
        unmetered: 0,
        money: 0,
        unpriced: 0,
        time: 0,
        resolution: resolution(finding, finding_corrections.last().copied()),
        reattributions,
    };
    for work in
        all_work.iter().filter(|work| finding_corrections.iter().any(|correction| covers(correction, work)))
    {
        let share = Share::of(finding, corrections, work);
        defect.tokens += share.of_amount(work.usage.tokens.unwrap_or(0));
        defect.money += share.of_amount(work.usage.money.unwrap_or(0));
        defect.time += share.of_amount(work.usage.time);
        if work.is_dispatch {
            let unpriced = u32::from(work.usage.money.is_none());
            let unmetered = u32::from(work.usage.tokens.is_none());
            defect.unpriced += unpriced;
            defect.unmetered += unmetered;
            defect.shared.dispatches += share.fraction();
            defect.shared.unpriced += share.fraction() * f64::from(unpriced);
            defect.shared.unmetered += share.fraction() * f64::from(unmetered);
            match defect.attempts.iter_mut().find(|attempts| attempts.phase == work.phase) {
                Some(attempts) => attempts.dispatches += 1,
                None => defect.attempts.push(Attempts { phase: work.phase.clone(), dispatches: 1 }),
            }
        }
    }
    defect
}

/// The share of one defect in work that corrected several.
struct Share {
    /// The index of this defect among the defects that the work corrected.
    index: u32,
    count: u32,
}

impl Share {
    fn of(finding: &FindingRow, corrections: &[CorrectionRow], work: &Work) -> Share {
        let covering = corrections.iter().filter(|correction| covers(correction, work));
        let all: BTreeSet<u32> = covering.map(|correction| correction.position).collect();
        let to_u32 = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Share { index: to_u32(all.range(..finding.position).count()), count: to_u32(all.len()).max(1) }
    }

    /// The share in an amount, rounded so that all shares add up to the amount.
    fn of_amount(&self, amount: u64) -> u64 {
        let up_to = |index: u32| u128::from(amount) * u128::from(index) / u128::from(self.count);
        u64::try_from(up_to(self.index + 1) - up_to(self.index)).unwrap_or(u64::MAX)
    }

    fn fraction(&self) -> f64 {
        1.0 / f64::from(self.count)
    }
}

/// Whether work belongs to a correction: it was issued while the correction was open, and for the same task.
fn covers(correction: &CorrectionRow, work: &Work) -> bool {
    let in_time = work.seq >= correction.seq && correction.closed.is_none_or(|closed| work.seq < closed);
    in_time && correction.task.as_ref().is_none_or(|task| work.task.as_ref() == Some(task))
}

fn resolution(finding: &FindingRow, last: Option<&CorrectionRow>) -> DefectResolution {
    let ended = last.and_then(|last| last.outcome);
    match finding.status {
        FiledStatus::Open if finding.known => DefectResolution::KnownIssue,
        FiledStatus::Settled | FiledStatus::Open if ended == Some(CorrectionEnd::Withdrawn) => {
            DefectResolution::Withdrawn
        }
        FiledStatus::Open if ended != Some(CorrectionEnd::Corrected) => DefectResolution::Open,
        FiledStatus::Settled | FiledStatus::Open => DefectResolution::Corrected,
        FiledStatus::Superseded => DefectResolution::ReportedAgain,
        FiledStatus::PassedOn => DefectResolution::PassedOn,
        FiledStatus::FollowUp | FiledStatus::Advice => DefectResolution::FollowUp,
    }
}
