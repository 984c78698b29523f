//! `remand record`: writes a run as a rehearsal.

use super::runs::find_run;
use crate::context::CommandContext;
use crate::recording;
use crate::workplace::Workplace;
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The file to write; it must not exist yet
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let row = find_run(&workplace.reader()?, Some(&args.run))?;
    recording::write(&workplace, &row.run, &args.file)?;
    if context.json {
        print_json(&json!({ "run": row.run, "file": args.file }))?;
    } else {
        print(&format!("recorded in {}\n", args.file.display()))?;
    }
    Ok(ExitCode::Done)
}
