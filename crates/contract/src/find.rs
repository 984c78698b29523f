//! Finds the result in an agent's output: the result file, the last fenced block of the answer, or the whole answer.

use super::limits::ResultLimits;
use super::parse::{ResultSyntax, parse_within, utf8};
use super::problem::{ContractProblem, Shortfall};
use serde_json::Value;

/// An agent's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawResult {
    /// Content of the result file that the prompt named, if the agent wrote it.
    pub file: Option<Vec<u8>>,
    /// The agent's last message.
    pub answer: String,
}

impl RawResult {
    /// The text that holds the result: the file, or else the answer if it contains a result.
    pub fn text(&self) -> String {
        let file = self.file.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let has_result = self.answer.contains("```") || self.answer.trim_start().starts_with('{');
        match file.trim().is_empty() {
            false => file.into_owned(),
            true if has_result => self.answer.clone(),
            true => String::new(),
        }
    }
}

/// A document, and the part of the output that contained it.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundResult {
    pub value: Value,
    pub from: ResultOrigin,
}

/// The part of an agent's output that holds the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultOrigin {
    File,
    /// The last fenced block of the answer.
    Block,
    /// The whole answer is one JSON document.
    Answer,
}

impl ResultOrigin {
    pub fn name(self) -> &'static str {
        match self {
            ResultOrigin::File => "the result file",
            ResultOrigin::Block => "the last fenced block of the answer",
            ResultOrigin::Answer => "the answer",
        }
    }
}

/// Finds the one document that is the result. Earlier blocks and blocks inside the document are ignored.
pub fn find(raw: &RawResult, limits: &ResultLimits) -> Result<FoundResult, ContractProblem> {
    if let Some(bytes) = &raw.file
        && !bytes.iter().all(u8::is_ascii_whitespace)
    {
        let found = |value| FoundResult { value, from: ResultOrigin::File };
        return parse_file(bytes, limits)
            .map(found)
            .map_err(|problem| with_origin(problem, ResultOrigin::File));
    }
    if let Some(block) = last_block(&raw.answer)? {
        let found = |value| FoundResult { value, from: ResultOrigin::Block };
        return parse_within(&block.text, block.syntax, limits)
            .map(found)
            .map_err(|problem| with_origin(problem, ResultOrigin::Block));
    }
    let answer = raw.answer.trim();
    if answer.starts_with('{') && answer.ends_with('}') {
        let found = |value| FoundResult { value, from: ResultOrigin::Answer };
        return parse_within(answer, ResultSyntax::Json, limits)
            .map(found)
            .map_err(|problem| with_origin(problem, ResultOrigin::Answer));
    }
    let found = match (&raw.file, answer.is_empty()) {
        (_, true) => "neither; the answer is empty",
        (Some(_), false) => "an empty file, and no fenced block in the answer",
        (None, false) => "no file, and no fenced block in the answer",
    };
    let expected = "the result in its file, or as the last fenced block of the answer";
    Err(ContractProblem::new("", expected, found).with_shortfall(Shortfall::Missing))
}

/// Uses the origin as the path of a problem that has no path.
fn with_origin(mut problem: ContractProblem, from: ResultOrigin) -> ContractProblem {
    if problem.path.is_empty() {
        problem.path = from.name().to_string();
    }
    problem
}

/// Parses the result file. Agents sometimes wrap all of it in a fence.
fn parse_file(bytes: &[u8], limits: &ResultLimits) -> Result<Value, ContractProblem> {
    if bytes.len() > limits.bytes {
        let found = format!("{} bytes", bytes.len());
        return Err(ContractProblem::new("", format!("at most {} bytes", limits.bytes), found));
    }
    let text = utf8(bytes)?;
    let trimmed = text.trim();
    let is_wrapped = Fence::opening(trimmed.lines().next().unwrap_or_default()).is_some();
    match last_block(trimmed)? {
        Some(block) if is_wrapped && block.is_whole => parse_within(&block.text, block.syntax, limits),
        Some(_) | None => parse_within(text, ResultSyntax::Either, limits),
    }
}

struct Block {
    text: String,
    syntax: ResultSyntax,
    /// Whether the block is the whole text, from its first line to its last.
    is_whole: bool,
}

/// The opening line of a fenced block.
struct Fence<'l> {
    indent: usize,
    marker: char,
    length: usize,
    info: &'l str,
}

impl<'l> Fence<'l> {
    fn opening(line: &'l str) -> Option<Fence<'l>> {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        let marker = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = body.trim_start_matches(marker);
        let length = body.len() - rest.len();
        let info = rest.trim();
        (indent <= 3 && length >= 3 && !(marker == '`' && info.contains('`'))).then_some(Fence {
            indent,
            marker,
            length,
            info,
        })
    }

    /// Whether a line closes the block. A fence inside the document does not, since it is indented further.
    fn is_closed_by(&self, line: &str) -> bool {
        Fence::opening(line).is_some_and(|fence| {
            fence.marker == self.marker
                && fence.length >= self.length
                && fence.info.is_empty()
                && fence.indent <= self.indent
        })
    }

    fn syntax(&self) -> Option<ResultSyntax> {
        match self.info.split_whitespace().next().unwrap_or_default().to_lowercase().as_str() {
            "json" => Some(ResultSyntax::Json),
            "" | "yaml" | "yml" => Some(ResultSyntax::Either),
            _ => None,
        }
    }
}

fn last_block(text: &str) -> Result<Option<Block>, ContractProblem> {
    let mut last = None;
    let mut lines = text.lines().enumerate();
    let count = text.lines().count();
    while let Some((start, line)) = lines.next() {
        let Some(fence) = Fence::opening(line) else { continue };
        let mut body = String::new();
        let mut end = None;
        for (at, line) in lines.by_ref() {
            if fence.is_closed_by(line) {
                end = Some(at);
                break;
            }
            let margin = line.len() - line.trim_start_matches(' ').len();
            body.push_str(&line[margin.min(fence.indent)..]);
            body.push('\n');
        }
        let Some(end) = end else {
            let found = format!("one opened on line {} and never closed", start + 1);
            return Err(ContractProblem::new("the answer", "a closed fenced block", found)
                .with_hint("the answer was cut off, or the closing fence is missing"));
        };
        let Some(syntax) = fence.syntax() else { continue };
        last = Some(Block { text: body, syntax, is_whole: start == 0 && end + 1 == count });
    }
    Ok(last)
}
