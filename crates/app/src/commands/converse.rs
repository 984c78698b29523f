//! `remand converse`: the client that the engine starts for an agent that speaks the Agent Client Protocol.

use remand_agents::converse;
use remand_terminal::{CommandFailure, ExitCode};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A JSON file that describes the conversation
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// The command of the agent
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<OsString>,
}

pub fn run(args: &Args) -> Result<ExitCode, CommandFailure> {
    let code = converse::converse(&args.plan, &args.argv).map_err(|error| {
        CommandFailure::user(error.to_string(), "this command is for the engine").with_sources(&error)
    })?;
    std::process::exit(code);
}
