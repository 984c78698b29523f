//! The evidence bundle: one page, generated from the ledger.

mod files;
mod hosts;
mod judged;
mod lowered;
mod proofs;
mod pull_request;

use crate::artifacts;
use crate::clock;
use crate::outputs;
use crate::pinned::Pinned;
use crate::site::Trouble;
use files::{delivered_files, reported_files, reverted_at};
use hosts::RunHosts;
use judged::{JudgedFinding, judged_findings};
use lowered::{ConfidenceEffect, confidence_effects};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::Severity;
use remand_kernel::program::Confidence;
use remand_kernel::{Event, Outcome};
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{
    CheckFilter, CheckRow, DefectResolution, DispatchRow, FindingRow, JournalRow, NoteRow, RunRow, RunStage,
};
use remand_ledger::{LedgerError, Millis, Reader, RunId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

pub use pull_request::pull_request;

/// The file name of the bundle.
pub const FILE: &str = "evidence-bundle.md";

/// The sentence if there was no violation: what was examined, and what was not.
const NO_VIOLATION: &str = "No role changed more in its work tree than it may, and no file tool was refused. The sandbox refuses \
                            changes elsewhere; what a shell command tried there is not recorded.";

/// Writes the bundle into the run's folder, atomically.
pub fn write(reader: &Reader, run: &RunId, folder: &Path) -> Result<PathBuf, Trouble> {
    let (path, new) = (folder.join(FILE), folder.join(format!("{FILE}.new")));
    let written = text(reader, run)
        .map_err(Trouble::from)
        .and_then(|text| Ok(std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path))?));
    written.map_err(|Trouble { failure, detail }| Trouble::new(failure, format!("{FILE}: {detail}")))?;
    Ok(path)
}

/// The bundle as Markdown.
pub fn text(reader: &Reader, run: &RunId) -> Result<String, LedgerError> {
    let row = reader.run(&run.0)?;
    let checks = reader.checks(run, CheckFilter::default())?;
    let findings = reader.findings(run)?;
    let notes = reader.notes(run)?;
    let mut page = Page { text: String::new() };
    page.head(&row);
    page.failure(reader, &row)?;
    let confidence_effects = confidence_effects(reader, run)?;
    page.confidence(&row, &findings, &notes, &confidence_effects);
    page.tasks(reader, run, &checks)?;
    page.old_tests(&checks);
    page.proofs(reader, run, &checks)?;
    page.reviews(reader, run, &checks)?;
    let judged = judged_findings(reader, run, &findings)?;
    page.finding_counts(&judged);
    page.criteria(&checks);
    page.blast_radius(reader, run, &checks, &notes)?;
    page.known_issues(&judged);
    page.degradations(&notes, &confidence_effects);
    page.notes("Violations", &notes, NoteKind::Violation, NO_VIOLATION);
    page.notes("Warnings", &notes, NoteKind::Warning, "None.");
    page.network(reader, run)?;
    page.notes("Decisions", &outputs::without_superseded(notes), NoteKind::Decision, "None recorded.");
    page.conventions(reader, run)?;
    page.gates(reader, run)?;
    page.rollback(reader, &row)?;
    page.cost(reader, run, &row)?;
    page.chain(reader)?;
    Ok(page.text)
}

struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "{}", line.as_ref());
    }

    fn section(&mut self, title: &str) {
        let _ = write!(self.text, "\n## {title}\n\n");
    }

    /// Why a run failed, and the command that prints the whole output of the dispatch that failed.
    fn failure(&mut self, reader: &Reader, row: &RunRow) -> Result<(), LedgerError> {
        if row.stage != RunStage::Failed {
            return Ok(());
        }
        if let Some(last) = reader.rulings(&row.run, 0)?.last() {
            self.line(format!("- because: {}", cell(&last.ruling.why)));
            let dispatches = reader.dispatches(&row.run)?;
            let failed = dispatches.iter().rfind(|dispatch| dispatch.phase == last.ruling.phase);
            if let Some(failed) = failed.filter(|dispatch| dispatch.failure.is_some()) {
                self.line(format!("- whole output: `remand output {} --run {}`", failed.command, row.run));
            }
        }
        Ok(())
    }

    fn head(&mut self, row: &RunRow) {
        self.line(format!("# Evidence: {}\n", cell(first_line(&row.request).unwrap_or("no request"))));
        let outcome = match row.stage.is_over() {
            true => row.outcome(),
            false => format!("{}, at {}", row.outcome(), row.place),
        };
        self.line(format!("- run `{}`, workflow `{}`, {}", row.run, row.workflow, row.mode));
        let last = if row.stage.is_over() { "ended" } else { "last event" };
        let (started, last_at) = (clock::iso(row.created_at), clock::iso(row.updated_at));
        self.line(format!("- {}", cell(&outcome)));
        self.line(format!("- started {started}, {last} {last_at}"));
        self.line(format!("- from commit `{}` to branch `{}`", row.base, row.branch));
        self.line("- uncommitted changes in the checkout are not included");
    }

    /// The level of confidence with its definition, and the ways to raise it.
    fn confidence(
        &mut self,
        row: &RunRow,
        findings: &[FindingRow],
        notes: &[NoteRow],
        confidence_effects: &BTreeSet<ConfidenceEffect>,
    ) {
        let level = row.confidence_level();
        self.section(&format!("Confidence: {}", level.name()));
        self.line(format!("Definition: {}.", level.definition()));
        let mut ways_to_raise: Vec<String> = findings
            .iter()
            .filter(|finding| finding.known && finding.severity > Severity::Minor)
            .map(|finding| format!("settle {}: {}", finding.id, cell(&finding.claim)))
            .collect();
        let degraded = notes.iter().filter(|note| note.kind == NoteKind::Degradation);
        let degraded: BTreeSet<String> =
            degraded.map(|note| format!("resolve the degradation: {}", cell(&note.text))).collect();
        ways_to_raise.extend(degraded);
        ways_to_raise.extend(
            confidence_effects
                .iter()
                .map(|effect| format!("resolve the {}: {}", effect.effect, cell(&effect.text))),
        );
        if row.stage == RunStage::LeftToYou && level < Confidence::High {
            ways_to_raise.extend(
                row.reason.as_ref().map(|reason| format!("a commit, which is missing: {}", cell(reason))),
            );
        }
        if level < Confidence::High && ways_to_raise.is_empty() {
            ways_to_raise.push("approval by every reviewer, and no exhausted budget".to_string());
        }
        if level < Confidence::High {
            self.line("\nWhat would raise it:\n");
            for line in ways_to_raise {
                self.line(format!("- {line}"));
            }
        }
    }

    /// The conventions that agents were given.
    fn conventions(&mut self, reader: &Reader, run: &RunId) -> Result<(), LedgerError> {
        let Some(pinned) = Pinned::of(reader, run)? else { return Ok(()) };
        self.section("Conventions");
        if pinned.conventions.files.is_empty() {
            self.line("The repository has none, or the settings turn them off.");
        }
        for file in &pinned.conventions.files {
            self.line(format!("- {}, for {}", file.paths.join(" and "), file.scope()));
        }
        if let Some(notice) = pinned.conventions.notice() {
            self.line(format!("- {notice}"));
        }
        Ok(())
    }

    /// The hosts that agents, checks and hooks asked for, as far as their network was watched.
    fn network(&mut self, reader: &Reader, run: &RunId) -> Result<(), LedgerError> {
        self.section("Network");
        let hosts = RunHosts::of(reader, run)?;
        if !hosts.rows.is_empty() {
            self.line("| host | asked for by | times | bytes sent | bytes received |");
            self.line("| --- | --- | --- | --- | --- |");
        }
        for (host, row) in &hosts.rows {
            let programs: Vec<&str> = row.programs.iter().map(String::as_str).collect();
            let traffic = match row.traffic {
                Some(traffic) => format!("{} | {}", traffic.sent, traffic.received),
                None => "refused | ".to_string(),
            };
            self.line(format!(
                "| {} | {} | {} | {traffic} |",
                cell(host),
                cell(&programs.join(", ")),
                row.times
            ));
        }
        if hosts.more {
            self.line("\nMore were refused.");
        }
        if hosts.rows.is_empty() && hosts.watched > 0 {
            self.line("No agent asked for a host.");
        }
        if hosts.unwatched > 0 {
            let text =
                "dispatches shared the network of this machine, so the hosts that they asked for are unknown";
            self.line(format!("{}{} {text}.", if hosts.watched > 0 { "\n" } else { "" }, hosts.unwatched));
        }
        if hosts.watched + hosts.unwatched == 0 {
            self.line("No agent was dispatched.");
        }
        Ok(())
    }

    fn tasks(&mut self, reader: &Reader, run: &RunId, checks: &[CheckRow]) -> Result<(), LedgerError> {
        self.section("Checks that the engine ran");
        let tasks = reader.task_summaries(run)?;
        if !tasks.is_empty() {
            self.line(
                "| task | passed | failed | regressions | iteration |\n| --- | --- | --- | --- | --- |",
            );
            for task in &tasks {
                let iteration = task.iteration.map_or_else(|| "never".to_string(), |count| count.to_string());
                let suffix = match (reverted_at(checks, &task.task), task.listed) {
                    (Some(_), _) => " (reverted)",
                    (None, true) => "",
                    (None, false) => " (not in the last plan)",
                };
                self.line(format!(
                    "| {}{suffix} | {} | {} | {} | {iteration} |",
                    cell(&task.task),
                    task.passed,
                    task.failed,
                    task.regressions
                ));
            }
            self.line("");
        }
        let rows = checks.iter().filter(|row| !row.superseded && row.phase != RowPhase::Review);
        // Tasks run in parallel; sorting keeps the page independent of their timing.
        let task_index = |row: &CheckRow| tasks.iter().position(|task| Some(&task.task) == row.task.as_ref());
        let mut rows: Vec<&CheckRow> = rows.collect();
        rows.sort_by_key(|row| {
            (row.phase, row.phase == RowPhase::After && row.task.is_none(), task_index(row))
        });
        if rows.is_empty() {
            self.line("None.");
            return Ok(());
        }
        self.line("| for | when | check | command | exit | tests | result |\n| --- | --- | --- | --- | --- | --- | --- |");
        for row in rows {
            let phase = if row.phase == RowPhase::Baseline { "baseline" } else { "after" };
            let result = match (row.passed, row.tier) {
                (true, _) => "passed".to_string(),
                (false, Some(_)) if row.phase == RowPhase::After && failed_before(checks, &row.name) => {
                    "FAILED, as before the change".to_string()
                }
                (false, Some(_)) => "FAILED".to_string(),
                (false, None) => format!("not run: {}", cell(&row.reason)),
            };
            let result = match &row.origin {
                Some(origin) if origin.run != row.run => {
                    format!("{result}, reused from event {} of run {}", origin.seq, origin.run)
                }
                Some(_) => format!("{result}, reused from the same tree"),
                None => result,
            };
            self.line(format!(
                "| {} | {phase} | {} | `{}` | {} | {} | {result} |",
                cell(row.task.as_deref().unwrap_or("all")),
                cell(&row.name),
                cell(row.command.as_deref().unwrap_or("built in")),
                row.exit_code.map_or_else(String::new, |code| code.to_string()),
                row.collected.map_or_else(String::new, |count| count.to_string()),
            ));
        }
        Ok(())
    }

    fn reviews(&mut self, reader: &Reader, run: &RunId, checks: &[CheckRow]) -> Result<(), LedgerError> {
        self.section("Reviews");
        let mut reviews: Vec<&CheckRow> = checks.iter().filter(|row| row.verdict.is_some()).collect();
        let group =
            |row: &CheckRow| (row.name.rsplit_once('-').map(|(scope, _)| scope.to_string()), row.round);
        let rounds: Vec<_> = reviews.iter().map(|row| group(row)).collect();
        reviews.sort_by_key(|row| (rounds.iter().position(|round| *round == group(row)), row.name.clone()));
        if reviews.is_empty() {
            return self.verdicts(&reader.dispatches(run)?);
        }
        let models = models(&reader.journal(run, 0)?);
        self.line(
            "| review | round | model | verdict | highest severity | summary |\n| --- | --- | --- | --- | --- | --- |",
        );
        for row in reviews {
            self.line(format!(
                "| {} | {} | {} | {} | {} | {} |",
                cell(&row.name),
                row.round,
                cell(models.get(&row.seq).map_or("unknown", String::as_str)),
                cell(row.verdict.as_deref().unwrap_or_default()),
                row.severity.map_or("", Severity::name),
                cell(first_line(&row.snippet).unwrap_or_default())
            ));
        }
        Ok(())
    }

    /// The verdicts of reviewers in workflows without evidence rows for reviews.
    fn verdicts(&mut self, dispatches: &[DispatchRow]) -> Result<(), LedgerError> {
        let mut reviews =
            dispatches.iter().filter(|row| row.role.contains("review") && row.says.is_some()).peekable();
        if reviews.peek().is_none() {
            self.line("None.");
            return Ok(());
        }
        self.line(
            "| phase | by | round | model | verdict | summary |\n| --- | --- | --- | --- | --- | --- |",
        );
        for row in reviews {
            self.line(format!(
                "| {} | {} | {} | {} | {} | {} |",
                cell(&row.phase),
                cell(&row.role),
                row.visit,
                cell(row.model.as_deref().unwrap_or("unknown")),
                cell(row.says.as_deref().unwrap_or_default()),
                cell(row.summary.as_deref().and_then(first_line).unwrap_or_default())
            ));
        }
        Ok(())
    }

    /// How many findings there were, and what happened to them.
    fn finding_counts(&mut self, findings: &[JudgedFinding<'_>]) {
        let mut counts =
            [("fixed", 0), ("open", 0), ("withdrawn", 0), ("sent further back", 0), ("for later", 0)];
        for finding in findings {
            let place = match finding.resolution {
                // A later report of the same finding counts instead.
                DefectResolution::ReportedAgain => continue,
                _ if finding.is_open() => 1,
                DefectResolution::Open | DefectResolution::KnownIssue => 1,
                DefectResolution::Corrected => 0,
                DefectResolution::Withdrawn => 2,
                DefectResolution::PassedOn => 3,
                DefectResolution::FollowUp => 4,
            };
            counts[place].1 += 1;
        }
        let found: u32 = counts.iter().map(|(_, count)| count).sum();
        let fixed = counts[0].1;
        let rest = counts[1..].iter().filter(|(_, count)| *count > 0);
        let rest: String = rest.map(|(word, count)| format!(", {count} {word}")).collect();
        self.line(format!("\nFindings: {found} found, {fixed} fixed{rest}."));
    }

    fn criteria(&mut self, checks: &[CheckRow]) {
        let criteria_rows = checks
            .iter()
            .filter(|row| row.phase == RowPhase::Review && row.verdict.is_none() && !row.superseded);
        // The last judgement of a criterion counts.
        let judged: BTreeMap<(&Option<String>, &String), &CheckRow> =
            criteria_rows.map(|row| ((&row.task, &row.name), row)).collect();
        if judged.is_empty() {
            return;
        }
        self.section("Acceptance criteria, as an agent judged them");
        self.line("Recorded, and never counted as checks.\n");
        for row in judged.values() {
            let met = if row.passed { "met" } else { "not met" };
            let task = row.task.as_deref().unwrap_or("all");
            self.line(format!("- {} {}: {met}, {}", cell(task), cell(&row.name), cell(&row.snippet)));
        }
    }

    fn blast_radius(
        &mut self,
        reader: &Reader,
        run: &RunId,
        checks: &[CheckRow],
        notes: &[NoteRow],
    ) -> Result<(), LedgerError> {
        self.section("Blast radius");
        let files = match delivered_files(reader, run)? {
            Some(files) => files,
            None => reported_files(reader, run, checks)?,
        };
        let risks = risks(reader, run)?;
        if files.is_empty() {
            self.line("No code was changed.");
        }
        for file in &files {
            let risk =
                risks.iter().find(|(path, _)| path == file).map_or("not rated", |(_, risk)| risk.as_str());
            self.line(format!("- `{}`: {}", cell(file), cell(risk)));
        }
        for note in notes.iter().filter(|note| note.kind == NoteKind::Regression) {
            self.line(format!("- regression during the run: {}", cell(&note.text)));
        }
        Ok(())
    }

    fn known_issues(&mut self, findings: &[JudgedFinding<'_>]) {
        self.section("Known issues");
        let known: Vec<&JudgedFinding<'_>> = findings.iter().filter(|finding| finding.is_open()).collect();
        let is_later = |finding: &&JudgedFinding<'_>| finding.resolution == DefectResolution::FollowUp;
        let follow_ups: Vec<&JudgedFinding<'_>> = findings.iter().filter(is_later).collect();
        if known.is_empty() {
            self.line("None.");
        }
        for finding in known {
            self.line(issue(finding.row));
        }
        if !follow_ups.is_empty() {
            self.line("\nFollow-ups:\n");
            for finding in follow_ups {
                self.line(issue(finding.row));
            }
        }
    }

    fn notes(&mut self, title: &str, notes: &[NoteRow], kind: NoteKind, empty_text: &str) {
        self.section(title);
        let texts: BTreeSet<&str> =
            notes.iter().filter(|note| note.kind == kind).map(|note| note.text.as_str()).collect();
        if texts.is_empty() {
            return self.line(empty_text);
        }
        for text in texts {
            self.line(format!("- {}", cell(text)));
        }
    }

    /// The degradations of the run, from its notes and its rulings.
    fn degradations(&mut self, notes: &[NoteRow], confidence_effects: &BTreeSet<ConfidenceEffect>) {
        self.section("Degradations");
        let from_notes =
            notes.iter().filter(|note| note.kind == NoteKind::Degradation).map(|note| note.text.as_str());
        let from_rulings = confidence_effects
            .iter()
            .filter(|effect| effect.is_degradation())
            .map(|effect| effect.text.as_str());
        let texts: BTreeSet<&str> = from_notes.chain(from_rulings).collect();
        if texts.is_empty() {
            self.line("None.");
        }
        for text in texts {
            self.line(format!("- {}", cell(text)));
        }
    }

    fn gates(&mut self, reader: &Reader, run: &RunId) -> Result<(), LedgerError> {
        let gates = reader.gates(run)?;
        if gates.is_empty() {
            return Ok(());
        }
        self.section("Gates");
        let journal = reader.journal(run, 0)?;
        for gate in gates {
            let answer = match (&gate.option, gate.auto) {
                (Some(option), true) => format!("{option} (default; nobody was asked)"),
                (Some(option), false) => {
                    let by = gate.by.as_deref().unwrap_or("somebody");
                    let note = gate.note.as_deref().filter(|note| !note.is_empty());
                    format!("{option}, by {by}{}", note.map_or_else(String::new, |note| format!(": {note}")))
                }
                (None, _) => match gate.withdrawn_at {
                    Some(at) => withdrawn(&journal, at),
                    None => "not answered".to_string(),
                },
            };
            self.line(format!("- {}: {} → {}", cell(&gate.phase), cell(&gate.question), cell(&answer)));
        }
        Ok(())
    }

    /// How to undo the work of the run.
    fn rollback(&mut self, reader: &Reader, row: &RunRow) -> Result<(), LedgerError> {
        self.section("Undo");
        let committed =
            reader.operations(&row.run)?.iter().any(|row| row.result.as_deref() == Some("committed"));
        let undone = reader.journal(&row.run, 0)?.into_iter().rev().find_map(|row| match row.event {
            Event::Reverted { commit, by } => Some((commit, by)),
            _ => None,
        });
        if let Some((commit, by)) = undone {
            self.line(format!(
                "The work was undone by {}, with commit {commit} on {}.",
                cell(&by),
                row.branch
            ));
            self.line("");
        }
        match (committed, row.stage) {
            (true, _) => self.reverts(row),
            (false, RunStage::Committed | RunStage::LeftToYou) => {
                self.line(format!("- discard it: `git branch -D {}`", row.branch));
            }
            (
                false,
                RunStage::Running
                | RunStage::Waiting
                | RunStage::Paused
                | RunStage::Interrupted
                | RunStage::Failed
                | RunStage::Stopped,
            ) => {
                self.line(match row.file {
                    None => {
                        "Nothing was committed. `remand clean` removes what finished runs left.".to_string()
                    }
                    // A run on a ticket or an issue commits documents while it works.
                    Some(_) => format!(
                        "The run committed no result. Its branch may contain documents about its work; \
                         `git branch -D {}` discards them.",
                        row.branch
                    ),
                });
            }
        }
        Ok(())
    }

    fn reverts(&mut self, row: &RunRow) {
        self.line(format!("- before you merge it: `git branch -D {}`", row.branch));
        self.line(format!(
            "- after you merged it: `git revert -m 1 MERGE`, or `git revert {}..{}`",
            row.base, row.branch
        ));
        self.line(format!("- or let Remand commit the revert: `remand rollback {}`", row.run));
    }

    fn cost(&mut self, reader: &Reader, run: &RunId, row: &RunRow) -> Result<(), LedgerError> {
        self.section("Cost");
        let totals = reader.totals(run)?;
        self.line(format!(
            "- {} dispatches, {} without a result and {} repeated",
            row.used.dispatches, totals.failed_dispatches, totals.retried_dispatches
        ));
        match (totals.unmetered, totals.dispatches) {
            (0, _) => self.line(format!("- {} tokens", totals.tokens)),
            (unmetered, all) if unmetered >= all => self.line("- tokens: unknown"),
            (unmetered, _) => {
                self.line(format!(
                    "- {} tokens, without {unmetered} dispatches that did not report theirs",
                    totals.tokens
                ));
            }
        }
        let known = remand_notation::amount::dollars(totals.money);
        match (totals.unpriced, totals.dispatches) {
            (0, _) => self.line(format!("- cost: {known}")),
            (unpriced, all) if unpriced >= all => self.line("- cost: unknown"),
            (unpriced, _) => {
                self.line(format!("- cost: {known}, without {unpriced} dispatches of unknown cost"))
            }
        }
        self.line(format!("- {} seconds of work", totals.time / 1000));
        Ok(())
    }

    fn chain(&mut self, reader: &Reader) -> Result<(), LedgerError> {
        let head = reader.head()?;
        self.section("Chain");
        self.line(format!(
            "The ledger had {} events when this page was generated. `remand audit --head {}:{}` detects any later \
             change or removal.",
            head.count, head.count, head.hash
        ));
        Ok(())
    }
}

/// Whether a check failed at the baseline of the run.
fn failed_before(checks: &[CheckRow], name: &str) -> bool {
    let is_before =
        |row: &&CheckRow| row.phase == RowPhase::Baseline && row.task.is_none() && row.name == name;
    checks.iter().filter(is_before).any(|row| !row.passed && row.tier.is_some())
}

/// Why a gate has no answer.
fn withdrawn(journal: &[JournalRow], at: Millis) -> String {
    let rolled_back = journal.iter().filter(|row| row.at == at).find_map(|row| match &row.event {
        Event::RolledBack { to, by, reason, .. } => {
            Some(format!("rolled back to round {to} by {by}: {reason}"))
        }
        _ => None,
    });
    rolled_back.unwrap_or_else(|| "withdrawn: the run continued without an answer".to_string())
}

/// The model that returned each result, by the number of the event.
fn models(journal: &[JournalRow]) -> BTreeMap<u64, String> {
    let model = |row: &JournalRow| match &row.event {
        Event::Ended { outcome: Outcome::Said(report), .. } => Some((row.seq, report.model.clone()?)),
        _ => None,
    };
    journal.iter().filter_map(model).collect()
}

fn issue(finding: &FindingRow) -> String {
    let location = if finding.place.file.is_empty() {
        String::new()
    } else {
        format!(" in `{}`", cell(&finding.place.file))
    };
    format!("- {} {}{location}: {}", finding.severity.name(), cell(&finding.id), cell(&finding.claim))
}

/// Text that cannot break the page: one line, no table bars, no control characters.
fn cell(text: &str) -> String {
    remand_notation::clean(text).replace(['\n', '\r', '\t'], " ").replace('|', "\\|").replace('`', "'")
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

/// The risk of each file, from the plan.
fn risks(reader: &Reader, run: &RunId) -> Result<Vec<(String, String)>, LedgerError> {
    let plans = reader.artifacts(run)?;
    let Some(plan) = plans.iter().find(|row| row.name == "plan" && row.format == "yaml") else {
        return Ok(Vec::new());
    };
    let tasks = artifacts::tasks(&artifacts::content(reader, plan.blob)?);
    let files = tasks.into_iter().flat_map(|entry| entry.task.files);
    Ok(files.map(|file| (file.path.0, file.risk.name().to_string())).collect())
}
