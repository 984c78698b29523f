//! `log-defects`: writes the defect log of the run as an artifact, with the figures of earlier runs for comparison.

use super::Done;
use crate::quality::{RunFigures, by_phase, reports};
use crate::site::{Job, Trouble};
use remand_contract::to_yaml;
use remand_ledger::fact::Artifact;
use remand_ledger::query::RunRow;
use remand_ledger::{LedgerError, Reader};
use serde_json::json;

/// Maximum number of earlier runs of the same workflow to compare with.
const MAX_EARLIER_RUNS: usize = 20;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let reader = job.site.reader()?;
    let row = reader.run(&job.site.run.0)?;
    let defects = reader.defects(&row.run)?;
    let log = json!({
        "by_phase": by_phase(&reader, &row, &defects)?,
        "defects": defects,
        "phases": RunFigures::of(&reader, &row)?.phases,
        "this_and_earlier_runs": reports(&earlier_and_this_run(&reader, &row)?),
    });
    let mut done = Done::with_signal("logged");
    let blob = job.site.blob(&to_yaml(&log));
    for artifact in &job.program.phase(job.id.phase).writes {
        let name = job.program.artifacts[artifact.index()].clone();
        done.report.wrote.push((name.clone(), blob.id.digest()));
        done.facts.artifacts.push(Artifact {
            name,
            part: String::new(),
            digest: blob.id.digest(),
            blob: blob.id,
            by: job.phase().to_string(),
            format: "yaml".to_string(),
        });
    }
    done.blobs.push(blob);
    Ok(done)
}

/// The figures of earlier runs of this workflow, oldest first. This run comes last, because `reports` raises alerts for
/// the last run.
fn earlier_and_this_run(reader: &Reader, row: &RunRow) -> Result<Vec<RunFigures>, LedgerError> {
    let is_earlier = |other: &RunRow| {
        other.workflow == row.workflow && other.created_at < row.created_at && other.stage.is_over()
    };
    let mut runs: Vec<RunRow> =
        reader.runs()?.into_iter().filter(is_earlier).take(MAX_EARLIER_RUNS).collect();
    runs.reverse();
    runs.push(row.clone());
    runs.iter().map(|row| RunFigures::of(reader, row)).collect()
}
