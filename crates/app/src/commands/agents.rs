//! `remand agents`: which agents can be driven, what of them is there, and whose account they spend.

mod found;
mod words;

use super::Context;
use crate::agents;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::Ink;
use crate::workplace::{self, environment, of_config};
use found::Found;
use remand_runtime::config::{Config, Sources};
use remand_runtime::confine;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show this one in full, with how to install it and how to sign in
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let config = config(context)?;
    let known = agents::known(&config)?;
    let refused = |error: remand_runtime::driver::RowError| {
        Failure::user(error.to_string(), "`remand agents` lists those that there are")
    };
    let rows = match &args.name {
        Some(name) => vec![known.get(name).map_err(refused)?],
        None => known.all().map_err(refused)?,
    };
    let holds = confine::probe().files;
    let found = Found::look_for(&rows, &config, holds);
    if context.json {
        print_json(&json!({ "agents": found }))?;
        return Ok(Exit::Done);
    }
    let ink = Ink::of_stdout();
    print(&match found.as_slice() {
        [one] if args.name.is_some() => words::in_full(one, ink),
        all => words::list(all, ink),
    })?;
    Ok(Exit::Done)
}

/// The settings of the repository, or outside of one those of the user.
fn config(context: &Context<'_>) -> Result<Config, Failure> {
    match workplace::repository(context) {
        Ok(repository) => workplace::config(&repository, Vec::new()),
        Err(_) => {
            let here = workplace::here(context);
            let sources = Sources { repository: None, ..Sources::of(&here, environment()) };
            Config::load(&sources).map_err(|error| of_config(&error))
        }
    }
}
