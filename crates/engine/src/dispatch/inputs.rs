//! The inputs of a dispatch, as files: the artifact versions that it reads, the sections that its task points to, and
//! the findings.

use super::TASKS;
use super::prompt::Input;
use super::round_inputs::RoundInputs;
use crate::artifacts::{StoredTask, content, parsed, tasks, tasks_of};
use crate::site::{Job, LaneTree, TREES, Trouble};
use remand_contract::{pointers, to_yaml};
use remand_kernel::Program;
use remand_kernel::change::Digest;
use remand_kernel::command::Dispatch;
use remand_kernel::finding::Finding;
use remand_kernel::ids::SignalId;
use remand_kernel::program::{Action, Work};
use remand_ledger::Reader;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{ArtifactRow, CheckFilter, GateRow};
use serde_json::Value;
use std::path::Path;

/// The artifact that turns the findings of a review into a task. Its version is the number of the task.
const TASK_FIX: &str = "task-fix";

/// Maximum number of notes of one kind from earlier runs.
const MAX_HISTORY_NOTES: u32 = 20;

/// Writes the inputs into `folder` and returns them.
pub fn write(
    job: &Job,
    dispatch: &Dispatch,
    round: Option<&RoundInputs>,
    lane: &LaneTree,
    reader: &Reader,
    folder: &Path,
) -> Result<Vec<Input>, Trouble> {
    let mut writer = InputWriter { job, folder, inputs: Vec::new() };
    let documents = documents(job, dispatch, reader)?;
    let reads: Vec<&str> =
        dispatch.reads.iter().map(|(id, _)| job.program.artifacts[id.index()].as_str()).collect();
    if !reads.contains(&job.program.subject.as_str()) {
        let name = &job.program.subject;
        writer.put(
            &format!("the {name} that this run works on"),
            &format!("{name}.md"),
            &job.site.subject()?,
        )?;
    }
    for name in reads.iter().filter(|name| !round.is_some_and(|round| round.covers(name))) {
        writer.artifact(name, dispatch, &documents, reader)?;
    }
    for (about, name, text) in round.map(RoundInputs::documents).unwrap_or_default() {
        writer.put(about, name, &text)?;
    }
    let reads_tree = TREES.iter().any(|tree| reads.contains(tree));
    if reads_tree || dispatch.task.is_some() || dispatch.nearest.is_some() {
        writer.change(lane)?;
        writer.evidence(dispatch, reader)?;
    }
    // An artifact of the workflow may be called `findings`.
    let name = if reads.contains(&"findings") { "findings-to-answer" } else { "findings" };
    writer.findings(
        "findings that you must answer, with a change or with a reasoned dispute",
        name,
        &dispatch.findings,
    )?;
    writer.findings("known open issues; do not report them again", "known-issues", &dispatch.known)?;
    writer.human_notes(reader)?;
    writer.history(reader)?;
    Ok(writer.inputs)
}

/// The latest version of each document, or the version that the dispatch asks for.
fn documents(job: &Job, dispatch: &Dispatch, reader: &Reader) -> Result<Vec<ArtifactRow>, Trouble> {
    let mut documents = reader.artifacts(&job.site.run)?;
    for (id, digest) in &dispatch.reads {
        let name = &job.program.artifacts[id.index()];
        if *digest == Digest::default() && *name != job.program.subject {
            // The run reverted this artifact to its base, so no earlier version counts.
            documents.retain(|row| row.name != *name);
        }
        let requested =
            reader.artifact_by_digest(&job.site.run, name, *digest)?.filter(|row| row.part.is_empty());
        if let (Some(requested), Some(listed)) =
            (requested, documents.iter_mut().find(|row| row.name == *name && row.part.is_empty()))
        {
            *listed = requested;
        }
    }
    Ok(documents)
}

struct InputWriter<'d> {
    job: &'d Job,
    folder: &'d Path,
    inputs: Vec<Input>,
}

impl InputWriter<'_> {
    fn put(&mut self, about: &str, name: &str, text: &str) -> Result<(), Trouble> {
        let path = self.folder.join(name);
        std::fs::write(&path, self.job.site.redact(text))?;
        self.inputs.push(Input { about: about.to_string(), path });
        Ok(())
    }

    /// One artifact with all its parts. The implementer of a task gets only the task's entry in the plan and the sections
    /// that the entry points to.
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
            if !reads_whole_documents(dispatch, self.job) {
                return Ok(());
            }
        }
        if name == TASKS && !reads_whole_documents(dispatch, self.job) {
            return self.first_task(documents, reader);
        }
        for row in documents.iter().filter(|row| row.name == name) {
            let (about, file) = if name == TASK_FIX {
                (
                    "your task: the findings of a review".to_string(),
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

    /// The first task of the list; the run implements only this one.
    fn first_task(&mut self, documents: &[ArtifactRow], reader: &Reader) -> Result<(), Trouble> {
        let Some(row) = latest(documents, TASKS) else { return Ok(()) };
        match numbered_files(tasks(&content(reader, row.blob)?)).into_iter().next() {
            Some((name, text)) => self.put("your task", &name, &text),
            None => Ok(()),
        }
    }

    fn task(&mut self, task: &str, documents: &[ArtifactRow], reader: &Reader) -> Result<(), Trouble> {
        let parsed = parsed(documents, reader)?;
        let planned = parsed.get("plan").cloned().map(tasks_of).unwrap_or_default();
        let Some(StoredTask { task, source }) = planned.into_iter().find(|entry| entry.task.id == task)
        else {
            return Err(Trouble::denied(format!("the plan has no task `{task}`")));
        };
        self.put("your task", "task.yaml", &to_yaml(&source))?;
        if task.relevant_context.is_empty() {
            return Ok(());
        }
        let sections = pointers::extract(&task.relevant_context, &parsed)
            .map_err(|broken| Trouble::denied(broken_pointers_text(&broken)))?;
        self.put("the sections that your task points to", "context.yaml", &to_yaml(&sections))
    }

    /// The change of the lane so far, and an earlier change that no longer merges.
    fn change(&mut self, lane: &LaneTree) -> Result<(), Trouble> {
        let repository = self.job.site.repository();
        let base = repository.tree_of(&lane.base)?;
        let patch = repository.patch(&base, &lane.tree)?;
        if !patch.is_empty() {
            self.put("the change so far", "change.patch", &String::from_utf8_lossy(&patch))?;
        }
        if let Some(conflicting) = &lane.conflicting {
            let patch = repository.patch(&base, conflicting)?;
            let about = "your earlier change, which conflicts with changes merged since then; make it again";
            self.put(about, "earlier-change.patch", &String::from_utf8_lossy(&patch))?;
        }
        Ok(())
    }

    fn evidence(&mut self, dispatch: &Dispatch, reader: &Reader) -> Result<(), Trouble> {
        let rows = reader.checks(&self.job.site.run, CheckFilter::default())?;
        let concerns_task = |row_task: &Option<String>| match (&dispatch.task, row_task) {
            (Some(task), Some(row_task)) => task == row_task,
            (Some(_), None) | (None, _) => true,
        };
        let checks: Vec<Value> = rows
            .iter()
            .filter(|row| !row.superseded && concerns_task(&row.task))
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
        if checks.is_empty() && notes.is_empty() {
            return Ok(());
        }
        let evidence = serde_json::json!({ "checks": checks, "notes": notes });
        self.put(
            "the evidence: the results of checks that the engine ran",
            "evidence.yaml",
            &to_yaml(&evidence),
        )
    }

    fn findings(&mut self, about: &str, name: &str, indices: &[u32]) -> Result<(), Trouble> {
        let filed: Vec<&Finding> = indices
            .iter()
            .filter_map(|index| self.job.state.findings.get(*index as usize))
            .map(|filed| &filed.finding)
            .collect();
        if filed.is_empty() {
            return Ok(());
        }
        let text = serde_json::to_value(&filed).map(|value| to_yaml(&value)).unwrap_or_default();
        self.put(about, &format!("{name}.yaml"), &text)
    }

    /// The notes that people left at the gates of this run. A note that an operation wrote into an artifact is read there
    /// instead, because a rollback may have reverted the artifact.
    fn human_notes(&mut self, reader: &Reader) -> Result<(), Trouble> {
        let text: String = reader
            .gates(&self.job.site.run)?
            .iter()
            .filter(|gate| !is_in_artifact(&self.job.program, gate))
            .filter_map(|gate| {
                let note = gate.note.as_deref().map(str::trim).filter(|note| !note.is_empty())?;
                Some(format!("- {} at {}: {note}\n", gate.option.as_deref().unwrap_or("said"), gate.phase))
            })
            .collect();
        if text.is_empty() {
            Ok(())
        } else {
            self.put("notes from a human; take them into account", "human.md", &text)
        }
    }

    /// Lessons and regressions of earlier runs: material to consider, not rules.
    fn history(&mut self, reader: &Reader) -> Result<(), Trouble> {
        for (kind, about, name) in [
            (NoteKind::Lesson, "lessons from earlier runs", "lessons.md"),
            (
                NoteKind::Regression,
                "regressions of earlier runs, with the files that those runs had changed",
                "regressions.md",
            ),
        ] {
            let text: String = reader
                .notes_of_kind(kind, MAX_HISTORY_NOTES)?
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

/// The tasks of an artifact as files for people and agents: name and text.
pub fn task_files(result: &Value) -> Vec<(String, String)> {
    numbered_files(tasks_of(result.clone()))
}

fn numbered_files(tasks: Vec<StoredTask>) -> Vec<(String, String)> {
    let numbered = tasks.into_iter().enumerate();
    numbered.map(|(index, entry)| (format!("task-{}.yaml", index + 1), to_yaml(&entry.source))).collect()
}

/// Whether the answer at a gate led to an operation that writes artifacts.
fn is_in_artifact(program: &Program, gate: &GateRow) -> bool {
    let phase = program.phases.iter().find(|phase| phase.name == gate.phase);
    let answered = |signal: &SignalId| gate.option.as_deref() == Some(program.signal(*signal));
    let route = phase.and_then(|phase| phase.routes.iter().find(|(signal, _)| answered(signal)));
    let target = route.and_then(|(_, route)| match route.action {
        Action::To(target) | Action::Remand(target) => Some(program.phase(target)),
        _ => None,
    });
    target.is_some_and(|target| matches!(target.work, Work::Operation { .. }) && !target.writes.is_empty())
}

/// Whether the role reads whole documents. Roles that judge a task do; the role that implements it does not.
fn reads_whole_documents(dispatch: &Dispatch, job: &Job) -> bool {
    job.program.contract(dispatch.contract).changes.is_empty()
}

fn broken_pointers_text(broken: &[(String, pointers::PointerError)]) -> String {
    let lines: Vec<String> = broken.iter().map(|(pointer, error)| format!("{pointer}: {error}")).collect();
    lines.join("; ")
}

fn latest<'r>(documents: &'r [ArtifactRow], name: &str) -> Option<&'r ArtifactRow> {
    documents.iter().find(|row| row.name == name && row.part.is_empty())
}
