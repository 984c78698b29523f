//! Sends traces and metrics of a run to a collector, each span once.

use super::channel::read_own;
use crate::posting::Posting;
use remand_engine::config::TelemetrySettings;
use remand_ledger::{Reader, RunId};
use remand_telemetry::{ExportRange, RunRecord, metrics, traces};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

/// The ids of the spans that the collector has, one on each line, in the folder of the run.
const SENT: &str = "telemetry.sent";
/// Why the last export failed.
const FAILED: &str = "telemetry.failed";

/// Sends the spans that have ended since the last time, and the metrics.
pub fn send_new(
    settings: &TelemetrySettings,
    reader: &Reader,
    run: &RunId,
    folder: &Path,
) -> Result<(), String> {
    let Some(endpoint) = &settings.endpoint else { return Ok(()) };
    let sent = fs::read_to_string(folder.join(SENT)).unwrap_or_default();
    let sent: BTreeSet<String> = sent.lines().map(str::to_string).collect();
    let record = RunRecord::read(reader, run).map_err(|error| error.to_string())?;
    let outcome = traces(&record, ExportRange::New(&sent)).map_or(Ok(()), |export| {
        post(settings, endpoint, "traces", &export.body)?;
        remember(folder, &export.ids).map_err(|error| error.to_string())?;
        post(settings, endpoint, "metrics", &metrics(&record))
    });
    let failed = folder.join(FAILED);
    // Only the doctor reads it.
    let _ = match &outcome {
        Ok(()) => fs::remove_file(failed),
        Err(why) => fs::write(failed, why),
    };
    outcome
}

/// Why the last export of a run failed, if it did.
pub fn failure(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join(FAILED)).ok()
}

/// Sends one document to a collector.
pub fn post(settings: &TelemetrySettings, endpoint: &str, signal: &str, body: &Value) -> Result<(), String> {
    let address = format!("{}/v1/{signal}", endpoint.trim_end_matches('/'));
    let mut headers = vec![("Content-Type".to_string(), "application/json".to_string())];
    if let Some(file) = &settings.headers_file {
        let text = read_own(file)?;
        let pairs = text.lines().filter_map(|line| line.split_once(':'));
        headers.extend(pairs.map(|(name, value)| (name.trim().to_string(), value.trim().to_string())));
    }
    let body = body.to_string();
    let posting = Posting { address: &address, headers, body: body.as_bytes() };
    posting.send().map(drop).map_err(|error| error.to_string())
}

fn remember(folder: &Path, ids: &[String]) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(folder.join(SENT))?;
    file.write_all(ids.iter().map(|id| format!("{id}\n")).collect::<String>().as_bytes())
}
