//! All runs of the user, for the page and the terminal view, and the door through which a person asks something of them.

use crate::answering::{self, HumanAnswer};
use crate::context::CommandContext;
use crate::detaching::{self, ProcessFolders};
use crate::environment;
use crate::granting;
use crate::host;
use crate::workplace;
use remand_engine::clock;
use remand_engine::config::{Config, Sources};
use remand_engine::home::{Home, HomeError};
use remand_engine::redact::Redactor;
use remand_engine::store::{EmbeddedStore, Store};
use remand_git::Repository;
use remand_kernel::Event;
use remand_kernel::event::Grants;
use remand_ledger::Reader;
use remand_ledger::query::{GateRow, RunRow};
use remand_terminal::CommandFailure;
use remand_views::{GivenAnswer, RepositoryState, RunDoor, RunSite};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// What a view may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    Everything,
}

/// The runs of the user. `face` says where answers come from, such as `on the page`.
pub fn site(
    context: &CommandContext<'_>,
    face: &'static str,
    access: Access,
) -> Result<RunSite, CommandFailure> {
    let (state, redactor) = state(context)?;
    // A folder that exists belongs to the user and keeps its mode.
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&state);
    created.map_err(|error| {
        CommandFailure::user(
            format!("the state folder {} cannot be used", state.display()),
            "make it writable by you alone, or set REMAND_STATE_DIR to another folder",
        )
        .caused_by(error.to_string())
    })?;
    let door = match access {
        Access::ReadOnly => None,
        Access::Everything => {
            let roles = context.roles.map(Path::to_path_buf);
            let door = HumanDoor { face, state: state.clone(), roles, redactor: redactor.clone() };
            Some(Box::new(door) as Box<dyn RunDoor>)
        }
    };
    let of_home = move |home: &Home| of_repository(home).unwrap_or_else(|| redactor.clone());
    Ok(RunSite { state, door, redactor: Box::new(of_home) })
}

/// The state folder, and what takes secrets out, with the settings of the repository around the current folder if there
/// is one.
fn state(context: &CommandContext<'_>) -> Result<(PathBuf, Redactor), CommandFailure> {
    let no_home = || CommandFailure::from(HomeError::NoHome);
    if let Ok(repository) = workplace::repository(context) {
        let config = workplace::config(&repository, Vec::new())?;
        let state = workplace::state(context, &repository, &config).ok_or_else(no_home)?;
        return Ok((state, host::redactor(&config)?));
    }
    let environment = environment::all();
    let config =
        Config::load(&Sources { repository: None, ..Sources::of(Path::new("/"), environment.clone()) })
            .map_err(CommandFailure::from)?;
    let state = context.state.map(PathBuf::from).or_else(|| config.state_folder(&environment));
    Ok((state.ok_or_else(no_home)?, host::redactor(&config)?))
}

/// The one door for what a person asks of a run.
struct HumanDoor {
    face: &'static str,
    state: PathBuf,
    roles: Option<PathBuf>,
    /// For repositories whose checkout is gone.
    redactor: Redactor,
}

impl HumanDoor {
    fn person(&self) -> String {
        format!("{} {}", environment::user(), self.face)
    }

    /// Starts a process that drives a run.
    fn start(&self, repository: &RepositoryState, arguments: &[&str]) -> Result<(), String> {
        let gone = || "the checkout of this repository is gone".to_string();
        let directory = repository.checkout.clone().filter(|path| path.is_dir()).ok_or_else(gone)?;
        let folders =
            ProcessFolders { directory, roles: self.roles.clone(), state: Some(self.state.clone()) };
        detaching::start(&folders, &repository.home.root().join("started"), arguments)
            .map(drop)
            .map_err(|failure| failure.what)
    }
}

impl RunDoor for HumanDoor {
    fn answer(
        &self,
        repository: &RepositoryState,
        reader: &Reader,
        gate: &GateRow,
        answer: &GivenAnswer,
    ) -> Result<(), String> {
        let redactor = of_repository(&repository.home);
        let redactor = redactor.as_ref().unwrap_or(&self.redactor);
        let grants = match answer.grant.as_str() {
            "" => Grants::AskedFor,
            amount => {
                let checkout = repository.checkout.as_deref();
                let checkout = checkout.and_then(|path| Repository::discover(path).ok());
                let checkout = checkout.ok_or("the checkout of this repository is gone")?;
                granting::parse(&checkout, gate, &answer.option, amount).map_err(|failure| failure.what)?
            }
        };
        let answer = HumanAnswer {
            option: answer.option.clone(),
            note: answer.note.clone(),
            flags: answer.flags.clone(),
            grants,
            by: self.person(),
        };
        let store = EmbeddedStore::open(&repository.home).map_err(|error| error.to_string())?;
        answering::submit(&store, reader, redactor, gate, &answer)
            .map(drop)
            .map_err(|error| error.to_string())
    }

    fn cancel(&self, repository: &RepositoryState, run: &RunRow) -> Result<(), String> {
        if run.stage.is_over() {
            return Err(format!("the run is over: {}", run.outcome()));
        }
        let store = EmbeddedStore::open(&repository.home).map_err(|error| error.to_string())?;
        let event = Event::Cancelled { by: self.person() };
        store.request(&run.run, clock::now(), &event).map_err(|error| error.to_string())?;
        if repository.is_driven(&run.run) { Ok(()) } else { self.start(repository, &["cancel", &run.run.0]) }
    }

    fn resume(&self, repository: &RepositoryState, run: &RunRow) -> Result<(), String> {
        if repository.is_driven(&run.run) {
            return Err("a process drives this run already".to_string());
        }
        if run.stage.is_over() {
            return Err(format!("the run is over: {}", run.outcome()));
        }
        self.start(repository, &["resume", &run.run.0])
    }
}

/// The rules about secrets of a repository.
fn of_repository(home: &Home) -> Option<Redactor> {
    let repository = Repository::discover(&home.checkout()?).ok()?;
    let config = workplace::config(&repository, Vec::new()).ok()?;
    host::redactor(&config).ok()
}
