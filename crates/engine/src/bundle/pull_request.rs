//! The body of a pull request: what a reviewer needs first, and the whole bundle folded below it.

use super::judged::judged_findings;
use super::{Page, cell, text};
use crate::row_names::{OLD_TESTS, PROOF};
use remand_kernel::evidence::RowPhase;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{CheckFilter, CheckRow, DefectResolution, RunRow};
use remand_ledger::{LedgerError, Reader, RunId};
use std::collections::{BTreeMap, BTreeSet};

/// GitHub takes 65,536 characters. What people add afterwards needs room too.
const MAX_LENGTH: usize = 60_000;

/// A request up to this length is shown whole.
const MAX_REQUEST: usize = 1_500;

/// The body of a pull request with the work of a run, as Markdown.
pub fn pull_request(reader: &Reader, run: &RunId) -> Result<String, LedgerError> {
    let row = reader.run(&run.0)?;
    let checks = reader.checks(run, CheckFilter::default())?;
    let mut page = Page { text: String::new() };
    page.request(&row);
    page.what_to_look_at(reader, run)?;
    page.proof(&row, &checks);
    page.caught(reader, run)?;
    let bundle = text(reader, run)?;
    let bundle = bundle.split_once('\n').map_or(bundle.as_str(), |(_, rest)| rest);
    if page.text.len() + bundle.len() < MAX_LENGTH {
        page.line(format!("\n<details>\n<summary>The whole evidence</summary>\n{bundle}\n</details>"));
    }
    page.line(format!(
        "\nMade by Remand, run `{run}`, workflow `{}`. An agent's claim that tests pass does not \
         count; the engine ran every check above itself. `remand evidence {run}` prints everything.",
        row.workflow
    ));
    Ok(page.text)
}

impl Page {
    /// The request as a quotation, since people who are not the author may have written it.
    fn request(&mut self, row: &RunRow) {
        let request = remand_notation::clean(&row.request);
        let shown: String = request.trim().chars().take(MAX_REQUEST).collect();
        let cut = if shown.len() < request.trim().len() { " …" } else { "" };
        for line in format!("{shown}{cut}").lines() {
            self.line(format!("> {line}").trim_end());
        }
    }

    /// What deserves a person's attention.
    fn what_to_look_at(&mut self, reader: &Reader, run: &RunId) -> Result<(), LedgerError> {
        self.section("What to look at");
        let findings = reader.findings(run)?;
        let mut lines = BTreeSet::new();
        for finding in judged_findings(reader, run, &findings)? {
            let kind = match finding.resolution {
                _ if finding.is_open() => "open",
                DefectResolution::FollowUp => "for later",
                _ => continue,
            };
            lines.insert(format!("{kind}{}", super::issue(finding.row).trim_start_matches('-')));
        }
        for note in reader.notes(run)? {
            let kind = match note.kind {
                NoteKind::Degradation => "degraded",
                NoteKind::Violation => "a role went too far, and was undone",
                NoteKind::Warning => "warning",
                _ => continue,
            };
            lines.insert(format!("{kind}: {}", cell(&note.text)));
        }
        for (file, risk) in super::risks(reader, run)? {
            if risk != "green" {
                lines.insert(format!("`{}` was rated {}", cell(&file), cell(&risk)));
            }
        }
        if lines.is_empty() {
            self.line("Nothing stands out.");
        }
        for line in lines {
            self.line(format!("- {line}"));
        }
        Ok(())
    }

    /// The last result of each check, and what guards the tests.
    fn proof(&mut self, row: &RunRow, checks: &[CheckRow]) {
        let level = row.confidence_level();
        self.section("What proves it");
        self.line(format!("Confidence **{}**: {}.\n", level.name(), level.definition()));
        let after = checks.iter().filter(|row| row.phase == RowPhase::After && !row.superseded);
        let (guards, plain): (Vec<&CheckRow>, Vec<&CheckRow>) =
            after.partition(|row| row.name == PROOF || row.name.starts_with(OLD_TESTS));
        // The check of everything together counts more than those of single tasks, and it comes later.
        let last: BTreeMap<&str, &CheckRow> = plain.iter().map(|row| (row.name.as_str(), *row)).collect();
        if !last.is_empty() {
            self.line("| check | command | exit status | tests | result |\n| --- | --- | --- | --- | --- |");
        }
        for row in last.values() {
            self.line(format!(
                "| {} | `{}` | {} | {} | {} |",
                cell(&row.name),
                cell(row.command.as_deref().unwrap_or("built in")),
                row.exit_code.map_or_else(String::new, |code| code.to_string()),
                row.collected.map_or_else(String::new, |count| count.to_string()),
                if row.passed { "passed" } else { "**failed**" },
            ));
        }
        self.line("");
        for row in guards {
            let what = if row.name == PROOF { "tests that can fail" } else { "the tests as they were" };
            let task = row.task.as_deref().map_or_else(String::new, |task| format!(", {}", cell(task)));
            self.line(format!("- {what}{task}: {}", cell(&row.reason)));
        }
    }

    /// The defects that were found and corrected before anybody saw the work.
    fn caught(&mut self, reader: &Reader, run: &RunId) -> Result<(), LedgerError> {
        let findings = reader.findings(run)?;
        let judged = judged_findings(reader, run, &findings)?;
        let fixed: Vec<_> =
            judged.iter().filter(|finding| finding.resolution == DefectResolution::Corrected).collect();
        if fixed.is_empty() {
            return Ok(());
        }
        self.section("Caught on the way");
        self.line("| severity | found by | sent back to | defect |\n| --- | --- | --- | --- |");
        for finding in fixed {
            let row = finding.row;
            self.line(format!(
                "| {} | {} | {} | {} |",
                row.severity.name(),
                cell(&row.phase),
                cell(row.sent_to.as_deref().unwrap_or_default()),
                cell(&row.claim)
            ));
        }
        Ok(())
    }
}
