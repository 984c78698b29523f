//! The defect log of a run: where each defect came from, where it was found, and what its correction cost.

use super::{CorrectionEnd, CorrectionRow, FindingRow, Reader};
use crate::column::{Json, Whole, words};
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
    /// The finding's own id.
    pub id: String,
    pub severity: Severity,
    pub category: Category,
    pub place: Location,
    pub claim: String,
    /// The phases that injected it, earliest first.
    pub injected: Vec<String>,
    /// Nobody named the injecting phase, so it is assumed to be the one that the finding was sent to.
    pub assumed: bool,
    /// The phase that found it.
    pub detected: String,
    /// Dispatches between sending it back and settling it, by phase, in the order of the work.
    pub attempts: Vec<Attempts>,
    /// What the correction used. A dispatch that dealt with several defects is divided among them.
    pub shared: SharedCost,
    /// Tokens of the dispatches that reported them.
    pub tokens: u64,
    /// Dispatches that did not report their tokens.
    pub untold: u32,
    /// Cost of the dispatches with a known cost, in micro-units of the currency.
    pub money: u64,
    /// Dispatches with an unknown cost.
    pub unpriced: u32,
    /// Milliseconds of work.
    pub time: u64,
    pub resolution: DefectResolution,
    /// Changes of its origin by humans, in order.
    pub reattributions: Vec<ReattributionRow>,
}

/// Dispatches, each divided by the number of defects that it dealt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SharedCost {
    pub dispatches: f64,
    /// Those with an unknown cost.
    pub unpriced: f64,
    /// Those that did not report their tokens.
    pub untold: f64,
}

/// How often a phase worked on a correction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attempts {
    pub phase: String,
    pub dispatches: u32,
}

/// What became of a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefectResolution {
    Corrected,
    /// The phase that found it accepted the unchanged work: it was not a defect.
    Withdrawn,
    /// A later report of the same defect replaced it.
    ReportedAgain,
    /// It was passed on when work was sent further back.
    PassedOn,
    /// Minor: kept for later.
    FollowUp,
    /// The run continued with it.
    KnownIssue,
    Open,
}

words! {
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

    /// Whether it counts as a defect: not a duplicate, and not a false report.
    pub fn counts(self) -> bool {
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
    /// The defects of a run in the order of reporting. Advice is not a defect.
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
                let own = reattributions.iter().filter(|row| row.position == finding.position).cloned();
                defect(finding, &corrections, &work, own.collect())
            })
            .collect())
    }

    /// Changes of the origin of this run's findings by humans, in order.
    pub fn reattributions(&self, run: &RunId) -> Result<Vec<ReattributionRow>, LedgerError> {
        let rows = self.rows(REATTRIBUTED, [run], |row| {
            let (seq, at) = (row.get::<_, Whole>(0)?.0, row.get(1)?);
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
            let count = |at: usize| row.get::<_, Option<Whole>>(at).map(|whole| whole.map(|whole| whole.0));
            Ok(Work {
                seq: row.get::<_, Whole>(0)?.0,
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
    work: &[Work],
    reattributions: Vec<ReattributionRow>,
) -> DefectRow {
    let own: Vec<&CorrectionRow> =
        corrections.iter().filter(|correction| correction.position == finding.position).collect();
    let assumed = finding.injected_by.is_empty();
    let injected = match assumed {
        true => own.first().map(|first| first.target.clone()).into_iter().collect(),
        false => finding.injected_by.clone(),
    };
    let mut defect = DefectRow {
        position: finding.position,
        id: finding.id.clone(),
        severity: finding.severity,
        category: finding.category,
        place: finding.place.clone(),
        claim: finding.claim.clone(),
        assumed: assumed && !own.is_empty(),
        injected,
        detected: finding.phase.clone(),
        attempts: Vec::new(),
        shared: SharedCost::default(),
        tokens: 0,
        untold: 0,
        money: 0,
        unpriced: 0,
        time: 0,
        resolution: resolution(finding, own.last().copied()),
        reattributions,
    };
    for done in work.iter().filter(|done| own.iter().any(|correction| covers(correction, done))) {
        let share = Share::of(finding, corrections, done);
        defect.tokens += share.of_amount(done.usage.tokens.unwrap_or(0));
        defect.money += share.of_amount(done.usage.money.unwrap_or(0));
        defect.time += share.of_amount(done.usage.time);
        if done.is_dispatch {
            let unpriced = u32::from(done.usage.money.is_none());
            let untold = u32::from(done.usage.tokens.is_none());
            defect.unpriced += unpriced;
            defect.untold += untold;
            defect.shared.dispatches += share.of_one();
            defect.shared.unpriced += share.of_one() * f64::from(unpriced);
            defect.shared.untold += share.of_one() * f64::from(untold);
            match defect.attempts.iter_mut().find(|attempts| attempts.phase == done.phase) {
                Some(attempts) => attempts.dispatches += 1,
                None => defect.attempts.push(Attempts { phase: done.phase.clone(), dispatches: 1 }),
            }
        }
    }
    defect
}

/// The share of one defect in work that corrected several.
struct Share {
    /// The index of this defect among them.
    at: u32,
    count: u32,
}

impl Share {
    fn of(finding: &FindingRow, corrections: &[CorrectionRow], done: &Work) -> Share {
        let covering = corrections.iter().filter(|correction| covers(correction, done));
        let all: BTreeSet<u32> = covering.map(|correction| correction.position).collect();
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Share { at: narrow(all.range(..finding.position).count()), count: narrow(all.len()).max(1) }
    }

    /// Rounds so that all shares add up to the amount.
    fn of_amount(&self, amount: u64) -> u64 {
        let up_to = |at: u32| u128::from(amount) * u128::from(at) / u128::from(self.count);
        u64::try_from(up_to(self.at + 1) - up_to(self.at)).unwrap_or(u64::MAX)
    }

    fn of_one(&self) -> f64 {
        1.0 / f64::from(self.count)
    }
}

/// Whether work belongs to a correction: it was issued while the correction was open, and for the same task.
fn covers(correction: &CorrectionRow, done: &Work) -> bool {
    let in_time = done.seq >= correction.seq && correction.closed.is_none_or(|closed| done.seq < closed);
    in_time && correction.task.as_ref().is_none_or(|task| done.task.as_ref() == Some(task))
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
