//! The built-in check `syntax`: conflict markers in any text, unreadable JSON, TOML and YAML, and syntax errors in
//! changed source files.
//!
//! A grammar does not know every construct of its language, and nothing about macros. So a file that had an error at the
//! base is not judged, and a new file of a language with a preprocessor is left to its compiler.

use super::context::{BaseFiles, CheckContext, FileScope};
use granit_parser::Parser as Yaml;
use remand_kernel::change::{TestEnd, TestResult};
use remand_source::{Language, ParsedSource};
use std::path::Path;
use std::time::{Duration, Instant};

/// Larger files are data and are skipped.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Which files are checked, and what they are compared with.
#[derive(Clone, Copy)]
pub struct SyntaxCheck<'l> {
    tree: &'l Path,
    base: BaseFiles<'l>,
    grammars: Grammars,
}

/// Whether source files are parsed. A baseline has no use for it: the base's own errors are what a change is compared
/// with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grammars {
    Used,
    Unused,
}

/// What the check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyntaxResult {
    /// One for each file with an error, as `file:line:column: what`.
    pub problems: Vec<String>,
    /// One for each file that cannot be judged, in the same form, with the reason.
    pub unjudged: Vec<String>,
    /// One for each file that was judged.
    pub tests: Vec<TestResult>,
    pub duration: Duration,
}

impl<'l> SyntaxCheck<'l> {
    pub fn of(context: &CheckContext<'l>) -> SyntaxCheck<'l> {
        let grammars = match context.files {
            FileScope::Whole => Grammars::Unused,
            FileScope::Changed(_) => Grammars::Used,
        };
        SyntaxCheck { tree: context.tree, base: context.base, grammars }
    }

    /// Checks files of the tree.
    pub fn run(&self, files: &[String]) -> SyntaxResult {
        let start = Instant::now();
        let mut found = SyntaxResult::default();
        for file in files {
            let path = self.tree.join(file);
            if path.metadata().is_ok_and(|data| data.len() > LARGEST) {
                continue;
            }
            // Files that are gone or not text are not judged.
            let Some(text) = std::fs::read(&path).ok().and_then(text) else { continue };
            match self.judge(file, &text) {
                Judgement::Good => found.tests.push(TestResult { name: file.clone(), end: TestEnd::Passed }),
                Judgement::Bad(problem) => {
                    found.tests.push(TestResult { name: file.clone(), end: TestEnd::Failed });
                    found.problems.push(problem.at(file));
                }
                Judgement::Unknown(problem, why) => {
                    found.unjudged.push(format!("{}; not judged, because {why}", problem.at(file)));
                }
            }
        }
        found.duration = start.elapsed();
        found
    }

    fn judge(&self, file: &str, now: &str) -> Judgement {
        let problem = |text: &str| match self.grammars {
            Grammars::Used => plain_problem(file, text).or_else(|| out_of_grammar(file, text)),
            Grammars::Unused => plain_problem(file, text),
        };
        let Some(found) = problem(now) else { return Judgement::Good };
        let before = self.base.read(file).and_then(text);
        if before.as_deref().is_some_and(|before| problem(before).is_some()) {
            return Judgement::Unknown(found, "the file had an error at the base too");
        }
        let is_plain = plain_problem(file, now).is_some();
        if before.is_none() && !is_plain && has_preprocessor(file) {
            return Judgement::Unknown(found, "only a compiler knows the macros of a new file");
        }
        Judgement::Bad(found)
    }
}

impl SyntaxResult {
    /// The text that people read.
    pub fn report(&self) -> String {
        let all: Vec<&str> = self.problems.iter().chain(&self.unjudged).map(String::as_str).collect();
        let count = format!("{} files", self.tests.len());
        if self.problems.is_empty() {
            [&[count.as_str()], &all[..]].concat().join("\n")
        } else {
            all.join("\n")
        }
    }
}

/// The judgement on one file.
enum Judgement {
    Good,
    Bad(Problem),
    Unknown(Problem, &'static str),
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

/// Problems that need no grammar.
fn plain_problem(file: &str, text: &str) -> Option<Problem> {
    conflict(text).or_else(|| unreadable(file, text))
}

/// The first syntax error of a source file.
fn out_of_grammar(file: &str, text: &str) -> Option<Problem> {
    let language = Language::of(Path::new(file)).filter(|language| Language::is_code(*language))?;
    if file.contains("{{") || (text.contains("{%") && text.contains("%}")) {
        return None;
    }
    let error = ParsedSource::parse(language, text)?.errors().into_iter().next()?;
    let message = format!("invalid {}: {}", language.name(), error.what);
    Some(Problem { line: error.line, column: error.column, message })
}

fn has_preprocessor(file: &str) -> bool {
    matches!(Language::of(Path::new(file)), Some(Language::C | Language::Cpp))
}

struct Problem {
    line: usize,
    column: usize,
    message: String,
}

impl Problem {
    fn at(&self, file: &str) -> String {
        format!("{file}:{}:{}: {}", self.line, self.column, self.message)
    }
}

/// The first unresolved merge conflict: all three markers, in order.
fn conflict(text: &str) -> Option<Problem> {
    let markers: [fn(&str) -> bool; 3] =
        [|line| line.starts_with("<<<<<<< "), |line| line == "=======", |line| line.starts_with(">>>>>>> ")];
    let mut start = 0;
    let mut next = 0;
    for (at, line) in text.lines().enumerate() {
        if markers[0](line) {
            (start, next) = (at + 1, 1);
        } else if next > 0 && markers[next](line) {
            next += 1;
        }
        if next == markers.len() {
            let message = "a merge conflict was left here".to_string();
            return Some(Problem { line: start, column: 1, message });
        }
    }
    None
}

fn unreadable(file: &str, text: &str) -> Option<Problem> {
    match Path::new(file).extension()?.to_str()? {
        "json" if !has_comments(file) => json(text),
        "toml" => toml(text),
        "yaml" | "yml" if !is_template(text) => yaml(text),
        _ => None,
    }
}

fn json(text: &str) -> Option<Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    Some(Problem { line: error.line(), column: error.column(), message: format!("invalid JSON: {message}") })
}

fn toml(text: &str) -> Option<Problem> {
    let error = toml::de::DeTable::parse(text).err()?;
    let head = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
    let column = head.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    Some(Problem {
        line: head.matches('\n').count() + 1,
        column,
        message: format!("invalid TOML: {message}"),
    })
}

fn yaml(text: &str) -> Option<Problem> {
    let error = Yaml::new_from_str(text).find_map(Result::err)?;
    let at = error.marker();
    Some(Problem {
        line: at.line(),
        column: at.col() + 1,
        message: format!("invalid YAML: {}", error.info()),
    })
}

/// Some tools read JSON with comments under the plain ending.
fn has_comments(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let folders = [".vscode/", ".devcontainer/"];
    let names = ["tsconfig", "jsconfig", ".eslintrc", "api-extractor", "devcontainer"];
    folders.iter().any(|folder| file.contains(folder)) || names.iter().any(|start| name.starts_with(start))
}

/// A template becomes YAML only after it is filled in.
fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}
