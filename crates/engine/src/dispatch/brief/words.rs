//! Results in words: the reports of a visit, and findings as a person would write them down.

use super::evidence::{self, GivenFinding};
use super::history::{RunHistory, Speaker, Utterance};
use crate::artifacts::document_of;
use crate::site::Trouble;
use remand_contract::markdown::{code, fenced, inline};
use remand_contract::{SchemaId, rendered_words};
use remand_kernel::Program;
use remand_kernel::finding::Finding;
use remand_kernel::ids::ContractId;
use remand_kernel::state::Filed;
use remand_ledger::fact::BlobId;
use serde_json::Value;
use std::fmt::Write;

/// Puts results into words for one dispatch.
pub struct Narrator<'n> {
    pub program: &'n Program,
    /// The findings of the run so far.
    pub filed: &'n [Filed],
    /// The schema of a role's result.
    pub schema: &'n dyn Fn(ContractId) -> SchemaId,
    /// Reads a text that an agent left.
    pub content: &'n dyn Fn(BlobId) -> Result<String, Trouble>,
    pub history: &'n RunHistory,
    /// The findings that the dispatch is given separately.
    pub given: Vec<GivenFinding<'n>>,
    /// Whether the dispatch is given the evidence separately.
    pub has_evidence: bool,
}

impl Narrator<'_> {
    /// How a visit ended, in a few words.
    pub fn headline(&self, visit: usize) -> String {
        let words = self.history.words(visit);
        let phase = self.title(visit);
        match words {
            [only] => format!("{phase} {}", end_of(only)),
            _ => {
                let ends: Vec<String> = words
                    .iter()
                    .map(|utterance| format!("{} {}", self.speaker(utterance), end_of(utterance)))
                    .collect();
                format!("{phase}: {}", ends.join(", "))
            }
        }
    }

    /// The phase of a visit, with its task.
    pub fn title(&self, visit: usize) -> String {
        let visit = &self.history.visits[visit];
        let phase = code(&self.program.phase(visit.phase).name);
        visit.task.as_ref().map_or_else(|| phase.clone(), |task| format!("{phase} of {}", code(task)))
    }

    /// Everything that was reported in a visit.
    pub fn visit(&self, visit: usize) -> Result<String, Trouble> {
        self.members(visit, |_| true)
    }

    /// Why members of a visit gave no result; empty if all gave one.
    pub fn failures(&self, visit: usize) -> Result<String, Trouble> {
        let has_failed = self.history.words(visit).iter().any(|utterance| utterance.says.is_none());
        if has_failed { self.members(visit, |utterance| utterance.says.is_none()) } else { Ok(String::new()) }
    }

    /// What these members reported in a visit, and why the engine ended it otherwise.
    fn members(&self, visit: usize, is_shown: impl Fn(&Utterance) -> bool) -> Result<String, Trouble> {
        let words = self.history.words(visit);
        let mut text = String::new();
        if let Some(reason) = self.history.reason(visit) {
            let _ = writeln!(text, "{reason}\n");
        }
        for utterance in words.iter().filter(|utterance| is_shown(utterance)) {
            if words.len() > 1 {
                let _ = write!(
                    text,
                    "{}## {} {}\n\n",
                    if text.is_empty() { "" } else { "\n" },
                    self.speaker(utterance),
                    end_of(utterance)
                );
            }
            text.push_str(&self.utterance(utterance)?);
        }
        Ok(text)
    }

    /// One line about each member of a visit except this one.
    pub fn others(&self, visit: usize, seat: u16) -> Result<String, Trouble> {
        let mut text = String::new();
        for utterance in self.history.words(visit).iter().filter(|utterance| utterance.seat != seat) {
            let summary = match self.result(utterance)? {
                Some(result) => self.words(utterance, &result).lines().next().unwrap_or_default().to_string(),
                None => String::new(),
            };
            let _ = writeln!(text, "- {} {}: {summary}", self.speaker(utterance), end_of(utterance));
        }
        Ok(text)
    }

    /// What one member of a phase reported.
    pub fn utterance(&self, utterance: &Utterance) -> Result<String, Trouble> {
        let mut text = self.own_words(utterance)?;
        self.findings(&utterance.findings, &mut text);
        Ok(text)
    }

    /// What one member of a phase reported, without its findings.
    pub fn own_words(&self, utterance: &Utterance) -> Result<String, Trouble> {
        let mut text = String::new();
        match &utterance.speaker {
            Speaker::Agent { failed, .. } if utterance.says.is_none() => {
                let _ = writeln!(text, "There is no result: {}", failed.trim());
            }
            Speaker::Agent { .. } => {
                if let Some(result) = self.result(utterance)? {
                    text.push_str(&self.words(utterance, &result));
                }
            }
            Speaker::Engine { checks, notes, failed, .. } => {
                if !failed.is_empty() {
                    let _ = writeln!(text, "It failed: {}", failed.trim());
                }
                if !self.has_evidence {
                    text.push_str(&evidence::failures(checks, &self.given));
                    text.extend(notes.iter().map(|note| format!("- {note}\n")));
                } else if !checks.is_empty() || !notes.is_empty() {
                    text.push_str("What the engine saw is in `evidence.md`.\n");
                }
            }
            Speaker::Human { note, .. } if note.trim().is_empty() => text.push_str("There is no note.\n"),
            Speaker::Human { by, note } => {
                let _ = writeln!(text, "{} says: {}", inline(by), note.trim());
            }
        }
        Ok(text)
    }

    fn findings(&self, findings: &[Finding], text: &mut String) {
        if findings.is_empty() {
            return;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let file_of = |finding: &Finding| {
            self.given.iter().find(|given| given.finding == finding).map(|given| given.file)
        };
        let mut files: Vec<&str> = findings.iter().filter_map(file_of).collect();
        files.dedup();
        for file in files {
            let ids = findings.iter().filter(|finding| file_of(finding) == Some(file));
            let ids: Vec<String> = ids.map(|finding| code(&finding.id)).collect();
            let _ = writeln!(text, "Its findings in {}: {}.", code(file), ids.join(", "));
        }
        let others: Vec<&Finding> = findings.iter().filter(|finding| file_of(finding).is_none()).collect();
        if !others.is_empty() {
            text.push_str("Findings:\n\n");
            text.extend(others.into_iter().map(finding_text));
        }
    }

    /// What a result reports in addition to its verdict and its findings.
    pub fn words(&self, utterance: &Utterance, result: &Value) -> String {
        match &utterance.speaker {
            Speaker::Agent { contract, .. } => rendered_words((self.schema)(*contract), result, 3),
            Speaker::Engine { .. } | Speaker::Human { .. } => String::new(),
        }
    }

    /// The result of an agent, as structured data.
    pub fn result(&self, utterance: &Utterance) -> Result<Option<Value>, Trouble> {
        let Speaker::Agent { result, answer, .. } = &utterance.speaker else { return Ok(None) };
        let read = |id: &Option<BlobId>| id.map(|id| (self.content)(id)).transpose();
        Ok(document_of(read(result)?, read(answer)?.unwrap_or_default()))
    }

    fn speaker(&self, utterance: &Utterance) -> String {
        match &utterance.speaker {
            Speaker::Agent { item: Some(item), .. } => inline(item),
            Speaker::Agent { contract, advisory, .. } => {
                let title = code(&self.program.contract(*contract).title());
                if *advisory { format!("{title} (advice only)") } else { title }
            }
            Speaker::Engine { operation, .. } => {
                format!("the engine's {}", code(self.program.operation(*operation).name.name()))
            }
            Speaker::Human { .. } => "a human".to_string(),
        }
    }
}

fn end_of(utterance: &Utterance) -> String {
    match (&utterance.speaker, &utterance.says) {
        (Speaker::Human { by, .. }, Some(option)) => {
            format!("was answered with {} by {}", code(option), inline(by))
        }
        (_, Some(says)) => format!("ended with {}", code(says)),
        (_, None) => "gave no result".to_string(),
    }
}

/// A finding as a list item, with all its fields.
pub fn finding_text(finding: &Finding) -> String {
    let mut text =
        format!("- {} ({}, {}", code(&finding.id), finding.severity.name(), finding.category.name());
    if let Some(kind) = &finding.kind {
        let _ = write!(text, ", {}", kind.name());
    }
    text.push(')');
    let place = &finding.place;
    if !place.file.is_empty() {
        let line = if place.line > 0 { format!(":{}", place.line) } else { String::new() };
        let _ = write!(text, " in {}", code(&format!("{}{line}", place.file)));
    }
    if !place.symbol.is_empty() {
        let _ = write!(text, ", {}", code(&place.symbol));
    }
    let _ = writeln!(text, ": {}", indented(finding.claim.trim(), 2));
    for (title, said) in [
        ("Evidence", &finding.evidence),
        ("Impact", &finding.impact),
        ("Recommendation", &finding.recommendation),
    ] {
        if !said.trim().is_empty() {
            let _ = writeln!(text, "  - {title}: {}", indented(said.trim(), 4));
        }
    }
    for (title, names) in [("Injected by", &finding.injected_by[..]), ("Task", finding.task.as_slice())] {
        if !names.is_empty() {
            let _ = writeln!(text, "  - {title}: {}", names.join(", "));
        }
    }
    if let Some(repeats) = &finding.repeats {
        let _ = writeln!(text, "  - Repeats: {}", code(repeats));
    }
    if let Some(patch) = &finding.patch {
        let _ = write!(text, "\n{}", fenced(patch, "diff", 2));
    }
    text
}

/// A text as the content of a list item: every line after the first is indented.
pub fn indented(text: &str, indent: usize) -> String {
    let pad = " ".repeat(indent);
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .map(
            |(at, line)| {
                if at == 0 || line.trim().is_empty() { line.to_string() } else { format!("{pad}{line}") }
            },
        )
        .collect();
    lines.join("\n")
}
