//! `remand evidence`: the evidence bundle, or an export that stands alone.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json, tell};
use crate::workplace::{Workplace, of_ledger};
use remand_ledger::export;
use remand_ledger::query::CheckFilter;
use remand_runtime::bundle;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Write the evidence of this run into a SQLite file of its own
    #[arg(long, value_name = "FILE")]
    pub sqlite: Option<PathBuf>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = reader.run(&args.run).map_err(|error| of_ledger(&error))?;
    if let Some(file) = &args.sqlite {
        export(&reader, &row.run, file).map_err(|error| of_ledger(&error))?;
        tell(&format!("exported to {}", file.display()));
        return Ok(Exit::Done);
    }
    if context.json {
        let run = &row.run;
        let ledger = |error| of_ledger(&error);
        return print_json(&json!({
            "run": row,
            "tasks": reader.task_summaries(run).map_err(ledger)?,
            "checks": reader.checks(run, CheckFilter::default()).map_err(ledger)?,
            "findings": reader.findings(run).map_err(ledger)?,
            "gates": reader.gates(run).map_err(ledger)?,
            "notes": reader.notes(run).map_err(ledger)?,
            "totals": reader.totals(run).map_err(ledger)?,
        }))
        .map(|()| Exit::Done);
    }
    print(&bundle::text(&reader, &row.run).map_err(|error| of_ledger(&error))?)?;
    Ok(Exit::Done)
}
