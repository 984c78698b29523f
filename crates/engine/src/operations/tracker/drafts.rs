//! Drafts of sub-issues, from the tasks of a split and from follow-ups. Each is complete without the others.

use crate::artifacts::parsed;
use crate::site::{Job, Trouble};
use remand_contract::SplitTask;
use remand_documents::tracker::{IssueDraft, IssueKey, NewCriterion};
use remand_kernel::finding::Finding;
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct TaskList {
    #[serde(default)]
    tasks: Vec<SplitTask>,
}

/// The tasks of the current plan; this run does the first one.
pub fn planned_tasks(job: &Job) -> Result<Vec<SplitTask>, Trouble> {
    let reader = job.site.reader()?;
    let mut documents = parsed(&reader.artifacts(&job.site.run)?, &reader)?;
    let payload = documents.get_mut("tasks").and_then(|tasks| tasks.get_mut("payload"));
    let Some(payload) = payload else { return Ok(Vec::new()) };
    let list: TaskList = serde_json::from_value(payload.take())
        .map_err(|error| Trouble::denied(format!("the tasks cannot be read: {error}")))?;
    Ok(list.tasks)
}

/// The draft of an issue for a task. `ids` are the issue ids of all tasks except the first.
pub fn task_draft(
    job: &Job,
    parent: &IssueKey,
    task: &SplitTask,
    all: &[SplitTask],
    ids: &[IssueKey],
    criteria: &BTreeSet<String>,
) -> IssueDraft {
    let details = &task.task;
    let position = |id: &str| all.iter().position(|other| other.task.id == id);
    let issue = |id: &str| position(id).and_then(|at| at.checked_sub(1)).and_then(|at| ids.get(at)).cloned();
    let needs_first = details.depends_on.iter().any(|id| position(id) == Some(0));
    let run = &job.site.run;
    let covers: BTreeSet<String> =
        details.acceptance_criteria.iter().flat_map(|criterion| criterion.covers.iter().cloned()).collect();
    let covers: Vec<String> = covers.intersection(criteria).cloned().collect();
    let files: Vec<String> = details
        .files
        .iter()
        .map(|file| match file.change.trim() {
            "" => format!("- `{}`", file.path.0),
            change => format!("- `{}`: {change}", file.path.0),
        })
        .collect();
    let covered = match covers.as_slice() {
        [] => format!("No criterion of {parent} is fully covered."),
        covers => format!("Criteria of {parent}: {}.", covers.join(", ")),
    };
    let mut origin = format!(
        "Task `{}` of {parent}, which run `{run}` split on the branch `{}`.",
        details.id,
        job.trees.branch()
    );
    if needs_first {
        origin.push_str(&format!(
            "\n\nIt needs the work of that run: merge its commit into the base first (`git merge {}`).",
            job.trees.branch()
        ));
    }
    let code_list =
        |items: &[String]| items.iter().map(|item| format!("- `{item}`")).collect::<Vec<_>>().join("\n");
    let sections = [
        ("Covers", covered),
        ("Context", [task.context.trim(), &files.join("\n")].join("\n\n")),
        (
            "Contracts",
            details.contracts.iter().map(|text| format!("- {text}")).collect::<Vec<_>>().join("\n"),
        ),
        ("Signatures", code_list(&details.signatures)),
        ("Plan", task.plan.clone()),
        ("Test design", details.test_design.clone()),
        ("Origin", origin),
    ];
    IssueDraft {
        id: issue(&details.id).unwrap_or_else(|| parent.clone()),
        title: details.title.0.clone(),
        parent: Some(parent.clone()),
        labels: vec!["split-from-run".to_string()],
        depends_on: details.depends_on.iter().filter_map(|id| issue(id)).collect(),
        covers,
        needs_run: needs_first.then(|| run.to_string()),
        about: details.description.clone(),
        criteria: details
            .acceptance_criteria
            .iter()
            .map(|criterion| NewCriterion {
                id: criterion.id.0.clone(),
                text: criterion.text.0.clone(),
                test: criterion.test.clone(),
            })
            .collect(),
        sections: sections.map(|(title, text)| (title.to_string(), text)).to_vec(),
    }
}

/// A follow-up issue that has no id yet.
pub struct FollowUp {
    pub title: String,
    /// `bug`, `followup` or `tech-debt`.
    pub label: &'static str,
    pub about: String,
    pub criterion: String,
    pub covers: Vec<String>,
}

impl FollowUp {
    /// A follow-up for an unresolved finding.
    pub fn from_finding(finding: &Finding, label: &'static str) -> FollowUp {
        let location = match (&finding.place.file, finding.place.line) {
            (file, _) if file.is_empty() => String::new(),
            (file, 0) => format!("At `{file}` {}\n\n", finding.place.symbol),
            (file, line) => format!("At `{file}:{line}` {}\n\n", finding.place.symbol),
        };
        let parts = [
            ("", finding.claim.as_str()),
            ("Evidence: ", &finding.evidence),
            ("Impact: ", &finding.impact),
            ("Recommendation: ", &finding.recommendation),
        ];
        let parts = parts.iter().filter(|(_, text)| !text.trim().is_empty());
        let text: Vec<String> = parts.map(|(head, text)| format!("{head}{}", text.trim())).collect();
        FollowUp {
            title: shorten(&finding.claim),
            label,
            about: format!("{location}{}", text.join("\n\n")),
            criterion: format!("The finding no longer holds: {}", finding.claim),
            covers: Vec::new(),
        }
    }

    pub fn draft(&self, job: &Job, parent: &IssueKey, id: IssueKey) -> IssueDraft {
        let origin = format!(
            "Follow-up of run `{}` on {parent}, on the branch `{}`.",
            job.site.run,
            job.trees.branch()
        );
        IssueDraft {
            id,
            title: self.title.clone(),
            parent: Some(parent.clone()),
            labels: vec![self.label.to_string()],
            depends_on: Vec::new(),
            covers: self.covers.clone(),
            // A follow-up concerns the work of this run.
            needs_run: Some(job.site.run.to_string()),
            about: self.about.clone(),
            criteria: vec![NewCriterion {
                id: "AC-1".to_string(),
                text: self.criterion.clone(),
                test: String::new(),
            }],
            sections: vec![("Origin".to_string(), origin)],
        }
    }
}

/// Shortens text to a title: its first words.
pub fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 72;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches('.');
    if line.chars().count() <= MAX_CHARS {
        return line.to_string();
    }
    let cut: String = line.chars().take(MAX_CHARS - 1).collect();
    format!("{}…", cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head))
}
