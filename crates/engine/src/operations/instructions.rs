//! `propose-instructions` and `approve-instructions`: changes to instruction files that the knowledge role proposes. Only
//! a human's approval makes them part of the commit.

use super::Done;
use crate::artifacts::{content, document};
use crate::conventions;
use crate::site::{Job, Trouble};
use remand_contract::SchemaId;
use remand_contract::schema::knowledge::{InstructionProposal, Knowledge};
use remand_contract::typed_payload;
use remand_git::{FileContents, TreeId};
use remand_ledger::Reader;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::DispatchStatus;
use std::path::{Component, Path};

/// The patch with the proposed changes.
const PROPOSALS: &str = "proposals";

/// The patch with the approved changes.
const INSTRUCTIONS: &str = "instructions";

/// The suffix of instruction files such as those in `.github/instructions`.
const INSTRUCTIONS_END: &str = ".instructions.md";

pub fn propose(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::with_signal("none");
    let before = job.trees.main_state()?.tree;
    let mut tree = before.clone();
    for proposal in proposals(job, &job.site.reader()?)? {
        match apply(job, &tree, &proposal)? {
            Ok(changed) => {
                tree = changed;
                done.note(NoteKind::Concern, format!("{}: {}", proposal.file.0, proposal.reason.0));
            }
            Err(why) => done.note(NoteKind::Concern, why),
        }
    }
    let patch = String::from_utf8_lossy(&job.site.repository().patch(&before, &tree)?).into_owned();
    if tree != before {
        done.report.says = "proposed".to_string();
    }
    // The format `patch` is for changes that belong to the run; nobody has approved this one yet.
    done.add_artifact(job, PROPOSALS, "diff", &patch);
    Ok(done)
}

pub fn approve(job: &Job) -> Result<Done, Trouble> {
    let mut done = Done::with_signal("approved");
    let patch = latest(job, PROPOSALS)?.unwrap_or_default();
    done.add_artifact(job, INSTRUCTIONS, "patch", &patch);
    done.note(NoteKind::Decision, "the proposed changes to instruction files are part of the commit");
    Ok(done)
}

/// The instruction files that a human approved, with their content.
pub fn approved(job: &Job) -> Result<FileContents, Trouble> {
    let Some(patch) = latest(job, INSTRUCTIONS)? else { return Ok(FileContents::new()) };
    let before = job.trees.main_state()?.tree;
    let after = match job.trees.patched(&before, &patch)? {
        Ok(after) => after,
        Err(why) => {
            return Err(Trouble::denied(format!(
                "the approved changes to instruction files do not apply: {why}"
            )));
        }
    };
    let mut files = FileContents::new();
    for changed in job.site.repository().changed(&before, &after)? {
        let text = job.site.repository().read(&after, &changed.path)?;
        files.insert(changed.path, text);
    }
    Ok(files)
}

/// The proposals in the latest result of the knowledge role.
fn proposals(job: &Job, reader: &Reader) -> Result<Vec<InstructionProposal>, Trouble> {
    let is_knowledge = |role: &str| {
        job.site.pinned.roles.get(role).is_some_and(|role| role.result == SchemaId::KnowledgeOutput.name())
    };
    let dispatches = reader.dispatches(&job.site.run)?;
    let last = dispatches
        .iter()
        .rfind(|row| row.status == DispatchStatus::Done && is_knowledge(&row.role))
        .and_then(|row| row.result);
    let Some(result) = last else { return Ok(Vec::new()) };
    let typed = document(&content(reader, result)?)
        .and_then(|found| typed_payload::<Knowledge>(found, SchemaId::KnowledgeOutput));
    Ok(typed.map(|knowledge| knowledge.proposals).unwrap_or_default())
}

/// The tree with a proposal applied, or why the engine does not apply it.
fn apply(
    job: &Job,
    tree: &TreeId,
    proposal: &InstructionProposal,
) -> Result<Result<TreeId, String>, Trouble> {
    let name = &proposal.file.0;
    let path = Path::new(name);
    if !is_instruction_file(path) {
        return Ok(Err(format!("{name} is not an instruction file, so its proposal is only recorded")));
    }
    let change = &proposal.change.0;
    if !is_patch(change) {
        let before = job.site.repository().read(tree, path)?.unwrap_or_default();
        let text = appended(&String::from_utf8_lossy(&before), change);
        let files =
            FileContents::from([(path.to_path_buf(), Some(job.site.redact(&text).as_bytes().to_vec()))]);
        return Ok(Ok(job.trees.with_files(tree, &files)?));
    }
    let changed = match job.trees.patched(tree, &job.site.redact(change))? {
        Ok(changed) => changed,
        Err(why) => return Ok(Err(format!("the proposed diff of {name} does not apply: {why}"))),
    };
    let others = job.site.repository().changed(tree, &changed)?;
    match others.iter().find(|other| other.path != path) {
        Some(other) => Ok(Err(format!("the proposed diff of {name} also changes {}", other.path.display()))),
        None => Ok(Ok(changed)),
    }
}

/// Whether agents read the file as instructions.
fn is_instruction_file(path: &Path) -> bool {
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    inside && (conventions::NAMES.contains(&name) || name.ends_with(INSTRUCTIONS_END))
}

fn is_patch(change: &str) -> bool {
    change.lines().any(|line| line.starts_with("@@ "))
}

/// A text with a paragraph added at its end.
fn appended(before: &str, change: &str) -> String {
    let before = before.trim_end();
    let gap = if before.is_empty() { "" } else { "\n\n" };
    format!("{before}{gap}{}\n", change.trim())
}

fn latest(job: &Job, name: &str) -> Result<Option<String>, Trouble> {
    let reader = job.site.reader()?;
    let rows = reader.artifacts(&job.site.run)?;
    let row = rows.iter().find(|row| row.name == name);
    Ok(row.map(|row| content(&reader, row.blob)).transpose()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    // EP-22
    #[test]
    fn only_instruction_files_inside_the_repository_count() {
        for name in ["AGENTS.md", "web/CLAUDE.md", ".github/instructions/rust.instructions.md"] {
            assert!(is_instruction_file(Path::new(name)), "{name}");
        }
        for name in ["src/main.rs", "../AGENTS.md", "/AGENTS.md", "README.md"] {
            assert!(!is_instruction_file(Path::new(name)), "{name}");
        }
    }
}
