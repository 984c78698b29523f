//! `remand completions`: what a shell needs to complete the command line.

use super::Context;
use crate::cli::Cli;
use crate::exit::{Exit, Failure, print, print_json};
use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "remand", &mut script);
    let script = String::from_utf8_lossy(&script);
    if context.json {
        print_json(&json!({ "shell": args.shell.to_string(), "script": script }))?;
    } else {
        print(&script)?;
    }
    Ok(Exit::Done)
}
