//! `remand bench`: measures the journal, the evidence and the briefs against their goals.

use crate::context::CommandContext;
use crate::environment;
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode, Ink};
use remand_trials::bench::report::{BenchReport, Build};
use remand_trials::bench::scale::Scale;
use remand_trials::bench::{self, BenchProbe};
use remand_trials::gauntlet::TestRunners;

use remand_engine::config::{Config, Sources};
use remand_engine::home::HomeError;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, clap::Subcommand)]
enum BenchCommand {
    /// Measure durable steps, resumes, gates, memory and start-up, each against its goal
    ///
    /// Works in a temporary folder below the state directory. Takes a few minutes and a few hundred megabytes. Missing a
    /// goal is not an error.
    Journal(Load),

    /// Measure what evidence costs on a repository of 5,000 files: guard, sandbox, cached results
    ///
    /// Works in a temporary folder below the state directory. Missing a goal is not an error.
    Evidence {
        #[command(flatten)]
        load: Load,
        /// A folder with test runners: pytest in `venv`, vitest and jest in `npm/node_modules`. Projects whose runner is missing
        /// are left out
        #[arg(long, value_name = "DIR")]
        tools: Option<PathBuf>,
        /// Measure only the tests as they were and the proofs
        #[arg(long)]
        proofs: bool,
    },

    /// Measure how many bytes the agents of the demonstrations are given
    Briefs,

    /// Do one part of a measurement; the bench calls this
    #[command(hide = true)]
    Probe { probe: BenchProbe, folder: PathBuf, count: u32 },
}

#[derive(Debug, clap::Args)]
struct Load {
    /// Measure with a tenth of the load
    #[arg(long)]
    quick: bool,
    /// Divide the load by this number
    #[arg(long, hide = true, value_name = "DIVISOR", conflicts_with = "quick")]
    part: Option<u32>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    match &args.command {
        BenchCommand::Journal(load) => measure(context, load, Part::Journal),
        BenchCommand::Evidence { load, tools, proofs } => {
            let runners = TestRunners::new(tools.as_deref());
            measure(context, load, if *proofs { Part::Proofs(runners) } else { Part::Evidence(runners) })
        }
        BenchCommand::Briefs => {
            let announce = |what: &str| tell(&format!("measuring: {what}"));
            show(context, &bench::briefs::measure(&state(context)?, announce)?)
        }
        BenchCommand::Probe { probe, folder, count } => {
            bench::probe::run(*probe, folder, *count)?;
            Ok(ExitCode::Done)
        }
    }
}

/// The part of Remand that is measured.
enum Part {
    Journal,
    Evidence(TestRunners),
    Proofs(TestRunners),
}

fn measure(context: &CommandContext<'_>, load: &Load, part: Part) -> Result<ExitCode, CommandFailure> {
    let scale = match (load.quick, load.part) {
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
        Part::Evidence(runners) => bench::evidence::measure(&state, scale, &runners, announce)?,
        Part::Proofs(runners) => bench::evidence::measure_proofs(&state, &runners, announce)?,
    };
    show(context, &report)
}

fn show(context: &CommandContext<'_>, report: &BenchReport) -> Result<ExitCode, CommandFailure> {
    if context.json {
        print_json(&report.json())?;
    } else {
        print(&report.text(Ink::of_stdout()))?;
    }
    Ok(ExitCode::Done)
}

/// The state directory. Works outside a repository.
fn state(context: &CommandContext<'_>) -> Result<PathBuf, CommandFailure> {
    if let Some(state) = context.state {
        return Ok(state.to_path_buf());
    }
    let here = context.directory.unwrap_or(Path::new("."));
    let environment = environment::all();
    let config = Config::load(&Sources::of(here, environment.clone()))?;
    config.state_folder(&environment).ok_or_else(|| CommandFailure::from(HomeError::NoHome))
}
