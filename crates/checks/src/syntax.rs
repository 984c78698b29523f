//! The built-in check `syntax`: conflict markers in any text, invalid JSON, TOML and YAML, and syntax errors in changed
//! source files.
//!
//! A grammar may miss constructs of its language and knows nothing about macros. So a file that had an error at the base
//! is not judged, and a new file of a language with a preprocessor is left to its compiler.

use super::context::{BaseFiles, CheckContext, FileScope};
use granit_parser::Parser as Yaml;
use remand_kernel::change::{TestEnd, TestResult};
use remand_source::{Language, ParsedSource};
use std::path::Path;
use std::time::{Duration, Instant};

/// Larger files are data and are skipped.
const MAX_FILE_SIZE: u64 = 4 * 1024 * 1024;

/// The tree whose files are checked, and the base that they are compared with.
#[derive(Clone, Copy)]
pub struct SyntaxCheck<'l> {
    tree: &'l Path,
    base: BaseFiles<'l>,
    grammars: Grammars,
}

/// Whether source files are parsed. A baseline skips this: `judge` parses the base when it compares a change with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grammars {
    Used,
    Unused,
}

/// The result of the check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyntaxResult {
    /// One for each file with an error, as `file:line:column: message`.
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
            if path.metadata().is_ok_and(|data| data.len() > MAX_FILE_SIZE) {
                continue;
            }
            // Files that are gone or not text are not judged.
            let Some(text) = std::fs::read(&path).ok().and_then(decode) else { continue };
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
            Grammars::Used => plain_problem(file, text).or_else(|| syntax_error(file, text)),
            Grammars::Unused => plain_problem(file, text),
        };
        let Some(found) = problem(now) else { return Judgement::Good };
        let before = self.base.read(file).and_then(decode);
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
    /// The human-readable output of the check.
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

fn decode(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

/// The first problem that is found without a grammar.
fn plain_problem(file: &str, text: &str) -> Option<Problem> {
    conflict(text).or_else(|| invalid_data(file, text))
}

/// The first syntax error of a source file.
fn syntax_error(file: &str, text: &str) -> Option<Problem> {
    let language = Language::of(Path::new(file)).filter(|language| Language::is_code(*language))?;
    if file.contains("{{") || (text.contains("{%") && text.contains("%}")) {
        return None;
    }
    let error = ParsedSource::parse(language, text)?.errors().into_iter().next()?;
    let message = format!("invalid {}: {}", language.name(), error.message);
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
            let message = "unresolved merge conflict".to_string();
            return Some(Problem { line: start, column: 1, message });
        }
    }
    None
}

fn invalid_data(file: &str, text: &str) -> Option<Problem> {
    match Path::new(file).extension()?.to_str()? {
        "json" if !may_have_comments(file) => json(text),
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

/// Whether a `.json` file may have comments, which some tools allow.
fn may_have_comments(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let folders = [".vscode/", ".devcontainer/"];
    let prefixes = ["tsconfig", "jsconfig", ".eslintrc", "api-extractor", "devcontainer"];
    folders.iter().any(|folder| file.contains(folder))
        || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether the text is a template, which becomes YAML only when it is filled in.
fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}
