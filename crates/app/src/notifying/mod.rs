//! Tells the user about a run that nobody watches.
//!
//! The driving process only writes notices into the run's outbox and starts `remand deliver`, which sends them. So a
//! receiver that is slow or gone neither delays a run nor ends it.

pub mod channel;
pub mod outbox;
pub mod telemetry;
pub mod watch;

use crate::workplace::Workplace;
use remand_ledger::RunId;
use remand_process::DetachedProcess;
use std::ffi::OsString;

/// Starts the process that sends what waits in the outbox of a run. Nobody waits for it.
pub fn start_delivery(workplace: &Workplace, run: &RunId) {
    let root = workplace.repository.root();
    let started = std::env::current_exe().and_then(|program| {
        let words: [OsString; 7] = [
            program.into(),
            "-C".into(),
            root.into(),
            "--state".into(),
            workplace.home.state_root().into(),
            "deliver".into(),
            run.0.clone().into(),
        ];
        DetachedProcess::start_silent(&words, root)
    });
    if let Err(error) = started {
        tracing::warn!(%run, %error, "notices are not delivered");
    }
}
