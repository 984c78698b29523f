//! The report for a terminal.

use super::words::{headline, look, one_line, origin, place, seconds, short, tests};
use crate::{ChangeReport, ChangeVerdict, CheckSummary, ReportedFate, ReportedProof, TestChange};
use std::fmt::Write;

/// The maximum number of tests and findings that are listed; `--format json` lists all.
const MAX_LISTED: usize = 20;

pub fn render(report: &ChangeReport) -> String {
    let mut text = format!("{}\n", headline(report));
    if let Some(first) = &report.look {
        let _ = writeln!(text, "look at    {}", look(first));
        if let Some(command) = &first.command {
            let _ = writeln!(text, "reproduce  {}", one_line(command));
        }
    }
    let change = &report.change;
    let files = match change.paths.len() {
        // A vetting that was blocked early knows no files.
        0 if report.verdict == ChangeVerdict::Blocked => String::new(),
        1 => "1 file ".to_string(),
        files => format!("{files} files "),
    };
    let _ = writeln!(
        text,
        "change     {files}from {} to {}, judged in {}",
        short(&change.base),
        short(&change.head),
        seconds(report.duration_ms)
    );
    checks(&mut text, report);
    list(&mut text, "tests", test_lines(report));
    let findings = report.findings.iter().map(|finding| {
        let place = Some(place(&finding.place)).filter(|place| !place.is_empty());
        let place = place.map_or_else(String::new, |place| format!("{place}: "));
        format!("{}  {place}{}", finding.severity.name(), one_line(&finding.claim))
    });
    list(&mut text, "findings", findings.collect());
    let secrets = report.secrets.iter().map(|secret| format!("{}: {}", place(&secret.place), secret.shape));
    list(&mut text, "secrets", secrets.collect());
    let old_tests = report.old_tests.iter().map(|old| format!("{}: {}", old.check, one_line(&old.reason)));
    list(&mut text, "tests as they were", old_tests.collect());
    list(&mut text, "proofs", proof_lines(report));
    let releases =
        report.releases.iter().map(|release| format!("{}, by {}: {}", release.test, release.by, release.why));
    list(&mut text, "released", releases.collect());
    list(&mut text, "warnings", report.warnings.iter().map(|warning| one_line(warning)).collect());
    let uncovered = report.unmeasured.iter().map(|gap| match gap.why.as_str() {
        "" => one_line(&gap.what),
        why => format!("{}: {}", one_line(&gap.what), one_line(why)),
    });
    list(&mut text, "not covered", uncovered.collect());
    let _ = writeln!(text, "evidence   remand evidence {}", report.run);
    text
}

fn checks(text: &mut String, report: &ChangeReport) {
    if report.checks.is_empty() {
        return;
    }
    let _ = writeln!(text, "checks");
    let width = report.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in &report.checks {
        let details: Vec<String> = [tests(check), origin(check), why(report, check)]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        let _ =
            writeln!(text, "  {:<13} {:<width$}  {}", check.verdict.name(), check.name, details.join(", "));
    }
}

fn why(report: &ChangeReport, check: &CheckSummary) -> String {
    let is_plain = check.reason.is_empty() || report.verdict == ChangeVerdict::Pass;
    if is_plain { String::new() } else { one_line(&check.reason).chars().take(160).collect() }
}

/// The tests that did not simply pass, worst first.
fn test_lines(report: &ChangeReport) -> Vec<String> {
    let mut lines: Vec<(TestChange, String)> = report
        .checks
        .iter()
        .flat_map(|check| check.tests.iter().map(move |test| (check, test)))
        .filter(|(_, test)| !matches!(test.change, TestChange::Passed | TestChange::Skipped))
        .map(|(check, test)| {
            (test.change, format!("{:<13} {} ({})", test.change.name(), test.name, check.name))
        })
        .collect();
    lines.sort_by_key(|(change, _)| *change);
    lines.into_iter().map(|(_, line)| line).collect()
}

fn proof_lines(report: &ChangeReport) -> Vec<String> {
    let Some(proofs) = &report.proofs else { return Vec::new() };
    let survivors = proofs.mutants.iter().filter(|mutant| mutant.fate == ReportedFate::Survived);
    let mut lines = vec![one_line(&proofs.summary)];
    let idle = proofs.tests.iter().filter(|test| test.proof == ReportedProof::None);
    lines.extend(idle.map(|test| format!("nothing shows that `{}` can fail", one_line(&test.test))));
    lines.extend(survivors.map(|mutant| {
        format!("{}: {}, and no test notices", place(&mutant.place), one_line(&mutant.change))
    }));
    lines
}

fn list(text: &mut String, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}");
    for line in lines.iter().take(MAX_LISTED) {
        let _ = writeln!(text, "  {line}");
    }
    if lines.len() > MAX_LISTED {
        let _ = writeln!(text, "  and {} more", lines.len() - MAX_LISTED);
    }
}
