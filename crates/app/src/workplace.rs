//! Where a command works: the repository, its configuration, and the state that is kept for it.

use crate::cli;
use crate::commands::Context;
use crate::exit::{Exit, Failure};
use remand_ledger::{Ledger, LedgerError, Reader};
use remand_runtime::config::{Config, ConfigError, Flag, Sources};
use remand_runtime::git::{GitError, Repository};
use remand_runtime::home::{Home, HomeError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A repository with all that belongs to it.
#[derive(Debug)]
pub struct Workplace {
    /// Where the user stands, for paths on the command line.
    pub here: PathBuf,
    pub repository: Repository,
    pub config: Config,
    pub home: Home,
}

impl Workplace {
    /// The repository around the current folder, with its configuration and its state.
    pub fn open(context: &Context<'_>, flags: Vec<Flag>) -> Result<Workplace, Failure> {
        let repository = repository(context)?;
        let config = config(&repository, flags)?;
        let root = state(context, &repository, &config).ok_or_else(|| of_home(&HomeError::NoHome))?;
        let home = Home::open(&root, &repository).map_err(|error| of_home(&error))?;
        Ok(Workplace { here: here(context), repository, config, home })
    }

    /// The ledger, for reading. A repository in which nothing ever ran has none yet.
    pub fn reader(&self) -> Result<Reader, Failure> {
        let path = self.home.ledger();
        if !path.exists() {
            return Err(Failure::user(
                "nothing was ever run in this repository",
                "begin with `remand run \"what you want\"`, or see `remand demo`",
            ));
        }
        Reader::open(&path).map_err(|error| of_ledger(&error))
    }

    /// The ledger, for writing; it is made if need be.
    pub fn ledger(&self) -> Result<Ledger, Failure> {
        Ledger::open(&self.home.ledger()).map_err(|error| of_ledger(&error))
    }
}

/// The state directory: by the command line, the environment, the git directory, or the user's settings.
pub fn state(context: &Context<'_>, repository: &Repository, config: &Config) -> Option<PathBuf> {
    let environment = environment();
    let named = context.state.map(PathBuf::from);
    let of_clone = || repository.state_directory().filter(|_| !environment.contains_key("REMAND_STATE_DIR"));
    named.or_else(of_clone).or_else(|| config.state_folder(&environment))
}

/// The folder that the command works in.
pub fn here(context: &Context<'_>) -> PathBuf {
    let here = context.directory.unwrap_or(Path::new("."));
    here.canonicalize().unwrap_or_else(|_| here.to_path_buf())
}

/// The repository around the folder that the command works in.
pub fn repository(context: &Context<'_>) -> Result<Repository, Failure> {
    Repository::discover(&here(context)).map_err(|error| of_git(&error))
}

/// The configuration of a repository, with flags on top.
pub fn config(repository: &Repository, flags: Vec<Flag>) -> Result<Config, Failure> {
    let sources = Sources { flags, ..Sources::of(repository.root(), environment()) };
    Config::load(&sources).map_err(|error| of_config(&error))
}

/// The environment, as far as it is text.
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

pub fn of_git(error: &GitError) -> Failure {
    with_causes(Failure::user(error.to_string(), error.hint()), error)
}

pub fn of_home(error: &HomeError) -> Failure {
    with_causes(Failure::user(error.to_string(), error.hint()), error)
}

pub fn of_config(error: &ConfigError) -> Failure {
    with_causes(
        Failure::user(error.to_string(), "`remand init` writes a file with every setting explained"),
        error,
    )
}

pub fn of_ledger(error: &LedgerError) -> Failure {
    let hint = match error {
        LedgerError::UnderWay { run, .. } => {
            let (resume, cancel) =
                (cli::command(format!("resume {run}")), cli::command(format!("cancel {run}")));
            format!("go on with it by `{resume}`, or end it by `{cancel}`")
        }
        other => other.hint().to_string(),
    };
    with_causes(Failure::user(error.to_string(), hint), error)
}

/// Something that should always work did not.
pub fn internal(what: impl Into<String>, error: &dyn std::error::Error) -> Failure {
    let failure = Failure { exit: Exit::Internal, ..Failure::user(what, "this is a defect of remand") };
    with_causes(failure.caused_by(error.to_string()), error)
}

/// A failure with everything that the error gives as its cause.
pub fn with_causes(mut failure: Failure, error: &dyn std::error::Error) -> Failure {
    let mut source = error.source();
    while let Some(cause) = source {
        failure = failure.caused_by(cause.to_string());
        source = cause.source();
    }
    failure
}
