//! The report of the quality gate, with its recommendation once it failed three times in a row (DR-05).

use super::history::{Attempt, GateRun, History};
use super::place::Shelf;
use crate::clock;
use crate::contract::markdown::{cell, inline};
use remand_ledger::RunId;

/// The report of a run, behind those of earlier ones.
pub fn page(before: Option<&str>, history: &History, shelf: &Shelf, run: &RunId) -> String {
    let mut page = match before {
        Some(before) => format!("{}\n\n# Quality Gate Report of run {run}\n", before.trim_end()),
        None => format!("# Quality Gate Report: {}\n", inline(&shelf.name)),
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
    for (name, passed, said) in &run.checks {
        let said: String = said.lines().next().unwrap_or_default().chars().take(160).collect();
        let word = if *passed { "passed" } else { "failed" };
        text.push_str(&format!("| {} | {word} | {} |\n", cell(name), cell(&said)));
    }
    for claim in &run.claims {
        text.push_str(&format!("\n- {}", inline(claim)));
    }
    if !run.claims.is_empty() {
        text.push('\n');
    }
    text
}

fn recommendation(gates: &[GateRun], attempts: &[Attempt], last: &GateRun) -> String {
    let failed = &gates[gates.len().saturating_sub(last.in_a_row)..];
    let tried = attempts.iter().filter(|attempt| failed.iter().any(|run| run.attempt == attempt.number));
    let tried: Vec<String> = tried
        .map(|attempt| attempt.hypothesis.trim().to_string())
        .filter(|words| !words.is_empty())
        .collect();
    let what = pattern(failed);
    format!(
        "\n## Design Revision Recommendation\n\n- **Status**: DESIGN REVISION RECOMMENDED\n\
         - **Consecutive Failures**: {}\n- **Pattern**: {}\n- **Hypothesis**: {}\n\
         - **Recommended Action**: State findings about the design, and let a human decide on a revision.\n",
        last.in_a_row,
        inline(&what),
        inline(&format!(
            "{} attempts on different grounds ({}) ended at the same gate, so the cause is likely in the design that \
             all of them follow.",
            failed.len(),
            if tried.is_empty() { "none stated".to_string() } else { tried.join("; ") }
        )),
    )
}

/// What failed every time, or at least the last time.
fn pattern(failed: &[GateRun]) -> String {
    let of = |run: &GateRun| -> Vec<String> {
        let checks = run.checks.iter().filter(|(_, passed, _)| !passed).map(|(name, ..)| name.clone());
        checks.chain(run.claims.iter().cloned()).collect()
    };
    let Some((last, earlier)) = failed.split_last() else { return String::new() };
    let always: Vec<String> =
        of(last).into_iter().filter(|what| earlier.iter().all(|run| of(run).contains(what))).collect();
    if always.is_empty() {
        format!("something else failed each time; in the end {}", of(last).join("; "))
    } else {
        format!("failed every time: {}", always.join("; "))
    }
}
