//! The quality gate report, with a recommendation after three failures in a row.

use super::history::{GateCheck, GateRun, ImplementationAttempt, TicketHistory};
use super::paths::TicketPaths;
use crate::clock;
use remand_contract::markdown::{cell, inline};
use remand_ledger::RunId;

/// The report of a run, appended to the reports of earlier runs.
pub fn page(before: Option<&str>, history: &TicketHistory, paths: &TicketPaths, run: &RunId) -> String {
    let mut page = match before {
        Some(before) => format!("{}\n\n# Quality Gate Report of run {run}\n", before.trim_end()),
        None => format!("# Quality Gate Report: {}\n", inline(&paths.name)),
    };
    for (at, run) in history.gates.iter().enumerate() {
        page.push_str(&entry(at + 1, run));
        if run.recommends_revision {
            page.push_str(&recommendation(&history.gates[..=at], &history.attempts, run));
        }
    }
    page
}

fn entry(number: usize, run: &GateRun) -> String {
    let verdict = if run.passed { "passed" } else { "failed" };
    let mut text = format!(
        "\n## Run {number}: {verdict}\n\nAfter attempt {}, on {}.\n\n| check | result | detail |\n| --- | --- | --- |\n",
        run.attempt,
        clock::date(run.at)
    );
    for GateCheck { name, passed, detail } in &run.checks {
        let detail: String = detail.lines().next().unwrap_or_default().chars().take(160).collect();
        let word = if *passed { "passed" } else { "failed" };
        text.push_str(&format!("| {} | {word} | {} |\n", cell(name), cell(&detail)));
    }
    for claim in &run.claims {
        text.push_str(&format!("\n- {}", inline(claim)));
    }
    if !run.claims.is_empty() {
        text.push('\n');
    }
    text
}

fn recommendation(gates: &[GateRun], attempts: &[ImplementationAttempt], last: &GateRun) -> String {
    let failed = &gates[gates.len().saturating_sub(last.in_a_row)..];
    let hypotheses = attempts.iter().filter(|attempt| failed.iter().any(|run| run.attempt == attempt.number));
    let hypotheses: Vec<String> = hypotheses
        .map(|attempt| attempt.hypothesis.trim().to_string())
        .filter(|hypothesis| !hypothesis.is_empty())
        .collect();
    let pattern = pattern(failed);
    format!(
        "\n## Design Revision Recommendation\n\n- **Status**: DESIGN REVISION RECOMMENDED\n\
         - **Consecutive Failures**: {}\n- **Pattern**: {}\n- **Hypothesis**: {}\n\
         - **Recommended Action**: Report findings about the design, and let a human decide on a revision.\n",
        last.in_a_row,
        inline(&pattern),
        inline(&format!(
            "{} attempts with different hypotheses ({}) failed at the same gate, so the cause is likely in the design \
             that all of them follow.",
            failed.len(),
            if hypotheses.is_empty() { "none stated".to_string() } else { hypotheses.join("; ") }
        )),
    )
}

/// The checks and claims that failed every time; if there are none, those that failed last.
fn pattern(failed: &[GateRun]) -> String {
    let failures = |run: &GateRun| -> Vec<String> {
        let checks = run.checks.iter().filter(|check| !check.passed).map(|check| check.name.clone());
        checks.chain(run.claims.iter().cloned()).collect()
    };
    let Some((last, earlier)) = failed.split_last() else { return String::new() };
    let always: Vec<String> = failures(last)
        .into_iter()
        .filter(|failure| earlier.iter().all(|run| failures(run).contains(failure)))
        .collect();
    if always.is_empty() {
        format!("a different failure each time; most recently {}", failures(last).join("; "))
    } else {
        format!("failed every time: {}", always.join("; "))
    }
}
