//! `remand rehearse` and `remand confine`: child processes that the engine starts.

use remand_agents::rehearsal;
use remand_process::confine as sandbox;
use remand_terminal::{CommandFailure, ExitCode};
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
    /// The policy: JSON, or a file that contains it
    #[arg(long, value_name = "JSON|FILE")]
    policy: String,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<OsString>,
}

pub fn run(args: &Args) -> Result<ExitCode, CommandFailure> {
    let hint = "this command is for the engine; see `remand reference rehearsals`";
    let script = rehearsal::Script::load(&args.script)
        .map_err(|error| CommandFailure::user(error.to_string(), hint).with_sources(&error))?;
    let info = rehearsal::DispatchInfo::load()
        .map_err(|error| CommandFailure::user(error.to_string(), hint).with_sources(&error))?;
    std::process::exit(rehearsal::play(&script, &info));
}

pub fn confine(args: &Confine) -> ! {
    sandbox::keep_inherited_files();
    let result = sandbox::Policy::from_argument(&args.policy)
        .and_then(|policy| sandbox::run_confined(&policy, &args.argv));
    match result {
        Ok(never) => match never {},
        // The engine reads both.
        Err(error) => {
            eprintln!("{}", error.chain());
            std::process::exit(sandbox::UNCONFINED)
        }
    }
}
