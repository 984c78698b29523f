//! `prepare`: looks at the checkout and the request before anybody is paid (EP-02, EP-03).

use super::Done;
use crate::confine::Level;
use crate::git::Hygiene;
use crate::workshop::{Job, Trouble};
use remand_kernel::event::Mode;
use remand_ledger::Reader;
use remand_ledger::fact::{Artifact, NoteKind};
use std::path::Path;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let reader = job.site.reader()?;
    let mut done = Done::saying("ready");
    // Whoever changed the request has been told, and has decided to go on.
    let told = reader.notes(&job.site.run)?;
    for seen in job.site.repository().hygiene(job.site.trees.base())? {
        let (asks, kind) = match seen {
            Hygiene::Dirty { .. } | Hygiene::OnDefaultBranch { .. } | Hygiene::InProgress { .. } => {
                (true, NoteKind::Warning)
            }
            // The work is done and judged without what they hold.
            Hygiene::Submodules { .. } | Hygiene::Lfs { .. } => (true, NoteKind::Degradation),
            Hygiene::DetachedHead | Hygiene::SparseCheckout | Hygiene::ShallowClone => {
                (false, NoteKind::Warning)
            }
        };
        let text = seen.to_string();
        if told.iter().any(|note| note.text == text) {
            continue;
        }
        if asks && job.state.mode == Mode::Interactive {
            done.report.says = "concerns".to_string();
        }
        done.note(kind, text);
    }
    unenforced(job, &mut done);
    let request = request(job, &reader)?;
    record(job, &request, &mut done);
    let concerns = concerns(job, &request, &reader)?;
    if !concerns.is_empty() && done.report.says == "ready" {
        done.report.says = "concerns".to_string();
    }
    for concern in concerns {
        done.note(NoteKind::Concern, concern);
    }
    Ok(done)
}

/// What the sandbox cannot enforce on this machine, said once in every run (CORE-05, EP-27).
fn unenforced(job: &Job, done: &mut Done) {
    let enforcement = &job.site.settings().enforcement;
    if enforcement.gaps.is_empty() {
        return;
    }
    let kind = if enforcement.files == Level::Full { NoteKind::Warning } else { NoteKind::Degradation };
    done.note(kind, format!("not enforced on this machine: {}", enforcement.gaps.join("; ")));
}

/// The request as it stands: what the user asked for, and what was said at this run's gates to change it.
fn request(job: &Job, reader: &Reader) -> Result<String, Trouble> {
    let mut request = job.site.subject()?;
    for gate in reader.gates(&job.site.run)? {
        let note = gate.note.as_deref().map(str::trim).unwrap_or_default();
        if gate.option.as_deref() == Some("modify") && !note.is_empty() {
            request.push_str(&format!("\n\n{note}"));
        }
    }
    Ok(request)
}

/// The request is an artifact only where the workflow lets this phase write it.
fn record(job: &Job, request: &str, done: &mut Done) {
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

/// Pushback by rules alone, before any dispatch; it never halts by itself.
fn concerns(job: &Job, request: &str, reader: &Reader) -> Result<Vec<String>, Trouble> {
    let mut concerns = Vec::new();
    if request.trim().is_empty() {
        concerns.push("the request is empty".to_string());
    }
    let root = job.trees.main_tree();
    for path in named_paths(request) {
        if !root.path().join(path).exists() {
            concerns.push(format!("the request names `{path}`, which does not exist"));
        }
    }
    for other in reader.runs_under_way()? {
        let own = &job.site.opened;
        let same = (&other.request, &other.file) == (&own.request, &own.file);
        if other.run != job.site.run && same {
            concerns.push(format!("run {} is under way for the same {}", other.run, job.program.subject));
        }
    }
    Ok(concerns)
}

/// Words in backticks that can only be meant as paths.
fn named_paths(request: &str) -> Vec<&str> {
    let quoted = request.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let relative = !word.starts_with(['/', '~', '-', '.']) && !word.contains("..");
        let plain = word.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
        let file = Path::new(word).extension().is_some_and(|ending| ending.len() <= 4);
        relative && plain && word.contains('/') && file
    };
    quoted.filter(is_path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // EP-03
    #[test]
    fn only_words_that_look_like_files_in_a_folder_count_as_paths() {
        let request = "Make `src/cart.py` use `Cart.total`, see `https://x.y/z.html`, `a/b`, `/etc/x.conf` and `read_me`";
        assert_eq!(named_paths(request), ["src/cart.py"]);
    }
}
