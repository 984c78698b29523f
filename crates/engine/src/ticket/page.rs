//! The run's version of its ticket: the ticket of the base, plus everything that the run adds.

use super::findings_page;
use super::history::{GateDecision, Revision, TicketHistory};
use super::paths::TicketPaths;
use crate::clock;
use crate::site::Trouble;
use remand_contract::markdown::{block, code, inline};
use remand_contract::schema::failure::{FindingsReport, HintAction};
use remand_documents::{Delta, DesignDocument, Feedback, PastApproach, Ticket, TicketStatus};
use remand_kernel::change::Approach;
use remand_ledger::BlobId;

/// A revision with its findings, and the sections and decisions that it changed.
pub struct RevisionEntry<'t> {
    pub revision: &'t Revision,
    pub report: Option<&'t FindingsReport>,
    pub changed: &'t [String],
}

/// The Markdown of a stored document.
pub fn markdown_of(stored: &str) -> Option<String> {
    crate::artifacts::markdown(stored).map(|markdown| format!("{}\n", markdown.trim_end()))
}

/// The sections and decisions that each revision changed.
pub fn design_changes(
    revisions: &[&Revision],
    text: &impl Fn(BlobId) -> Result<String, Trouble>,
) -> Result<Vec<Vec<String>>, Trouble> {
    let read = |blob: Option<BlobId>| -> Result<Option<DesignDocument>, Trouble> {
        let Some(blob) = blob else { return Ok(None) };
        Ok(markdown_of(&text(blob)?).map(DesignDocument::read))
    };
    let mut changed = Vec::new();
    for revision in revisions {
        let both = read(revision.before)?.zip(read(revision.after)?);
        changed.push(both.map_or_else(Vec::new, |(before, after)| Delta::changes(&before, &after)));
    }
    Ok(changed)
}

/// The current text of the ticket.
pub fn page(
    base: &str,
    history: &TicketHistory,
    paths: &TicketPaths,
    revisions: &[RevisionEntry<'_>],
) -> String {
    let mut ticket = Ticket::read(base);
    for status in &history.statuses {
        ticket.set_status(*status);
    }
    if ticket.revisions() != Ok(history.count) {
        ticket.set_revisions(history.count);
    }
    update_approaches(&mut ticket, &history.approaches);
    if let Some(name) = &history.design_name {
        let path = code(&paths.document(name).display().to_string());
        ticket.log("Design Phase", &format!("- **Design**: {path}"));
    }
    for (number, refused) in (1..).zip(&history.refused) {
        let path = code(&paths.refused_design(&refused.name, number).display().to_string());
        ticket.log("Design Phase", &format!("- **Refused Design**: {path}, its approach failed before"));
    }
    if let Some(last) = history.attempts.last() {
        let path = code(&paths.iterations().display().to_string());
        ticket.log(
            "Implementation Phase",
            &format!(
                "- **Attempts**: {}, the last on {}: {path}",
                history.attempts.len(),
                clock::date(last.at)
            ),
        );
    }
    for RevisionEntry { revision, report, changed } in revisions {
        let is_within_cap = revision.number <= revision.cap;
        let title = if is_within_cap {
            findings_page::revision_count(revision.number, revision.cap)
        } else {
            "(none left)".to_string()
        };
        ticket.log_revision(&title, &entry(revision, *report, changed, paths));
    }
    for answer in history.answers.iter().filter(|answer| is_feedback(answer, history)) {
        ticket.add_feedback(feedback_section(answer.status), &feedback_line(answer));
    }
    ticket.into_text()
}

/// Updates the ticket's list of failed approaches to the run's list: adds new ones, and drops those a human removed.
fn update_approaches(ticket: &mut Ticket, current: &[Approach]) {
    let collapse_whitespace = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let current: Vec<PastApproach> = current
        .iter()
        .map(|approach| PastApproach {
            text: collapse_whitespace(&approach.text),
            decisions: approach.decisions.clone(),
        })
        .collect();
    let listed = ticket.approaches();
    for (at, known) in listed.iter().enumerate().rev() {
        if !current.contains(known) {
            ticket.remove_approach(at);
        }
    }
    for approach in current.iter().filter(|approach| !listed.contains(approach)) {
        ticket.add_approach(approach);
    }
}

/// The log entry of one revision.
fn entry(
    revision: &Revision,
    report: Option<&FindingsReport>,
    changed: &[String],
    paths: &TicketPaths,
) -> String {
    let decision = match &revision.decision {
        Some(answer) => {
            format!(
                "{} by {} on {}",
                decision_word(&answer.option),
                inline(&answer.by),
                clock::date(answer.at)
            )
        }
        None => "pending".to_string(),
    };
    let kept: Vec<String> = report
        .map(|report| report.proposed_change.hints.iter().filter(|hint| hint.action == HintAction::Keep))
        .into_iter()
        .flatten()
        .map(|hint| code(&hint.file.0))
        .collect();
    let ruled_out =
        revision.ruled_out.as_ref().map_or("none yet".to_string(), |approach| block(&approach.text, 2));
    let requires_prototype =
        revision.decision.as_ref().is_some_and(|answer| answer.flags.iter().any(|(_, set)| *set));
    let or_none = |items: Vec<String>| if items.is_empty() { "none".to_string() } else { items.join(", ") };
    let mut text = format!(
        "- **Revision Number**: {}\n- **Trigger**: {}\n- **Findings Artifact**: {}\n- **Human Gate Decision**: {decision}\n\
         - **Approach Ruled Out**: {ruled_out}\n- **Delta Design Changes**: {}\n- **Warm-Start Preserved**: {}\n\
         - **Prototype Required**: {}\n",
        findings_page::revision_count(revision.number, revision.cap),
        report.map_or(revision.cause.description(), |report| findings_page::trigger(report.trigger)),
        code(&paths.findings(revision.number).display().to_string()),
        or_none(changed.iter().map(|name| inline(name)).collect()),
        or_none(kept),
        if requires_prototype { "Yes" } else { "No" },
    );
    let capped = revision
        .is_capped
        .then(|| format!("needs re-scoping: all {} revisions of the design are used up", revision.cap));
    let note = revision.decision.as_ref().map(|answer| answer.note.trim()).filter(|note| !note.is_empty());
    let notes: Vec<String> = capped.into_iter().chain(note.map(|note| block(note, 2))).collect();
    if !notes.is_empty() {
        text.push_str(&format!("- **Notes**: {}\n", notes.join("; ")));
    }
    text
}

/// The answer at the gate, as a ticket records it.
fn decision_word(option: &str) -> String {
    match option {
        "approve" => "Approved".to_string(),
        "close" => "Closed".to_string(),
        other => inline(other),
    }
}

/// Decisions about a revision always appear in the ticket; other answers only if they have a note.
fn is_feedback(answer: &GateDecision, history: &TicketHistory) -> bool {
    let is_decision = history.revisions.iter().any(|revision| revision.decision.as_ref() == Some(answer));
    is_decision || !answer.note.is_empty()
}

fn feedback_section(status: Option<TicketStatus>) -> Feedback {
    match status.unwrap_or(TicketStatus::Draft) {
        TicketStatus::Draft | TicketStatus::ReadyForDesign | TicketStatus::DesignComplete => Feedback::Design,
        TicketStatus::DesignApproved | TicketStatus::PrototypeComplete => Feedback::Prototype,
        TicketStatus::ImplementationBlocked => Feedback::DesignRevision,
        TicketStatus::ReadyForImplementation
        | TicketStatus::ImplementationComplete
        | TicketStatus::TestWritingComplete
        | TicketStatus::QualityGatePassed
        | TicketStatus::Approved
        | TicketStatus::Merged
        | TicketStatus::Closed => Feedback::Implementation,
    }
}

fn feedback_line(answer: &GateDecision) -> String {
    let flags: Vec<String> =
        answer.flags.iter().filter(|(_, set)| *set).map(|(flag, _)| flag.replace('-', " ")).collect();
    let flags = if flags.is_empty() { String::new() } else { format!(", {}", inline(&flags.join(", "))) };
    let note = if answer.note.is_empty() { String::new() } else { format!(": {}", block(&answer.note, 2)) };
    format!("- {}, {}: {}{flags}{note}", clock::date(answer.at), inline(&answer.by), inline(&answer.option))
}
