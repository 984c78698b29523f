//! `commit`: the one commit of the run, on its own branch, with the user's hooks. A hook that changes the tree means:
//! verify again, commit once more, then give it up.

use super::Done;
use super::verify::{Ran, run_checks};
use crate::checks::{self, Which};
use crate::git::{CommitId, CommitMessage, FinalCommit, Fittings, TreeId};
use crate::papers;
use crate::workshop::{Job, LaneContent, LaneTree, Trouble};
use remand_kernel::evidence::{self, RowPhase, Ruled, Size};
use remand_ledger::fact::NoteKind;
use remand_ledger::{Reader, RunId};
use std::path::Path;

/// The longest subject line.
const SUBJECT: usize = 72;

/// What a note begins with that says why there is no commit.
const NOT_COMMITTED: &str = "not committed: ";

/// What programs say that the sandbox keeps from a file.
const DENIED: [&str; 3] = ["Permission denied", "PermissionError", "EACCES"];

const HINT: &str = "; hooks run in the sandbox of checks: what yours write outside of the commit, such as a cache, is named \
                    in `sandbox.hooks-write` in ~/.config/remand/config.toml";

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::saying("committed");
    let (first, again) = (job.id.to_string(), format!("{}+hook", job.id));
    for command in [&first, &again] {
        if let Some(commit) = job.trees.made_by(command)? {
            return Ok(committed(job, done, &commit));
        }
    }
    let message = message(job);
    let message = scaffolded(job, message)?;
    // What a hook made is on the main line only after it was verified: a run that was killed since goes on from there.
    if !job.trees.has_recorded(&again)? {
        LaneTree::as_it_is(job)?;
        match commit(job, &message, &first)? {
            FinalCommit::HookChangedTree { tree, .. } => {
                if let Some(why) = unfit(job, &tree, &mut done)? {
                    return Ok(refused(done, &why));
                }
                let _main = job.site.hold_main();
                job.trees.record(&tree, "changes of the commit hook", &again)?;
            }
            other => return Ok(ended(job, done, other)),
        }
    }
    let last = commit(job, &message, &again)?;
    Ok(ended(job, done, last))
}

/// With stubs there are two commits, so that the signatures can be told from the code behind them (OT-19).
fn scaffolded(job: &Job, message: CommitMessage) -> Result<CommitMessage, Trouble> {
    let trees = &job.trees;
    let Some(stubs) = super::test_first::stub_tree(job)? else {
        return Ok(message);
    };
    let titled = |what: &str| CommitMessage {
        subject: cut(&format!("feat: {what} {}", message.subject)),
        ..message.clone()
    };
    if stubs != trees.base_tree()? {
        trees.put_on_branch(&stubs, &titled("scaffold"), &format!("{}+stubs", job.id))?;
    }
    Ok(titled("implement"))
}

fn ended(job: &Job, done: Done, last: FinalCommit) -> Done {
    match last {
        FinalCommit::Committed { commit } => committed(job, done, &commit),
        FinalCommit::NothingToCommit => refused(done, "the run changed nothing"),
        FinalCommit::HookRefused { output } => match output.trim() {
            "" => refused(done, "a commit hook refused, and said nothing"),
            output => {
                let hint = if DENIED.iter().any(|denied| output.contains(denied)) { HINT } else { "" };
                refused(done, &format!("a commit hook refused: {}{hint}", job.site.redact(output)))
            }
        },
        FinalCommit::HookChangedTree { .. } => refused(done, "a commit hook changed the tree a second time"),
    }
}

fn committed(job: &Job, mut done: Done, commit: &CommitId) -> Done {
    done.note(NoteKind::Decision, format!("committed {commit} on {}", job.trees.branch()));
    done
}

/// Why what a hook made of the tree does not pass, if it does not.
fn unfit(job: &Job, tree: &TreeId, done: &mut Done) -> Result<Option<String>, Trouble> {
    done.note(NoteKind::Warning, "a commit hook changed the tree, so it was verified again");
    let changed = LaneContent::of(job)?.holding(tree);
    let mut ran = run_checks(job, &changed, Which::All, None, RowPhase::After)?;
    ran.count_regressions();
    let Ran { checks, blobs, rows, .. } = ran;
    done.facts.checks = checks;
    done.blobs = blobs;
    Ok(match evidence::rule(&rows, Size::Standard) {
        Ruled::Passed => None,
        Ruled::Failed(reasons) => Some(format!("what the hook made does not pass: {}", reasons.join("; "))),
    })
}

/// Hooks run where checks run: in the sandbox, since they may start what an agent has written.
fn commit(job: &Job, message: &CommitMessage, command: &str) -> Result<FinalCommit, Trouble> {
    let documents = papers::documents(&job.site)?;
    let _main = job.site.hold_main();
    let (checkout, checks) = (job.site.repository().root(), &job.site.pinned.checks);
    let fit = |tree: &Path| {
        let reads = checks::link_for_hooks(checkout, tree, checks)?;
        let inside = reads.iter().filter_map(|folder| folder.strip_prefix(checkout).ok());
        Ok(Fittings { put: inside.map(Path::to_path_buf).collect(), reads })
    };
    Ok(job.trees.commit(&documents, message, command, &fit)?)
}

fn refused(mut done: Done, why: &str) -> Done {
    done.report.says = "hook-refused".to_string();
    done.note(NoteKind::Warning, format!("{NOT_COMMITTED}{why}"));
    done
}

/// Why the last attempt to commit the work of the run came to nothing, if there was one.
pub fn why_not(reader: &Reader, run: &RunId) -> Result<Option<String>, Trouble> {
    let notes = reader.notes(run)?;
    Ok(notes.iter().rev().find_map(|note| note.text.strip_prefix(NOT_COMMITTED).map(str::to_string)))
}

/// A line that fits.
fn cut(line: &str) -> String {
    if line.chars().count() <= SUBJECT {
        return line.to_string();
    }
    let cut: String = line.chars().take(SUBJECT - 1).collect();
    format!("{}…", cut.trim_end())
}

fn message(job: &Job) -> CommitMessage {
    // What a terminal would act on has no place in a message.
    let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let request: String = job.site.opened.request.chars().filter(is_text).collect();
    let line = request.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("work of a run");
    let subject = cut(line);
    let trailer = |name: &str, value: &str| (name.to_string(), value.to_string());
    CommitMessage {
        body: if request.trim() == subject { String::new() } else { request.trim().to_string() },
        subject,
        trailers: vec![
            trailer("Remand-Workflow", &job.program.name),
            trailer("Remand-Confidence", job.state.confidence.name()),
        ],
    }
}
