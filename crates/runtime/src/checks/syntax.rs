//! The built-in check `syntax`: conflict markers in any text, whether JSON, TOML and YAML files can be read, and
//! whether changed source files are sentences of their language.
//!
//! A grammar does not know every construct of its language, and nothing of macros. So what a file had at the base is no
//! defect of a change, and a new file of a language with a preprocessor is left to its compiler.

use granit_parser::Parser as Yaml;
use remand_kernel::change::{TestEnd, TestResult};
use remand_source::{Language, Source};
use std::path::Path;
use std::time::{Duration, Instant};

/// Larger files are data, and are left out.
const LARGEST: u64 = 4 * 1024 * 1024;

/// What is looked at, and with what it is compared.
#[derive(Clone, Copy)]
pub struct Look<'l> {
    pub tree: &'l Path,
    /// The content of a file before the change; none where it is new.
    pub base: &'l dyn Fn(&str) -> Option<Vec<u8>>,
    pub trees: Trees,
}

/// Whether syntax trees are made. Of a base they say nothing: its own errors are what a change is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trees {
    Made,
    Left,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Syntax {
    /// One for each file that is wrong, as `file:line:column: what`.
    pub problems: Vec<String>,
    /// One for each file that cannot be judged, in the same form, with the reason.
    pub unjudged: Vec<String>,
    /// One for each file that was judged.
    pub tests: Vec<TestResult>,
    pub duration: Duration,
}

/// Looks at files of a tree.
pub fn check(look: Look<'_>, files: &[String]) -> Syntax {
    let start = Instant::now();
    let mut found = Syntax::default();
    for file in files {
        let path = look.tree.join(file);
        if path.metadata().is_ok_and(|data| data.len() > LARGEST) {
            continue;
        }
        let Some(text) = std::fs::read(&path).ok().and_then(text) else { continue };
        match look.judge(file, &text) {
            Judged::Good => found.tests.push(TestResult { name: file.clone(), end: TestEnd::Passed }),
            Judged::Bad(problem) => {
                found.tests.push(TestResult { name: file.clone(), end: TestEnd::Failed });
                found.problems.push(problem.at(file));
            }
            Judged::Unjudged(problem, why) => {
                found.unjudged.push(format!("{}; not judged, since {why}", problem.at(file)));
            }
        }
    }
    found.duration = start.elapsed();
    found
}

impl Syntax {
    /// What people read of it.
    pub fn told(&self) -> String {
        let all: Vec<&str> = self.problems.iter().chain(&self.unjudged).map(String::as_str).collect();
        let count = format!("{} files", self.tests.len());
        if self.problems.is_empty() {
            [&[count.as_str()], &all[..]].concat().join("\n")
        } else {
            all.join("\n")
        }
    }
}

/// What is to be said about one file.
enum Judged {
    Good,
    Bad(Problem),
    Unjudged(Problem, &'static str),
}

impl Look<'_> {
    fn judge(&self, file: &str, now: &str) -> Judged {
        let problem = |text: &str| match self.trees {
            Trees::Made => plain_problem(file, text).or_else(|| out_of_grammar(file, text)),
            Trees::Left => plain_problem(file, text),
        };
        let Some(found) = problem(now) else { return Judged::Good };
        let before = (self.base)(file).and_then(text);
        if before.as_deref().is_some_and(|before| problem(before).is_some()) {
            return Judged::Unjudged(found, "the file was no better at the base");
        }
        let is_plain = plain_problem(file, now).is_some();
        if before.is_none() && !is_plain && has_preprocessor(file) {
            return Judged::Unjudged(found, "only a compiler knows the macros of a new file");
        }
        Judged::Bad(found)
    }
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

/// What no grammar is needed for.
fn plain_problem(file: &str, text: &str) -> Option<Problem> {
    conflict(text).or_else(|| unreadable(file, text))
}

/// The first place where a source file is no sentence of its language.
fn out_of_grammar(file: &str, text: &str) -> Option<Problem> {
    let language = Language::of(Path::new(file)).filter(|language| Language::is_code(*language))?;
    if file.contains("{{") || (text.contains("{%") && text.contains("%}")) {
        return None;
    }
    let error = Source::parse(language, text)?.errors().into_iter().next()?;
    let message = format!("no {}: {}", language.name(), error.what);
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

/// The first conflict that a merge left behind: all three markers, in order.
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
    Some(Problem { line: error.line(), column: error.column(), message: format!("no JSON: {message}") })
}

fn toml(text: &str) -> Option<Problem> {
    let error = toml::de::DeTable::parse(text).err()?;
    let head = text.get(..error.span().map_or(0, |span| span.start)).unwrap_or_default();
    let column = head.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    Some(Problem { line: head.matches('\n').count() + 1, column, message: format!("no TOML: {message}") })
}

fn yaml(text: &str) -> Option<Problem> {
    let error = Yaml::new_from_str(text).find_map(Result::err)?;
    let at = error.marker();
    Some(Problem { line: at.line(), column: at.col() + 1, message: format!("no YAML: {}", error.info()) })
}

/// Some tools read JSON with comments under the plain ending.
fn has_comments(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let folders = [".vscode/", ".devcontainer/"];
    let names = ["tsconfig", "jsconfig", ".eslintrc", "api-extractor", "devcontainer"];
    folders.iter().any(|folder| file.contains(folder)) || names.iter().any(|start| name.starts_with(start))
}

/// A template becomes YAML only when it is filled in.
fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}
