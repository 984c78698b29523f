//! `prepare`: inspects the checkout and the request before the first dispatch.

use super::Done;
use crate::checkout;
use crate::red_tests::current_request;
use crate::site::{Job, Trouble};
use remand_kernel::event::Mode;
use remand_ledger::Reader;
use remand_ledger::fact::{Artifact, CheckoutFinding, CheckoutFindingKind, NoteKind};
use remand_process::confine::EnforcementLevel;
use std::path::Path;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let reader = job.site.reader()?;
    let mut done = Done::with_signal("ready");
    // The user has seen the notes of an earlier `prepare`, and decided to continue with a changed request.
    let notes = reader.notes(&job.site.run)?;
    for CheckoutFinding { kind, text } in checkout::facts_of(&job.site)?.findings {
        let (asks, kind) = match kind {
            CheckoutFindingKind::Dirty | CheckoutFindingKind::InProgress => (true, NoteKind::Warning),
            // The run works without their content.
            CheckoutFindingKind::Submodules | CheckoutFindingKind::Lfs => (true, NoteKind::Degradation),
            CheckoutFindingKind::DetachedHead
            | CheckoutFindingKind::OnDefaultBranch
            | CheckoutFindingKind::SparseCheckout
            | CheckoutFindingKind::ShallowClone => (false, NoteKind::Warning),
        };
        if notes.iter().any(|note| note.text == text) {
            continue;
        }
        if asks && job.state.mode == Mode::Interactive {
            done.report.says = "concerns".to_string();
        }
        done.note(kind, text);
    }
    note_enforcement_gaps(job, &mut done);
    let request = current_request(&job.site, &reader)?;
    add_request(job, &request, &mut done);
    let concerns = concerns(job, &request, &reader)?;
    if !concerns.is_empty() && done.report.says == "ready" {
        done.report.says = "concerns".to_string();
    }
    for concern in concerns {
        done.note(NoteKind::Concern, concern);
    }
    Ok(done)
}

/// Records what the sandbox cannot enforce on this machine.
pub(super) fn note_enforcement_gaps(job: &Job, done: &mut Done) {
    let enforcement = &job.site.settings().enforcement;
    let gaps = enforcement.gaps();
    if gaps.is_empty() {
        return;
    }
    let kind = if enforcement.files == EnforcementLevel::Full {
        NoteKind::Unenforced
    } else {
        NoteKind::Degradation
    };
    done.note(kind, format!("not enforced on this machine: {}", gaps.join("; ")));
}

/// Adds the request as an artifact. Reports it as written if it changed and the workflow lets this phase write it.
fn add_request(job: &Job, request: &str, done: &mut Done) {
    let subject = &job.program.subject;
    let phase = job.program.phase(job.id.phase);
    let writes = phase.writes.iter().any(|id| job.program.artifacts[id.index()] == *subject);
    let blob = job.site.blob(request);
    let digest = blob.id.digest();
    done.facts.artifacts.push(Artifact {
        name: subject.clone(),
        part: String::new(),
        digest,
        blob: blob.id,
        by: job.phase().to_string(),
        format: "md".to_string(),
    });
    done.blobs.push(blob);
    let known = job.program.artifact_named(subject).map(|id| job.state.digest(id));
    if writes && known != Some(digest) {
        done.report.wrote.push((subject.clone(), digest));
    }
}

/// Concerns that the engine finds without an agent. The workflow decides what follows from them.
fn concerns(job: &Job, request: &str, reader: &Reader) -> Result<Vec<String>, Trouble> {
    let mut concerns = Vec::new();
    if request.trim().is_empty() {
        concerns.push("the request is empty".to_string());
    }
    let root = job.trees.main_tree();
    for path in mentioned_paths(request) {
        if !root.path().join(path).exists() {
            concerns.push(format!("the request names `{path}`, which does not exist"));
        }
    }
    for other in reader.runs_under_way()? {
        let opened = &job.site.opened;
        let is_same = (&other.request, &other.file) == (&opened.request, &opened.file);
        if other.run != job.site.run && is_same {
            concerns.push(format!("run {} is under way for the same {}", other.run, job.program.subject));
        }
    }
    Ok(concerns)
}

/// Words in backticks that look like paths of files.
fn mentioned_paths(request: &str) -> Vec<&str> {
    let quoted = request.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let is_relative = !word.starts_with(['/', '~', '-', '.']) && !word.contains("..");
        let is_plain = word.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
        let has_extension = Path::new(word).extension().is_some_and(|extension| extension.len() <= 4);
        is_relative && is_plain && word.contains('/') && has_extension
    };
    quoted.filter(is_path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // EP-03
    #[test]
    fn only_words_that_look_like_files_in_a_folder_are_paths() {
        let request = "Make `src/cart.py` use `Cart.total`, see `https://x.y/z.html`, `a/b`, `/etc/x.conf` and `read_me`";
        assert_eq!(mentioned_paths(request), ["src/cart.py"]);
    }
}
