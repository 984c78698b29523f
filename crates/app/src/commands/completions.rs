//! `remand completions`: completion scripts for shells.

use crate::context::CommandContext;
use clap_complete::Shell;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

pub fn run(
    context: &CommandContext<'_>,
    args: &Args,
    mut command: clap::Command,
) -> Result<ExitCode, CommandFailure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "remand", &mut script);
    let script = String::from_utf8_lossy(&script);
    if context.json {
        print_json(&json!({ "shell": args.shell.to_string(), "script": script }))?;
    } else {
        print(&script)?;
    }
    Ok(ExitCode::Done)
}
