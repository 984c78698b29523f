//! The notes of people at the gates of this run, and what earlier runs learned about the files at hand.

use super::history::Speaker;
use super::words::Narrator;
use super::{BriefSection, BriefSources, PartList};
use crate::dispatch::files_of;
use crate::site::Trouble;
use remand_kernel::brief::Brief as Law;
use remand_kernel::ids::SignalId;
use remand_kernel::program::{Action, Work};
use remand_kernel::{EngineOperation, Program};
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{GateRow, NoteRow};
use std::path::Path;

/// Maximum number of notes of one kind from earlier runs.
const MAX_NOTES: usize = 20;

/// How many notes of one kind are searched for those that concern the files at hand.
const SEARCHED_NOTES: u32 = 200;

pub fn add(
    sources: &BriefSources<'_>,
    law: &Law,
    narrator: &Narrator<'_>,
    parts: &mut PartList<'_>,
) -> Result<(), Trouble> {
    human_notes(sources, law, narrator, parts)?;
    let files = files_at_hand(sources)?;
    for (kind, name, about) in [
        (NoteKind::Lesson, "lessons.md", "lessons from earlier runs"),
        (
            NoteKind::Regression,
            "regressions.md",
            "regressions of earlier runs, with the files that those runs had changed",
        ),
    ] {
        let notes = sources.reader.notes_of_kind(kind, SEARCHED_NOTES)?;
        let concerning = notes
            .iter()
            .filter(|note| note.run != sources.job.site.run && concerns(note, &files))
            .take(MAX_NOTES);
        parts.add(BriefSection::Background, name, about, concerning.map(line).collect());
    }
    let about = if files.is_empty() {
        "the latest decisions of earlier runs"
    } else {
        "decisions of earlier runs about these files"
    };
    let files = files.into_iter().collect();
    let decisions = sources.reader.earlier_decisions(&sources.job.site.run, &files, MAX_NOTES)?;
    parts.add(BriefSection::Background, "earlier-decisions.md", about, decisions.iter().map(line).collect());
    Ok(())
}

/// The files that the dispatch is about: those of its task, and those that the run has changed. Empty if not known yet.
pub fn files_at_hand(sources: &BriefSources<'_>) -> Result<Vec<String>, Trouble> {
    let mut files = files_of(sources.job, sources.dispatch, sources.reader)?.unwrap_or_default();
    let base = sources.job.site.repository().tree_of(&sources.lane.base)?;
    let changed = sources.lane.work.changed(&base, &sources.lane.tree)?;
    files.extend(changed.into_iter().map(|change| change.path.display().to_string()));
    Ok(files)
}

/// Whether a note is about one of these files or its folder. A note without files always counts, and so does every note
/// while the files are unknown.
fn concerns(note: &NoteRow, files: &[String]) -> bool {
    let folder = |file: &str| Path::new(file).parent().map(Path::to_path_buf);
    let near = |noted: &String| files.iter().any(|file| file == noted || folder(file) == folder(noted));
    note.files.is_empty() || files.is_empty() || note.files.iter().any(near)
}

fn line(note: &NoteRow) -> String {
    let files = if note.files.is_empty() { String::new() } else { format!(" ({})", note.files.join(", ")) };
    format!("- {}{files}\n", note.text)
}

/// The notes that people left at the gates of this run, except those on the way here. A note that an operation wrote into
/// an artifact is read there instead, because a rollback may have reverted the artifact.
fn human_notes(
    sources: &BriefSources<'_>,
    law: &Law,
    narrator: &Narrator<'_>,
    parts: &mut PartList<'_>,
) -> Result<(), Trouble> {
    let said = law.way.iter().flat_map(|visit| narrator.history.words(*visit));
    let said: Vec<&str> = said
        .filter_map(|utterance| match &utterance.speaker {
            Speaker::Human { note, .. } => Some(note.as_str()),
            Speaker::Agent { .. } | Speaker::Engine { .. } => None,
        })
        .collect();
    let gates = sources.reader.gates(&sources.job.site.run)?;
    let notes = gates.iter().filter(|gate| !is_in_artifact(&sources.job.program, gate)).filter_map(|gate| {
        let note = gate.note.as_deref().filter(|note| !said.contains(note))?.trim();
        let option = gate.option.as_deref().unwrap_or("said");
        (!note.is_empty()).then(|| format!("- {option} at {}: {note}\n", gate.phase))
    });
    parts.add(
        BriefSection::Background,
        "human.md",
        "notes from a human; take them into account",
        notes.collect(),
    );
    Ok(())
}

/// Whether the answer at a gate led to an operation that writes the note into an artifact.
fn is_in_artifact(program: &Program, gate: &GateRow) -> bool {
    let phase = program.phases.iter().find(|phase| phase.name == gate.phase);
    let answered = |signal: &SignalId| gate.option.as_deref() == Some(program.signal(*signal));
    let route = phase.and_then(|phase| phase.routes.iter().find(|(signal, _)| answered(signal)));
    let target = route.and_then(|(_, route)| match route.action {
        Action::To(target) | Action::Remand(target) => Some(program.phase(target)),
        _ => None,
    });
    target.is_some_and(|target| match target.work {
        Work::Operation { operation } => matches!(
            program.operation(operation).name,
            EngineOperation::Prepare | EngineOperation::FocusAreas | EngineOperation::RecordDecision
        ),
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {
            false
        }
    })
}
