//! `remand top`: the terminal view of all runs of the user.

use super::runs::find_run;
use crate::browsing;
use crate::context::CommandContext;
use crate::host;
use crate::watching::{self, Access};
use crate::workplace::Workplace;
use remand_ledger::RunId;
use remand_process::run_at_terminal;
use remand_terminal::{CommandFailure, ExitCode, Ink};
use remand_top::{Desk, ScreenError, TopError};
use remand_views::{RepositoryState, RunSite};
use std::ffi::OsStr;
use std::path::Path;

/// Prints a change and shows it as git does. `$1` is this program.
const PAGER: &str = r#"pager=${GIT_PAGER:-$(git config core.pager)}; pager=${pager:-${PAGER:-less}}
LESS=${LESS:-R} "$1" --state "$2" --color always diff "$3" 2>&1 | eval "$pager""#;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show this run first: its id, a part of it, or `latest` [default: the list of all runs]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only show: no gate can be answered, and no run cancelled or resumed
    #[arg(long)]
    pub read_only: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    if context.json {
        let hint = "`remand status --json` and `remand runs --json` print the same for programs";
        return Err(CommandFailure::user("the terminal view has no JSON", hint));
    }
    let access = if args.read_only { Access::ReadOnly } else { Access::Everything };
    let site = watching::site(context, "in the terminal view", access)?;
    let first = match &args.run {
        None => None,
        Some(name) => {
            let workplace = Workplace::open(context, Vec::new())?;
            let row = find_run(&workplace.reader()?, Some(name))?;
            Some((RepositoryState::of(workplace.home), row.run))
        }
    };
    match remand_top::show(&site, &UserDesk { site: &site }, first, Ink::of_stdout()) {
        Ok(()) => Ok(ExitCode::Done),
        Err(TopError::Screen(ScreenError::NoTerminal)) => {
            let hint = "run it at a terminal; `remand status` prints the same once";
            Err(CommandFailure::user("the terminal view needs a terminal", hint))
        }
        Err(TopError::View(problem)) => {
            Err(CommandFailure::user(problem.to_string(), "see `remand doctor`").with_sources(&problem))
        }
        Err(error) => Err(CommandFailure::internal_error(error.to_string(), &error)),
    }
}

/// The user's machine, for the view.
struct UserDesk<'s> {
    site: &'s RunSite,
}

impl Desk for UserDesk<'_> {
    fn open_page(&self, repository: &RepositoryState, run: &RunId) -> Result<String, String> {
        browsing::open_run(&self.site.state, repository, run)
    }

    fn page_diff(&self, repository: &RepositoryState, run: &RunId) -> Result<(), String> {
        let gone = || "the checkout of this repository is gone".to_string();
        let checkout = repository.checkout.as_deref().filter(|path| path.is_dir()).ok_or_else(gone)?;
        let program = host::program().map_err(|failure| failure.what)?;
        let arguments: [&OsStr; 3] = [program.as_ref(), self.site.state.as_ref(), run.0.as_ref()];
        run_at_terminal(PAGER, &arguments, Path::new(checkout))
            .map(drop)
            .map_err(|error| format!("the pager cannot be started: {error}"))
    }
}
