//! `remand doctor`: checks what a run needs, and says how to fix what is missing.

mod checkup;
mod hello;
mod machine;
mod plants;
mod project;

use crate::context::CommandContext;
use crate::workplace;
use checkup::{Checkup, Health};
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, Ink};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run every check in a copy of the last commit, and show that a planted failure turns it red
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
    let mut checkup = Checkup::default();
    machine::git(&mut checkup);
    match workplace::repository(context) {
        Ok(repository) => {
            project::repository(&mut checkup, &repository);
            let config = project::config(&mut checkup, &repository);
            machine::state(&mut checkup, context, &repository, config.as_ref());
            machine::sandbox(&mut checkup, config.as_ref());
            if let Some(config) = &config {
                project::checks(&mut checkup, &repository, config);
                project::roles(&mut checkup, context, config);
                project::agents(&mut checkup, config);
                if args.checks {
                    plants::checks(&mut checkup, &repository, config)?;
                }
                if let Some(agent) = &args.agent {
                    let greeted = hello::GreetedAgent { agent, model: args.model.as_deref() };
                    hello::agent(&mut checkup, config, &greeted)?;
                }
            }
        }
        Err(failure) => {
            checkup.add_failure("repository", &failure);
            machine::sandbox(&mut checkup, None);
        }
    }
    if context.json {
        print_json(&checkup.json())?;
    } else {
        print(&checkup.text(Ink::of_stdout()))?;
    }
    Ok(if checkup.worst() == Health::Fail { ExitCode::User } else { ExitCode::Done })
}
