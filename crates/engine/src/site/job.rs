//! One running command, with everything that it may use.

use super::run_site::Site;
use crate::turn::Issuance;
use remand_checks::CheckSandbox;
use remand_git::RunTrees;
use remand_kernel::ids::CommandId;
use remand_kernel::{Program, State};
use remand_ledger::RunId;
use remand_process::Cancel;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One command with everything that it may use.
#[derive(Clone, Debug)]
pub struct Job {
    pub site: Arc<Site>,
    /// The trees of the run. Programs that git starts through them carry this command's marker.
    pub trees: RunTrees,
    pub program: Arc<Program>,
    /// The state when the command was issued.
    pub state: Arc<State>,
    pub id: CommandId,
    pub issuance: Issuance,
    /// How many times the command has been started, including this start.
    pub number: u64,
    pub issued_at: Instant,
    pub cancel: Cancel,
}

impl Job {
    /// The name of the phase that the command belongs to.
    pub fn phase(&self) -> &str {
        &self.program.phase(self.id.phase).name
    }

    /// The time left until the run's time limit. The run is charged for all the time since the command was issued.
    pub fn time_left(&self) -> Option<Duration> {
        let left = self.state.time_left().map(Duration::from_millis);
        left.map(|left| left.saturating_sub(self.issued_at.elapsed()))
    }

    /// The sandbox of the command's checks, before the paths of a tree are added.
    pub fn check_sandbox(&self) -> CheckSandbox {
        let settings = self.site.settings();
        CheckSandbox {
            program: settings.program.clone(),
            policy: settings.sandbox_scope().check_policy(),
            marker: Some(self.marker()),
            contacts: self.trees.contacts(),
        }
    }

    /// The marker that identifies every process of this command.
    pub fn marker(&self) -> String {
        marker(&self.site.run, self.id)
    }
}

/// The marker in the environment of every process of a command.
pub fn marker(run: &RunId, id: CommandId) -> String {
    format!("{run}/{id}")
}
