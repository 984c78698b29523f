//! Gets runs from the hub, puts them back, and lets go of it.

use super::entry::{EntryAction, EntryContent, RunLog};
use super::record::HubRecord;
use super::{HubError, HubStore, KeptRun, Patience, away};
use crate::lock::DriverLock;
use remand_git::Hub;
use remand_ledger::RunId;
use tracing::info;

impl HubStore {
    /// The runs that the hub has, oldest first.
    pub fn runs_in_hub(&self) -> Result<Vec<RunId>, HubError> {
        let hub = self.settings.hub.as_ref().ok_or(HubError::NoHub)?;
        let runs = hub.runs(self.repository(), &self.stop).map_err(away)?;
        Ok(runs.into_keys().map(RunId).collect())
    }

    /// Makes this machine the one that continues a run. Another machine that still drives the run stops when it next
    /// records something. Returns the id of the run, of which `name` may be a part.
    pub fn take_from_hub(&self, name: &str) -> Result<RunId, HubError> {
        let hub = self.settings.hub.as_ref().ok_or(HubError::NoHub)?;
        let run = self.run_in_hub(hub, name)?;
        let (repository, folder) = (self.repository(), self.folder(&run));
        let _lock = DriverLock::take(&folder, &run)?;
        repository.unlock_run(&run.0)?;
        let gone = || HubError::NotThere { name: run.0.clone(), address: hub.shown_address() };
        let newest = hub.newest(repository, &run.0, &self.stop).map_err(away)?.ok_or_else(gone)?;
        let record = HubRecord::read(&folder, &run)?;
        if record.is_some()
            && let Some(own) = repository.run_log(&run.0)?
            && repository.log_continues(&own, &newest)?
        {
            // No other machine has continued it. After a kill, the ledger may lack rows of the log.
            self.import(&run, &RunLog::read(repository, &run, &own)?)?;
            return Ok(run);
        }
        hub.fetch(repository, &run.0, &newest, &self.stop).map_err(away)?;
        let log = RunLog::read(repository, &run, &newest)?;
        // Without the record, a run whose rows are here would continue without the hub.
        record.clone().unwrap_or_default().write(&folder, &run)?;
        if let Err(error) = self.import(&run, &log) {
            if record.is_none() {
                HubRecord::remove(&folder, &run)?;
            }
            return Err(error);
        }
        repository.follow_log(&run.0, &newest, &log.references)?;
        for start in log.starts.values() {
            self.embedded
                .copy_start(&run, start, log.head.at)
                .map_err(|source| HubError::Record { run: run.clone(), source })?;
        }
        let mut kept = KeptRun::from_log(&log, newest.clone());
        kept.confirmed = Some(newest);
        self.record(&run, &kept)?;
        self.add(&run, &mut kept, EntryAction::Claim, EntryContent::default())?;
        self.push(&run, &mut kept, Patience::Once)?;
        info!(%run, "taken from the hub");
        Ok(run)
    }

    /// Puts a run into a hub that does not have it any more.
    pub fn restore_to_hub(&self, run: &RunId) -> Result<(), HubError> {
        let (hub, repository, folder) = (self.hub(run)?, self.repository(), self.folder(run));
        let _lock = DriverLock::take(&folder, run)?;
        repository.unlock_run(&run.0)?;
        let newest = repository.run_log(&run.0)?.ok_or_else(|| HubError::Incomplete { run: run.clone() })?;
        if hub.newest(repository, &run.0, &self.stop).map_err(away)?.is_none() {
            let log = RunLog::read(repository, run, &newest)?;
            let mut kept = KeptRun::from_log(&log, newest);
            self.push(run, &mut kept, Patience::Once)?;
        }
        Ok(())
    }

    /// Continues a run on this machine only. The hub keeps what it has.
    pub fn leave_hub(&self, run: &RunId) -> Result<(), HubError> {
        let folder = self.folder(run);
        let _lock = DriverLock::take(&folder, run)?;
        self.repository().unlock_run(&run.0)?;
        if let Some(newest) = self.repository().run_log(&run.0)?
            && HubRecord::exists(&folder)
        {
            // Rows that were only pushed, or were about to be.
            let log = RunLog::read(self.repository(), run, &newest)?;
            self.import(run, &log)?;
        }
        HubRecord::remove(&folder, run)?;
        Ok(self.repository().forget_log(&run.0)?)
    }

    fn run_in_hub(&self, hub: &Hub, name: &str) -> Result<RunId, HubError> {
        let runs = self.runs_in_hub()?;
        let matching: Vec<&RunId> = match runs.iter().find(|run| run.0 == name) {
            Some(run) => vec![run],
            None => runs.iter().filter(|run| run.0.contains(name)).collect(),
        };
        match matching.as_slice() {
            [run] => Ok((*run).clone()),
            [] => Err(HubError::NotThere { name: name.to_string(), address: hub.shown_address() }),
            several => Err(HubError::Ambiguous {
                name: name.to_string(),
                runs: several.iter().map(|run| run.0.clone()).collect(),
            }),
        }
    }
}
