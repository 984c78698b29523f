//! The inputs of a dispatch, as files: the exact versions it reads, sections by pointer, findings word for word.

use super::TASKS;
use super::prompt::Input;
use super::round::Round;
use crate::contract::{Limits, RawResult, find, pointers, to_yaml};
use crate::workshop::{Job, LaneTree, TREES, Trouble};
use remand_kernel::Program;
use remand_kernel::change::Digest;
use remand_kernel::command::Dispatch;
use remand_kernel::finding::Finding;
use remand_kernel::ids::SignalId;
use remand_kernel::program::{Action, Work};
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{ArtifactRow, CheckFilter, GateRow};
use remand_ledger::{BlobId, Reader};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The artifact with the findings of a review as a task; its version is its number.
const TASK_FIX: &str = "task-fix";

/// How many notes of a kind from earlier runs an agent is shown.
const HISTORY: u32 = 20;

/// Writes the inputs into `folder` and tells where each is.
pub fn lay_out(
    job: &Job,
    dispatch: &Dispatch,
    round: Option<&Round>,
    lane: &LaneTree,
    reader: &Reader,
    folder: &Path,
) -> Result<Vec<Input>, Trouble> {
    let mut desk = Desk { job, folder, inputs: Vec::new() };
    let documents = documents(job, dispatch, reader)?;
    let reads: Vec<&str> =
        dispatch.reads.iter().map(|(id, _)| job.program.artifacts[id.index()].as_str()).collect();
    if !reads.contains(&job.program.subject.as_str()) {
        let name = &job.program.subject;
        desk.put(&format!("the {name} that all this is about"), &format!("{name}.md"), &job.site.subject()?)?;
    }
    for name in reads.iter().filter(|name| !round.is_some_and(|round| round.covers(name))) {
        desk.artifact(name, dispatch, &documents, reader)?;
    }
    for (about, name, text) in round.map(Round::documents).unwrap_or_default() {
        desk.put(about, name, &text)?;
    }
    let on_work = TREES.iter().any(|tree| reads.contains(tree));
    if on_work || dispatch.task.is_some() || dispatch.nearest.is_some() {
        desk.change(lane)?;
        desk.evidence(dispatch, reader)?;
    }
    // An artifact of the workflow may have the usual name.
    let name = if reads.contains(&"findings") { "findings-to-answer" } else { "findings" };
    desk.findings(
        "findings that you must answer, by a change or by a reasoned dispute",
        name,
        &dispatch.findings,
    )?;
    desk.findings(
        "issues that are known and open; do not report them again",
        "known-issues",
        &dispatch.known,
    )?;
    desk.said_by_humans(reader)?;
    desk.history(reader)?;
    Ok(desk.inputs)
}

/// The latest version of each document, but for those that the dispatch reads: of these the very one that the law says.
fn documents(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<Vec<ArtifactRow>, Trouble> {
    let mut documents = reader.artifacts(&job.site.run)?;
    for (id, digest) in &dispatch.reads {
        let name = &job.program.artifacts[id.index()];
        if *digest == Digest::default() && *name != job.program.subject {
            // What was put back to the run's base is not there, whatever there was of it before.
            documents.retain(|row| row.name != *name);
        }
        let meant = reader.artifact_with(&job.site.run, name, *digest)?.filter(|row| row.part.is_empty());
        if let (Some(meant), Some(shown)) =
            (meant, documents.iter_mut().find(|row| row.name == *name && row.part.is_empty()))
        {
            *shown = meant;
        }
    }
    Ok(documents)
}

struct Desk<'d> {
    job: &'d Job,
    folder: &'d Path,
    inputs: Vec<Input>,
}

impl Desk<'_> {
    fn put(&mut self, about: &str, name: &str, text: &str) -> Result<(), Trouble> {
        let path = self.folder.join(name);
        std::fs::write(&path, self.job.site.redact(text))?;
        self.inputs.push(Input { about: about.to_string(), path });
        Ok(())
    }

    /// One artifact with all its parts. A task is given its own entry of the plan and the sections that it points to,
    /// not the whole documents (EP-11).
    fn artifact(
        &mut self,
        name: &str,
        dispatch: &Dispatch,
        documents: &[ArtifactRow],
        reader: &Reader,
    ) -> Result<(), Trouble> {
        if TREES.contains(&name) {
            return Ok(());
        }
        if name == self.job.program.subject {
            let text = latest(documents, name).map(|row| content(reader, row.blob)).transpose()?;
            let text = text.map_or_else(|| self.job.site.subject(), Ok)?;
            return self.put(&format!("the {name}"), &format!("{name}.md"), &text);
        }
        if let (Some(task), "plan" | "spec" | "design") = (dispatch.task.as_deref(), name) {
            if name == "plan" {
                return self.task(task, documents, reader);
            }
            if !pointed_whole(dispatch, self.job) {
                return Ok(());
            }
        }
        if name == TASKS && !pointed_whole(dispatch, self.job) {
            return self.first_task(documents, reader);
        }
        for row in documents.iter().filter(|row| row.name == name) {
            let (about, file) = if name == TASK_FIX {
                (
                    "your task: findings of a review".to_string(),
                    format!("{name}-{}.{}", row.version, row.format),
                )
            } else if row.part.is_empty() {
                (format!("the {name}"), format!("{name}.{}", row.format))
            } else {
                (format!("the {name}, {}", row.part), format!("{name}-{}.{}", row.part, row.format))
            };
            let text = content(reader, row.blob)?;
            self.put(&about, &file, &text)?;
        }
        Ok(())
    }

    /// Who carries out one task of several is given that one, as a file that is the same for everybody (OT-04).
    fn first_task(&mut self, documents: &[ArtifactRow], reader: &Reader) -> Result<(), Trouble> {
        let Some(row) = latest(documents, TASKS) else { return Ok(()) };
        let tasks = document(&content(reader, row.blob)?).map(|value| task_files(&value)).unwrap_or_default();
        match tasks.into_iter().next() {
            Some((name, text)) => self.put("your task", &name, &text),
            None => Ok(()),
        }
    }

    fn task(&mut self, task: &str, documents: &[ArtifactRow], reader: &Reader) -> Result<(), Trouble> {
        let parsed = parsed(documents, reader)?;
        let entry = parsed
            .get("plan")
            .and_then(|plan| plan.pointer("/payload/tasks"))
            .and_then(Value::as_array)
            .and_then(|tasks| {
                tasks.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(task))
            });
        let Some(entry) = entry else {
            return Err(Trouble::denied(format!("the plan has no task `{task}`")));
        };
        self.put("your task", "task.yaml", &to_yaml(entry))?;
        let wanted: Vec<String> = entry
            .get("relevant_context")
            .and_then(Value::as_array)
            .map(|pointers| pointers.iter().filter_map(Value::as_str).map(str::to_string).collect())
            .unwrap_or_default();
        if wanted.is_empty() {
            return Ok(());
        }
        let sections =
            pointers::extract(&wanted, &parsed).map_err(|broken| Trouble::denied(unresolved(&broken)))?;
        self.put("the sections that your task points to", "context.yaml", &to_yaml(&sections))
    }

    /// What the lane changed so far, and a change that did not fit any more.
    fn change(&mut self, lane: &LaneTree) -> Result<(), Trouble> {
        let repository = self.job.site.repository();
        let base = repository.tree_of(&lane.base)?;
        let patch = repository.patch(&base, &lane.tree)?;
        if !patch.is_empty() {
            self.put("the change so far", "change.patch", &String::from_utf8_lossy(&patch))?;
        }
        if let Some(unfit) = &lane.unfit {
            let patch = repository.patch(&base, unfit)?;
            let about = "your earlier change, which conflicts with what others merged since; do it anew";
            self.put(about, "earlier-change.patch", &String::from_utf8_lossy(&patch))?;
        }
        Ok(())
    }

    fn evidence(&mut self, dispatch: &Dispatch, reader: &Reader) -> Result<(), Trouble> {
        let rows = reader.checks(&self.job.site.run, CheckFilter::default())?;
        let of_task = |task: &Option<String>| match (&dispatch.task, task) {
            (Some(own), Some(of)) => own == of,
            (Some(_), None) | (None, _) => true,
        };
        let shown: Vec<Value> = rows
            .iter()
            .filter(|row| !row.superseded && of_task(&row.task))
            .filter_map(|row| serde_json::to_value(row).ok())
            .collect();
        let notes: Vec<Value> = reader
            .notes(&self.job.site.run)?
            .into_iter()
            .filter(|note| match note.kind {
                NoteKind::Warning | NoteKind::Regression | NoteKind::Violation | NoteKind::Degradation => {
                    true
                }
                NoteKind::Concern
                | NoteKind::Decision
                | NoteKind::Lesson
                | NoteKind::Proposal
                | NoteKind::Mapped
                | NoteKind::Interrupted => false,
            })
            .map(|note| Value::String(note.text))
            .collect();
        if shown.is_empty() && notes.is_empty() {
            return Ok(());
        }
        let evidence = serde_json::json!({ "checks": shown, "notes": notes });
        self.put("the evidence: what the engine itself ran", "evidence.yaml", &to_yaml(&evidence))
    }

    fn findings(&mut self, about: &str, name: &str, at: &[u32]) -> Result<(), Trouble> {
        let filed: Vec<&Finding> = at
            .iter()
            .filter_map(|at| self.job.state.findings.get(*at as usize))
            .map(|filed| &filed.finding)
            .collect();
        if filed.is_empty() {
            return Ok(());
        }
        let text = serde_json::to_value(&filed).map(|value| to_yaml(&value)).unwrap_or_default();
        self.put(about, &format!("{name}.yaml"), &text)
    }

    /// What people said with their answers at the gates of this run (EP-12). What the engine has put into an artifact is
    /// read there, as it is now: a rollback may have taken it back.
    fn said_by_humans(&mut self, reader: &Reader) -> Result<(), Trouble> {
        let text: String = reader
            .gates(&self.job.site.run)?
            .iter()
            .filter(|gate| !is_taken_up(&self.job.program, gate))
            .filter_map(|gate| {
                let note = gate.note.as_deref().map(str::trim).filter(|note| !note.is_empty())?;
                Some(format!("- {} at {}: {note}\n", gate.option.as_deref().unwrap_or("said"), gate.phase))
            })
            .collect();
        if text.is_empty() {
            Ok(())
        } else {
            self.put("what a human wants to be taken into account", "human.md", &text)
        }
    }

    /// What earlier runs learned, and which files they broke tests with (EP-22): data to weigh, not rules.
    fn history(&mut self, reader: &Reader) -> Result<(), Trouble> {
        for (kind, about, name) in [
            (NoteKind::Lesson, "what earlier runs learned", "lessons.md"),
            (
                NoteKind::Regression,
                "what earlier runs broke on the way, with the files they had changed",
                "regressions.md",
            ),
        ] {
            let text: String = reader
                .notes_of_kind(kind, HISTORY)?
                .iter()
                .filter(|note| note.run != self.job.site.run)
                .map(|note| {
                    let files = if note.files.is_empty() {
                        String::new()
                    } else {
                        format!(" ({})", note.files.join(", "))
                    };
                    format!("- {}{files}\n", note.text)
                })
                .collect();
            if !text.is_empty() {
                self.put(about, name, &text)?;
            }
        }
        Ok(())
    }
}

/// The tasks of an artifact, each as the file that people and agents read.
pub fn task_files(tasks: &Value) -> Vec<(String, String)> {
    let entries = tasks.pointer("/payload/tasks").and_then(Value::as_array);
    let numbered = entries.into_iter().flatten().enumerate();
    numbered.map(|(at, entry)| (format!("task-{}.yaml", at + 1), to_yaml(entry))).collect()
}

/// Whether an answer led to an operation that wrote it into an artifact.
fn is_taken_up(program: &Program, gate: &GateRow) -> bool {
    let phase = program.phases.iter().find(|phase| phase.name == gate.phase);
    let answered = |signal: &SignalId| gate.option.as_deref() == Some(program.signal(*signal));
    let route = phase.and_then(|phase| phase.routes.iter().find(|(signal, _)| answered(signal)));
    let target = route.and_then(|(_, route)| match route.action {
        Action::To(target) | Action::Remand(target) => Some(program.phase(target)),
        _ => None,
    });
    target.is_some_and(|target| matches!(target.work, Work::Operation { .. }) && !target.writes.is_empty())
}

/// Roles that judge a task against the whole need whole documents; the one that carries it out does not.
fn pointed_whole(dispatch: &Dispatch, job: &Job) -> bool {
    job.program.contract(dispatch.contract).changes.is_empty()
}

fn unresolved(broken: &[(String, pointers::PointerError)]) -> String {
    let lines: Vec<String> = broken.iter().map(|(pointer, error)| format!("{pointer}: {error}")).collect();
    lines.join("; ")
}

fn latest<'r>(documents: &'r [ArtifactRow], name: &str) -> Option<&'r ArtifactRow> {
    documents.iter().find(|row| row.name == name && row.part.is_empty())
}

/// The text of a blob that the ledger must have.
pub fn content(reader: &Reader, id: BlobId) -> Result<String, Trouble> {
    Ok(String::from_utf8_lossy(&reader.blob(id)?).into_owned())
}

/// The typed artifacts, by name.
pub fn parsed(documents: &[ArtifactRow], reader: &Reader) -> Result<BTreeMap<String, Value>, Trouble> {
    let mut parsed = BTreeMap::new();
    for row in documents.iter().filter(|row| row.part.is_empty() && row.format == "yaml") {
        let text = content(reader, row.blob)?;
        if let Some(value) = document(&text) {
            parsed.insert(row.name.clone(), value);
        }
    }
    Ok(parsed)
}

/// A typed artifact as it was stored.
pub fn document(text: &str) -> Option<Value> {
    let raw = RawResult { file: Some(text.as_bytes().to_vec()), answer: String::new() };
    find(&raw, &Limits::default()).ok().map(|found| found.value)
}
