//! The built-in check `syntax`: conflict markers in any text, and whether JSON, TOML and YAML files can be read.

use granit_parser::Parser as Yaml;
use remand_kernel::change::{TestEnd, TestResult};
use std::path::Path;
use std::time::{Duration, Instant};

/// Larger files are data, and are left out.
const LARGEST: u64 = 4 * 1024 * 1024;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Syntax {
    /// One for each file that is wrong, as `file:line:column: what`.
    pub problems: Vec<String>,
    /// One for each file that was looked at.
    pub tests: Vec<TestResult>,
    pub duration: Duration,
}

/// Looks at files of a tree.
pub fn check(tree: &Path, files: &[String]) -> Syntax {
    let start = Instant::now();
    let mut found = Syntax::default();
    for file in files {
        let path = tree.join(file);
        if path.metadata().is_ok_and(|data| data.len() > LARGEST) {
            continue;
        }
        let Some(text) = std::fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
            continue;
        };
        let problem = conflict(&text).or_else(|| unreadable(file, &text));
        let end = if problem.is_some() { TestEnd::Failed } else { TestEnd::Passed };
        found.tests.push(TestResult { name: file.clone(), end });
        found.problems.extend(
            problem.map(|problem| format!("{file}:{}:{}: {}", problem.line, problem.column, problem.message)),
        );
    }
    found.duration = start.elapsed();
    found
}

struct Problem {
    line: usize,
    column: usize,
    message: String,
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
