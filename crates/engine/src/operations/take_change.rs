//! `take-change`: puts the change that the run was given into its work tree.

use super::prepare::note_enforcement_gaps;
use super::{Done, changed_files, finding};
use crate::given_change::{ARTIFACT, ChangePart};
use crate::site::{Job, Trouble};
use remand_git::{CommitId, CommitMerge};
use remand_ledger::fact::Artifact;
use remand_notation::ordered;
use remand_reports::{JudgedChange, JudgedPart};
use std::path::PathBuf;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let none = || Trouble::denied("the run was given no change; start it with `remand vet`");
    let change = job.site.pinned.change.as_ref().ok_or_else(none)?;
    let base = job.trees.base();
    let mut head = base.clone();
    let mut clash = None;
    let mut parts = Vec::new();
    {
        let _main = job.site.hold_main();
        for part in &change.parts {
            let message = format!("Merge {}", part.name);
            match job.trees.merge_commits(&head, &part.commit, &message)? {
                CommitMerge::Merged(commit) => {
                    head = commit;
                    parts.push(JudgedPart {
                        name: part.name.clone(),
                        commit: part.commit.to_string(),
                        after: head.to_string(),
                    });
                }
                CommitMerge::Conflict { paths } => {
                    clash = Some((part, paths));
                    break;
                }
            }
        }
    }
    let repository = job.site.repository();
    let (before, tree) = (job.trees.base_tree()?, repository.tree_of(&head)?);
    let judged = JudgedChange {
        source: change.source.clone(),
        base: base.to_string(),
        head: head.to_string(),
        paths: changed_files(job, &before, &tree)?,
        parts,
    };
    let signal = match &clash {
        Some(_) => "conflict",
        None if tree == before => "empty",
        None => "taken",
    };
    let mut done = Done::with_signal(signal);
    note_enforcement_gaps(job, &mut done);
    let text = serde_json::to_value(&judged).map(|value| ordered::line(&value));
    let text = text.map_err(|error| Trouble::denied(format!("the change cannot be described: {error}")))?;
    done.add_artifact(job, ARTIFACT, "json", &text);
    if let Some((part, paths)) = clash {
        done.report.findings.push(conflict(&head, part, &paths));
        return Ok(done);
    }
    let digest = tree.digest();
    job.trees.keep(digest, &tree, base)?;
    let patch = job.site.blob_of_bytes(&repository.patch(&before, &tree)?);
    done.facts.artifacts.push(Artifact {
        name: "code".to_string(),
        part: String::new(),
        digest,
        blob: patch.id,
        by: job.phase().to_string(),
        format: "patch".to_string(),
    });
    done.blobs.push(patch);
    done.report.wrote.push(("code".to_string(), digest));
    Ok(done)
}

fn conflict(head: &CommitId, part: &ChangePart, paths: &[PathBuf]) -> remand_kernel::finding::Finding {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let claim = format!("{} conflicts with what it is merged onto, in {}", part.name, paths.join(", "));
    let evidence = format!("git merge-tree --write-tree {head} {}", part.commit);
    let mut conflict = finding(format!("merge-{}", part.name), None, claim, evidence);
    conflict.place.file = paths.into_iter().next().unwrap_or_default();
    conflict.recommendation = "rebase or merge, and resolve the conflict there".to_string();
    conflict
}
