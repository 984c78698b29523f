//! `remand doctor`: what is there to work with, and what to do about what is missing.

mod checkup;
mod hello;
mod machine;
mod plants;
mod project;

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::Ink;
use crate::workplace;
use checkup::{Checkup, Health};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run every check in a copy of the last commit, and show that each goes red with a planted failure
    #[arg(long)]
    checks: bool,
    /// Dispatch this agent once, for a tiny task in a scratch repository; this costs what one dispatch costs
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The model for it, as the agent names it
    #[arg(long, value_name = "NAME", requires = "agent")]
    model: Option<String>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
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
                    let who = hello::Who { agent, model: args.model.as_deref() };
                    hello::agent(&mut checkup, config, &who)?;
                }
            }
        }
        Err(failure) => {
            checkup.of_failure("repository", &failure);
            machine::sandbox(&mut checkup, None);
        }
    }
    if context.json {
        print_json(&checkup.json())?;
    } else {
        print(&checkup.text(Ink::of_stdout()))?;
    }
    Ok(if checkup.worst() == Health::Fail { Exit::User } else { Exit::Done })
}
