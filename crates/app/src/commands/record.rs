//! `remand record`: a run as a rehearsal, to be played again (BY-06).

use super::Context;
use super::runs::chosen;
use crate::exit::{Exit, Failure, print, print_json};
use crate::recording;
use crate::workplace::Workplace;
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

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let row = chosen(&workplace.reader()?, Some(&args.run))?;
    recording::write(&workplace, &row.run, &args.file)?;
    if context.json {
        print_json(&json!({ "run": row.run, "file": args.file }))?;
    } else {
        print(&format!("recorded in {}\n", args.file.display()))?;
    }
    Ok(Exit::Done)
}
