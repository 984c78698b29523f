//! `drop-code`: the tree goes back to the tests, without the code that was written for them; stubs and seams stay
//! (OT-16).

use super::Done;
use crate::workshop::{Job, Trouble};
use remand_kernel::change::Digest;
use remand_ledger::fact::Artifact;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let trees = &job.site.trees;
    let written = job.program.artifact_named("tests").map(|id| job.state.digest(id));
    let tests =
        written.filter(|digest| *digest != Digest::default()).map(|digest| trees.kept(digest)).transpose()?;
    let before = match tests.flatten() {
        Some(kept) => kept.tree,
        None => match super::test_first::stub_tree(job)? {
            Some(stubs) => stubs,
            None => trees.base_tree()?,
        },
    };
    let mut done = Done::saying("dropped");
    let digest = before.digest();
    trees.keep(digest, &before, trees.base())?;
    let patch = job.site.blob_of_bytes(&job.site.repository().patch(&trees.base_tree()?, &before)?);
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
