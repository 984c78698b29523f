//! Where a command works: the repository, its configuration and its state.

use crate::context::CommandContext;
use crate::environment;
use remand_engine::config::{Config, Flag, Sources};
use remand_engine::home::{Home, HomeError};
use remand_engine::lock::DriverLock;
use remand_engine::store::EmbeddedStore;
use remand_git::Repository;
use remand_ledger::{Ledger, Reader};
use remand_terminal::CommandFailure;
use std::path::{Path, PathBuf};

/// A repository with its configuration and state.
#[derive(Debug)]
pub struct Workplace {
    /// The current folder, for paths on the command line.
    pub here: PathBuf,
    pub repository: Repository,
    pub config: Config,
    pub home: Home,
}

impl Workplace {
    /// The repository around the current folder, with its configuration and its state.
    pub fn open(context: &CommandContext<'_>, flags: Vec<Flag>) -> Result<Workplace, CommandFailure> {
        let repository = repository(context)?;
        let config = config(&repository, flags)?;
        Workplace::with_config(context, repository, config)
    }

    /// The repository with other settings than those of its checkout.
    pub fn with_config(
        context: &CommandContext<'_>,
        repository: Repository,
        config: Config,
    ) -> Result<Workplace, CommandFailure> {
        let root =
            state(context, &repository, &config).ok_or_else(|| CommandFailure::from(HomeError::NoHome))?;
        let home = Home::open(&root, &repository)?;
        Ok(Workplace { here: here(context), repository, config, home })
    }

    /// The ledger for reading. Fails before the first run, when there is no ledger.
    pub fn reader(&self) -> Result<Reader, CommandFailure> {
        let path = self.home.ledger();
        if !path.exists() {
            return Err(CommandFailure::user(
                "this repository has no runs yet",
                "start one with `remand run \"what you want\"`, or try `remand demo`",
            ));
        }
        let home = self.home.clone();
        let reader = Reader::open(&path)?;
        Ok(reader.with_drivers(move |run| DriverLock::holder(&home.run(run)).is_some()))
    }

    /// The ledger for reading, if there is one.
    pub fn reader_if_any(&self) -> Result<Option<Reader>, CommandFailure> {
        if self.home.ledger().exists() { self.reader().map(Some) } else { Ok(None) }
    }

    /// The store of this repository's runs; it is created if needed.
    pub fn store(&self) -> Result<EmbeddedStore, CommandFailure> {
        EmbeddedStore::open(&self.home).map_err(CommandFailure::from)
    }

    /// The ledger for writing; it is created if needed.
    pub fn ledger(&self) -> Result<Ledger, CommandFailure> {
        Ledger::open(&self.home.ledger()).map_err(CommandFailure::from)
    }
}

/// The state directory, from the command line, the environment, the git directory, or the user's settings.
pub fn state(context: &CommandContext<'_>, repository: &Repository, config: &Config) -> Option<PathBuf> {
    let environment = environment::all();
    let given = context.state.map(PathBuf::from);
    let of_clone = || repository.state_directory().filter(|_| !environment.contains_key("REMAND_STATE_DIR"));
    given.or_else(of_clone).or_else(|| config.state_folder(&environment))
}

/// The folder that the command works in.
pub fn here(context: &CommandContext<'_>) -> PathBuf {
    let here = context.directory.unwrap_or(Path::new("."));
    here.canonicalize().unwrap_or_else(|_| here.to_path_buf())
}

/// The repository around the folder that the command works in.
pub fn repository(context: &CommandContext<'_>) -> Result<Repository, CommandFailure> {
    Repository::discover(&here(context)).map_err(CommandFailure::from)
}

/// The configuration of a repository, overridden by the flags.
pub fn config(repository: &Repository, flags: Vec<Flag>) -> Result<Config, CommandFailure> {
    let sources = Sources { flags, ..Sources::of(repository.root(), environment::all()) };
    Config::load(&sources).map_err(CommandFailure::from)
}
