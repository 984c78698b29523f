//! The iteration log: every attempt with its hypothesis, its change and its results.

use super::history::ImplementationAttempt;
use super::paths::TicketPaths;
use crate::clock;
use remand_contract::markdown::{block, code, fenced, inline};
use remand_kernel::change::FileChange;
use remand_ledger::RunId;

/// Maximum number of lines of a diff. The ledger has the whole diff.
const MAX_DIFF_LINES: usize = 200;

/// The log of earlier runs, followed by the attempts of this run.
pub fn page(
    before: Option<&str>,
    attempts: &[ImplementationAttempt],
    paths: &TicketPaths,
    run: &RunId,
) -> String {
    let mut page = match before {
        Some(before) => format!("{}\n\n", before.trim_end()),
        None => format!("# Iteration Log: {}\n\n", inline(&paths.name)),
    };
    page.push_str(&format!("## Run {run}\n"));
    for attempt in attempts {
        page.push_str(&entry(attempt));
    }
    page
}

fn entry(attempt: &ImplementationAttempt) -> String {
    let mut text = format!(
        "\n### Attempt {} (design {}, {})\n\n",
        attempt.number,
        attempt.design,
        clock::date(attempt.at)
    );
    let hypothesis =
        if attempt.hypothesis.is_empty() { "none stated".to_string() } else { block(&attempt.hypothesis, 2) };
    text.push_str(&format!("- **Hypothesis**: {hypothesis}\n- **Verdict**: {}\n", inline(&attempt.says)));
    let files: Vec<String> = attempt.files.iter().map(|file| code(&file.path)).collect();
    text.push_str(&format!(
        "- **Files**: {}\n",
        if files.is_empty() { "none".to_string() } else { files.join(", ") }
    ));
    text.push_str(&list("Results", &attempt.results));
    text.push_str(&list("Flags", &attempt.flags));
    let diff = diff(&attempt.files);
    if !diff.is_empty() {
        text.push_str(&format!("\n{}", fenced(&diff, "diff", 0)));
    }
    text
}

fn list(label: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return format!("- **{label}**: none\n");
    }
    let lines: String = lines.iter().map(|line| format!("  - {}\n", block(line, 4))).collect();
    format!("- **{label}**:\n{lines}")
}

/// The change of one attempt, without context lines.
fn diff(files: &[FileChange]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for file in files {
        lines.push(format!("--- a/{0}\n+++ b/{0}", file.path));
        for hunk in &file.hunks {
            lines.push("@@".to_string());
            lines.extend(hunk.removed.iter().map(|line| format!("-{}", line.trim_end())));
            lines.extend(hunk.added.iter().map(|line| format!("+{}", line.trim_end())));
        }
    }
    let more = lines.len().saturating_sub(MAX_DIFF_LINES);
    lines.truncate(MAX_DIFF_LINES);
    if more > 0 {
        lines.push(format!("({more} more lines are in the ledger)"));
    }
    lines.join("\n")
}
