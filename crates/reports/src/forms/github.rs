//! The report as annotations, which GitHub reads from the output of a step. They need no token.

use super::words::{headline, one_line};
use crate::{ChangeReport, ChangeVerdict, FindingSummary};
use remand_kernel::finding::{Location, Severity};
use std::fmt::Write;

pub fn render(report: &ChangeReport) -> String {
    let mut text = String::new();
    for secret in &report.secrets {
        let message = format!("the line contains a secret: {}", secret.shape);
        annotate(&mut text, "error", &secret.place, "secret", &message);
    }
    for finding in &report.findings {
        annotate(&mut text, level(report, finding), &finding.place, &finding.rule, &message(finding));
    }
    let summary = match report.verdict {
        ChangeVerdict::Pass => "notice",
        ChangeVerdict::Fail | ChangeVerdict::Blocked => "error",
        ChangeVerdict::Unmeasured => "warning",
    };
    annotate(&mut text, summary, &Location::default(), "Remand", &headline(report));
    text
}

/// A finding of a change that passes must not look like its failure.
fn level(report: &ChangeReport, finding: &FindingSummary) -> &'static str {
    match report.verdict {
        ChangeVerdict::Pass => "warning",
        ChangeVerdict::Fail | ChangeVerdict::Unmeasured | ChangeVerdict::Blocked => match finding.severity {
            Severity::Minor => "warning",
            Severity::Major | Severity::Critical | Severity::Blocker => "error",
        },
    }
}

fn message(finding: &FindingSummary) -> String {
    let claim = one_line(&finding.claim);
    if finding.remedy.is_empty() { claim } else { format!("{claim}; {}", one_line(&finding.remedy)) }
}

fn annotate(text: &mut String, level: &str, place: &Location, title: &str, message: &str) {
    let mut properties = Vec::new();
    if !place.file.is_empty() {
        properties.push(format!("file={}", property(&place.file)));
        if place.line > 0 {
            properties.push(format!("line={}", place.line));
        }
    }
    properties.push(format!("title={}", property(title)));
    let _ = writeln!(text, "::{level} {}::{}", properties.join(","), data(message));
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
