//! `remand submit`: the MCP server that receives an agent's result.

use remand_agents::submission;
use remand_terminal::{CommandFailure, ExitCode};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file that describes the dispatch
    #[arg(long, value_name = "FILE")]
    dispatch: PathBuf,
}

pub fn run(args: &Args) -> Result<ExitCode, CommandFailure> {
    let hint = "the engine configures this command for agents; see `remand reference agents`";
    submission::serve(&args.dispatch)
        .map(|()| ExitCode::Done)
        .map_err(|error| CommandFailure::user(error.to_string(), hint).with_sources(&error))
}
