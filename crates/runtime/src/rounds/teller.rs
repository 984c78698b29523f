//! Hears the journal, event by event, and makes the history of the rounds from it.

use super::awaited::Awaited;
use super::history::{History, Text};
use super::sheet::{Mishap, Sheet};
use crate::contract::schema::gaps::{GapInventory, GapProposals};
use crate::contract::{SchemaId, new_gaps};
use crate::pinned::Pinned;
use crate::workshop::Trouble;
use remand_kernel::change::Digest;
use remand_kernel::command::Command;
use remand_kernel::gaps::Board;
use remand_kernel::ids::{ArtifactId, PhaseId};
use remand_kernel::program::Work;
use remand_kernel::ruling::{Ruling, Verdict};
use remand_kernel::signal::NO_RESULT;
use remand_kernel::{Event, Outcome};
use remand_ledger::fact::Artifact;
use remand_ledger::query::JournalRow;
use remand_ledger::{Millis, Reader};
use serde::de::DeserializeOwned;

/// The artifact that is the board.
const GAPS: &str = "gaps";

/// Makes a history, event by event.
pub(super) struct Teller<'t> {
    pub(super) reader: &'t Reader,
    pub(super) pinned: &'t Pinned,
    pub(super) history: History,
    pub(super) awaited: Awaited,
}

impl Teller<'_> {
    pub(super) fn hear(&mut self, row: &JournalRow) -> Result<(), Trouble> {
        if self.history.begun_at == Millis(0) {
            self.history.begun_at = row.at;
        }
        self.history.last_at = row.at;
        match &row.event {
            Event::Ended { id, outcome, .. } if self.awaited.take(*id) => {
                self.ended(id.phase, id.seat, outcome, row)?;
            }
            Event::Ended { .. }
            | Event::Started(_)
            | Event::Answered { .. }
            | Event::Interrupted { .. }
            | Event::Cancelled { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::RolledBack { .. }
            | Event::ApproachRemoved { .. }
            | Event::Reattributed { .. }
            | Event::Reverted { .. } => {}
        }
        for ruling in &row.rulings {
            self.ruled(ruling, row.at);
        }
        for command in &row.commands {
            self.awaited.hear(command);
            self.commanded(command, &row.event)?;
        }
        Ok(())
    }

    fn ended(
        &mut self,
        phase: PhaseId,
        seat: u16,
        outcome: &Outcome,
        row: &JournalRow,
    ) -> Result<(), Trouble> {
        let report = match outcome {
            Outcome::Said(report) => report,
            Outcome::Failed { failure, detail, .. } => {
                self.missed(phase, seat, format!("{}: {detail}", failure.name()), row);
                return Ok(());
            }
            Outcome::Supposed(_) => return Ok(()),
        };
        let program = &self.pinned.program;
        let artifacts = &row.facts.artifacts;
        for artifact in artifacts.iter().filter(|artifact| artifact.name == program.subject) {
            let text = Text { digest: artifact.digest, blob: artifact.blob };
            self.history.texts.insert(text.digest, text);
            self.history.text = Some(text);
        }
        match (&program.phase(phase).work, self.schema(phase)) {
            (Work::Operation { operation }, _) => {
                let name = program.operation(*operation).name.clone();
                self.history.is_draft |= name == "write-draft";
                if let Some(artifact) = artifacts.iter().find(|artifact| artifact.name == GAPS) {
                    let board: Board = self.json(artifact)?;
                    self.operated(&name, &report.says, board, row)?;
                }
            }
            (_, Some(SchemaId::GapInventory)) => {
                if let Some(artifact) = artifacts.first() {
                    let found: GapInventory = self.payload(artifact)?;
                    self.history.is_clean = found.gaps.is_empty();
                    if artifact.name == GAPS {
                        self.history.board = Some(opened(&found, self.pinned)?);
                    }
                }
            }
            (_, Some(SchemaId::GapProposals)) => {
                for artifact in artifacts {
                    let result: GapProposals = self.payload(artifact)?;
                    let said = row.facts.telemetry.as_ref().map(|told| told.summary.clone());
                    self.history.current.said.insert(artifact.part.clone(), said.unwrap_or_default());
                    self.history.current.deliver(&artifact.part, result);
                }
            }
            (_, Some(SchemaId::GapReview)) => {
                if let Some(artifact) = artifacts.first() {
                    self.history.current.review = Some(self.payload(artifact)?);
                }
            }
            (_, Some(_) | None) => {}
        }
        Ok(())
    }

    /// An operation wrote the board.
    fn operated(&mut self, name: &str, says: &str, board: Board, row: &JournalRow) -> Result<(), Trouble> {
        let program = &self.pinned.program;
        let history = &mut self.history;
        history.is_clean = match name {
            "close-round" => board.is_complete(),
            "write-spec" => history.is_clean,
            _ => false,
        };
        match name {
            "assign-gaps" => {
                history.current.round = board.round();
                history.board = Some(board.clone());
                if matches!(says, "assigned" | "review-owed") {
                    let task = history.task(program)?;
                    history.current.batches = task.batches.into_iter().map(|it| (it.id, it.gaps)).collect();
                    history.current.begun_at = Some(row.at);
                    history.rounds.start(&board);
                }
            }
            "close-round" => {
                let remarks = row.facts.notes.iter().map(|note| note.text.clone()).collect();
                history.close(board, says, remarks, row.at);
            }
            "keep-best" => {
                self.kept_best()?;
                self.history.current = Sheet::of(board.round());
                self.history.board = Some(board);
            }
            _ => history.board = Some(board),
        }
        Ok(())
    }

    /// The best attempt since the last checkpoint took the place of the present one.
    fn kept_best(&mut self) -> Result<(), Trouble> {
        let history = &mut self.history;
        let before = history.board()?.clone();
        let round = history.last_begun();
        let best = history.rounds.best(&before, round);
        let Some(best) = best.filter(|best| best.rollback.is_some()) else { return Ok(()) };
        if history.rounds.adopt_best(&before, round).is_err() {
            return Ok(());
        }
        let adopted = history.rounds.rollbacks().last().map_or(0, |rollback| rollback.number);
        let sheets: Vec<Sheet> = history.sheets_of(best).into_iter().cloned().collect();
        history.set_aside(round, adopted);
        history.closed.extend(sheets.into_iter().map(|sheet| (sheet.round, sheet)));
        Ok(())
    }

    /// A dispatch brought no result.
    fn missed(&mut self, phase: PhaseId, seat: u16, what: String, row: &JournalRow) {
        let Some(SchemaId::GapProposals | SchemaId::GapReview | SchemaId::GapInventory) = self.schema(phase)
        else {
            return;
        };
        let program = &self.pinned.program;
        let contract = program.phase(phase).contracts().first();
        let again =
            |ruling: &Ruling| ruling.phase == phase && matches!(ruling.verdict, Verdict::Again { .. });
        let batch = self.history.current.batches.keys().nth(usize::from(seat)).cloned();
        self.history.current.mishaps.push(Mishap {
            at: row.at,
            role: contract.map(|id| program.contract(*id).title()).unwrap_or_default(),
            item: batch.filter(|_| self.schema(phase) == Some(SchemaId::GapProposals)),
            what,
            tried_again: row.rulings.iter().any(again),
        });
    }

    fn ruled(&mut self, ruling: &Ruling, at: Millis) {
        let followed = matches!(ruling.verdict, Verdict::Follow { .. });
        if ruling.signal != NO_RESULT || !followed {
            return;
        }
        let history = &mut self.history;
        let why = history.current.mishaps.last().map(|mishap| mishap.what.clone()).unwrap_or_default();
        match schema_of(self.pinned, ruling.phase) {
            Some(SchemaId::GapProposals) => history.engineers_failed(why, at),
            Some(SchemaId::GapReview) => history.current.unreviewed = Some(why),
            Some(_) | None => {}
        }
    }

    fn commanded(&mut self, command: &Command, event: &Event) -> Result<(), Trouble> {
        match command {
            Command::Restore { round, versions } => self.restored(*round, versions, event),
            // The kernel sets one on entering the phase; what is tried again is entered once.
            Command::Operate { id, .. }
                if id.attempt == 1 && self.pinned.program.phase(id.phase).checkpoint =>
            {
                let round = self.history.board.as_ref().map_or(1, Board::round);
                self.history.checkpoints.push(round);
                Ok(())
            }
            Command::Operate { .. }
            | Command::Dispatch(_)
            | Command::Ask(_)
            | Command::Cancel { .. }
            | Command::Discard { .. }
            | Command::Finish { .. } => Ok(()),
        }
    }

    fn restored(
        &mut self,
        checkpoint: u16,
        versions: &[(ArtifactId, Digest)],
        event: &Event,
    ) -> Result<(), Trouble> {
        let program = &self.pinned.program;
        let history = &mut self.history;
        let before = history.board()?.clone();
        let at = usize::from(checkpoint).saturating_sub(1);
        let round = history.checkpoints.get(at).copied().unwrap_or_else(|| before.round());
        history.checkpoints.truncate(at);
        let request = history.request(round, event);
        history.is_clean = false;
        if let Ok(board) = history.rounds.follow(&before, request) {
            let number = history.rounds.rollbacks().last().map_or(0, |rollback| rollback.number);
            history.set_aside(round, number);
            history.current = Sheet::of(board.round());
            history.board = Some(board);
        }
        let restored = versions.iter().find(|(id, _)| program.artifacts[id.index()] == program.subject);
        if let Some((_, digest)) = restored {
            history.text = history.texts.get(digest).copied().or(history.text);
        }
        Ok(())
    }

    fn schema(&self, phase: PhaseId) -> Option<SchemaId> {
        schema_of(self.pinned, phase)
    }

    fn json<T: DeserializeOwned>(&self, artifact: &Artifact) -> Result<T, Trouble> {
        let text = crate::dispatch::content(self.reader, artifact.blob)?;
        serde_json::from_str(&text).map_err(|error| unreadable(artifact, &error))
    }

    fn payload<T: DeserializeOwned>(&self, artifact: &Artifact) -> Result<T, Trouble> {
        let text = crate::dispatch::content(self.reader, artifact.blob)?;
        let document = crate::dispatch::document(&text).unwrap_or_default();
        let payload = document.get("payload").cloned().unwrap_or_default();
        serde_json::from_value(payload).map_err(|error| unreadable(artifact, &error))
    }
}

/// A board with the gaps of an inventory.
fn opened(found: &GapInventory, pinned: &Pinned) -> Result<Board, Trouble> {
    let gaps = new_gaps(found).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Trouble::denied(format!("the inventory cannot be read: {}", told.join("; ")))
    })?;
    Board::open(gaps, pinned.rounds.board).map_err(|error| Trouble::denied(error.to_string()))
}

/// What the role of a phase returns.
pub fn schema_of(pinned: &Pinned, phase: PhaseId) -> Option<SchemaId> {
    let contract = pinned.program.phase(phase).contracts().first()?;
    let title = pinned.program.contract(*contract).title();
    pinned.roles.get(&title)?.result.parse().ok()
}

fn unreadable(artifact: &Artifact, error: &dyn std::fmt::Display) -> Trouble {
    Trouble::denied(format!("`{}` in the ledger cannot be read: {error}", artifact.name))
}
