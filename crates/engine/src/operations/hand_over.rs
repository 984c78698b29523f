//! `hand-over`: leaves the work to the user, with the commands to take or discard it.

use super::{Done, commit};
use crate::site::{Job, LaneTree, Trouble};
use remand_ledger::fact::{Delivery, NoteKind};

pub fn run(job: &Job) -> Result<Done, Trouble> {
    // The last change may not be on the main line yet.
    LaneTree::as_it_is(job)?;
    let _main = job.site.hold_main();
    let trees = &job.trees;
    let mut done = Done::with_signal("done");
    let (base, tree) = (trees.base_tree()?, trees.main_state()?.tree);
    if tree == base {
        done.note(NoteKind::Warning, "nothing was changed, so there is nothing to commit or to take");
        done.facts.delivery = Some(Delivery::Nothing);
        return Ok(done);
    }
    let commands = trees.hand_over(&job.id.to_string())?;
    let refusal = commit::last_refusal(&job.site.reader()?, &job.site.run)?;
    let (why, hook) =
        refusal.unwrap_or_else(|| (format!("the confidence is {}", job.state.confidence.name()), None));
    let text = format!(
        "nothing was committed for you ({why}); take the work with `{}`, or discard it with `{}`",
        commands.take, commands.discard
    );
    done.note(NoteKind::Warning, text);
    let changed = super::changed_files(job, &base, &tree)?;
    let (take, discard) = (commands.take, commands.discard);
    done.facts.delivery = Some(Delivery::HandedOver { reason: why, take, discard, hook, changed });
    Ok(done)
}
