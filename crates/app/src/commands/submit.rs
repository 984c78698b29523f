//! `remand submit`: the MCP server by which an agent hands its result in.

use crate::exit::{Exit, Failure};
use crate::workplace::with_causes;
use remand_runtime::submission;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file that describes the dispatch
    #[arg(long, value_name = "FILE")]
    dispatch: PathBuf,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let hint = "this command is for agents, which the engine tells of it; see docs/guide/agents.md";
    submission::serve(&args.dispatch)
        .map(|()| Exit::Done)
        .map_err(|error| with_causes(Failure::user(error.to_string(), hint), &error))
}
