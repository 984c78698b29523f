//! Uses the role file of another tool instead of our prompt.

use super::{RoleSpec, Roles};
use crate::diagnostic::{Code, Diagnostic};
use crate::foreign::{self, Foreign, Grant, Unused};
use crate::permissions::Writable;
use crate::prompt;
use crate::source::{SourceText, Span};
use std::collections::BTreeSet;

/// The heading under which our role files explain verdicts and payload.
const OUR_HEADING: &str = "What you return";
/// The heading under which exported files explain verdicts and payload.
const EXPORTED_HEADING: &str = "Completion Contract";

/// The file of another tool, and the prompt that it provides for one title.
#[derive(Clone, Debug)]
pub(super) struct Adopted {
    /// The whole file.
    pub text: String,
    pub prompt: String,
}

impl Roles {
    /// Uses a foreign file for a role with all its modes, or for one mode (`check/code`).
    ///
    /// The file provides prompt and model. The existing role keeps its contract, and the permissions that the file also
    /// grants. Returns the unused parts of the file.
    pub fn adopt(
        &mut self,
        title: &str,
        foreign: &Foreign,
        source: &SourceText,
    ) -> Result<Vec<Unused>, Vec<Diagnostic>> {
        let mode_prefix = format!("{title}/");
        let titles: Vec<String> = self
            .titles()
            .filter(|known| *known == title || known.starts_with(&mode_prefix))
            .map(str::to_string)
            .collect();
        if titles.is_empty() {
            let message = format!("there is no role `{title}` that could provide the file's contract");
            let remedy = crate::diagnostic::suggest(title, self.titles());
            return Err(vec![Diagnostic::error(Code::RoleForeign, Span::default(), message, remedy)]);
        }
        let mut specs = Vec::new();
        let mut problems = Vec::new();
        for title in &titles {
            let Some(spec) = self.get(title) else { continue };
            match narrow(spec, foreign) {
                Ok(spec) => specs.push(spec),
                Err(problem) => problems.push(*problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut unused = foreign.unused.clone();
        unused.extend(self.get(title).map(|spec| excess_grants(spec, foreign, source)).unwrap_or_default());
        unused.sort_by_key(|unused| unused.line);
        for mut spec in specs {
            if spec.title == title {
                spec.about = foreign.about.clone().filter(|about| !about.is_empty()).unwrap_or(spec.about);
            }
            let prompt = self.adopted_prompt(&spec.title, title, foreign);
            self.adopted.insert(spec.title.clone(), Adopted { text: source.text.clone(), prompt });
            self.by_title.insert(spec.title.clone(), spec);
        }
        Ok(unused)
    }

    /// The file's text, with our explanation of the verdicts unless the file has one.
    fn adopted_prompt(&self, title: &str, adopted: &str, foreign: &Foreign) -> String {
        let mut text = foreign.body.trim_end().to_string();
        let explains =
            [OUR_HEADING, EXPORTED_HEADING].iter().any(|heading| prompt::section(&text, heading).is_some());
        let (name, mode) = title.split_once('/').unwrap_or((title, ""));
        let ours = self.by_name.get(name).map(|file| &file.prompt);
        if !explains && let Some(ours) = ours.and_then(|ours| prompt::section(&ours.plain(), OUR_HEADING)) {
            text.push_str(&format!("\n\n## {OUR_HEADING}\n\n{ours}"));
        }
        let is_complete = explains && title == adopted;
        if let Some(section) = ours.and_then(|ours| ours.mode_section(mode)).filter(|_| !is_complete) {
            text.push_str(&format!("\n\n{section}"));
        }
        text.push('\n');
        text
    }
}

/// The role, with no more permissions than the file grants.
fn narrow(spec: &RoleSpec, foreign: &Foreign) -> Result<RoleSpec, Box<Diagnostic>> {
    let mut spec = spec.clone();
    if foreign.grants.edit.is_denied() {
        if !spec.changes.is_empty() {
            let message = format!(
                "`{}` changes {}, but the file gives it no tool that writes",
                spec.title,
                spec.changes.join(" and ")
            );
            let remedy = "give it a tool that edits files, or use the file for a role that only reads";
            return Err(Box::new(Diagnostic::error(Code::RoleForeign, Span::default(), message, remedy)));
        }
        spec.may_write = BTreeSet::from([Writable::Report]);
    }
    spec.shell &= !foreign.grants.shell.is_denied();
    spec.network &= !foreign.grants.network.is_denied();
    spec.model = foreign.model.clone().or(spec.model);
    Ok(spec)
}

/// The permissions that the file grants but the role does not have.
fn excess_grants(spec: &RoleSpec, foreign: &Foreign, source: &SourceText) -> Vec<Unused> {
    let source = foreign::with_unix_line_endings(source);
    let grants = &foreign.grants;
    let all = [
        (&grants.edit, !spec.is_read_only(), "is read-only"),
        (&grants.shell, spec.shell, "may not start programs"),
        (&grants.network, spec.network, "has no network"),
    ];
    let excess = |(grant, allowed, why): (&Grant, bool, &str)| match grant {
        Grant::Given(word) if !allowed => Some(Unused {
            what: word.value.clone(),
            reason: format!("`{}` {why}, and a file of another tool can only narrow that", spec.title),
            line: source.position(word.span.start).0,
        }),
        Grant::Given(_) | Grant::Unstated | Grant::Denied => None,
    };
    all.into_iter().filter_map(excess).collect()
}
