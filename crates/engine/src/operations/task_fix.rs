//! `write-task-fix`: writes the findings of a review, word for word, as a task file.

use super::{Done, addressed_findings};
use crate::site::{Job, Trouble};
use remand_kernel::finding::Finding;

/// The name of the artifact. Its version is the number of the fix task.
const NAME: &str = "task-fix";

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let findings = addressed_findings(job);
    let number = job.site.reader()?.artifact_versions(&job.site.run, NAME)?.len() + 1;
    let mut text = format!("# Fix task {number}\n\nFix each finding, or dispute it with a reason.\n");
    for finding in findings {
        text.push_str(&verbatim(finding));
    }
    let mut done = Done::with_signal("written");
    done.add_artifact(job, NAME, "md", &text);
    Ok(done)
}

/// A finding in the reviewer's exact words.
fn verbatim(finding: &Finding) -> String {
    let place = &finding.place;
    let line = if place.line > 0 { format!(":{}", place.line) } else { String::new() };
    let mut text = format!("\n## {}\n\n", finding.id);
    if !place.file.is_empty() || !place.symbol.is_empty() {
        text.push_str(&format!("At `{}{line}` {}\n\n", place.file, place.symbol));
    }
    let parts = [
        ("Claim", &finding.claim),
        ("Evidence", &finding.evidence),
        ("Impact", &finding.impact),
        ("Recommendation", &finding.recommendation),
    ];
    for (title, part) in parts {
        if !part.trim().is_empty() {
            text.push_str(&format!("### {title}\n\n{part}\n\n"));
        }
    }
    if let Some(patch) = &finding.patch {
        text.push_str(&format!("### Patch\n\n~~~diff\n{}\n~~~\n", patch.trim_end()));
    }
    text
}
