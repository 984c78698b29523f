//! `remand rehearse` and `remand confine`: what the engine starts as child processes of itself.

use crate::exit::{Exit, Failure};
use crate::workplace::with_causes;
use remand_runtime::{confine as sandbox, rehearsal};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The script
    #[arg(long, value_name = "FILE")]
    script: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct Confine {
    /// What is allowed: JSON, or a file that holds it
    #[arg(long, value_name = "JSON|FILE")]
    policy: String,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<OsString>,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let hint = "this command is for the engine; see docs/guide/rehearsals.md";
    let script = rehearsal::Script::load(&args.script)
        .map_err(|error| with_causes(Failure::user(error.to_string(), hint), &error))?;
    let info = rehearsal::DispatchInfo::load()
        .map_err(|error| with_causes(Failure::user(error.to_string(), hint), &error))?;
    std::process::exit(rehearsal::play(&script, &info));
}

pub fn confine(args: &Confine) -> Result<Exit, Failure> {
    let entered = sandbox::Policy::from_argument(&args.policy)
        .and_then(|policy| sandbox::run_confined(&policy, &args.argv));
    match entered {
        Ok(never) => match never {},
        Err(error) => {
            Err(with_causes(Failure::user(error.to_string(), "this command is for the engine"), &error))
        }
    }
}
