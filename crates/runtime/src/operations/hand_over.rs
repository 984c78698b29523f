//! `hand-over`: the work is left to the user, with the commands to take or discard it (EP-24).

use super::Done;
use crate::workshop::{Job, LaneTree, Trouble};
use remand_ledger::fact::NoteKind;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    // The last change may not be on the main line yet.
    LaneTree::as_it_is(job)?;
    let _main = job.site.hold_main();
    let over = job.site.trees.hand_over(&job.id.to_string())?;
    let mut done = Done::saying("done");
    let confidence = job.state.confidence.name();
    let text = format!(
        "nothing was committed for you (confidence {confidence}); take the work with `{}`, or discard it with `{}`",
        over.take, over.discard
    );
    done.note(NoteKind::Warning, text);
    Ok(done)
}
