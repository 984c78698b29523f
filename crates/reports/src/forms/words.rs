//! Words that several forms share.

use crate::{ChangeReport, ChangeVerdict, CheckOrigin, CheckSummary, FirstLook, TestChange};
use remand_kernel::finding::Location;

/// The verdict and its reason in one line.
pub fn headline(report: &ChangeReport) -> String {
    let verdict = match report.verdict {
        ChangeVerdict::Pass => "PASS",
        ChangeVerdict::Fail => "FAIL",
        ChangeVerdict::Unmeasured => "UNMEASURED",
        ChangeVerdict::Blocked => "BLOCKED",
    };
    format!("{verdict}  {}: {}", report.change.source.describe(), one_line(&report.reason))
}

/// `src/lib.rs:3`; empty if the file is unknown.
pub fn place(place: &Location) -> String {
    match (place.file.as_str(), place.line) {
        ("", _) => String::new(),
        (file, 0) => file.to_string(),
        (file, line) => format!("{file}:{line}"),
    }
}

/// The first look in one line, without its command.
pub fn look(look: &FirstLook) -> String {
    let place = look.place.as_ref().map(place).filter(|place| !place.is_empty());
    let sentence = one_line(&look.sentence);
    place.map_or_else(|| sentence.clone(), |place| format!("{place}: {sentence}"))
}

/// `12 passed, 1 regressed`; empty if the check lists no tests.
pub fn tests(check: &CheckSummary) -> String {
    let counts = TestChange::ALL.into_iter().map(|change| (check.count(change), change));
    let shown = counts.filter(|(count, _)| *count > 0);
    shown.map(|(count, change)| format!("{count} {}", change.name())).collect::<Vec<_>>().join(", ")
}

/// Whether the result was measured now: its time, or that it was reused.
pub fn origin(check: &CheckSummary) -> String {
    match &check.origin {
        CheckOrigin::Now => seconds(check.duration_ms),
        CheckOrigin::Reused { .. } => "reused".to_string(),
    }
}

pub fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

pub fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// The text without line breaks and other control characters.
pub fn one_line(text: &str) -> String {
    let clean = remand_notation::clean(text).replace(['\n', '\r', '\t'], " ");
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}
