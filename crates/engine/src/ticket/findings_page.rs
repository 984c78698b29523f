//! The page with findings about a design, for the human at the gate.

use super::history::{Revision, TicketHistory};
use super::paths::TicketPaths;
use crate::clock;
use remand_contract::CitedSections;
use remand_contract::markdown::{block, cell, code, inline};
use remand_contract::schema::failure::{
    AnsweredQuestion, FailureCategory, FindingsReport, HintAction, Producer, Trigger,
};
use remand_documents::Markdown;

const ROOT_CAUSE: &str = "Root Cause";
const DESIGN: &str = "Design";
const PROPOSAL: &str = "Proposed Design Change";
const SCOPE: &str = "Scope";
const PRESERVE: &str = "What to Preserve";

/// The findings in a stored artifact; `None` if it is another document.
pub fn report(stored: &str) -> Option<FindingsReport> {
    crate::artifacts::payload(stored)
}

/// The sections of the design that findings cite. They are parsed from the page if it is all that an earlier run left.
pub fn cited_sections(stored: &str) -> CitedSections {
    let Some(report) = report(stored) else { return cited_on_page(stored) };
    let change = report.proposed_change;
    CitedSections {
        section: report.root_cause.section.0,
        scope: change.scope.0,
        preserve: change.preserve.into_iter().map(|item| item.0).collect(),
    }
}

fn cited_on_page(page: &str) -> CitedSections {
    let read = Markdown::read(page);
    let section = |title: &str| {
        let found = read.section(&[title]);
        found.map_or_else(String::new, |section| page[section.body].trim().to_string())
    };
    let line = |text: &str, label: &str| {
        let found = text.lines().find(|line| line.contains(&format!("**{label}**")));
        found.map_or_else(|| text.to_string(), str::to_string)
    };
    CitedSections {
        section: line(&section(ROOT_CAUSE), DESIGN),
        scope: line(&section(PROPOSAL), SCOPE),
        preserve: vec![section(PRESERVE)],
    }
}

pub fn page(
    report: &FindingsReport,
    revision: &Revision,
    history: &TicketHistory,
    paths: &TicketPaths,
) -> String {
    let design = history.design_name.as_deref().map_or_else(|| paths.folder(), |name| paths.document(name));
    let mut page = format!("# Implementation Findings {}: {}\n\n", revision.number, inline(&paths.name));
    let reason = if revision.cause.why.is_empty() {
        String::new()
    } else {
        format!(" ({})", inline(&revision.cause.why))
    };
    page.push_str(&format!(
        "- **Date**: {}\n- **Produced by**: {}\n- **Trigger**: {}{reason}\n- **Revision**: {}\n\n",
        clock::date(revision.at),
        producer(report.produced_by),
        trigger(report.trigger),
        revision_count(revision.number, revision.cap),
    ));
    page.push_str(
        "## What Was Attempted\n\n| iteration | hypothesis | outcome | files |\n| --- | --- | --- | --- |\n",
    );
    for row in attempted(report, revision, history) {
        let files: Vec<String> = row.files.iter().map(|file| code(file)).collect();
        page.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            row.number,
            cell(&row.hypothesis),
            cell(&row.outcome),
            files.join(", ").replace('|', "\\|")
        ));
    }
    page.push_str("\n### Approaches Ruled Out\n\n");
    for ruled in &report.ruled_out {
        page.push_str(&format!("- **{}**: {}\n", inline(&ruled.approach.0), block(&ruled.reason.0, 2)));
    }
    page.push_str(&format!(
        "\n## Failure Classification\n\n**Category**: `{}` ({})\n\n{}\n",
        category(report.category),
        meaning(report.category),
        block(&report.category_rationale.0, 0)
    ));
    page.push_str(&format!(
        "\n## {ROOT_CAUSE}\n\n- **{DESIGN}**: {}, {}\n- **Flawed assumption**: {}\n- **Evidence**: {}\n",
        code(&design.display().to_string()),
        inline(&report.root_cause.section.0),
        block(&report.root_cause.assumption.0, 2),
        block(&report.root_cause.evidence.0, 2)
    ));
    let (yes, no) = if report.workaround.possible { ('x', ' ') } else { (' ', 'x') };
    page.push_str(&format!(
        "\nCould the implementation have worked around it?\n\n- [{yes}] Yes, but only by violating the design\n\
         - [{no}] No, the flaw is in the design itself\n\n{}\n",
        block(&report.workaround.explanation.0, 0)
    ));
    page.push_str(&proposal(report));
    page.push_str("\n## Oscillation Check\n\n");
    let oscillation = &report.oscillation;
    page.push_str(&answer_boxes("Was the proposed approach tried before?", &oscillation.tried_before));
    page.push_str(&format!(
        "\n{}",
        answer_boxes("Could the work swing back to a failed approach?", &oscillation.may_swing_back)
    ));
    page.push_str("\n## Checklist for the Human at the Gate\n\n");
    for item in checklist(report, revision.number, revision.cap) {
        page.push_str(&format!("- [ ] **{}**: {}\n", item.title, block(&item.statement, 2)));
    }
    page
}

/// One row of the table of attempts.
struct AttemptRow {
    number: u32,
    hypothesis: String,
    outcome: String,
    files: Vec<String>,
}

/// The attempts that the engine recorded for the failed design, each with what the findings report about it. If it
/// recorded none, for example because a prototype failed first, these are the attempts in the findings.
fn attempted(report: &FindingsReport, revision: &Revision, history: &TicketHistory) -> Vec<AttemptRow> {
    let words = |number: u32| {
        let rows = report.iterations.iter().filter(move |row| row.number == number);
        rows.map(|row| format!("{}: {}", producer(report.produced_by), row.outcome.0))
    };
    let recorded = history.attempts_at(revision.number).map(|attempt| AttemptRow {
        number: attempt.number,
        hypothesis: attempt.hypothesis.clone(),
        outcome: attempt
            .results
            .iter()
            .chain(&attempt.flags)
            .cloned()
            .chain(words(attempt.number))
            .collect::<Vec<_>>()
            .join("; "),
        files: attempt.files.iter().map(|file| file.path.clone()).collect(),
    });
    let recorded: Vec<AttemptRow> = recorded.collect();
    if !recorded.is_empty() {
        return recorded;
    }
    let reported = report.iterations.iter().map(|row| AttemptRow {
        number: row.number,
        hypothesis: row.hypothesis.0.clone(),
        outcome: row.outcome.0.clone(),
        files: row.files.iter().map(|file| file.0.clone()).collect(),
    });
    reported.collect()
}

fn proposal(report: &FindingsReport) -> String {
    let change = &report.proposed_change;
    let mut text = format!(
        "\n## {PROPOSAL}\n\n- **{SCOPE}**: {}\n- **Approach**: {}\n",
        block(&change.scope.0, 2),
        block(&change.approach.text.0, 2)
    );
    if !change.approach.decisions.is_empty() {
        text.push_str(&format!("- **Based on**: {}\n", inline(&change.approach.decisions.join(", "))));
    }
    text.push_str(&format!("\n### {PRESERVE}\n\n"));
    for item in &change.preserve {
        text.push_str(&format!("- {}\n", block(&item.0, 2)));
    }
    text.push_str("\n### Warm-Start Hints\n\n| file | what to do | note |\n| --- | --- | --- |\n");
    for hint in &change.hints {
        text.push_str(&format!(
            "| {} | {} | {} |\n",
            code(&hint.file.0).replace('|', "\\|"),
            action(hint.action),
            cell(&hint.note)
        ));
    }
    text
}

/// A question with a box for each answer; the explanation is next to the ticked one.
fn answer_boxes(question: &str, answer: &AnsweredQuestion) -> String {
    let explained = |word: &str| format!("- [x] {word}: {}\n", block(&answer.explanation.0, 2));
    let (no, yes) = match answer.answer {
        true => ("- [ ] No\n".to_string(), explained("Yes")),
        false => (explained("No"), "- [ ] Yes\n".to_string()),
    };
    format!("**{question}**\n\n{no}{yes}")
}

/// A point to check before answering the gate.
pub struct ChecklistItem {
    pub title: &'static str,
    pub statement: String,
    /// Whether the point matters if no revision is left.
    pub applies_at_cap: bool,
}

/// The points to check before answering the gate. The findings make a statement on each except the number of the
/// revision, which the engine knows.
pub fn checklist(report: &FindingsReport, number: u16, cap: u16) -> [ChecklistItem; 5] {
    let list = &report.checklist;
    let item = |title, statement: &str| ChecklistItem {
        title,
        statement: statement.to_string(),
        applies_at_cap: true,
    };
    let within = if number > cap { "no" } else { "yes" };
    [
        item("The root cause is credible", &list.root_cause_credible.0),
        item("The change is a delta", &list.change_scoped.0),
        item("The oscillation check is complete", &list.oscillation_checked.0),
        item("The revision is within the cap", &format!("{within}, {}", revision_count(number, cap))),
        ChecklistItem {
            applies_at_cap: false,
            ..item("Prototype after the revision, yes or no", &list.prototype_advice.0)
        },
    ]
}

/// A revision and the maximum as `2 of 3`, or that none is left.
pub fn revision_count(number: u16, cap: u16) -> String {
    if number > cap { format!("none left: {cap} of {cap} are used") } else { format!("{number} of {cap}") }
}

pub fn producer(producer: Producer) -> &'static str {
    match producer {
        Producer::Implementer => "implementer",
        Producer::QualityGate => "quality gate",
        Producer::Reviewer => "implementation reviewer",
        Producer::Prototyper => "prototyper",
    }
}

pub fn trigger(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Circle => "circle detected",
        Trigger::QualityGateFailed => "third quality gate failure in a row",
        Trigger::ChangesRequested => "changes requested three times for the same finding",
        Trigger::NegativePrototype => "negative prototype",
    }
}

pub fn category(category: FailureCategory) -> &'static str {
    match category {
        FailureCategory::DesignFlaw => "DESIGN_FLAW",
        FailureCategory::MissingAbstraction => "MISSING_ABSTRACTION",
        FailureCategory::IncorrectInvariant => "INCORRECT_INVARIANT",
        FailureCategory::PerformanceCeiling => "PERFORMANCE_CEILING",
        FailureCategory::IntegrationConflict => "INTEGRATION_CONFLICT",
    }
}

fn meaning(category: FailureCategory) -> &'static str {
    match category {
        FailureCategory::DesignFlaw => "the core approach cannot meet the requirements",
        FailureCategory::MissingAbstraction => "the design lacks an abstraction that is needed",
        FailureCategory::IncorrectInvariant => "an invariant of the design contradicts a requirement",
        FailureCategory::PerformanceCeiling => "the approach cannot be fast or small enough",
        FailureCategory::IntegrationConflict => "the design conflicts with an existing interface",
    }
}

fn action(action: HintAction) -> &'static str {
    match action {
        HintAction::Keep => "keep",
        HintAction::Modify => "modify",
        HintAction::Discard => "discard",
    }
}
