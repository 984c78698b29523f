//! Old tests that do not build with the changed code: those that are not at fault are kept, so that each test is judged by
//! itself.

use super::GoneNames;
use crate::sides::{Half, Sides};
use remand_source::{Language, ParsedSource, with_failing_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Precedes the tests that cannot be built, at the end of an output.
const UNBUILT: &str = "--- tests that cannot be built with the new code ---\n";

/// The longest message of a compiler that is kept.
const MAX_MESSAGE: usize = 160;

/// A file with old tests, in the tree with the changed code.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OldFile {
    text: String,
    /// The file without tests; `None` if nothing is left of it.
    without_tests: Option<String>,
}

/// The files with old tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mended {
    files: BTreeMap<String, OldFile>,
    /// Tests that cannot be built, each with what the compiler says.
    unbuilt: Vec<(String, String)>,
    has_stripped: bool,
}

/// An error of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BuildError {
    file: String,
    line: usize,
    message: String,
}

impl Mended {
    /// The files as they are before anything is mended.
    pub fn new(sides: &Sides) -> Mended {
        let composition = sides.with_tests_of(Half::Base);
        let mut files = BTreeMap::new();
        for (file, _) in sides.of_tests() {
            let path = Path::new(&file.path);
            if !Language::of(path).is_some_and(Language::is_code) {
                continue;
            }
            let text = if composition.whole.contains(path) {
                file.base.text().map(str::to_string)
            } else {
                composition.mixed.get(path).cloned()
            };
            let Some(text) = text else { continue };
            files.insert(file.path.clone(), OldFile { text, without_tests: sides.without_tests(&file.path) });
        }
        Mended { files, ..Mended::default() }
    }

    /// The tests that cannot be built so far, as the last section of an output.
    pub fn section(&self) -> String {
        unbuilt_section(&self.unbuilt)
    }
}

/// Changes the old tests so that the others can run, and returns the files that differ. `None` if nothing can be done.
/// The checks start in `folders`.
pub fn mend(
    mended: &mut Mended,
    output: &str,
    folders: &BTreeSet<String>,
    names: &GoneNames,
) -> Option<BTreeMap<PathBuf, Option<String>>> {
    let mut by_file: BTreeMap<String, Vec<BuildError>> = BTreeMap::new();
    for error in build_errors(output) {
        let known = mended.files.keys().find(|path| is_at(path, &error.file, folders));
        if let Some(path) = known.cloned() {
            by_file.entry(path).or_default().push(error);
        }
    }
    let mut changed = BTreeMap::new();
    if !mended.has_stripped {
        mended.has_stripped = true;
        for (path, file) in &mut mended.files {
            let Some(language) = Language::of(Path::new(path)) else { continue };
            let text = names.without_imports_in(language, &file.text);
            if text != file.text {
                file.text.clone_from(&text);
                changed.insert(PathBuf::from(path), Some(text));
            }
        }
        if !changed.is_empty() {
            return Some(changed);
        }
    }
    for (path, errors) in by_file {
        let Some(file) = mended.files.get_mut(&path) else { continue };
        let Some(language) = Language::of(Path::new(&path)) else { continue };
        let lines: BTreeSet<usize> = errors.iter().map(|error| error.line).collect();
        let first = errors.first().map(|error| error.message.clone()).unwrap_or_default();
        match with_failing_tests(language, &file.text, &lines) {
            Some((text, tests)) => {
                mended.unbuilt.extend(tests.into_iter().map(|test| (test.join("::"), first.clone())));
                file.text.clone_from(&text);
                changed.insert(PathBuf::from(&path), Some(text));
            }
            None => {
                let source = ParsedSource::parse(language, &file.text);
                let tests = source.map(|source| source.tests()).unwrap_or_default();
                mended.unbuilt.extend(tests.into_iter().map(|test| (test.path.join("::"), first.clone())));
                let rest = file.without_tests.clone();
                mended.files.remove(&path);
                changed.insert(PathBuf::from(&path), rest);
            }
        }
    }
    (!changed.is_empty()).then_some(changed)
}

/// Tests that cannot be built, as the last section of an output.
pub fn unbuilt_section(tests: &[(String, String)]) -> String {
    let lines: String = tests.iter().map(|(test, message)| format!("{test}\t{message}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n{UNBUILT}{lines}") }
}

/// The tests that an output lists as those that cannot be built, each with the reason.
pub fn unbuilt(output: &str) -> Vec<(String, String)> {
    let section = output.rsplit_once(UNBUILT).map_or("", |(_, section)| section);
    let line = |line: &str| line.split_once('\t').map(|(test, why)| (test.to_string(), why.to_string()));
    section.lines().filter_map(line).collect()
}

/// Whether a file in an output of a check is the one at this path.
fn is_at(path: &str, shown: &str, folders: &BTreeSet<String>) -> bool {
    let shown = shown.trim_start_matches("./");
    path == shown
        || shown.ends_with(&format!("/{path}"))
        || folders
            .iter()
            .any(|folder| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest == format!("/{shown}")))
        || path.ends_with(&format!("/{shown}"))
}

/// The errors of compilers in an output, with their places.
fn build_errors(output: &str) -> Vec<BuildError> {
    let mut found = Vec::new();
    let mut heading: Option<&str> = None;
    for line in output.lines() {
        let trimmed = line.trim_start();
        if let Some(place) = trimmed.strip_prefix("--> ") {
            // Only the first place of an error is that of the error.
            let error = heading.take().and_then(|message| place_of(place, message));
            found.extend(error);
        } else if trimmed.starts_with("error") {
            heading = Some(trimmed);
        } else if trimmed.starts_with("warning") {
            heading = None;
        } else if [".go:", ".java:"].iter().any(|extension| trimmed.contains(extension)) {
            let bare = trimmed.trim_start_matches("vet: ").trim_start_matches("[ERROR] ");
            found.extend(place_of(bare, ""));
        }
    }
    found
}

/// Reads `file:line:column`, with a message after it for some compilers.
fn place_of(text: &str, message: &str) -> Option<BuildError> {
    let (file, rest) = text.split_once(':')?;
    let rest = rest.trim_start_matches('[');
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let line = rest[..digits].parse().ok()?;
    let after =
        rest[digits..].trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ':' | ',' | ']' | ' '));
    let message = if message.is_empty() { after } else { message };
    let message = message.chars().take(MAX_MESSAGE).collect();
    (!file.contains(' ')).then(|| BuildError { file: file.to_string(), line, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    // TE-01
    #[test]
    fn errors_of_compilers_have_a_place_and_a_message() {
        let rust = "warning: unused\n --> src/lib.rs:1:1\nerror[E0061]: this function takes 2 arguments\n  --> tests/fee.rs:7:16\n   |\n\
                    note: function defined here\n  --> src/lib.rs:1:8\n";
        let go = "# demo [demo.test]\n./fee_test.go:6:9: not enough arguments in call to Fee\nvet: ./a_test.go:3:2: undefined: B\n";
        let of = |output: &str| -> Vec<(String, usize, String)> {
            build_errors(output).into_iter().map(|error| (error.file, error.line, error.message)).collect()
        };
        let rust_message = "error[E0061]: this function takes 2 arguments".to_string();
        assert_eq!(of(rust), [("tests/fee.rs".to_string(), 7, rust_message)]);
        assert_eq!(
            of(go),
            [
                ("./fee_test.go".to_string(), 6, "not enough arguments in call to Fee".to_string()),
                ("./a_test.go".to_string(), 3, "undefined: B".to_string())
            ]
        );
        let listed = vec![("tests::a".to_string(), "error: no".to_string())];
        assert_eq!(unbuilt(&format!("out\n{}", unbuilt_section(&listed))), listed);
    }
}
