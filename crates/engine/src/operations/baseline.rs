//! `baseline`: tags the base and runs the checks on it, before anything changes.

use super::Done;
use super::measurement::measure;
use crate::site::{Job, LaneContent, Trouble};
use remand_checks::{CheckResult, Selection};
use remand_contract::to_yaml;
use remand_kernel::change::TestEnd;
use remand_kernel::evidence::{RowPhase, Tier};
use remand_ledger::fact::{Artifact, NoteKind};
use serde::Serialize;
use serde_json::json;

/// Maximum number of failing tests that a note names.
const MAX_LISTED: usize = 5;

/// One check in the artifact, which agents read.
#[derive(Serialize)]
struct BaselineRow<'r> {
    check: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<&'r str>,
    passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failing_tests: Vec<&'r str>,
}

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let tag = job.trees.tag_baseline()?;
    let lane = LaneContent::of(job)?;
    let measured = measure(job, &lane, Selection::All, None, RowPhase::Baseline)?;
    let mut done = Done::with_signal("recorded");
    let rows: Vec<_> = measured
        .results
        .iter()
        .map(|result| {
            let spec = job.site.pinned.checks.iter().find(|spec| spec.name == result.name);
            let row = BaselineRow {
                check: &result.name,
                command: spec.and_then(|spec| spec.action.typed()),
                folder: spec.map(|spec| spec.folder.as_str()).filter(|folder| !folder.is_empty()),
                passed: result.passed(),
                tests: result.collected,
                failing_tests: failing_tests(result),
            };
            json!(row)
        })
        .collect();
    let blob = job.site.blob(&to_yaml(&json!({ "tag": tag, "checks": rows })));
    // The artifact leaves out durations, so that equal results have equal digests.
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
    if measured.results.iter().all(|result| result.tier < Some(Tier::Two)) {
        let text =
            "no build and no tests were found; add a build or test command under `[checks]` in remand.toml";
        done.note(NoteKind::Degradation, text);
    }
    for result in measured.results.iter().filter(|result| result.counts() && !result.passed()) {
        done.note(NoteKind::Warning, failure(result));
    }
    if no_build_or_test_passes(&measured.results) {
        let text = "no build and no test passes before any change: unless the run repairs that, its work cannot be \
                    verified and is not committed; repair it first, or configure other checks under `[checks]` in \
                    remand.toml";
        done.note(NoteKind::Warning, text);
    }
    // Without `prepare`, missing content has not been reported yet.
    let notes = job.site.reader()?.notes(&job.site.run)?;
    for missing in job.site.repository().missing_content(job.site.trees.base())? {
        let text = missing.to_string();
        if !notes.iter().any(|note| note.text == text) {
            done.note(NoteKind::Degradation, text);
        }
    }
    for path in job.site.settings().sandbox_scope().secret_settings() {
        let text = format!(
            "{} contains credentials, so checks cannot read it, and git may not work in them; use a credential helper \
             instead",
            path.display()
        );
        done.note(NoteKind::Warning, text);
    }
    done.facts.checks = measured.facts.checks;
    done.blobs.push(blob);
    done.blobs.extend(measured.facts.blobs);
    Ok(done)
}

/// The tests that fail in a check.
fn failing_tests(result: &CheckResult) -> Vec<&str> {
    let failing = result.tests.iter().filter(|test| test.end == TestEnd::Failed);
    failing.map(|test| test.name.as_str()).collect()
}

/// Says what fails in a check before any change.
fn failure(result: &CheckResult) -> String {
    let (name, failing) = (&result.name, failing_tests(result));
    if failing.is_empty() || !has_passing_tests(result) {
        return format!("`{name}` fails before any change");
    }
    let listed: Vec<String> = failing.iter().take(MAX_LISTED).map(|test| format!("`{test}`")).collect();
    let more = failing.len() - listed.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(
        "{} of {} tests of `{name}` fail before any change: {}{more}; the other tests still prove the work",
        failing.len(),
        result.tests.len(),
        listed.join(", ")
    )
}

fn has_passing_tests(result: &CheckResult) -> bool {
    result.tests.iter().any(|test| test.end == TestEnd::Passed)
}

/// Whether builds or tests exist and none of them passes, so the gate would refuse any change.
fn no_build_or_test_passes(results: &[CheckResult]) -> bool {
    let mut builds_and_tests =
        results.iter().filter(|result| result.tier > Some(Tier::One) && result.counts()).peekable();
    builds_and_tests.peek().is_some()
        && !builds_and_tests.any(|result| result.passed() || has_passing_tests(result))
}
