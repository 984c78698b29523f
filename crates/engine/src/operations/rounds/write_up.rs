//! `write-spec` and `write-draft`: commit the document to the run's branch, and summarize the rounds.

use super::super::Done;
use super::{RoundsSoFar, write_board};
use crate::rounds::documents::{self, COMMITTED_AS, RefinementStatus};
use crate::site::{Job, Trouble};
use remand_git::{CommitMessage, FileContents};
use remand_kernel::gaps::Board;
use remand_ledger::fact::{Delivery, NoteKind};
use std::path::{Path, PathBuf};

/// Commits the finished document and closes resolved gaps.
pub fn write_spec(job: &Job) -> Result<Done, Trouble> {
    let mut rounds = RoundsSoFar::of(job)?;
    let mut done = Done::with_signal("committed");
    // A specification without any gap has no board.
    let mut board = match &rounds.history.board {
        Some(board) => board.clone(),
        None => Board::open(Vec::new(), job.site.pinned.rounds.board)?,
    };
    board.close_resolved();
    write_board(job, &board, &mut done)?;
    rounds.history.board = Some(board);
    let status = RefinementStatus::finished(&rounds.history);
    commit_document(job, &rounds, &spec_path(job), status, &mut done)?;
    Ok(done)
}

/// Commits the unfinished document.
pub fn write_draft(job: &Job) -> Result<Done, Trouble> {
    let rounds = RoundsSoFar::of(job)?;
    let mut done = Done::with_signal("committed");
    commit_document(job, &rounds, &draft_path(job), RefinementStatus::OutOfRounds, &mut done)?;
    Ok(done)
}

fn commit_document(
    job: &Job,
    rounds: &RoundsSoFar,
    path: &Path,
    status: RefinementStatus,
    done: &mut Done,
) -> Result<(), Trouble> {
    let text = rounds.history.document(&rounds.reader)?;
    let site = &job.site;
    let summary = documents::summary(&rounds.history, status, &path.display().to_string());
    documents::write_documents(&rounds.history, &text, site)?;
    documents::write_summary(site, &summary)?;
    let text = restore_secrets(job, &text, path, done)?;
    let files = FileContents::from([(path.to_path_buf(), Some(text.into_bytes()))]);
    let tree = job.trees.with_files(&job.trees.tip()?.tree, &files)?;
    let message = CommitMessage {
        subject: format!("spec: {} ({})", name(job), status.name()),
        body: match documents::known_limits(&rounds.history) {
            limits if limits.is_empty() => String::new(),
            limits => format!("Known limits:\n\n{limits}"),
        },
        trailers: vec![("Remand-Workflow".to_string(), job.program.name.clone())],
    };
    let commit = job.trees.commit_on_branch(&tree, &message, &job.id.to_string())?;
    let (branch, file) = (job.trees.branch(), path.display().to_string());
    done.note(NoteKind::Decision, format!("committed {commit} on {branch}{COMMITTED_AS}{file}"));
    let changed = vec![file.clone()];
    done.facts.delivery =
        Some(Delivery::Committed { commit: commit.to_string(), branch, file: Some(file), changed });
    Ok(())
}

/// Puts secrets back into the document before it is committed: the ledger stores it without them, but the user's file
/// contains them. A note names each line whose secret cannot be put back.
fn restore_secrets(job: &Job, text: &str, path: &Path, done: &mut Done) -> Result<String, Trouble> {
    let restored = job.site.settings().redactor.put_back(&job.site.original()?, text);
    let file = job.site.opened.file.as_deref().unwrap_or("the request");
    for (line, marker) in &restored.missing {
        let found = format!("line {line} of {} says {marker}", path.display());
        done.note(
            NoteKind::Concern,
            format!("{found} instead of the text of {file}; the line changed, so put the text back by hand"),
        );
    }
    Ok(restored.text)
}

/// The name of the specification: its file name without the extension.
fn name(job: &Job) -> String {
    let file = job.site.opened.file.as_deref().map(Path::new);
    let stem = file.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| job.site.opened.slug.clone())
}

fn spec_path(job: &Job) -> PathBuf {
    Path::new("specs").join(format!("{}_v1.0.md", name(job)))
}

fn draft_path(job: &Job) -> PathBuf {
    Path::new("specs").join(format!("{}_draft.md", name(job)))
}
