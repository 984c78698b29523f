//! `commit`: the one commit of the run, on its own branch, with the user's hooks. A hook that changes the tree means:
//! verify again, commit once more, then give it up.

use super::Done;
use super::verify::{Ran, run_checks};
use crate::bundle;
use crate::checks::Which;
use crate::git::{CommitMessage, FinalCommit};
use crate::workshop::{Job, LaneTree, Trouble};
use remand_kernel::evidence::{self, RowPhase, Ruled, Size};
use remand_ledger::fact::NoteKind;

/// The longest subject line.
const SUBJECT: usize = 72;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::saying("committed");
    let message = message(job)?;
    let command = job.id.to_string();
    let lane = LaneTree::as_it_is(job)?;
    let first = {
        let _main = job.site.hold_main();
        job.site.trees.commit(&message, &command)?
    };
    let last = match first {
        FinalCommit::HookChangedTree { tree, .. } => {
            done.note(NoteKind::Warning, "a commit hook changed the tree, so it was verified again");
            let changed = LaneTree { tree: tree.clone(), ..lane }.apart(job, "checks of the main line")?;
            let Ran { checks, blobs, rows, .. } =
                run_checks(job, &changed, Which::All, None, RowPhase::After)?;
            done.facts.checks = checks;
            done.blobs = blobs;
            if let Ruled::Failed(reasons) = evidence::rule(&rows, Size::Standard) {
                return Ok(refused(
                    done,
                    &format!("what the hook made does not pass: {}", reasons.join("; ")),
                ));
            }
            let _main = job.site.hold_main();
            let again = format!("{command}+hook");
            job.site.trees.record(&tree, "changes of the commit hook", &again)?;
            job.site.trees.commit(&message, &again)?
        }
        other => other,
    };
    Ok(match last {
        FinalCommit::Committed { commit } => {
            let branch = job.site.trees.branch();
            done.note(NoteKind::Decision, format!("committed {commit} on {branch}"));
            done
        }
        FinalCommit::NothingToCommit => refused(done, "the run changed nothing"),
        FinalCommit::HookRefused { output } => {
            refused(done, &format!("a commit hook refused: {}", output.trim()))
        }
        FinalCommit::HookChangedTree { .. } => refused(done, "a commit hook changed the tree a second time"),
    })
}

fn refused(mut done: Done, why: &str) -> Done {
    done.report.says = "hook-refused".to_string();
    done.note(NoteKind::Warning, why);
    done
}

fn message(job: &Job) -> Result<CommitMessage, Trouble> {
    let reader = job.site.reader()?;
    let confidence = bundle::confidence(&reader.run(&job.site.run.0)?, &reader.notes(&job.site.run)?);
    let request = &job.site.opened.request;
    let line = request.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("work of a run");
    let subject: String = if line.chars().count() > SUBJECT {
        let cut: String = line.chars().take(SUBJECT - 1).collect();
        format!("{}…", cut.trim_end())
    } else {
        line.to_string()
    };
    let trailer = |name: &str, value: &str| (name.to_string(), value.to_string());
    Ok(CommitMessage {
        body: if request.trim() == subject { String::new() } else { request.trim().to_string() },
        subject,
        trailers: vec![
            trailer("Remand-Workflow", &job.program.name),
            trailer("Remand-Confidence", confidence.name()),
        ],
    })
}
