//! `remand doctor`: checks what a run needs, and says how to fix what is missing.

mod checkup;
mod hello;
mod hooks;
mod machine;
mod outbound;
mod plants;
mod project;
mod restriction;
mod trial;
mod uncommitted;

use crate::context::CommandContext;
use crate::workplace::Workplace;
use crate::{host, workplace};
use checkup::{Checkup, Health};
use hooks::HookTrial;
use remand_engine::config::Config;
use remand_git::Repository;
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode, Ink};
use trial::{Trial, TrialSetup};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run every check in a copy of the last commit, find what the sandbox breaks, and show that a planted failure turns it red
    #[arg(long)]
    checks: bool,
    /// Dispatch this agent once for a tiny task in a scratch repository, which costs one dispatch
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The model for that dispatch, by the name that the agent uses
    #[arg(long, value_name = "NAME", requires = "agent")]
    model: Option<String>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let (mut checkup, program) = (Checkup::default(), host::program()?);
    machine::git(&mut checkup);
    match workplace::repository(context) {
        Ok(repository) => {
            project::repository(&mut checkup, &repository);
            let config = project::config(&mut checkup, &repository);
            machine::state(&mut checkup, context, &repository, config.as_ref());
            machine::sandbox(&mut checkup, &program, config.as_ref());
            if let Some(config) = &config {
                project::checks(&mut checkup, &repository, config);
                let trial = if args.checks { HookTrial::AlsoOutside } else { HookTrial::InSandbox };
                hooks::hooks(&mut checkup, context, &repository, config, trial)?;
                project::roles(&mut checkup, context, config);
                project::agents(&mut checkup, config);
                if let Ok(workplace) = Workplace::open(context, Vec::new()) {
                    outbound::notices(&mut checkup, &workplace);
                    outbound::telemetry(&mut checkup, &workplace);
                }
                if args.checks {
                    try_checks(&mut checkup, context, &repository, config)?;
                }
                if let Some(agent) = &args.agent {
                    let greeted = hello::GreetedAgent { agent, model: args.model.as_deref() };
                    hello::agent(&mut checkup, config, &greeted)?;
                }
            }
        }
        Err(failure) => {
            checkup.add_failure("repository", &failure);
            machine::sandbox(&mut checkup, &program, None);
        }
    }
    if context.json {
        print_json(&checkup.json())?;
    } else {
        print(&checkup.text(Ink::of_stdout()))?;
    }
    Ok(if checkup.worst() == Health::Fail { ExitCode::User } else { ExitCode::Done })
}

/// Runs every check in the sandbox, finds the restriction if one fails only there, and plants failures.
fn try_checks(
    checkup: &mut Checkup,
    context: &CommandContext<'_>,
    repository: &Repository,
    config: &Config,
) -> Result<(), CommandFailure> {
    let Ok(specs) = project::specs(repository, config) else {
        // The item about checks already reports this.
        return Ok(());
    };
    let trial = Trial::new(context, repository, config, &specs)?;
    // Chosen before the checks run, which may leave files behind.
    let planted = plants::choose(&trial, config);
    tell("running every check once without a planted failure");
    let clean = trial.run(&specs, &TrialSetup::default());
    restriction::checks(checkup, &trial, &clean)?;
    plants::checks(checkup, &trial, &planted, &clean)
}
