//! `open-board`: opens the board with the gaps that come with the specification, if any.

use super::super::Done;
use super::{set_current, write_board};
use crate::rounds::GivenGaps;
use crate::site::{Job, Trouble};
use remand_kernel::event::Item;
use remand_kernel::gaps::Board;
use remand_ledger::BlobId;
use remand_ledger::fact::NoteKind;
use std::path::Path;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::with_signal("empty");
    add_first_version(job, &mut done)?;
    let Some(file) = job.site.opened.file.as_deref().map(|file| GivenGaps::path_for(Path::new(file))) else {
        return Ok(done);
    };
    let Some(bytes) = job.site.repository().read(&job.trees.base_tree()?, &file)? else {
        return Ok(done);
    };
    let name = file.display().to_string();
    let gaps = GivenGaps::parse(&bytes, &name).map_err(|error| Trouble::denied(error.to_string()))?;
    let board = Board::open(gaps, job.site.pinned.rounds.board)
        .map_err(|error| Trouble::denied(format!("{name}: {error}")))?;
    let items = board.gaps().map(|gap| Item {
        id: gap.id.to_string(),
        spec: BlobId::of(gap.claim.as_bytes()).digest(),
        ..Item::default()
    });
    done.report.says = "given".to_string();
    done.report.lists = vec![("gaps".to_string(), items.collect())];
    done.note(NoteKind::Decision, format!("{name} lists {} gaps", board.gaps().count()));
    write_board(job, &board, &mut done)?;
    Ok(done)
}

/// Adds the document, as the run found it, as the first version.
fn add_first_version(job: &Job, done: &mut Done) -> Result<(), Trouble> {
    let blob = job.site.blob(&job.site.subject()?);
    set_current(job, &job.program.subject, "md", blob.id, blob.id.digest(), done);
    done.blobs.push(blob);
    Ok(())
}
