//! The report as Markdown, for a step summary or the text of a pull request.

use super::words::{look, one_line, origin, place, short, tests};
use crate::{ChangeReport, ChangeVerdict, ReportedFate, ReportedProof, TestChange};
use std::fmt::Write;

/// The maximum number of rows of a table.
const MAX_ROWS: usize = 50;

pub fn render(report: &ChangeReport) -> String {
    let change = &report.change;
    let mut page = format!(
        "## Remand: {} — {}\n\n{}\n",
        report.verdict.name(),
        inline(&change.source.describe()),
        sentence(&report.reason)
    );
    if let Some(first) = &report.look {
        let _ = write!(page, "\n**Look at** {}\n", inline(&look(first)));
        if let Some(command) = &first.command {
            let _ = write!(page, "\n```console\n$ {}\n```\n", one_line(command).replace("```", ""));
        }
    }
    let checks = report.checks.iter().map(|check| {
        let at_base = check.verdict_at_base.map_or("", |verdict| verdict.name());
        vec![
            code(&check.name),
            check.verdict.name().to_string(),
            at_base.to_string(),
            tests(check),
            origin(check),
        ]
    });
    table(&mut page, "Checks", &["check", "verdict", "at the base", "tests", "time"], checks.collect());
    let changed = report.checks.iter().flat_map(|check| {
        let shown = check
            .tests
            .iter()
            .filter(|test| !matches!(test.change, TestChange::Passed | TestChange::Skipped));
        shown.map(|test| vec![code(&test.name), test.change.name().to_string(), code(&check.name)])
    });
    table(&mut page, "Tests that changed", &["test", "change", "check"], changed.collect());
    let findings = report.findings.iter().map(|finding| {
        let remedy = cell(&finding.remedy);
        vec![finding.severity.name().to_string(), code(&place(&finding.place)), cell(&finding.claim), remedy]
    });
    table(&mut page, "Findings", &["severity", "place", "claim", "what to do"], findings.collect());
    let secrets = report.secrets.iter().map(|secret| vec![code(&place(&secret.place)), cell(&secret.shape)]);
    table(&mut page, "Secrets", &["place", "kind"], secrets.collect());
    let old_tests = report.old_tests.iter().map(|old| vec![code(&old.check), cell(&old.reason)]);
    table(&mut page, "Tests as they were", &["check", "result"], old_tests.collect());
    if let Some(proofs) = &report.proofs {
        let _ = write!(page, "\n### Proofs\n\n{}\n", sentence(&proofs.summary));
        let idle = proofs.tests.iter().filter(|test| test.proof == ReportedProof::None);
        let rows = idle.map(|test| vec![code(&test.test)]);
        table(&mut page, "Tests of which nothing shows that they can fail", &["test"], rows.collect());
        let survivors = proofs.mutants.iter().filter(|mutant| mutant.fate == ReportedFate::Survived);
        let rows = survivors.map(|mutant| vec![code(&place(&mutant.place)), cell(&mutant.change)]);
        table(&mut page, "Mutants that no test noticed", &["place", "change"], rows.collect());
    }
    let releases = report
        .releases
        .iter()
        .map(|release| vec![code(&release.test), cell(&release.by), cell(&release.why)]);
    table(&mut page, "Released", &["test", "by", "why"], releases.collect());
    let warnings = report.warnings.iter().map(|warning| vec![cell(warning)]);
    table(&mut page, "Warnings", &["what"], warnings.collect());
    let gaps = report.unmeasured.iter().map(|gap| vec![cell(&gap.what), cell(&gap.why)]);
    table(&mut page, "Not covered", &["what", "why"], gaps.collect());
    let _ = write!(
        page,
        "\n<sub>From `{}` to `{}`, {} files; run `{}`, Remand {}. {}</sub>\n",
        short(&change.base),
        short(&change.head),
        change.paths.len(),
        report.run,
        report.engine_version,
        match report.verdict {
            ChangeVerdict::Pass | ChangeVerdict::Fail => "Settings, checks and tests are those of the base.",
            ChangeVerdict::Unmeasured => "Nothing speaks against the change, and nothing proves it.",
            ChangeVerdict::Blocked => "This says nothing about the change.",
        }
    );
    page
}

fn table(page: &mut String, title: &str, head: &[&str], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let bars: Vec<&str> = head.iter().map(|_| "---").collect();
    let _ = write!(page, "\n### {title}\n\n| {} |\n| {} |\n", head.join(" | "), bars.join(" | "));
    for row in rows.iter().take(MAX_ROWS) {
        let _ = writeln!(page, "| {} |", row.join(" | "));
    }
    if rows.len() > MAX_ROWS {
        let _ = write!(page, "\nand {} more\n", rows.len() - MAX_ROWS);
    }
}

/// Text that can neither end a cell nor start markup.
fn cell(text: &str) -> String {
    inline(text).replace('|', "\\|")
}

fn inline(text: &str) -> String {
    one_line(text).replace('<', "&lt;").replace('@', "&#64;")
}

fn code(text: &str) -> String {
    match one_line(text).replace('`', "'").replace('|', "\\|") {
        text if text.is_empty() => text,
        text => format!("`{text}`"),
    }
}

fn sentence(text: &str) -> String {
    let text = inline(text);
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str())
}
