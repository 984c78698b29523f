//! `baseline`: tags the base and runs the engine's own checks on it, before anything changes (EP-13).

use super::Done;
use super::verify::{Ran, run_checks};
use crate::checks::{CheckOutcome, Which};
use crate::contract::to_yaml;
use crate::workshop::{Job, LaneContent, Trouble, secret_settings};
use remand_kernel::evidence::{RowPhase, Tier};
use remand_ledger::fact::{Artifact, NoteKind};
use serde_json::json;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let tag = job.trees.tag_baseline()?;
    let lane = LaneContent::of(job)?;
    let ran = run_checks(job, &lane, Which::All, None, RowPhase::Baseline)?;
    let mut done = Done::saying("recorded");
    let rows: Vec<_> = ran
        .outcomes
        .iter()
        .map(|outcome| json!({ "check": outcome.name, "passed": outcome.passed(), "tests": outcome.collected }))
        .collect();
    let blob = job.site.blob(&to_yaml(&json!({ "tag": tag, "checks": rows })));
    // What counts for those who read it is the tree and its results, not how long they took.
    let digest = blob.id.digest();
    done.facts.artifacts.push(Artifact {
        name: "baseline".to_string(),
        part: String::new(),
        digest,
        blob: blob.id,
        by: job.phase().to_string(),
        format: "yaml".to_string(),
    });
    done.report.wrote.push(("baseline".to_string(), digest));
    if ran.outcomes.iter().all(|outcome| outcome.tier < Tier::Two) {
        let text = "no build and no tests were found here; `[checks]` in remand.toml names them";
        done.note(NoteKind::Degradation, text);
    }
    for outcome in ran.outcomes.iter().filter(|outcome| outcome.counts() && !outcome.passed()) {
        done.note(NoteKind::Warning, format!("`{}` fails before any change", outcome.name));
    }
    if proves_nothing(&ran.outcomes) {
        let text = "no build and no test that runs here passes before any change: unless the run mends that, its work \
                    cannot be proven and is not committed; mend it first, or name other checks in `[checks]` of \
                    remand.toml";
        done.note(NoteKind::Warning, text);
    }
    // Where a workflow does not begin with `prepare`, nobody has said it yet.
    let told = job.site.reader()?.notes(&job.site.run)?;
    for lacking in job.site.repository().lacking(job.site.trees.base())? {
        let text = lacking.to_string();
        if !told.iter().any(|note| note.text == text) {
            done.note(NoteKind::Degradation, text);
        }
    }
    for path in secret_settings(job.site.settings()) {
        let text = format!(
            "{} holds credentials, so checks cannot read it, and git may not work in them; a credential helper keeps \
             them elsewhere",
            path.display()
        );
        done.note(NoteKind::Warning, text);
    }
    let Ran { checks, blobs, .. } = ran;
    done.facts.checks = checks;
    done.blobs.push(blob);
    done.blobs.extend(blobs);
    Ok(done)
}

/// Whether builds and tests are there and none of them passes, so that the gate would refuse any change (EP-18).
fn proves_nothing(outcomes: &[CheckOutcome]) -> bool {
    let mut shows = outcomes.iter().filter(|outcome| outcome.tier > Tier::One && outcome.counts()).peekable();
    shows.peek().is_some() && !shows.any(CheckOutcome::passed)
}
