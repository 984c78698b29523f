//! `assign-gaps`: begins a round. Which gaps, in which batches, follows from the board alone (SR-16, SR-13); after a
//! rollback the board is that of the round's start again (SR-11).

use super::super::Done;
use super::{Sight, questions, write_board};
use crate::rounds::Open;
use crate::workshop::{Job, Trouble};
use remand_kernel::event::Item;
use remand_ledger::BlobId;
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let Sight { reader, history } = Sight::of(job)?;
    let board = history.board()?;
    let task = history.task(&job.program)?;
    let mut done = Done::default();
    done.report.says = match &task.open {
        Open::Nothing => "none-open",
        Open::AllBlocked(_) => {
            for question in questions::open(board) {
                done.note(NoteKind::Concern, question);
            }
            done.note(NoteKind::Concern, questions::HOW);
            "all-blocked"
        }
        Open::Work if task.batches.is_empty() => "review-owed",
        Open::Work => {
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
    crate::rounds::documents::lay_out(&history, &history.document(&reader)?, &job.site)?;
    Ok(done)
}
