//! The documents of a brief: the artifact versions that a dispatch reads, the sections that its task points to, and what
//! its phase wrote last.

use super::rounds::RoundInputs;
use super::{BriefSection, BriefSources, PartList};
use crate::artifacts::{StoredTask, content, document, parsed, tasks, tasks_of};
use crate::dispatch::TASKS;
use crate::site::{TREES, Trouble};
use remand_contract::{pointers, to_yaml};
use remand_kernel::change::Digest;
use remand_ledger::query::ArtifactRow;
use serde_json::Value;

/// The artifact that turns the findings of a review into a task. Its version is the number of the task.
const TASK_FIX: &str = "task-fix";

/// The artifact with the results of the checks before any change.
const BASELINE: &str = "baseline";

/// The documents that a dispatch can read.
pub struct BriefDocuments<'d> {
    sources: &'d BriefSources<'d>,
    /// The latest version of each document, or the version that the dispatch asks for.
    rows: Vec<ArtifactRow>,
}

impl<'d> BriefDocuments<'d> {
    pub fn read(sources: &'d BriefSources<'d>) -> Result<BriefDocuments<'d>, Trouble> {
        let BriefSources { job, dispatch, reader, .. } = sources;
        let mut rows = reader.artifacts(&job.site.run)?;
        for (id, digest) in &dispatch.reads {
            let name = &job.program.artifacts[id.index()];
            if *digest == Digest::default() && *name != job.program.subject {
                // The run reverted this artifact to its base, so no earlier version counts.
                rows.retain(|row| row.name != *name);
            }
            let requested =
                reader.artifact_by_digest(&job.site.run, name, *digest)?.filter(|row| row.part.is_empty());
            if let (Some(requested), Some(listed)) =
                (requested, rows.iter_mut().find(|row| row.name == *name && row.part.is_empty()))
            {
                *listed = requested;
            }
        }
        Ok(BriefDocuments { sources, rows })
    }

    /// Adds the subject, the artifacts that the phase reads, and the documents of a round.
    pub fn add(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let BriefSources { job, rounds, .. } = self.sources;
        let reads = self.sources.reads();
        if !reads.contains(&job.program.subject.as_str()) {
            self.subject(parts)?;
        }
        for name in reads.iter().filter(|name| !rounds.is_some_and(|rounds| rounds.covers(name))) {
            self.artifact(name, parts)?;
        }
        for (about, name, text) in rounds.map(RoundInputs::documents).unwrap_or_default() {
            parts.add(BriefSection::Material, name, about, text);
        }
        Ok(())
    }

    /// Adds the last version of the documents that the phase writes and does not read.
    pub fn own(sources: &BriefSources<'_>, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let BriefSources { job, dispatch, reader, rounds, .. } = sources;
        let part = dispatch.item.as_deref().unwrap_or_default();
        let reads = sources.reads();
        for id in &job.program.phase(job.id.phase).writes {
            let name = job.program.artifacts[id.index()].as_str();
            if TREES.contains(&name) {
                continue;
            }
            let is_given = reads.contains(&name) || rounds.is_some_and(|rounds| rounds.covers(name));
            if is_given || job.state.digest(*id) == Digest::default() {
                continue;
            }
            let versions = reader.artifact_versions(&job.site.run, name)?;
            let current = |row: &&ArtifactRow| row.part == part && row.digest == job.state.digest(*id);
            let newest = versions.iter().rfind(|row| row.part == part);
            if let Some(row) = versions.iter().rfind(current).or(newest) {
                let text = content(reader, row.blob)?;
                let about = format!(
                    "the {name} as you left it (version {}); edit it and return all of it",
                    row.version
                );
                parts.add(BriefSection::OwnWork, &format!("your-{name}.{}", row.format), &about, text);
            }
        }
        Ok(())
    }

    /// The subject: a ticket as it is in the run, or what the user asked for.
    fn subject(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let BriefSources { job, reader, ticket, .. } = self.sources;
        let name = &job.program.subject;
        let text = match (ticket, self.latest(name)) {
            (Some(ticket_run), _) => ticket_run.ticket(),
            (None, Some(row)) if self.sources.reads().contains(&name.as_str()) => content(reader, row.blob)?,
            (None, _) => job.site.subject()?,
        };
        parts.add(
            BriefSection::Material,
            &format!("{name}.md"),
            &format!("the {name} that this run works on"),
            text,
        );
        Ok(())
    }

    /// One artifact with all its parts. The implementer of a task gets only the task's entry in the plan and the sections
    /// that the entry points to.
    fn artifact(&self, name: &str, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        // The evidence shows how the checks ended before any change.
        if TREES.contains(&name) || (name == BASELINE && self.sources.has_tree()) {
            return Ok(());
        }
        if name == self.sources.job.program.subject {
            return self.subject(parts);
        }
        if let (Some(task), "plan" | "spec" | "design") = (self.sources.dispatch.task.as_deref(), name) {
            if name == "plan" {
                return self.task(task, parts);
            }
            if !self.reads_whole_documents() {
                return Ok(());
            }
        }
        if name == TASKS && !self.reads_whole_documents() {
            return self.first_task(parts);
        }
        for row in self.rows.iter().filter(|row| row.name == name) {
            let (about, file) = if name == TASK_FIX {
                (
                    "your task: the findings of a review".to_string(),
                    format!("{name}-{}.{}", row.version, row.format),
                )
            } else if name == BASELINE {
                let about = "the checks before any change; you may run these commands, but only the engine's runs count";
                (about.to_string(), format!("{name}.{}", row.format))
            } else if row.part.is_empty() {
                (format!("the {name}"), format!("{name}.{}", row.format))
            } else {
                (format!("the {name}, {}", row.part), format!("{name}-{}.{}", row.part, row.format))
            };
            let text = content(self.sources.reader, row.blob)?;
            parts.add(BriefSection::Material, &file, &about, with_one_summary(text));
        }
        Ok(())
    }

    /// The first task of the list; the run implements only this one.
    fn first_task(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let Some(row) = self.latest(TASKS) else { return Ok(()) };
        let files = numbered_files(tasks(&content(self.sources.reader, row.blob)?));
        if let Some((name, text)) = files.into_iter().next() {
            parts.add(BriefSection::Material, &name, "your task", text);
        }
        Ok(())
    }

    fn task(&self, task: &str, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let parsed = parsed(&self.rows, self.sources.reader)?;
        let planned = parsed.get("plan").cloned().map(tasks_of).unwrap_or_default();
        let Some(StoredTask { task, source }) = planned.into_iter().find(|entry| entry.task.id == task)
        else {
            return Err(Trouble::denied(format!("the plan has no task `{task}`")));
        };
        parts.add(
            BriefSection::Material,
            "task.yaml",
            "the task, with its acceptance criteria",
            to_yaml(&source),
        );
        if task.relevant_context.is_empty() {
            return Ok(());
        }
        let sections = pointers::extract(&task.relevant_context, &parsed)
            .map_err(|broken| Trouble::denied(broken_pointers_text(&broken)))?;
        let about = "the sections that the task points to";
        parts.add(BriefSection::Material, "context.yaml", about, to_yaml(&sections));
        Ok(())
    }

    /// Whether the role reads whole documents. Roles that judge a task do; the role that implements it does not.
    fn reads_whole_documents(&self) -> bool {
        self.sources.job.program.contract(self.sources.dispatch.contract).changes.is_empty()
    }

    fn latest(&self, name: &str) -> Option<&ArtifactRow> {
        self.rows.iter().find(|row| row.name == name && row.part.is_empty())
    }
}

/// A result without the summary of its header, if its payload has the same one.
fn with_one_summary(text: String) -> String {
    let Some(mut result) = document(&text) else { return text };
    let is_repeated = |summary: &&Value| **summary == result["payload"]["summary"];
    if result["completion"].get("summary").filter(is_repeated).is_none() {
        return text;
    }
    if let Some(header) = result["completion"].as_object_mut() {
        header.remove("summary");
    }
    to_yaml(&result)
}

/// The tasks of an artifact as files for people and agents: name and text.
pub fn task_files(result: &Value) -> Vec<(String, String)> {
    numbered_files(tasks_of(result.clone()))
}

fn numbered_files(tasks: Vec<StoredTask>) -> Vec<(String, String)> {
    let numbered = tasks.into_iter().enumerate();
    numbered.map(|(index, entry)| (format!("task-{}.yaml", index + 1), to_yaml(&entry.source))).collect()
}

fn broken_pointers_text(broken: &[(String, pointers::PointerError)]) -> String {
    let lines: Vec<String> = broken.iter().map(|(pointer, error)| format!("{pointer}: {error}")).collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::with_one_summary;

    // HO-09
    #[test]
    fn a_summary_that_header_and_payload_share_is_given_once() {
        let both = "completion:\n  status: DONE\n  summary: Caches.\npayload:\n  summary: Caches.\n  decisions: []\n";
        let once = with_one_summary(both.to_string());
        assert_eq!(once.matches("Caches.").count(), 1, "{once}");
        assert!(once.contains("DONE") && once.contains("decisions"), "{once}");
        let different = both.replacen("Caches.", "Done.", 1);
        assert_eq!(with_one_summary(different.clone()), different);
        assert_eq!(with_one_summary("# Request\n".to_string()), "# Request\n");
    }
}
