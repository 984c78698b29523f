//! `remand agents`: the supported agents, which of them are installed, and whose account they use.

mod found;
mod words;

use crate::agents;
use crate::context::CommandContext;
use crate::environment;
use crate::host;
use crate::workplace;
use found::FoundAgent;
use remand_engine::config::{Config, Sources};
use remand_process::confine;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, Ink};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show everything about one agent, including how to install it and sign in
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let config = config(context)?;
    let rows = agents::agent_rows(&config)?;
    let refused = |error: remand_agents::driver::RowError| {
        CommandFailure::user(error.to_string(), "`remand agents` lists all agents")
    };
    let rows = match &args.name {
        Some(name) => vec![rows.get(name).map_err(refused)?],
        None => rows.all().map_err(refused)?,
    };
    let confinement = confine::probe(&host::program()?).files;
    let found = FoundAgent::find_all(&rows, &config, confinement);
    if context.json {
        print_json(&json!({ "agents": found }))?;
        return Ok(ExitCode::Done);
    }
    let ink = Ink::of_stdout();
    print(&match found.as_slice() {
        [one] if args.name.is_some() => words::details(one, ink),
        all => words::list(all, ink),
    })?;
    Ok(ExitCode::Done)
}

/// The settings of the repository; outside a repository, the user's settings.
fn config(context: &CommandContext<'_>) -> Result<Config, CommandFailure> {
    match workplace::repository(context) {
        Ok(repository) => workplace::config(&repository, Vec::new()),
        Err(_) => {
            let here = workplace::here(context);
            let sources = Sources { repository: None, ..Sources::of(&here, environment::all()) };
            Config::load(&sources).map_err(CommandFailure::from)
        }
    }
}
