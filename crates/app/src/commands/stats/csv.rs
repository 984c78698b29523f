//! Figures as comma-separated values (RFC 4180): one line for each phase of each workflow.

use remand_runtime::quality::{PhaseReport, Report};

const HEAD: &str = "repository,workflow,runs,changed_lines,phase,entries,remands,correction_rate,injected,entering,removed,\
    yield,density,corrected_defects,correction_dispatches,correction_tokens,correction_micros,correction_ms,alert";

/// The whole table.
pub fn text<'r>(places: impl Iterator<Item = (&'r str, &'r [Report])>) -> String {
    let mut text = format!("{HEAD}\r\n");
    for (repository, reports) in places {
        for report in reports {
            for phase in &report.phases {
                text.push_str(&format!("{}\r\n", fields(repository, report, phase).join(",")));
            }
        }
    }
    text
}

fn fields(repository: &str, report: &Report, phase: &PhaseReport) -> Vec<String> {
    let figures = &phase.figures;
    let number = |number: u64| number.to_string();
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{share:.4}"));
    let cost = figures.correction;
    let is_alert = report.alerts.iter().any(|alert| alert.phase == figures.phase);
    vec![
        quoted(repository),
        quoted(&report.workflow),
        report.runs.to_string(),
        number(report.changed_lines),
        quoted(&figures.phase),
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
        // What is not known in full is no number to reckon with.
        if cost.untold > 0.0 { String::new() } else { number(cost.tokens) },
        if cost.unpriced > 0.0 { String::new() } else { number(cost.money) },
        number(cost.time),
        number(u64::from(is_alert)),
    ]
}

/// A text as a field. One that a spreadsheet would take for a formula is kept from being one.
fn quoted(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_string() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"so\""), "\"say \"\"so\"\"\"");
        assert_eq!([quoted("plain"), quoted("=1+1")], ["plain", "'=1+1"]);
    }
}
