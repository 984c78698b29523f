//! `remand serve`: the live page, for all repositories of the user.

use crate::answering::{self, HumanAnswer};
use crate::context::CommandContext;
use crate::environment;
use crate::host;
use crate::workplace;
use remand_engine::config::{Config, Sources};
use remand_engine::home::{Home, HomeError};
use remand_engine::redact::Redactor;
use remand_engine::store::EmbeddedStore;
use remand_git::Repository;
use remand_kernel::event::Grants;
use remand_ledger::Reader;
use remand_ledger::query::GateRow;
use remand_page::{GateDoor, PageAnswer, PageServer, PageSite, PageStartError, server};
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode, Stop};
use serde_json::json;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The port on 127.0.0.1; 0 takes any free one
    #[arg(long, default_value_t = server::PORT, value_name = "PORT")]
    pub port: u16,
    /// Only show: no gate can be answered on the page
    #[arg(long)]
    pub read_only: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
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
    let door =
        (!args.read_only).then(|| Box::new(Answers { redactor: redactor.clone() }) as Box<dyn GateDoor>);
    let of_home = move |home: &Home| of_repository(home).unwrap_or_else(|| redactor.clone());
    let site = PageSite { state: state.clone(), door, redactor: Box::new(of_home) };
    let bound = PageServer::bind(site, args.port);
    let page = match bound {
        Err(PageStartError::Port { port, source }) => {
            // The user may only have lost the window of a server that still runs.
            if let Some(link) = server::link_of_running(&state, port) {
                return say(context, &link, "is served already; this link opens another window");
            }
            let failure = PageStartError::Port { port, source };
            return Err(CommandFailure::user(
                failure.to_string(),
                "name another one with --port, or 0 for any",
            )
            .with_sources(&failure));
        }
        Err(failure) => {
            return Err(CommandFailure::internal_error(failure.to_string(), &failure));
        }
        Ok(page) => page,
    };
    let link =
        page.link().map_err(|error| CommandFailure::internal_error("the login link is lost", &error))?;
    let signal = Stop::listen();
    say(context, &link, "opens in your browser, once; it is served until you press Ctrl-C")?;
    page.serve(move || signal.is_set())
        .map_err(|failure| CommandFailure::internal_error(failure.to_string(), &failure))?;
    Ok(ExitCode::Done)
}

fn say(context: &CommandContext<'_>, link: &str, what: &str) -> Result<ExitCode, CommandFailure> {
    if context.json {
        print_json(&json!({ "link": link }))?;
    } else {
        print(link)?;
        tell(&format!("the page of all your runs {what}"));
    }
    Ok(ExitCode::Done)
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

/// The one door for answers, for windows.
struct Answers {
    /// For repositories whose checkout is gone.
    redactor: Redactor,
}

impl GateDoor for Answers {
    fn answer(
        &self,
        home: &Home,
        reader: &Reader,
        gate: &GateRow,
        answer: &PageAnswer,
    ) -> Result<(), String> {
        let redactor = of_repository(home);
        let redactor = redactor.as_ref().unwrap_or(&self.redactor);
        let store = EmbeddedStore::open(home).map_err(|error| error.to_string())?;
        let answer = HumanAnswer {
            option: answer.option.clone(),
            note: answer.note.clone(),
            flags: answer.flags.clone(),
            grants: Grants::AskedFor,
            by: format!("{} on the page", environment::user()),
        };
        answering::submit(&store, reader, redactor, gate, &answer)
            .map(drop)
            .map_err(|error| error.to_string())
    }
}

/// The rules about secrets of a repository.
fn of_repository(home: &Home) -> Option<Redactor> {
    let repository = Repository::discover(&home.checkout()?).ok()?;
    let config = workplace::config(&repository, Vec::new()).ok()?;
    host::redactor(&config).ok()
}
