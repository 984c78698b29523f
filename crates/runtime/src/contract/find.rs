//! Finds the result in what an agent left: the result file, else the last fenced block of its answer.

use super::limits::Limits;
use super::parse::{Language, parse_within, utf8};
use super::problem::Problem;
use super::shortfall::ONE_RESULT;
use serde_json::Value;

/// What an agent left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawResult {
    /// The content of the result file that the prompt named, where there is one.
    pub file: Option<Vec<u8>>,
    /// The agent's last message.
    pub answer: String,
}

impl RawResult {
    /// The text that holds the result: the file, else an answer that has one in it.
    pub fn words(&self) -> String {
        let file = self.file.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let answers = self.answer.contains("```") || self.answer.trim_start().starts_with('{');
        match file.trim().is_empty() {
            false => file.into_owned(),
            true if answers => self.answer.clone(),
            true => String::new(),
        }
    }
}

/// A document, and where it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub value: Value,
    pub from: Origin,
}

/// Where a result was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    File,
    /// The last fenced block of the answer.
    Block,
    /// The answer itself is one JSON document.
    Answer,
}

impl Origin {
    pub fn name(self) -> &'static str {
        match self {
            Origin::File => "the result file",
            Origin::Block => "the last fenced block of the answer",
            Origin::Answer => "the answer",
        }
    }
}

/// Finds the one document that is the result. Earlier blocks, and text inside the document, never count.
pub fn find(raw: &RawResult, limits: &Limits) -> Result<Found, Problem> {
    if let Some(bytes) = &raw.file
        && !bytes.iter().all(u8::is_ascii_whitespace)
    {
        let found = |value| Found { value, from: Origin::File };
        return from_file(bytes, limits).map(found).map_err(|problem| located(problem, Origin::File));
    }
    if let Some(block) = last_block(&raw.answer)? {
        let found = |value| Found { value, from: Origin::Block };
        return parse_within(&block.text, block.language, limits)
            .map(found)
            .map_err(|problem| located(problem, Origin::Block));
    }
    let answer = raw.answer.trim();
    if answer.starts_with('{') && answer.ends_with('}') {
        let found = |value| Found { value, from: Origin::Answer };
        return parse_within(answer, Language::Json, limits)
            .map(found)
            .map_err(|problem| located(problem, Origin::Answer));
    }
    let found = match (&raw.file, answer.is_empty()) {
        (_, true) => "neither: the answer is empty",
        (Some(_), false) => "an empty file, and no fenced block in the answer",
        (None, false) => "no file, and no fenced block in the answer",
    };
    Err(Problem::new("", ONE_RESULT, found))
}

fn located(mut problem: Problem, from: Origin) -> Problem {
    if problem.path.is_empty() {
        problem.path = from.name().to_string();
    }
    problem
}

/// A result file may be wrapped in one fence, as an answer would be.
fn from_file(bytes: &[u8], limits: &Limits) -> Result<Value, Problem> {
    if bytes.len() > limits.bytes {
        let found = format!("{} bytes", bytes.len());
        return Err(Problem::new("", format!("at most {} bytes", limits.bytes), found));
    }
    let text = utf8(bytes)?;
    let trimmed = text.trim();
    let wrapped = Fence::opening(trimmed.lines().next().unwrap_or_default()).is_some();
    match last_block(trimmed)? {
        Some(block) if wrapped && block.is_whole => parse_within(&block.text, block.language, limits),
        Some(_) | None => parse_within(text, Language::Either, limits),
    }
}

struct Block {
    text: String,
    language: Language,
    /// The block begins with the first line of the text and ends with its last.
    is_whole: bool,
}

/// A line that opens a fenced block.
struct Fence<'l> {
    indent: usize,
    mark: char,
    length: usize,
    info: &'l str,
}

impl<'l> Fence<'l> {
    fn opening(line: &'l str) -> Option<Fence<'l>> {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = body.trim_start_matches(mark);
        let length = body.len() - rest.len();
        let info = rest.trim();
        (indent <= 3 && length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Fence {
            indent,
            mark,
            length,
            info,
        })
    }

    /// A fence inside the document is indented further than the block's own: it does not end the block.
    fn is_closed_by(&self, line: &str) -> bool {
        Fence::opening(line).is_some_and(|fence| {
            fence.mark == self.mark
                && fence.length >= self.length
                && fence.info.is_empty()
                && fence.indent <= self.indent
        })
    }

    fn language(&self) -> Option<Language> {
        match self.info.split_whitespace().next().unwrap_or_default().to_lowercase().as_str() {
            "json" => Some(Language::Json),
            "" | "yaml" | "yml" => Some(Language::Either),
            _ => None,
        }
    }
}

fn last_block(text: &str) -> Result<Option<Block>, Problem> {
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
            let found = format!("one that line {} opens and nothing closes", start + 1);
            return Err(Problem::new("the answer", "a closed fenced block", found)
                .hinting("the answer was cut off, or the closing fence is missing"));
        };
        let Some(language) = fence.language() else { continue };
        last = Some(Block { text: body, language, is_whole: start == 0 && end + 1 == count });
    }
    Ok(last)
}
