//! Why a run that is kept in a hub cannot continue here, and what to do.

use crate::lock::LockError;
use remand_git::GitError;
use remand_ledger::{LedgerError, RunId};
use std::io;

/// Why a store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Hub(#[from] HubError),
}

/// Why an exchange with the hub failed. Nothing that was recorded is lost.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    #[error("run {run} is kept in a hub, and `hub.git` is not set")]
    NotConfigured { run: RunId },
    #[error("`hub.git` is not set")]
    NoHub,
    #[error("{reason}")]
    Away { reason: String },
    #[error("run {run} was continued elsewhere, by {by}; what was done here since then does not count")]
    Overtaken { run: RunId, by: String },
    #[error("the hub {address} no longer has run {run}; nothing was removed here")]
    Lost { run: RunId, address: String },
    #[error("the hub {address} has no run {run}; it is kept in {known}")]
    Elsewhere { run: RunId, address: String, known: String },
    #[error("{location} contains what looks like a secret, {what}, so run {run} was not pushed to the hub")]
    Secret { run: RunId, location: String, what: String },
    #[error("the hub {address} has no run `{name}`")]
    NotThere { name: String, address: String },
    #[error("the hub has several runs that `{name}` can mean: {}", runs.join(", "))]
    Ambiguous { name: String, runs: Vec<String> },
    #[error("this machine has only a part of run {run}")]
    Incomplete { run: RunId },
    #[error("the log of run {run} cannot be read: {detail}")]
    Damaged { run: RunId, detail: String },
    #[error("the record about the hub of run {run} cannot be used")]
    Record { run: RunId, source: io::Error },
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl HubError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            HubError::NotConfigured { run } => format!(
                "set `hub.git` in ~/.config/remand/config.toml, or continue without a hub: `remand resume {run} \
                 --without-hub`"
            ),
            HubError::NoHub => "set `hub.git` in ~/.config/remand/config.toml".to_string(),
            HubError::Away { .. } => {
                "nothing is lost: the next `remand resume` pushes what the hub lacks, and continues".to_string()
            }
            HubError::Overtaken { run, .. } => {
                format!("leave the run to that machine, or continue it here: `remand resume {run} --from-hub`")
            }
            HubError::Lost { run, .. } | HubError::Elsewhere { run, .. } => format!(
                "if no other machine continues the run, put it into the hub again: `remand resume {run} --restore-hub`"
            ),
            HubError::Secret { run, location, .. } => format!(
                "if it is not a secret, add \"{location}\" to `hub.allowed` in ~/.config/remand/config.toml, then \
                 `remand resume {run}`"
            ),
            HubError::NotThere { .. } => "`remand resume --from-hub` lists the runs of the hub".to_string(),
            HubError::Ambiguous { .. } => "give the whole id: `remand resume RUN --from-hub`".to_string(),
            HubError::Incomplete { run } => format!("get the rest: `remand resume {run} --from-hub`"),
            HubError::Damaged { .. } => {
                "continue the run on the machine that pushed it; the hub may have been changed by another program"
                    .to_string()
            }
            HubError::Record { .. } => "check the disk space and the permissions of the state folder".to_string(),
            HubError::Ledger(error) => error.hint().to_string(),
            HubError::Git(error) => error.hint(),
            HubError::Lock(LockError::Held { .. }) => "wait for that process, or stop it".to_string(),
            HubError::Lock(LockError::Unusable { .. }) => "check the permissions of the state folder".to_string(),
        }
    }
}

impl StoreError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            StoreError::Ledger(error) => error.hint().to_string(),
            StoreError::Hub(error) => error.hint(),
        }
    }
}
