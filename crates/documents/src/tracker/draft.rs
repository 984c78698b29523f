//! An issue before it is added to the tracker.

use super::sections::{contained, one_line};
use super::{IssueKey, NewEntry, TrackerStatus};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The content of a new issue. It must be understandable without further context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueDraft {
    pub id: IssueKey,
    pub title: String,
    pub parent: Option<IssueKey>,
    pub labels: Vec<String>,
    pub depends_on: Vec<IssueKey>,
    /// The criteria of the parent that this issue covers.
    pub covers: Vec<String>,
    /// The run whose commit must be in the base first.
    pub needs_run: Option<String>,
    /// The text above the criteria.
    pub about: String,
    pub criteria: Vec<NewCriterion>,
    /// Titles and bodies of the sections below the criteria.
    pub sections: Vec<(String, String)>,
}

/// A criterion to write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCriterion {
    pub id: String,
    pub text: String,
    /// How the criterion is tested.
    pub test: String,
}

impl IssueDraft {
    pub fn text(&self) -> String {
        let mut text = String::from("---\n");
        let mut key = |name: &str, value: &str| {
            let _ = writeln!(text, "{name}: {value}");
        };
        key("id", &self.id.to_string());
        key("status", TrackerStatus::Todo.name());
        if let Some(parent) = &self.parent {
            key("parent", &parent.to_string());
        }
        for (name, items) in [
            ("labels", self.labels.clone()),
            ("depends-on", self.depends_on.iter().map(IssueKey::to_string).collect()),
            ("covers", self.covers.clone()),
        ] {
            if !items.is_empty() || name == "depends-on" {
                key(name, &format!("[{}]", items.join(", ")));
            }
        }
        if let Some(run) = &self.needs_run {
            key("needs-run", run);
        }
        let _ = write!(text, "---\n\n# {}: {}\n", self.id, one_line(&self.title));
        if !self.about.trim().is_empty() {
            let _ = write!(text, "\n{}\n", contained(&self.about, 2));
        }
        text.push_str("\n## Acceptance criteria\n");
        for criterion in &self.criteria {
            let _ = write!(text, "\n- [ ] {}: {}\n", criterion.id, one_line(&criterion.text));
            if !criterion.test.trim().is_empty() {
                let _ = writeln!(text, "  Tested by: {}", one_line(&criterion.test));
            }
        }
        for (title, body) in self.sections.iter().filter(|(_, body)| !body.trim().is_empty()) {
            let _ = write!(text, "\n## {}\n\n{}\n", one_line(title), contained(body, 2));
        }
        text.push_str("\n## Sub-issues\n\n## Comments\n");
        text
    }

    pub(super) fn entry(&self) -> NewEntry {
        NewEntry {
            id: self.id.clone(),
            title: one_line(&self.title),
            status: TrackerStatus::Todo,
            after: self.depends_on.clone(),
        }
    }
}
