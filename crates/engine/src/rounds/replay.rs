//! Builds the history of the rounds by replaying the journal, event by event.

use super::awaited::AwaitedCommands;
use super::history::RoundHistory;
use super::sheet::{DocumentVersion, FailedDispatch, RoundSheet};
use crate::pinned::Pinned;
use crate::site::Trouble;
use remand_contract::schema::gaps::{GapInventory, GapProposals};
use remand_contract::{SchemaId, new_gaps};
use remand_kernel::change::Digest;
use remand_kernel::command::Command;
use remand_kernel::gaps::Board;
use remand_kernel::ids::{ArtifactId, PhaseId};
use remand_kernel::program::Work;
use remand_kernel::ruling::{Disposition, Ruling};
use remand_kernel::signal::NO_RESULT;
use remand_kernel::{EngineOperation, Event, Outcome};
use remand_ledger::fact::Artifact;
use remand_ledger::query::JournalRow;
use remand_ledger::{Millis, Reader, RunId};
use serde::de::DeserializeOwned;

/// The artifact with the board.
const GAPS: &str = "gaps";

impl RoundHistory {
    /// Replays the journal of a run.
    pub fn read(reader: &Reader, run: &RunId, pinned: &Pinned) -> Result<RoundHistory, Trouble> {
        let (history, awaited) = (RoundHistory::blank(), AwaitedCommands::default());
        let mut replay = HistoryReplay { reader, pinned, history, awaited };
        for row in reader.journal(run, 0)? {
            replay.apply(&row)?;
        }
        Ok(replay.history)
    }

    /// Replays the journal of a run with the workflow and roles that the run pinned.
    pub fn of_run(reader: &Reader, run: &RunId) -> Result<RoundHistory, Trouble> {
        let row = reader.run(&run.0)?;
        let pinned: Pinned = serde_json::from_slice(&reader.blob(row.pinned)?).map_err(|error| {
            Trouble::denied(format!("the pinned workflow of the run is unreadable: {error}"))
        })?;
        RoundHistory::read(reader, run, &pinned)
    }
}

/// The replay in progress.
struct HistoryReplay<'t> {
    reader: &'t Reader,
    pinned: &'t Pinned,
    history: RoundHistory,
    awaited: AwaitedCommands,
}

impl HistoryReplay<'_> {
    fn apply(&mut self, row: &JournalRow) -> Result<(), Trouble> {
        if self.history.started_at == Millis(0) {
            self.history.started_at = row.at;
        }
        self.history.last_at = row.at;
        match &row.event {
            Event::Ended { id, outcome, .. } if self.awaited.remove(*id) => {
                self.apply_end(id.phase, id.seat, outcome, row)?;
            }
            Event::Cancelled { .. } => self.history.is_cancelled = true,
            Event::Ended { .. }
            | Event::Started(_)
            | Event::Answered { .. }
            | Event::Interrupted { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::Retried { .. }
            | Event::RolledBack { .. }
            | Event::ApproachRemoved { .. }
            | Event::Reattributed { .. }
            | Event::Reverted { .. } => {}
        }
        for ruling in &row.rulings {
            self.apply_ruling(ruling, row.at);
        }
        for command in &row.commands {
            self.awaited.apply(command);
            self.apply_command(command, &row.event)?;
        }
        Ok(())
    }

    fn apply_end(
        &mut self,
        phase: PhaseId,
        seat: u16,
        outcome: &Outcome,
        row: &JournalRow,
    ) -> Result<(), Trouble> {
        let report = match outcome {
            Outcome::Said(report) => report,
            Outcome::Failed { failure, detail, .. } => {
                self.add_failure(phase, seat, format!("{}: {detail}", failure.name()), row);
                return Ok(());
            }
            Outcome::Supposed(_) => return Ok(()),
        };
        let program = &self.pinned.program;
        let artifacts = &row.facts.artifacts;
        for artifact in artifacts.iter().filter(|artifact| artifact.name == program.subject) {
            let text = DocumentVersion { digest: artifact.digest, blob: artifact.blob };
            self.history.versions.insert(text.digest, text);
            self.history.text = Some(text);
        }
        match (&program.phase(phase).work, self.schema(phase)) {
            (Work::Operation { operation }, _) => {
                let name = program.operation(*operation).name;
                self.history.is_draft |= name == EngineOperation::WriteDraft;
                if let Some(artifact) = artifacts.iter().find(|artifact| artifact.name == GAPS) {
                    let board: Board = self.json(artifact)?;
                    self.apply_operation(name, &report.says, board, row)?;
                }
            }
            (_, Some(SchemaId::GapInventory)) => {
                if let Some(artifact) = artifacts.first() {
                    let inventory: GapInventory = self.payload(artifact)?;
                    self.history.is_clean = inventory.gaps.is_empty();
                    if artifact.name == GAPS {
                        self.history.board = Some(open_board(&inventory, self.pinned)?);
                    }
                }
            }
            (_, Some(SchemaId::GapProposals)) => {
                for artifact in artifacts {
                    let result: GapProposals = self.payload(artifact)?;
                    let summary = row.facts.telemetry.as_ref().map(|telemetry| telemetry.summary.clone());
                    self.history.current.summaries.insert(artifact.part.clone(), summary.unwrap_or_default());
                    self.history.current.add_result(&artifact.part, result);
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

    /// Applies an operation that wrote the board.
    fn apply_operation(
        &mut self,
        name: EngineOperation,
        says: &str,
        board: Board,
        row: &JournalRow,
    ) -> Result<(), Trouble> {
        let program = &self.pinned.program;
        let history = &mut self.history;
        history.is_clean = match name {
            EngineOperation::CloseRound => board.is_complete(),
            EngineOperation::WriteSpec => history.is_clean,
            _ => false,
        };
        match name {
            EngineOperation::AssignGaps => {
                history.current.round = board.round();
                history.board = Some(board.clone());
                if matches!(says, "assigned" | "review-owed") {
                    let task = history.task(program)?;
                    history.current.batches =
                        task.batches.into_iter().map(|batch| (batch.id, batch.gaps)).collect();
                    history.current.started_at = Some(row.at);
                    history.rounds.start(&board);
                }
            }
            EngineOperation::CloseRound => {
                let remarks = row.facts.notes.iter().map(|note| note.text.clone()).collect();
                history.close(board, says, remarks, row.at);
            }
            EngineOperation::KeepBest => {
                self.keep_best()?;
                self.history.current = RoundSheet::of(board.round());
                self.history.board = Some(board);
            }
            _ => history.board = Some(board),
        }
        Ok(())
    }

    /// Replaces the current attempt with the best one since the last checkpoint.
    fn keep_best(&mut self) -> Result<(), Trouble> {
        let history = &mut self.history;
        let before = history.board()?.clone();
        let round = history.last_checkpoint_round();
        let best = history.rounds.best(&before, round);
        let Some(best) = best.filter(|best| best.rollback.is_some()) else { return Ok(()) };
        if history.rounds.adopt_best(&before, round).is_err() {
            return Ok(());
        }
        let adopted = history.rounds.rollbacks().last().map_or(0, |rollback| rollback.number);
        let sheets: Vec<RoundSheet> = history.sheets_of(best).into_iter().cloned().collect();
        history.move_to_rolled_back(round, adopted);
        history.closed.extend(sheets.into_iter().map(|sheet| (sheet.round, sheet)));
        Ok(())
    }

    /// Records a dispatch without a result, if it belongs to the rounds.
    fn add_failure(&mut self, phase: PhaseId, seat: u16, failure: String, row: &JournalRow) {
        let Some(SchemaId::GapProposals | SchemaId::GapReview | SchemaId::GapInventory) = self.schema(phase)
        else {
            return;
        };
        let program = &self.pinned.program;
        let contract = program.phase(phase).contracts().first();
        let is_retry =
            |ruling: &Ruling| ruling.phase == phase && matches!(ruling.verdict, Disposition::Again { .. });
        let batch = self.history.current.batches.keys().nth(usize::from(seat)).cloned();
        self.history.current.failures.push(FailedDispatch {
            at: row.at,
            role: contract.map(|id| program.contract(*id).title()).unwrap_or_default(),
            item: batch.filter(|_| self.schema(phase) == Some(SchemaId::GapProposals)),
            failure,
            is_retried: row.rulings.iter().any(is_retry),
        });
    }

    fn apply_ruling(&mut self, ruling: &Ruling, at: Millis) {
        let is_followed = matches!(ruling.verdict, Disposition::Follow { .. });
        if ruling.signal != NO_RESULT || !is_followed {
            return;
        }
        let history = &mut self.history;
        let why =
            history.current.failures.last().map(|dispatch| dispatch.failure.clone()).unwrap_or_default();
        match schema_of(self.pinned, ruling.phase) {
            Some(SchemaId::GapProposals) => history.close_as_failed(why, at),
            Some(SchemaId::GapReview) => history.current.unreviewed = Some(why),
            Some(_) | None => {}
        }
    }

    fn apply_command(&mut self, command: &Command, event: &Event) -> Result<(), Trouble> {
        match command {
            Command::Restore { round, versions } => self.apply_restore(*round, versions, event),
            // The kernel sets a checkpoint when it enters the phase; a retry does not enter it again.
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

    fn apply_restore(
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
        let request = history.rollback_request(round, event);
        history.is_clean = false;
        if let Ok(board) = history.rounds.restore_unlimited(&before, request) {
            let number = history.rounds.rollbacks().last().map_or(0, |rollback| rollback.number);
            history.move_to_rolled_back(round, number);
            history.current = RoundSheet::of(board.round());
            history.board = Some(board);
        }
        let restored = versions.iter().find(|(id, _)| program.artifacts[id.index()] == program.subject);
        if let Some((_, digest)) = restored {
            history.text = history.versions.get(digest).copied().or(history.text);
        }
        Ok(())
    }

    fn schema(&self, phase: PhaseId) -> Option<SchemaId> {
        schema_of(self.pinned, phase)
    }

    fn json<T: DeserializeOwned>(&self, artifact: &Artifact) -> Result<T, Trouble> {
        let text = crate::artifacts::content(self.reader, artifact.blob)?;
        serde_json::from_str(&text).map_err(|error| unreadable(artifact, &error))
    }

    fn payload<T: DeserializeOwned>(&self, artifact: &Artifact) -> Result<T, Trouble> {
        let text = crate::artifacts::content(self.reader, artifact.blob)?;
        crate::artifacts::payload(&text)
            .ok_or_else(|| unreadable(artifact, &"it does not have the schema of its role"))
    }
}

/// A board with the gaps of an inventory.
fn open_board(inventory: &GapInventory, pinned: &Pinned) -> Result<Board, Trouble> {
    let gaps = new_gaps(inventory).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Trouble::denied(format!("the gap inventory is invalid: {}", lines.join("; ")))
    })?;
    Board::open(gaps, pinned.rounds.board).map_err(|error| Trouble::denied(error.to_string()))
}

/// The schema of the result that a phase's role returns.
pub fn schema_of(pinned: &Pinned, phase: PhaseId) -> Option<SchemaId> {
    let contract = pinned.program.phase(phase).contracts().first()?;
    let title = pinned.program.contract(*contract).title();
    pinned.roles.get(&title)?.result.parse().ok()
}

fn unreadable(artifact: &Artifact, error: &dyn std::fmt::Display) -> Trouble {
    Trouble::denied(format!("the artifact `{}` in the ledger is unreadable: {error}", artifact.name))
}
