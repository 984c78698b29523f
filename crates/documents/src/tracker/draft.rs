//! An issue before it is filed.

use super::issue::{COMMENTS, CRITERIA, SUB_ISSUES};
use super::{IssueId, NewEntry, Status};
use crate::markdown::Markdown;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// What a new issue says. It must be enough for whoever knows nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    pub id: IssueId,
    pub title: String,
    pub parent: Option<IssueId>,
    pub labels: Vec<String>,
    pub depends_on: Vec<IssueId>,
    /// The criteria of the parent that it is handed.
    pub covers: Vec<String>,
    /// The run whose commit must be in the base first.
    pub needs_run: Option<String>,
    /// What it says above its criteria.
    pub about: String,
    pub criteria: Vec<NewCriterion>,
    /// What it says below them, as sections.
    pub sections: Vec<(String, String)>,
}

/// A criterion to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewCriterion {
    pub id: String,
    pub text: String,
    /// How it is tested.
    pub test: String,
}

impl Draft {
    pub fn text(&self) -> String {
        let mut text = String::from("---\n");
        let mut key = |name: &str, value: &str| {
            let _ = writeln!(text, "{name}: {value}");
        };
        key("id", &self.id.to_string());
        key("status", Status::Todo.name());
        if let Some(parent) = &self.parent {
            key("parent", &parent.to_string());
        }
        for (name, items) in [
            ("labels", self.labels.clone()),
            ("depends-on", self.depends_on.iter().map(IssueId::to_string).collect()),
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
            status: Status::Todo,
            after: self.depends_on.clone(),
        }
    }
}

/// A text that stays within a heading of this level: as it is, unless it would begin another of such a level, or one of
/// the issue's own sections, or swallow those behind it.
pub(super) fn contained(text: &str, level: u8) -> String {
    const BEHIND: &str = "behind";
    let text = text.trim();
    let read = Markdown::read(format!("before\n\n{text}\n\n# {BEHIND}\n"));
    let is_deep = match read.headings().split_last() {
        Some((last, own)) => last.title == BEHIND && own.iter().all(|heading| heading.level > level),
        None => false,
    };
    let is_kept = |titles: &[&str]| read.section(titles).is_none();
    if is_deep && [CRITERIA, SUB_ISSUES, COMMENTS].into_iter().all(is_kept) {
        return text.to_string();
    }
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}markdown\n{text}\n{fence}")
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
