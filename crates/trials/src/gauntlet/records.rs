//! Looks up facts in the ledger of a trial.

use super::must::{ExpectedRecord, ExpectedRuling};
use remand_kernel::evidence::RowPhase;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{
    CheckFilter, CheckRow, DispatchRow, FindingRow, GateRow, NoteRow, RulingRow, RunRow,
};
use remand_ledger::{LedgerError, Reader};
use remand_terminal::CommandFailure;

/// Everything that the ledger holds about a run.
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
    /// Reads the records of the newest run; `None` if there is no run.
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

    /// Describes a missing record; `None` if the record exists.
    pub fn missing(&self, record: &ExpectedRecord) -> Option<String> {
        match record {
            ExpectedRecord::Violation(text) => (!self.has_violation(text)).then(|| {
                let seen: Vec<&str> =
                    self.notes_of_kind(NoteKind::Violation).map(|note| note.text.as_str()).collect();
                format!("no violation on record names `{text}`, only {}", join_or_none(&seen))
            }),
            ExpectedRecord::Note(expected) => {
                let found = self.notes_of_kind(expected.kind).any(|note| note.text.contains(&expected.says));
                (!found).then(|| format!("no note of kind {:?} contains `{}`", expected.kind, expected.says))
            }
            ExpectedRecord::Finding(text) => {
                let found = self.findings.iter().any(|finding| finding.claim.contains(text));
                let claims: Vec<&str> = self.findings.iter().map(|finding| finding.claim.as_str()).collect();
                (!found).then(|| format!("no finding claims `{text}`, only {}", join_or_none(&claims)))
            }
            ExpectedRecord::FailedCheck(name) => {
                let failed =
                    |row: &&CheckRow| row.phase == RowPhase::After && row.name == *name && !row.passed;
                self.checks.iter().find(failed).is_none().then(|| format!("the check `{name}` never failed"))
            }
            ExpectedRecord::Failure(expected) => {
                let matches = |row: &&DispatchRow| {
                    row.role == expected.role
                        && row.failure.as_deref() == Some(expected.kind.as_str())
                        && row.detail.as_deref().unwrap_or_default().contains(&expected.says)
                };
                let seen: Vec<String> = self.dispatches.iter().filter_map(describe_failure).collect();
                let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
                self.dispatches.iter().find(matches).is_none().then(|| {
                    format!(
                        "no {} failed by {} {}: {}",
                        expected.role,
                        expected.kind,
                        expected.says,
                        join_or_none(&seen)
                    )
                })
            }
            ExpectedRecord::Ruling(expected) => (!self.has_ruling(expected))
                .then(|| format!("no ruling on `{}: {}` {}", expected.phase, expected.signal, expected.why)),
            ExpectedRecord::OpenGate(phase) => {
                let open = self.gates.iter().any(|gate| gate.phase == *phase && gate.is_open());
                (!open).then(|| format!("the gate `{phase}` is not open"))
            }
        }
    }

    /// Whether a ruling followed this signal.
    pub fn has_ruling_on(&self, signal: &str) -> bool {
        self.rulings.iter().any(|row| row.ruling.signal == signal)
    }

    pub fn violations(&self) -> usize {
        self.dispatches.iter().filter(|row| row.failure.as_deref() == Some("violation")).count()
    }

    fn has_violation(&self, text: &str) -> bool {
        self.notes_of_kind(NoteKind::Violation)
            .any(|note| note.text.contains(text) || note.files.iter().any(|file| file.contains(text)))
    }

    fn has_ruling(&self, expected: &ExpectedRuling) -> bool {
        self.rulings.iter().map(|row| &row.ruling).any(|ruling| {
            ruling.phase == expected.phase
                && ruling.signal == expected.signal
                && ruling.why.contains(&expected.why)
                && expected.spent.as_ref().is_none_or(|budget| ruling.exhausted.contains(budget))
        })
    }

    fn notes_of_kind(&self, kind: NoteKind) -> impl Iterator<Item = &NoteRow> {
        self.notes.iter().filter(move |note| note.kind == kind)
    }
}

fn describe_failure(row: &DispatchRow) -> Option<String> {
    let failure = row.failure.as_deref()?;
    Some(format!("{} by {failure} ({})", row.role, row.detail.as_deref().unwrap_or_default()))
}

fn join_or_none(list: &[&str]) -> String {
    if list.is_empty() { "none".to_string() } else { list.join("; ") }
}
