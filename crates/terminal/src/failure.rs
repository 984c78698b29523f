//! Failures of commands, as they are shown to people.

use crate::exit::ExitCode;
use crate::invocation;
use remand_engine::config::ConfigError;
use remand_engine::home::HomeError;
use remand_engine::host::HostError;
use remand_git::GitError;
use remand_ledger::LedgerError;
use std::error::Error;

/// What failed, why, and what to do next.
#[derive(Debug)]
pub struct CommandFailure {
    pub exit: ExitCode,
    pub what: String,
    pub causes: Vec<String>,
    pub hint: String,
}

impl CommandFailure {
    /// A failure that the user can fix.
    pub fn user(what: impl Into<String>, hint: impl Into<String>) -> CommandFailure {
        CommandFailure { exit: ExitCode::User, what: what.into(), causes: Vec::new(), hint: hint.into() }
    }

    /// A failure of something that should always work.
    pub fn internal(what: impl Into<String>) -> CommandFailure {
        CommandFailure { exit: ExitCode::Internal, ..CommandFailure::user(what, "this is a bug in Remand") }
    }

    /// An internal failure, with the error that caused it and the sources of that error.
    pub fn internal_error(what: impl Into<String>, error: &dyn Error) -> CommandFailure {
        CommandFailure::internal(what).caused_by(error.to_string()).with_sources(error)
    }

    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<String>) -> CommandFailure {
        self.causes.push(cause.into());
        self
    }

    /// Adds the sources of an error, nearest first.
    #[must_use]
    pub fn with_sources(mut self, error: &dyn Error) -> CommandFailure {
        let mut source = error.source();
        while let Some(cause) = source {
            self = self.caused_by(cause.to_string());
            source = cause.source();
        }
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "error": self.what, "causes": self.causes, "hint": self.hint })
    }
}

impl From<GitError> for CommandFailure {
    fn from(error: GitError) -> CommandFailure {
        CommandFailure::user(error.to_string(), error.hint()).with_sources(&error)
    }
}

impl From<HomeError> for CommandFailure {
    fn from(error: HomeError) -> CommandFailure {
        CommandFailure::user(error.to_string(), error.hint()).with_sources(&error)
    }
}

impl From<ConfigError> for CommandFailure {
    fn from(error: ConfigError) -> CommandFailure {
        let hint = format!("`{}` explains every setting", invocation::command("reference configuration"));
        CommandFailure::user(error.to_string(), hint).with_sources(&error)
    }
}

impl From<LedgerError> for CommandFailure {
    fn from(error: LedgerError) -> CommandFailure {
        let hint = match &error {
            LedgerError::UnderWay { run, .. } => {
                let resume = invocation::command(format!("resume {run}"));
                let cancel = invocation::command(format!("cancel {run}"));
                format!("continue it with `{resume}`, or end it with `{cancel}`")
            }
            other => other.hint().to_string(),
        };
        CommandFailure::user(error.to_string(), hint).with_sources(&error)
    }
}

impl From<HostError> for CommandFailure {
    fn from(error: HostError) -> CommandFailure {
        let what = error.to_string();
        match error {
            HostError::Ledger(error) => error.into(),
            HostError::Lock(error) => {
                CommandFailure::user(what, "wait for it, or end that process").with_sources(&error)
            }
            HostError::Replay { source, .. } => {
                CommandFailure::user(what, source.hint()).caused_by(source.to_string()).with_sources(&source)
            }
            HostError::Refused { source, .. } => {
                CommandFailure::user(what, "see `remand status` and `remand gates`")
                    .caused_by(source.to_string())
                    .with_sources(&source)
            }
            HostError::NotDriven(_) => CommandFailure::user(what, "resume it first"),
        }
    }
}
