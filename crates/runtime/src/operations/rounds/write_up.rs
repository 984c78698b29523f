//! `write-spec` and `write-draft`: the document as it is goes on the run's branch, and the rounds are summed up (SR-09,
//! SR-15, SR-17).

use super::super::Done;
use super::{Sight, write_board};
use crate::git::{CommitMessage, Files};
use crate::rounds::documents::{self, AS, Standing};
use crate::workshop::{Job, Trouble};
use remand_kernel::gaps::Board;
use remand_ledger::fact::NoteKind;
use std::path::{Path, PathBuf};

/// The finished document; resolved gaps are closed.
pub fn fair(job: &Job) -> Result<Done, Trouble> {
    let mut sight = Sight::of(job)?;
    let mut done = Done::saying("committed");
    // A specification in which nobody ever found a gap has no board.
    let mut board = match &sight.history.board {
        Some(board) => board.clone(),
        None => Board::open(Vec::new(), job.site.pinned.rounds.board)
            .map_err(|error| Trouble::denied(error.to_string()))?,
    };
    board.close_resolved();
    write_board(job, &board, &mut done)?;
    sight.history.board = Some(board);
    let standing = Standing::finished(&sight.history);
    put_on_branch(job, &sight, &fair_name(job), standing, &mut done)?;
    Ok(done)
}

/// The document as far as it came.
pub fn draft(job: &Job) -> Result<Done, Trouble> {
    let sight = Sight::of(job)?;
    let mut done = Done::saying("committed");
    put_on_branch(job, &sight, &draft_name(job), Standing::OutOfRounds, &mut done)?;
    Ok(done)
}

fn put_on_branch(
    job: &Job,
    sight: &Sight,
    path: &Path,
    standing: Standing,
    done: &mut Done,
) -> Result<(), Trouble> {
    let text = sight.history.document(&sight.reader)?;
    let site = &job.site;
    let summary = documents::summary(&sight.history, standing, &path.display().to_string());
    documents::lay_out(&sight.history, &text, site)?;
    documents::write_summary(site, &summary)?;
    let whole = with_secrets(job, &text, path, done)?;
    let files = Files::from([(path.to_path_buf(), Some(whole.into_bytes()))]);
    let tree = job.trees.with_files(&job.trees.tip()?.tree, &files)?;
    let message = CommitMessage {
        subject: format!("spec: {} ({})", name(job), standing.words()),
        body: match documents::known_limits(&sight.history) {
            limits if limits.is_empty() => String::new(),
            limits => format!("Known limits:\n\n{limits}"),
        },
        trailers: vec![("Remand-Workflow".to_string(), job.program.name.clone())],
    };
    let commit = job.trees.put_on_branch(&tree, &message, &job.id.to_string())?;
    done.note(
        NoteKind::Decision,
        format!("committed {commit} on {}{AS}{}", job.trees.branch(), path.display()),
    );
    Ok(())
}

/// The ledger keeps the document without what looks like a secret. The user's own file has it, so what is committed
/// beside that has it too, and is told where it does not.
fn with_secrets(job: &Job, text: &str, path: &Path, done: &mut Done) -> Result<String, Trouble> {
    let whole = job.site.settings().redactor.put_back(&job.site.original()?, text);
    let file = job.site.opened.file.as_deref().unwrap_or("the request");
    for (line, marker) in &whole.missing {
        let place = format!("line {line} of {} says {marker}", path.display());
        done.note(
            NoteKind::Concern,
            format!("{place} in the place of what {file} says; its line changed, so put it back by hand"),
        );
    }
    Ok(whole.text)
}

/// The name of the specification: its file without the ending.
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
