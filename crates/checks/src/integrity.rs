//! Finds tests that a change removes, switches off or weakens, and changes of test settings.
//!
//! Works on text alone, so it works even where nothing can run. A change that the plan announces becomes a note,
//! not a finding.

use super::asked::{asks_to_change, names};
use super::deciding::decides;
use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use remand_source::tests::{self, TestFile, Weakening, WeakeningKind};
use remand_source::{Language, ParsedSource};
use std::collections::BTreeSet;
use std::path::Path;

/// Words that a request about test settings contains.
const SETTINGS: [&str; 12] = [
    "test",
    "tests",
    "Test",
    "Tests",
    "script",
    "scripts",
    "config",
    "configuration",
    "settings",
    "workflow",
    "CI",
    "pipeline",
];

/// The content of a changed file; `None` if it does not exist or is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub path: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// What the plan or the request announces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// Tests that will be removed or changed, by name; a path stands for all tests in it.
    pub tests: Vec<String>,
    /// Files that will change.
    pub files: Vec<String>,
    /// The request itself, where there is no plan.
    pub request: String,
}

/// What is known from before the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeChange {
    pub had_tests: HadTests,
    /// Tests that failed before, by the runner's names.
    pub failed: Vec<String>,
    /// The folders in which checks start, relative to the root.
    pub folders: BTreeSet<String>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    pub findings: Vec<Finding>,
    /// For reviewers: what was announced, and what only a reader can judge.
    pub notes: Vec<String>,
    /// Names of renamed tests, before and after.
    pub renamed: Vec<(String, String)>,
}

/// Judges a change. New settings count only where tests ran before.
pub fn integrity(edited: &[Edited], announced: &Announced, known: &BeforeChange) -> Integrity {
    let mut found = Integrity::default();
    let side = |of: fn(&Edited) -> Option<&str>| -> Vec<TestFile> {
        edited.iter().filter_map(|file| test_file(&file.path, of(file).unwrap_or_default())).collect()
    };
    let (before, after) = (side(|file| file.before.as_deref()), side(|file| file.after.as_deref()));
    for weakening in tests::compare(&before, &after) {
        found.add_weakening(&weakening, announced, &known.failed);
    }
    for file in edited {
        let is_new = file.before.is_none();
        if is_new && known.had_tests == HadTests::No {
            continue;
        }
        let (before, after) = (file.before.as_deref(), file.after.as_deref());
        if let Some(what) = decides(&file.path, before, after, &known.folders) {
            found.add_settings(&file.path, what, announced);
        }
    }
    found
}

/// Whether tests ran before the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HadTests {
    Yes,
    No,
}

/// Whether `integrity` reported the finding, so that something must be restored.
pub fn is_about_tests(finding: &Finding) -> bool {
    finding.id.starts_with("tests:") || finding.id.starts_with("settings:")
}

/// Whether a file may concern tests: source of a known language, or settings.
pub fn concerns(path: &Path, folders: &BTreeSet<String>) -> bool {
    let is_code = Language::of(path).is_some_and(|language| match language {
        Language::Rust
        | Language::Python
        | Language::JavaScript
        | Language::TypeScript
        | Language::Tsx
        | Language::Go
        | Language::Java => true,
        Language::C | Language::Cpp | Language::Yaml | Language::Json | Language::Toml => false,
    });
    is_code
        || path
            .to_str()
            .is_some_and(|path| decides(path, None, Some(""), folders).is_some() || holds_settings(path))
}

fn holds_settings(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "setup.cfg",
        "conftest.py",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "CMakeLists.txt",
        "Makefile",
        "makefile",
        "GNUmakefile",
        "justfile",
        "Justfile",
    ]
    .contains(&name)
        || name.starts_with("vite.config.")
}

fn test_file(path: &str, text: &str) -> Option<TestFile> {
    let source = ParsedSource::parse(Language::of(Path::new(path))?, text)?;
    Some(TestFile { path: path.to_string(), tests: source.tests() })
}

impl Integrity {
    fn add_weakening(&mut self, weakening: &Weakening, announced: &Announced, failed: &[String]) {
        let own = weakening.path.last().cloned().unwrap_or_default();
        if let WeakeningKind::Renamed { path, .. } = &weakening.kind {
            self.renamed.push((own.clone(), path.last().cloned().unwrap_or_default()));
        }
        // A failing test that is rewritten to match the code would pass without any work.
        let is_fitted = matches!(weakening.kind, WeakeningKind::Rewritten(_))
            && failed.iter().any(|test| ends_with_name(test, &own));
        let claim = if is_fitted {
            format!("{}; it failed before the change", claim(weakening))
        } else {
            claim(weakening)
        };
        if !weakening.kind.is_worse() && !is_fitted {
            self.notes.push(claim);
        } else if announced.has_test(&weakening.file, &weakening.path) {
            self.notes.push(format!("{claim}, as announced"));
        } else {
            let id = format!("tests:{}:{}", weakening.file, weakening.path.join("::"));
            let place = Location {
                file: weakening.file.clone(),
                symbol: own,
                line: u32::try_from(weakening.line).unwrap_or(0),
            };
            let remedy = "restore the test and make the code pass it; to remove or change a test, the plan \
                          must announce it in `removes_tests` of the task";
            self.findings.push(finding(id, place, claim, remedy));
        }
    }

    fn add_settings(&mut self, path: &str, what: &str, announced: &Announced) {
        let claim = format!("the change touches `{path}`, which decides {what}");
        if announced.has_file(path) {
            self.notes.push(format!("{claim}, as announced"));
            return;
        }
        let place = Location { file: path.to_string(), ..Location::default() };
        let remedy =
            "restore it; to change what is tested, the plan must list the file among the files of the task";
        self.findings.push(finding(format!("settings:{path}"), place, claim, remedy));
    }
}

fn claim(weakening: &Weakening) -> String {
    let Weakening { file, path, kind, .. } = weakening;
    let test = format!("the test `{}` of {file}", path.join("::"));
    match kind {
        WeakeningKind::Removed => format!("{test} is removed"),
        WeakeningKind::SwitchedOff(mark) => format!("{test} is switched off by `{mark}`"),
        WeakeningKind::Inverted(mark) => format!("`{mark}` makes {test} pass when it fails"),
        WeakeningKind::Alone(mark) => format!("`{mark}` on {test} keeps other tests from running"),
        WeakeningKind::Emptied => format!("{test} is empty now"),
        WeakeningKind::LeavesEarly => format!("{test} returns before its assertions"),
        WeakeningKind::Void(text) => format!("{test} has an assertion that cannot fail: `{}`", short(text)),
        WeakeningKind::Fewer { from, to } => {
            format!("{test} has {to} assertions; before the change it had {from}")
        }
        WeakeningKind::Weaker { from, to } => {
            format!(
                "{test} compares values {to} times instead of {from}; its other assertions only check for presence"
            )
        }
        WeakeningKind::Wider(text) => format!("{test} allows a larger deviation: `{}`", short(text)),
        WeakeningKind::Rewritten(count) => {
            format!("{test} has {count} changed assertions; a reader must judge whether they are as strict")
        }
        WeakeningKind::Renamed { file: to, path } => format!("{test} is now `{}` of {to}", path.join("::")),
    }
}

fn short(text: &str) -> String {
    text.chars().take(120).collect()
}

fn finding(id: String, place: Location, claim: String, remedy: &str) -> Finding {
    Finding {
        id,
        severity: Severity::Critical,
        category: Category::Correctness,
        kind: Some(FindingKind::Production),
        injected_by: Vec::new(),
        task: None,
        place,
        claim,
        evidence: "the engine compared the text before and after the change".to_string(),
        impact: "a green check would prove less than before".to_string(),
        recommendation: remedy.to_string(),
        patch: None,
        repeats: None,
    }
}

impl Announced {
    /// Whether the removal or change of a test is announced.
    pub fn has_test(&self, file: &str, path: &[String]) -> bool {
        let own = path.last().map_or("", String::as_str);
        let full = format!("{file} {}", path.join(" "));
        let named = self.tests.iter().any(|entry| {
            let is_place = entry == file || (entry.ends_with('/') && file.starts_with(entry.as_str()));
            is_place || (ends_with_name(entry, own) && words(entry).all(|word| full.contains(word)))
        });
        named || asks_to_change(&self.request, own)
    }

    /// The same for a test name as the runner reports it.
    pub fn has_run(&self, test: &str) -> bool {
        let test = test.split('[').next().unwrap_or(test);
        let fits = |entry: &&String| words(entry).next_back().is_some_and(|own| ends_with_name(test, own));
        self.tests.iter().any(|entry| fits(&entry))
            || self.tests.iter().any(|entry| entry.contains('/') && test.starts_with(entry.as_str()))
            || words(test).next_back().is_some_and(|own| asks_to_change(&self.request, own))
    }

    fn has_file(&self, path: &str) -> bool {
        let covers =
            |entry: &String| entry == path || (entry.ends_with('/') && path.starts_with(entry.as_str()));
        let name = path.rsplit('/').next().unwrap_or(path);
        self.files.iter().any(covers) || (self.asks_for_settings() && names(&self.request, name))
    }

    fn asks_for_settings(&self) -> bool {
        SETTINGS.iter().any(|word| names(&self.request, word))
    }
}

/// Whether a qualified test name ends with this name.
pub fn ends_with_name(long: &str, own: &str) -> bool {
    let long = long.split('[').next().unwrap_or(long).trim_end();
    let Some(rest) = long.strip_suffix(own) else { return false };
    !own.is_empty() && !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn words(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split([':', '.', '>', '#', ' ', '/']).filter(|word| !word.is_empty())
}

#[cfg(test)]
#[path = "integrity_tests.rs"]
mod integrity_tests;
