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

/// The sections of the design that findings cite. If only the page of an earlier run is left, the page is parsed.
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
        revision_count(revision),
    ));
    page.push_str(
        "## What Was Attempted\n\n| iteration | hypothesis | outcome | files |\n| --- | --- | --- | --- |\n",
    );
    for row in &report.iterations {
        let files: Vec<String> = row.files.iter().map(|file| code(&file.0)).collect();
        page.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            row.number,
            cell(&row.hypothesis.0),
            cell(&row.outcome.0),
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
    page.push_str(&answer_line("Was the proposed approach tried before?", &report.oscillation.tried_before));
    page.push_str(&answer_line(
        "Could the work swing back to a failed approach?",
        &report.oscillation.may_swing_back,
    ));
    page.push_str("\n## Checklist for the Human at the Gate\n\n");
    for (item, statement) in checklist(report) {
        page.push_str(&format!("- [ ] **{item}**: {}\n", block(&statement, 2)));
    }
    page
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

fn answer_line(question: &str, answer: &AnsweredQuestion) -> String {
    let word = if answer.answer { "Yes" } else { "No" };
    format!("- **{question}** {word}. {}\n", block(&answer.explanation.0, 2))
}

/// The five points to check before answering, each with the statement from the findings.
pub fn checklist(report: &FindingsReport) -> [(&'static str, String); 5] {
    let list = &report.checklist;
    [
        ("The root cause is credible", list.root_cause_credible.0.clone()),
        ("The change is a delta", list.change_scoped.0.clone()),
        ("The oscillation check is complete", list.oscillation_checked.0.clone()),
        ("The revision is within the cap", list.revision_within_cap.0.clone()),
        ("Prototype after the revision, yes or no", list.prototype_advice.0.clone()),
    ]
}

/// The number of a revision, and the maximum.
pub fn revision_count(revision: &Revision) -> String {
    if revision.number > revision.cap {
        format!("none left: {} of {} are used", revision.cap, revision.cap)
    } else {
        format!("{} of {}", revision.number, revision.cap)
    }
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
