//! The run's copy of its ticket: the ticket as the run began with it, with all that the run has to say (DR-01).

use super::failure;
use super::history::{Answer, History, Revision};
use super::place::Shelf;
use crate::clock;
use crate::contract::markdown::{block, code, inline};
use crate::contract::schema::failure::{FindingsReport, HintAction};
use crate::workshop::Trouble;
use remand_documents::{Delta, Design, Feedback, PastApproach, Status, Ticket};
use remand_kernel::change::Approach;
use remand_ledger::BlobId;

/// A revision with the findings that asked for it, and the sections and decisions that it changed.
pub struct Told<'t> {
    pub revision: &'t Revision,
    pub report: Option<&'t FindingsReport>,
    pub changed: &'t [String],
}

/// The sections and decisions that each revision changed.
pub fn designs(
    revisions: &[&Revision],
    text: &impl Fn(BlobId) -> Result<String, Trouble>,
) -> Result<Vec<Vec<String>>, Trouble> {
    let read = |blob: Option<BlobId>| -> Result<Option<Design>, Trouble> {
        let Some(blob) = blob else { return Ok(None) };
        Ok(super::markdown_of(&text(blob)?).map(Design::read))
    };
    let mut changed = Vec::new();
    for revision in revisions {
        let both = read(revision.before)?.zip(read(revision.after)?);
        changed.push(both.map_or_else(Vec::new, |(before, after)| Delta::changes(&before, &after)));
    }
    Ok(changed)
}

/// The ticket as it is now.
pub fn page(base: &str, history: &History, shelf: &Shelf, revisions: &[Told<'_>]) -> String {
    let mut ticket = Ticket::read(base);
    for status in &history.statuses {
        ticket.set_status(*status);
    }
    if ticket.revisions() != Ok(history.count) {
        ticket.set_revisions(history.count);
    }
    follow_approaches(&mut ticket, &history.approaches);
    if let Some(name) = &history.design_name {
        let path = code(&shelf.document(name).display().to_string());
        ticket.log("Design Phase", &format!("- **Design**: {path}"));
    }
    if let Some(last) = history.attempts.last() {
        let path = code(&shelf.iterations().display().to_string());
        ticket.log(
            "Implementation Phase",
            &format!(
                "- **Attempts**: {}, the last on {}: {path}",
                history.attempts.len(),
                clock::date(last.at)
            ),
        );
    }
    for Told { revision, report, changed } in revisions {
        let is_possible = revision.number <= revision.cap;
        let title = if is_possible { failure::of_cap(revision) } else { "(none left)".to_string() };
        ticket.log_revision(&title, &entry(revision, *report, changed, shelf));
    }
    for answer in history.answers.iter().filter(|answer| is_feedback(answer, history)) {
        ticket.add_feedback(section(answer.status), &said(answer));
    }
    ticket.into_text()
}

/// Brings the list of the ticket to that of the run: what a human took off is gone, what failed since is there.
fn follow_approaches(ticket: &mut Ticket, wanted: &[Approach]) {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<PastApproach> = wanted
        .iter()
        .map(|approach| PastApproach {
            text: squeezed(&approach.text),
            decisions: approach.decisions.clone(),
        })
        .collect();
    let listed = ticket.approaches();
    for (at, known) in listed.iter().enumerate().rev() {
        if !wanted.contains(known) {
            ticket.remove_approach(at);
        }
    }
    for approach in wanted.iter().filter(|approach| !listed.contains(approach)) {
        ticket.add_approach(approach);
    }
}

/// The entry of the log on one revision (DR-18).
fn entry(revision: &Revision, report: Option<&FindingsReport>, changed: &[String], shelf: &Shelf) -> String {
    let decision = match &revision.decision {
        Some(answer) => {
            format!("{} by {} on {}", inline(&answer.option), inline(&answer.by), clock::date(answer.at))
        }
        None => "awaited".to_string(),
    };
    let kept: Vec<String> = report
        .map(|report| report.proposed_change.hints.iter().filter(|hint| hint.action == HintAction::Keep))
        .into_iter()
        .flatten()
        .map(|hint| code(&hint.file.0))
        .collect();
    let ruled_out =
        revision.ruled_out.as_ref().map_or("none yet".to_string(), |approach| block(&approach.text, 2));
    let prototype = revision.decision.as_ref().is_some_and(|answer| answer.flags.iter().any(|(_, set)| *set));
    let or_none = |items: Vec<String>| if items.is_empty() { "none".to_string() } else { items.join(", ") };
    let mut text = format!(
        "- **Revision Number**: {}\n- **Trigger**: {}\n- **Findings Artifact**: {}\n- **Human Gate Decision**: {decision}\n\
         - **Approach Ruled Out**: {ruled_out}\n- **Delta Design Changes**: {}\n- **Warm-Start Preserved**: {}\n\
         - **Prototype Required**: {}\n",
        failure::of_cap(revision),
        report.map_or(revision.led.words(), |report| failure::trigger(report.trigger)),
        code(&shelf.findings(revision.number).display().to_string()),
        or_none(changed.iter().map(|name| inline(name)).collect()),
        or_none(kept),
        if prototype { "Yes" } else { "No" },
    );
    if revision.is_capped {
        text.push_str(&format!(
            "- **Notes**: needs re-scoping: all {} revisions of the design are used up\n",
            revision.cap
        ));
    }
    text
}

/// What was decided about a revision always stands in the ticket; other answers only if something was said.
fn is_feedback(answer: &Answer, history: &History) -> bool {
    let decides = history.revisions.iter().any(|revision| revision.decision.as_ref() == Some(answer));
    decides || !answer.note.is_empty()
}

fn section(status: Option<Status>) -> Feedback {
    match status.unwrap_or(Status::Draft) {
        Status::Draft | Status::ReadyForDesign | Status::DesignComplete => Feedback::Design,
        Status::DesignApproved | Status::PrototypeComplete => Feedback::Prototype,
        Status::ImplementationBlocked => Feedback::DesignRevision,
        Status::ReadyForImplementation
        | Status::ImplementationComplete
        | Status::TestWritingComplete
        | Status::QualityGatePassed
        | Status::Approved
        | Status::Merged
        | Status::Closed => Feedback::Implementation,
    }
}

fn said(answer: &Answer) -> String {
    let flags: Vec<String> =
        answer.flags.iter().filter(|(_, set)| *set).map(|(flag, _)| flag.replace('-', " ")).collect();
    let flags = if flags.is_empty() { String::new() } else { format!(", {}", inline(&flags.join(", "))) };
    let note = if answer.note.is_empty() { String::new() } else { format!(": {}", block(&answer.note, 2)) };
    format!("- {}, {}: {}{flags}{note}", clock::date(answer.at), inline(&answer.by), inline(&answer.option))
}
