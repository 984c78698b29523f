//! `write-spec` and `write-draft`: commit the document to the run's branch, and summarize the rounds.

use super::super::Done;
use super::{RoundsSoFar, write_board};
use crate::rounds::documents::{self, AS, RefinementStatus};
use crate::site::{Job, Trouble};
use remand_git::{CommitMessage, FileContents};
use remand_kernel::gaps::Board;
use remand_ledger::fact::{Delivery, NoteKind};
use std::path::{Path, PathBuf};

/// Commits the finished document and closes resolved gaps.
pub fn fair(job: &Job) -> Result<Done, Trouble> {
    let mut sight = RoundsSoFar::of(job)?;
    let mut done = Done::saying("committed");
    // A specification without any gap has no board.
    let mut board = match &sight.history.board {
        Some(board) => board.clone(),
        None => Board::open(Vec::new(), job.site.pinned.rounds.board)?,
    };
    board.close_resolved();
    write_board(job, &board, &mut done)?;
    sight.history.board = Some(board);
    let status = RefinementStatus::finished(&sight.history);
    put_on_branch(job, &sight, &fair_name(job), status, &mut done)?;
    Ok(done)
}

/// Commits the unfinished document.
pub fn draft(job: &Job) -> Result<Done, Trouble> {
    let sight = RoundsSoFar::of(job)?;
    let mut done = Done::saying("committed");
    put_on_branch(job, &sight, &draft_name(job), RefinementStatus::OutOfRounds, &mut done)?;
    Ok(done)
}

fn put_on_branch(
    job: &Job,
    sight: &RoundsSoFar,
    path: &Path,
    status: RefinementStatus,
    done: &mut Done,
) -> Result<(), Trouble> {
    let text = sight.history.document(&sight.reader)?;
    let site = &job.site;
    let summary = documents::summary(&sight.history, status, &path.display().to_string());
    documents::write_documents(&sight.history, &text, site)?;
    documents::write_summary(site, &summary)?;
    let whole = with_secrets(job, &text, path, done)?;
    let files = FileContents::from([(path.to_path_buf(), Some(whole.into_bytes()))]);
    let tree = job.trees.with_files(&job.trees.tip()?.tree, &files)?;
    let message = CommitMessage {
        subject: format!("spec: {} ({})", name(job), status.name()),
        body: match documents::known_limits(&sight.history) {
            limits if limits.is_empty() => String::new(),
            limits => format!("Known limits:\n\n{limits}"),
        },
        trailers: vec![("Remand-Workflow".to_string(), job.program.name.clone())],
    };
    let commit = job.trees.commit_on_branch(&tree, &message, &job.id.to_string())?;
    let (branch, file) = (job.trees.branch(), path.display().to_string());
    done.note(NoteKind::Decision, format!("committed {commit} on {branch}{AS}{file}"));
    done.facts.delivery = Some(Delivery::Committed { commit: commit.to_string(), branch, file: Some(file) });
    Ok(())
}

/// The ledger keeps the document without secrets. The user's own file contains them, so they are put back into the
/// committed document; a note says where that was impossible.
fn with_secrets(job: &Job, text: &str, path: &Path, done: &mut Done) -> Result<String, Trouble> {
    let whole = job.site.settings().redactor.put_back(&job.site.original()?, text);
    let file = job.site.opened.file.as_deref().unwrap_or("the request");
    for (line, marker) in &whole.missing {
        let place = format!("line {line} of {} says {marker}", path.display());
        done.note(
            NoteKind::Concern,
            format!("{place} instead of the text of {file}; the line changed, so put the text back by hand"),
        );
    }
    Ok(whole.text)
}

/// The name of the specification: its file name without the extension.
fn name(job: &Job) -> String {
    let file = job.site.opened.file.as_deref().map(Path::new);
    let stem = file.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| job.site.opened.slug.clone())
}

fn fair_name(job: &Job) -> PathBuf {
    Path::new("specs").join(format!("{}_v1.0.md", name(job)))
}

fn draft_name(job: &Job) -> PathBuf {
    Path::new("specs").join(format!("{}_draft.md", name(job)))
}
