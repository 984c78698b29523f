//! Keeps the references of a run the same here and in the hub: fetched before a command, pushed before its result counts.

use crate::site::{Settings, Trouble};
use remand_git::{GitError, Pushed};
use remand_ledger::RunId;
use remand_process::Cancel;
use std::time::Duration;
use tracing::warn;

/// The wait after the first failed push; each further one takes twice as long, up to the maximum.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Takes over what other machines did for the run.
pub(super) fn fetch(settings: &Settings, run: &RunId, cancel: &Cancel) -> Result<(), Trouble> {
    let Some(hub) = &settings.hub else { return Ok(()) };
    Ok(hub.fetch(&settings.repository, &run.0, cancel)?)
}

/// Pushes what was done here, once.
pub(super) fn push(settings: &Settings, run: &RunId, cancel: &Cancel) -> Result<(), Trouble> {
    let Some(hub) = &settings.hub else { return Ok(()) };
    counted(hub.push(&settings.repository, &run.0, cancel)?)
}

/// Pushes what a command did. While the hub cannot be reached, the result waits: it may have cost hours and money.
/// `report` gets the reason.
pub(super) fn push_result(
    settings: &Settings,
    run: &RunId,
    cancel: &Cancel,
    report: impl Fn(String),
) -> Result<(), Trouble> {
    let Some(hub) = &settings.hub else { return Ok(()) };
    let mut wait = FIRST_WAIT;
    loop {
        match hub.push(&settings.repository, &run.0, cancel) {
            Err(error @ (GitError::HubFailed { .. } | GitError::TimedOut { .. })) => {
                warn!(%error, "the result waits for the hub");
                report(format!("waiting for the hub: {error}"));
            }
            pushed => return counted(pushed?),
        }
        if cancel.wait(wait) {
            return Err(Trouble::cancelled());
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// Whether what was pushed counts.
fn counted(pushed: Pushed) -> Result<(), Trouble> {
    match pushed {
        Pushed::Done => Ok(()),
        Pushed::Overtaken => Err(Trouble::environment(
            "another machine continued the run in the meantime, so what was done here does not count",
        )),
    }
}
