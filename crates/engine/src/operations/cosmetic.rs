//! `apply-cosmetic`: applies a reviewer's patch if the syntax trees stay the same and every file may be written.
//! Any other patch is left to the role that writes the code.

use super::{Done, addressed_findings};
use crate::dispatch::Permit;
use crate::site::{Job, LaneTree, Trouble};
use crate::ticket::TicketRun;
use remand_git::{ChangedPath, TreeId};
use remand_kernel::finding::Finding;
use remand_ledger::fact::{Artifact, NoteKind};
use remand_source::{Language, ParsedSource, is_prose};
use std::path::Path;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let lane = LaneTree::as_it_is(job)?;
    let findings = addressed_findings(job);
    match apply_patches(job, &lane, &findings)? {
        Ok(done) => Ok(done),
        Err(why) => {
            lane.work.restore(&lane.tree)?;
            let mut done = Done::with_signal("not-cosmetic");
            done.note(NoteKind::Warning, format!("the engine did not apply the patches: {why}"));
            Ok(done)
        }
    }
}

/// Applies all patches, or returns why the engine must not apply them.
fn apply_patches(job: &Job, lane: &LaneTree, findings: &[&Finding]) -> Result<Result<Done, String>, Trouble> {
    if findings.is_empty() {
        return Ok(Err("no finding was sent".to_string()));
    }
    let mut tree = lane.tree.clone();
    for finding in findings {
        let Some(patch) = &finding.patch else {
            return Ok(Err(format!("{} has no patch", finding.id)));
        };
        match job.trees.patched(&tree, patch)? {
            Ok(patched) => tree = patched,
            Err(why) => return Ok(Err(format!("the patch of {} does not apply: {why}", finding.id))),
        }
    }
    let changes = job.site.repository().changed(&lane.tree, &tree)?;
    if let Some(why) = why_not_cosmetic(job, &changes, &lane.tree, &tree)? {
        return Ok(Err(why));
    }
    let mut done = Done::with_signal("applied");
    let digest = tree.digest();
    job.trees.keep(digest, &tree, &lane.base)?;
    let base = job.trees.base_tree()?;
    let patch = job.site.blob_of_bytes(&job.site.repository().patch(&base, &tree)?);
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
    Ok(Ok(done))
}

/// Why these changes are not cosmetic; `None` if they are.
fn why_not_cosmetic(
    job: &Job,
    changes: &[ChangedPath],
    before: &TreeId,
    after: &TreeId,
) -> Result<Option<String>, Trouble> {
    let permit = match TicketRun::of(&job.site)? {
        Some(ticket_run) => Permit::any_code().except_documents(&ticket_run.paths),
        None => Permit::any_code(),
    };
    if let Some(change) = permit.violations(changes, &|_| None).first() {
        return Ok(Some(format!("writers of code may not change `{}`", change.path.display())));
    }
    for change in changes {
        let read = |tree| job.site.repository().read(tree, &change.path);
        let (Some(before), Some(after)) = (read(before)?, read(after)?) else {
            return Ok(Some(format!("`{}` is added or removed", change.path.display())));
        };
        if !is_same_syntax(&change.path, &before, &after) {
            return Ok(Some(format!("the syntax of `{}` changes", change.path.display())));
        }
    }
    Ok(changes.is_empty().then(|| "the patches change nothing".to_string()))
}

/// Whether the syntax stays the same. Prose always counts as the same, a file in an unknown language never.
fn is_same_syntax(path: &Path, before: &[u8], after: &[u8]) -> bool {
    let (Ok(before), Ok(after)) = (std::str::from_utf8(before), std::str::from_utf8(after)) else {
        return false;
    };
    match Language::of(path) {
        Some(language) => {
            let (before, after) =
                (ParsedSource::parse(language, before), ParsedSource::parse(language, after));
            before.zip(after).is_some_and(|(before, after)| before.is_like(&after))
        }
        None => is_prose(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // OT-17
    #[test]
    fn comments_blanks_and_prose_are_cosmetic_and_code_is_not() {
        let same = |path: &str, before: &str, after: &str| {
            is_same_syntax(Path::new(path), before.as_bytes(), after.as_bytes())
        };
        assert!(same("a.py", "def f():\n    return 1\n", "# Ones.\ndef f():\n    return 1\n"));
        assert!(!same("a.py", "def f():\n    return 1\n", "def f():\n    return 2\n"));
        assert!(!same("a.py", "print('teh')\n", "print('the')\n"));
        assert!(same("a.md", "teh", "the"));
        assert!(!same("a.conf", "x = 1", "x  = 1"));
        assert!(!same("requirements.txt", "left-pad==1", "left-pad==2"));
        assert!(!same("CMakeLists.txt", "project(a)", "project(b)"));
    }
}
