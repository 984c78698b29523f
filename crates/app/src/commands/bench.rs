//! `remand bench`: the journal and the evidence measured against their goals.

use super::Context;
use crate::bench::report::Build;
use crate::bench::scale::Scale;
use crate::bench::{self, Probe};
use crate::exit::{Exit, Failure, print, print_json, tell};
use crate::table::Ink;
use crate::workplace::{environment, of_config, of_home};
use remand_runtime::config::{Config, Sources};
use remand_runtime::home::HomeError;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Measure durable steps, resumes, gates, memory and start, each against its goal
    ///
    /// Everything happens in a folder of its own below the state directory, which is removed again. It takes some
    /// minutes and some hundred megabytes. A goal that is missed is no error.
    Journal(Size),

    /// Measure what evidence costs on a repository of 5,000 files: guard, sandbox, known results
    ///
    /// Everything happens in a folder of its own below the state directory, which is removed again. A goal that is
    /// missed is no error.
    Evidence(Size),

    /// Do one part of a measurement; the bench calls this
    #[command(hide = true)]
    Probe { probe: Probe, folder: PathBuf, count: u32 },
}

#[derive(Debug, clap::Args)]
struct Size {
    /// Measure a tenth of everything, for a quick look
    #[arg(long)]
    quick: bool,
    /// Measure this part of everything
    #[arg(long, hide = true, value_name = "DIVISOR", conflicts_with = "quick")]
    part: Option<u32>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    match &args.what {
        What::Journal(size) => measure(context, size, Part::Journal),
        What::Evidence(size) => measure(context, size, Part::Evidence),
        What::Probe { probe, folder, count } => {
            bench::probe::run(*probe, folder, *count)?;
            Ok(Exit::Done)
        }
    }
}

/// What is measured.
#[derive(Clone, Copy)]
enum Part {
    Journal,
    Evidence,
}

fn measure(context: &Context<'_>, args: &Size, part: Part) -> Result<Exit, Failure> {
    let scale = match (args.quick, args.part) {
        (true, _) => Scale::part(10),
        (false, Some(divisor)) => Scale::part(divisor),
        (false, None) => Scale::FULL,
    };
    if Build::this() == Build::Debug {
        tell("warning: this is a debug build; only a release build says anything about the goals");
    }
    let state = state(context)?;
    let heard = |what: &str| tell(&format!("measuring: {what}"));
    let report = match part {
        Part::Journal => bench::journal(&state, scale, heard)?,
        Part::Evidence => bench::evidence::measure(&state, scale, heard)?,
    };
    if context.json {
        print_json(&report.json())?;
    } else {
        print(&report.text(Ink::of_stdout()))?;
    }
    Ok(Exit::Done)
}

/// Where ledgers lie; there need be no repository.
fn state(context: &Context<'_>) -> Result<PathBuf, Failure> {
    if let Some(state) = context.state {
        return Ok(state.to_path_buf());
    }
    let here = context.directory.unwrap_or(Path::new("."));
    let environment = environment();
    let config = Config::load(&Sources::of(here, environment.clone())).map_err(|error| of_config(&error))?;
    config.state_folder(&environment).ok_or_else(|| of_home(&HomeError::NoHome))
}
