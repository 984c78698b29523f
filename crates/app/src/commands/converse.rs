//! `remand converse`: the client that stands in the place of an agent which speaks the Agent Client Protocol.

use crate::exit::{Exit, Failure};
use crate::workplace::with_causes;
use remand_runtime::converse;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the conversation is for, as JSON
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// The agent
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<OsString>,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let code = converse::converse(&args.plan, &args.argv).map_err(|error| {
        with_causes(Failure::user(error.to_string(), "this command is for the engine"), &error)
    })?;
    std::process::exit(code);
}
