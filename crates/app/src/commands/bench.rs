//! `remand bench`: measures the journal and the evidence against their goals.

use crate::context::CommandContext;
use crate::environment;
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode, Ink};
use remand_trials::bench::report::Build;
use remand_trials::bench::scale::Scale;
use remand_trials::bench::{self, BenchProbe};

use remand_engine::config::{Config, Sources};
use remand_engine::home::HomeError;
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
    /// Works in a temporary folder below the state directory. Takes a few minutes and a few hundred megabytes. Missing a
    /// goal is not an error.
    Journal(Size),

    /// Measure what evidence costs on a repository of 5,000 files: guard, sandbox, known results
    ///
    /// Works in a temporary folder below the state directory. Missing a goal is not an error.
    Evidence(Size),

    /// Do one part of a measurement; the bench calls this
    #[command(hide = true)]
    Probe { probe: BenchProbe, folder: PathBuf, count: u32 },
}

#[derive(Debug, clap::Args)]
struct Size {
    /// Measure with a tenth of the load
    #[arg(long)]
    quick: bool,
    /// Divide the load by this number
    #[arg(long, hide = true, value_name = "DIVISOR", conflicts_with = "quick")]
    part: Option<u32>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    match &args.what {
        What::Journal(size) => measure(context, size, Part::Journal),
        What::Evidence(size) => measure(context, size, Part::Evidence),
        What::Probe { probe, folder, count } => {
            bench::probe::run(*probe, folder, *count)?;
            Ok(ExitCode::Done)
        }
    }
}

/// What is measured.
#[derive(Clone, Copy)]
enum Part {
    Journal,
    Evidence,
}

fn measure(context: &CommandContext<'_>, args: &Size, part: Part) -> Result<ExitCode, CommandFailure> {
    let scale = match (args.quick, args.part) {
        (true, _) => Scale::part(10),
        (false, Some(divisor)) => Scale::part(divisor),
        (false, None) => Scale::FULL,
    };
    if Build::this() == Build::Debug {
        tell("warning: this is a debug build; only a release build can be compared with the goals");
    }
    let state = state(context)?;
    let announce = |what: &str| tell(&format!("measuring: {what}"));
    let report = match part {
        Part::Journal => bench::journal(&state, scale, announce)?,
        Part::Evidence => bench::evidence::measure(&state, scale, announce)?,
    };
    if context.json {
        print_json(&report.json())?;
    } else {
        print(&report.text(Ink::of_stdout()))?;
    }
    Ok(ExitCode::Done)
}

/// The state directory; no repository is needed.
fn state(context: &CommandContext<'_>) -> Result<PathBuf, CommandFailure> {
    if let Some(state) = context.state {
        return Ok(state.to_path_buf());
    }
    let here = context.directory.unwrap_or(Path::new("."));
    let environment = environment::all();
    let config = Config::load(&Sources::of(here, environment.clone()))?;
    config.state_folder(&environment).ok_or_else(|| CommandFailure::from(HomeError::NoHome))
}
