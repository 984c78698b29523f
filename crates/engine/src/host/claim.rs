//! Claims a run that another process drove before.

use super::driven::{DrivenRun, replay_run};
use super::{Effects, Host, HostError, Mode, retry_while_busy};
use crate::lock::DriverLock;
use crate::turn::{LoadedRun, Redelivery, TurnResult, lost_agents, redeliver, turn, version_warning};
use remand_kernel::Command;
use remand_kernel::ids::CommandId;
use remand_kernel::signal::Failure;
use remand_ledger::{JournalEntry, LedgerError, Replayed, RunId};
use std::sync::Arc;
use tracing::info;

/// The version of this program.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

impl<E: Effects> Host<E> {
    /// Claims a run from the ledger, and starts its open commands again.
    pub fn resume(&mut self, run: &RunId) -> Result<(), HostError> {
        let Replayed { state, open, mut unanswered, program, .. } = self.claim(run)?;
        if state.end().is_none() {
            unanswered.clear();
        }
        let mut loaded = LoadedRun::with_state(program, state, Vec::new());
        let started_by = self.reader.run(&run.0)?.version;
        if let Some(warning) = version_warning(&started_by, VERSION) {
            loaded.add_note(warning);
        }
        let is_over = loaded.end().is_some();
        let commands = open.iter().cloned().chain(unanswered);
        let redeliveries =
            commands.map(|command| self.redelivery(run, command)).collect::<Result<Vec<_>, _>>()?;
        let orders = redeliver(&mut loaded, redeliveries, &self.now(Mode::Driving));
        info!(%run, open = open.len(), "run resumed");
        if let Some(driven) = self.runs.get_mut(run) {
            driven.set_loaded(loaded);
        }
        self.perform(run, orders);
        if is_over {
            self.effects.finish_background();
        }
        self.resumed.push((run.clone(), open));
        self.unload_if_waiting(run);
        Ok(())
    }

    /// An open command, with the ledger's data about its earlier attempts.
    fn redelivery(&self, run: &RunId, command: Command) -> Result<Redelivery, LedgerError> {
        let Command::Dispatch(dispatch) = &command else {
            return Ok(Redelivery { command, interruptions: 0, environment_failure: None });
        };
        let interruptions = self.reader.interruptions(run, &dispatch.id.to_string())?;
        let environment_failure = self.environment_failure(run, dispatch.id)?;
        Ok(Redelivery { command, interruptions, environment_failure })
    }

    /// The details of the previous attempt's failure, if its environment caused the failure. Attempts that were stopped
    /// at a limit of the run are skipped.
    fn environment_failure(&self, run: &RunId, id: CommandId) -> Result<Option<String>, LedgerError> {
        for attempt in (1..id.attempt).rev() {
            let row = self.reader.dispatch(run, &CommandId { attempt, ..id }.to_string())?;
            let failure = row.as_ref().and_then(|row| row.failure.as_deref());
            if failure != Some(Failure::OverBudget.name()) {
                let is_environment = failure == Some(Failure::Environment.name());
                return Ok(row.filter(|_| is_environment).map(|row| row.detail.unwrap_or_default()));
            }
        }
        Ok(None)
    }

    /// Claims a run without continuing it: only events that this process submits are recorded.
    pub fn take_over(&mut self, run: &RunId) -> Result<(), HostError> {
        self.claim(run).map(drop)
    }

    fn claim(&mut self, run: &RunId) -> Result<Replayed, HostError> {
        let lock = DriverLock::take(&self.runs_folder.join(&run.0), run)?;
        let mut replayed = replay_run(&self.reader, run)?;
        self.store.continue_from(run, replayed.seq, replayed.at)?;
        self.effects.kill_leftovers(run);
        let program = Arc::clone(&replayed.program);
        if replayed.state.end().is_some() {
            let loaded = LoadedRun::with_state(Arc::clone(&program), replayed.state.clone(), Vec::new());
            self.runs.insert(run.clone(), DrivenRun::new(program, Some(loaded), lock));
        } else {
            // After the end of a run, nothing is recorded until its background tasks are done.
            self.record_lost_agents(run, &mut replayed)?;
            self.runs.insert(run.clone(), DrivenRun::new(program, None, lock));
        }
        Ok(replayed)
    }

    /// Records, in one commit, the agents that died with the previous driving process. Their cost is unknown.
    fn record_lost_agents(&mut self, run: &RunId, replayed: &mut Replayed) -> Result<(), HostError> {
        let mut agents = Vec::new();
        for command in self.reader.unreported_dispatches(run)? {
            if let Some((start, last_seen)) = self.store.last_start(run, &command)
                && start.number > self.reader.interruptions(run, &command)?
            {
                agents.push((start, last_seen));
            }
        }
        if agents.is_empty() {
            return Ok(());
        }
        info!(%run, agents = agents.len(), "agents died with the driving process");
        let now = self.now(Mode::Driving);
        let mut loaded =
            LoadedRun::with_state(Arc::clone(&replayed.program), replayed.state.clone(), Vec::new());
        let mut accepted = Vec::new();
        for message in lost_agents(run, &agents, replayed.at) {
            match turn(&mut loaded, message, &now) {
                Ok(TurnResult::Accepted { entry, .. }) => accepted.push(entry),
                Ok(TurnResult::Refused { .. }) => {}
                Err(source) => return Err(HostError::Refused { run: run.clone(), source }),
            }
        }
        let entries: Vec<JournalEntry<'_>> = accepted.iter().map(|entry| entry.as_entry()).collect();
        let numbers = self.append(&entries)?;
        retry_while_busy(|| self.store.catch_up())?;
        replayed.state = loaded.state;
        (replayed.seq, replayed.at) = (numbers.last().copied().unwrap_or(replayed.seq), now.at);
        Ok(())
    }
}
