//! `commit`: commits the work of the run to its branch, with the user's hooks. If a hook changes the tree, the engine
//! verifies the new tree and commits again. A second change is refused.

use super::Done;
use super::measurement::measure;
use crate::site::{Job, LaneContent, LaneTree, Trouble};
use crate::ticket;
use remand_checks::Selection;
use remand_git::{CommitId, CommitMessage, FinalCommit, TreeId};
use remand_kernel::evidence::{self, GateResult, RowPhase, TaskSize};
use remand_ledger::fact::{Delivery, NoteKind};
use remand_ledger::{Reader, RunId};
use std::path::Path;

/// Maximum length of a subject line, in characters.
const MAX_SUBJECT: usize = 72;

/// Phrases that programs print when the sandbox denies them a file.
const DENIED: [&str; 5] =
    ["Permission denied", "PermissionError", "EACCES", "Read-only file system", "EROFS"];

const HINT: &str = "; hooks run in the same sandbox as checks: if yours write elsewhere, list the \
                    path in `sandbox.hooks-write` in ~/.config/remand/config.toml";

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::with_signal("committed");
    let (first, again) = (job.id.to_string(), format!("{}+hook", job.id));
    for command in [&first, &again] {
        if let Some(commit) = job.trees.commit_of_command(command)? {
            return report_commit(job, done, &commit);
        }
    }
    let message = message(job);
    let message = commit_stubs(job, message)?;
    // The tree that a hook changed is recorded only after it was verified, so a killed run can continue from it.
    if !job.trees.has_recorded(&again)? {
        LaneTree::as_it_is(job)?;
        match commit(job, &message, &first)? {
            FinalCommit::HookChangedTree { tree, .. } => {
                if let Some(why) = verify_hook_tree(job, &tree, &mut done)? {
                    return Ok(report_refusal(done, &why, None));
                }
                let _main = job.site.hold_main();
                job.trees.record(&tree, "changes of the commit hook", &again)?;
            }
            other => return report_end(job, done, other),
        }
    }
    let last = commit(job, &message, &again)?;
    report_end(job, done, last)
}

/// Commits the stubs, if there are any, before the code: signatures and code can then be reviewed separately. Returns
/// the message for the commit of the code.
fn commit_stubs(job: &Job, message: CommitMessage) -> Result<CommitMessage, Trouble> {
    let trees = &job.trees;
    let Some(stubs) = super::test_first::stub_tree(job)? else {
        return Ok(message);
    };
    let titled = |what: &str| CommitMessage {
        subject: shorten(&format!("feat: {what} {}", message.subject)),
        ..message.clone()
    };
    if stubs != trees.base_tree()? {
        trees.commit_on_branch(&stubs, &titled("scaffold"), &format!("{}+stubs", job.id))?;
    }
    Ok(titled("implement"))
}

fn report_end(job: &Job, done: Done, last: FinalCommit) -> Result<Done, Trouble> {
    Ok(match last {
        FinalCommit::Committed { commit } => return report_commit(job, done, &commit),
        FinalCommit::NothingToCommit => report_refusal(done, "the run changed nothing", None),
        FinalCommit::HookRefused { output } => {
            let output = job.site.redact(output.trim());
            let hook = Some(remand_checks::most_informative_line(&output).to_string());
            let hint = if DENIED.iter().any(|denied| output.contains(denied)) { HINT } else { "" };
            let why = match output.is_empty() {
                true => "a commit hook refused without a message".to_string(),
                false => format!("a commit hook refused: {output}{hint}"),
            };
            report_refusal(done, &why, hook)
        }
        FinalCommit::HookChangedTree { .. } => {
            report_refusal(done, "a commit hook changed the tree a second time", None)
        }
    })
}

fn report_commit(job: &Job, mut done: Done, commit: &CommitId) -> Result<Done, Trouble> {
    let branch = job.trees.branch();
    done.note(NoteKind::Decision, format!("committed {commit} on {branch}"));
    let changed =
        super::changed_files(job, &job.trees.base_tree()?, &job.site.repository().tree_of(commit)?)?;
    done.facts.delivery =
        Some(Delivery::Committed { commit: commit.to_string(), branch, file: None, changed });
    Ok(done)
}

/// Verifies a tree that a hook changed. Returns why the tree does not pass; `None` if it does.
fn verify_hook_tree(job: &Job, tree: &TreeId, done: &mut Done) -> Result<Option<String>, Trouble> {
    done.note(NoteKind::Warning, "a commit hook changed the tree, so it was verified again");
    let changed = LaneContent::of(job)?.holding(tree);
    let mut measured = measure(job, &changed, Selection::All, None, RowPhase::After)?;
    measured.count_regressions();
    done.facts.checks = measured.facts.checks;
    done.blobs = measured.facts.blobs;
    Ok(match evidence::rule(&measured.rows, TaskSize::Standard, job.state.demand()) {
        GateResult::Passed => None,
        GateResult::Failed(reasons) => {
            Some(format!("the tree that the hook made does not pass: {}", reasons.join("; ")))
        }
    })
}

/// Hooks run in the same sandbox as checks, because they may start code that an agent wrote.
fn commit(job: &Job, message: &CommitMessage, command: &str) -> Result<FinalCommit, Trouble> {
    let mut documents = ticket::documents(&job.site)?;
    documents.extend(super::instructions::approved(job)?);
    let _main = job.site.hold_main();
    let (checkout, checks) = (job.site.repository().root(), &job.site.pinned.checks);
    let hook_files = |tree: &Path| remand_checks::hook_files(checkout, tree, checks);
    Ok(job.trees.commit(&documents, message, command, &hook_files)?)
}

fn report_refusal(mut done: Done, why: &str, hook: Option<String>) -> Done {
    done.report.says = "hook-refused".to_string();
    done.note(NoteKind::Warning, format!("not committed: {why}"));
    done.facts.delivery = Some(Delivery::Refused { reason: why.to_string(), hook });
    done
}

/// Why the last attempt to commit the run's work failed, with the line of the hook; `None` if no attempt failed.
pub fn last_refusal(reader: &Reader, run: &RunId) -> Result<Option<(String, Option<String>)>, Trouble> {
    let deliveries = reader.deliveries(run)?;
    Ok(deliveries.into_iter().rev().find_map(|row| match row.delivery {
        Delivery::Refused { reason, hook } => Some((reason, hook)),
        Delivery::Committed { .. } | Delivery::HandedOver { .. } | Delivery::Nothing => None,
    }))
}

/// Shortens a line to the maximum length of a subject.
fn shorten(line: &str) -> String {
    if line.chars().count() <= MAX_SUBJECT {
        return line.to_string();
    }
    let cut: String = line.chars().take(MAX_SUBJECT - 1).collect();
    format!("{}…", cut.trim_end())
}

fn message(job: &Job) -> CommitMessage {
    // Control characters do not belong in a message.
    let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let request: String = job.site.opened.request.chars().filter(is_text).collect();
    let line = request.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("work of a run");
    let subject = shorten(line);
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
