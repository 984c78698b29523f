//! `remand export --otlp`: the traces and metrics of a run, in a file or at a collector.

use crate::commands::runs::find_run;
use crate::context::CommandContext;
use crate::notifying::telemetry;
use crate::workplace::Workplace;
use remand_engine::config::host_of;
use remand_telemetry::{ExportRange, RunRecord, metrics, traces};
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;

pub fn run(
    context: &CommandContext<'_>,
    target: &str,
    run: Option<&str>,
) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let run = find_run(&reader, run)?.run;
    let record = RunRecord::read(&reader, &run)?;
    let trace = traces(&record, ExportRange::Whole);
    let spans = trace.as_ref().map_or(0, |export| export.ids.len());
    let documents: Vec<_> = trace
        .map(|export| ("traces", export.body))
        .into_iter()
        .chain([("metrics", metrics(&record))])
        .collect();
    let is_address = target.contains("://");
    if is_address {
        for (signal, body) in &documents {
            telemetry::post(&workplace.config.telemetry, target, signal, body).map_err(|why| {
                CommandFailure::user(
                    format!("the {signal} of run {run} were not delivered"),
                    "name the address of a collector for OTLP over HTTP, such as http://127.0.0.1:4318",
                )
                .caused_by(why)
            })?;
        }
    } else {
        // One document on each line, as collectors write and read files.
        let text: String = documents.iter().map(|(_, body)| format!("{body}\n")).collect();
        let file = workplace.here.join(target);
        std::fs::write(&file, text).map_err(|error| {
            let what = format!("{} cannot be written", file.display());
            CommandFailure::user(what, "name a file that you can write").caused_by(error.to_string())
        })?;
    }
    let shown = if is_address { host_of(target) } else { target.to_string() };
    if context.json {
        print_json(&json!({ "run": run, "spans": spans, "to": shown }))?;
    } else {
        print(&format!("{spans} spans and the metrics of run {run} are in {shown}\n"))?;
    }
    Ok(ExitCode::Done)
}
