//! Looks facts up in the ledger of a trial.

use super::must::{ExpectedRecord, ExpectedRuling};
use remand_kernel::evidence::RowPhase;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{
    CheckFilter, CheckRow, DispatchRow, FindingRow, GateRow, NoteRow, RulingRow, RunRow,
};
use remand_ledger::{LedgerError, Reader};
use remand_terminal::CommandFailure;

/// What the ledger holds of a run.
#[derive(Debug)]
pub struct Records {
    pub run: RunRow,
    pub rulings: Vec<RulingRow>,
    pub dispatches: Vec<DispatchRow>,
    notes: Vec<NoteRow>,
    findings: Vec<FindingRow>,
    checks: Vec<CheckRow>,
    gates: Vec<GateRow>,
}

impl Records {
    /// Reads everything of the newest run; none when nothing was ever run.
    pub fn read(reader: &Reader) -> Result<Option<Records>, CommandFailure> {
        let read = || -> Result<Option<Records>, LedgerError> {
            let Some(run) = reader.latest()? else { return Ok(None) };
            let id = run.run.clone();
            Ok(Some(Records {
                rulings: reader.rulings(&id, 0)?,
                dispatches: reader.dispatches(&id)?,
                notes: reader.notes(&id)?,
                findings: reader.findings(&id)?,
                checks: reader.checks(&id, CheckFilter::default())?,
                gates: reader.gates(&id)?,
                run,
            }))
        };
        read().map_err(CommandFailure::from)
    }

    /// Why a record is not there; none when it is.
    pub fn lacks(&self, record: &ExpectedRecord) -> Option<String> {
        match record {
            ExpectedRecord::Violation(text) => (!self.has_violation(text)).then(|| {
                let seen: Vec<&str> =
                    self.of_kind(NoteKind::Violation).map(|note| note.text.as_str()).collect();
                format!("no violation on record names `{text}`, only {}", listed(&seen))
            }),
            ExpectedRecord::Note(wanted) => {
                let found = self.of_kind(wanted.kind).any(|note| note.text.contains(&wanted.says));
                (!found).then(|| format!("no note of kind {:?} says `{}`", wanted.kind, wanted.says))
            }
            ExpectedRecord::Finding(text) => {
                let found = self.findings.iter().any(|finding| finding.claim.contains(text));
                let claims: Vec<&str> = self.findings.iter().map(|finding| finding.claim.as_str()).collect();
                (!found).then(|| format!("no finding claims `{text}`, only {}", listed(&claims)))
            }
            ExpectedRecord::FailedCheck(name) => {
                let failed =
                    |row: &&CheckRow| row.phase == RowPhase::After && row.name == *name && !row.passed;
                self.checks.iter().find(failed).is_none().then(|| format!("the check `{name}` never failed"))
            }
            ExpectedRecord::Failure(wanted) => {
                let fits = |row: &&DispatchRow| {
                    row.role == wanted.role
                        && row.failure.as_deref() == Some(wanted.kind.as_str())
                        && row.detail.as_deref().unwrap_or_default().contains(&wanted.says)
                };
                let seen: Vec<String> = self.dispatches.iter().filter_map(failed).collect();
                let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
                self.dispatches.iter().find(fits).is_none().then(|| {
                    format!("no {} failed by {} {}: {}", wanted.role, wanted.kind, wanted.says, listed(&seen))
                })
            }
            ExpectedRecord::Ruling(wanted) => (!self.has_ruling(wanted))
                .then(|| format!("no ruling on `{}: {}` {}", wanted.phase, wanted.signal, wanted.why)),
            ExpectedRecord::OpenGate(phase) => {
                let open = self.gates.iter().any(|gate| gate.phase == *phase && gate.is_open());
                (!open).then(|| format!("the gate `{phase}` does not wait"))
            }
        }
    }

    /// Whether a ruling followed this signal.
    pub fn followed(&self, signal: &str) -> bool {
        self.rulings.iter().any(|row| row.ruling.signal == signal)
    }

    pub fn violations(&self) -> usize {
        self.dispatches.iter().filter(|row| row.failure.as_deref() == Some("violation")).count()
    }

    fn has_violation(&self, text: &str) -> bool {
        self.of_kind(NoteKind::Violation)
            .any(|note| note.text.contains(text) || note.files.iter().any(|file| file.contains(text)))
    }

    fn has_ruling(&self, wanted: &ExpectedRuling) -> bool {
        self.rulings.iter().map(|row| &row.ruling).any(|ruling| {
            ruling.phase == wanted.phase
                && ruling.signal == wanted.signal
                && ruling.why.contains(&wanted.why)
                && wanted.spent.as_ref().is_none_or(|budget| ruling.exhausted.contains(budget))
        })
    }

    fn of_kind(&self, kind: NoteKind) -> impl Iterator<Item = &NoteRow> {
        self.notes.iter().filter(move |note| note.kind == kind)
    }
}

fn failed(row: &DispatchRow) -> Option<String> {
    let failure = row.failure.as_deref()?;
    Some(format!("{} by {failure} ({})", row.role, row.detail.as_deref().unwrap_or_default()))
}

fn listed(texts: &[&str]) -> String {
    if texts.is_empty() { "none".to_string() } else { texts.join("; ") }
}
