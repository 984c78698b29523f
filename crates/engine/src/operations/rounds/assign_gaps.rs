//! `assign-gaps`: starts a round. The board decides which gaps are assigned, and in which batches. After a rollback,
//! this is the board from the start of the round.

use super::super::Done;
use super::{RoundsSoFar, questions, write_board};
use crate::rounds::OpenWork;
use crate::site::{Job, Trouble};
use remand_kernel::event::Item;
use remand_ledger::BlobId;
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let RoundsSoFar { reader, history } = RoundsSoFar::of(job)?;
    let board = history.board()?;
    let task = history.task(&job.program)?;
    let mut done = Done::default();
    done.report.says = match &task.open {
        OpenWork::Nothing => "none-open",
        OpenWork::AllBlocked(_) => {
            for question in questions::open(board) {
                done.note(NoteKind::Concern, question);
            }
            done.note(NoteKind::Concern, questions::HOW_TO_ANSWER);
            "all-blocked"
        }
        OpenWork::Work if task.batches.is_empty() => "review-owed",
        OpenWork::Work => {
            let items = task.batches.iter().map(|batch| {
                let gaps: Vec<String> = batch.gaps.iter().map(ToString::to_string).collect();
                let spec = BlobId::of(gaps.join(" ").as_bytes()).digest();
                Item { id: batch.id.clone(), spec, ..Item::default() }
            });
            done.report.lists = vec![("batches".to_string(), items.collect())];
            "assigned"
        }
    }
    .to_string();
    write_board(job, board, &mut done)?;
    crate::rounds::documents::write_documents(&history, &history.document(&reader)?, &job.site)?;
    Ok(done)
}
