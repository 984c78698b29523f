//! Figures as comma-separated values (RFC 4180): one line for each phase of each workflow.

use remand_engine::quality::{PhaseReport, QualityReport};
use remand_terminal::CommandFailure;

const HEADER: [&str; 19] = [
    "repository",
    "workflow",
    "runs",
    "changed_lines",
    "phase",
    "entries",
    "remands",
    "correction_rate",
    "injected",
    "entering",
    "removed",
    "yield",
    "density",
    "corrected_defects",
    "correction_dispatches",
    "correction_tokens",
    "correction_micros",
    "correction_ms",
    "alert",
];

/// The table of all repositories.
pub fn text<'r>(
    repositories: impl Iterator<Item = (&'r str, &'r [QualityReport])>,
) -> Result<String, CommandFailure> {
    let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let failure =
        |error: csv::Error| CommandFailure::internal_error("the figures cannot be written as CSV", &error);
    table.write_record(HEADER).map_err(failure)?;
    for (repository, reports) in repositories {
        for report in reports {
            for phase in &report.phases {
                table.write_record(fields(repository, report, phase)).map_err(failure)?;
            }
        }
    }
    let bytes = table.into_inner().map_err(|error| failure(error.into_error().into()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn fields(repository: &str, report: &QualityReport, phase: &PhaseReport) -> Vec<String> {
    let figures = &phase.figures;
    let number = |number: u64| number.to_string();
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{share:.4}"));
    let cost = figures.correction;
    let is_alert = report.alerts.iter().any(|alert| alert.phase == figures.phase);
    vec![
        defuse(repository),
        defuse(&report.workflow),
        report.runs.to_string(),
        number(report.changed_lines),
        defuse(&figures.phase),
        number(figures.entries),
        number(figures.remands),
        share(phase.rate),
        number(figures.injected),
        number(figures.entering),
        number(figures.removed),
        share(phase.share),
        share(phase.density),
        number(cost.defects),
        share(Some(cost.dispatches)),
        // A sum with unknown parts is left empty.
        if cost.unmetered > 0.0 { String::new() } else { number(cost.tokens) },
        if cost.unpriced > 0.0 { String::new() } else { number(cost.money) },
        number(cost.time),
        number(u64::from(is_alert)),
    ]
}

/// Quotes text that a spreadsheet would take for a formula.
fn defuse(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_looks_like_a_formula_is_defused() {
        assert_eq!([defuse("plain"), defuse("=1+1")], ["plain", "'=1+1"]);
    }
}
