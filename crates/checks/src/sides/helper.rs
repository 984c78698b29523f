//! Code that only tests use, in a place that is not a place for tests.

use super::words::{file_name, folder, has_word, stem, words};
use crate::red::BaseFile;

/// Words in paths of helpers.
const WORDS: [&str; 26] = [
    "test",
    "tests",
    "testing",
    "testutil",
    "testutils",
    "testlib",
    "spec",
    "specs",
    "mock",
    "mocks",
    "fake",
    "fakes",
    "stub",
    "stubs",
    "fixture",
    "fixtures",
    "golden",
    "goldens",
    "expect",
    "expected",
    "assert",
    "asserts",
    "assertions",
    "helper",
    "helpers",
    "support",
];

/// What helpers import to check something.
const FRAMEWORKS: [&str; 14] = [
    "unittest",
    "pytest",
    "hypothesis",
    "node:test",
    "node:assert",
    "assert",
    "vitest",
    "@jest/globals",
    "chai",
    "expect",
    "sinon",
    "testing",
    "proptest",
    "pretty_assertions",
];

/// Whether a path can be that of a helper. The entry points of packages cannot.
pub fn may_be_one(path: &str) -> bool {
    !matches!(file_name(path), "__init__.py" | "__main__.py" | "lib.rs" | "main.rs" | "build.rs" | "setup.py")
}

/// Whether tests of the base import a file that production code does not import, and its path or its imports show that it
/// is a helper. The code that a test is about is imported by tests alone too.
pub fn is_one(path: &str, text: &str, tests: &[BaseFile], production: &[BaseFile]) -> bool {
    let is_named_so = words(path).any(|word| WORDS.contains(&word.as_str()));
    if !is_named_so && !imports(text).any(|line| FRAMEWORKS.iter().any(|framework| has_word(line, framework)))
    {
        return false;
    }
    let name = match stem(path) {
        // A package is imported by the name of its folder.
        "mod" | "index" => file_name(folder(path)),
        stem => stem,
    };
    // Go imports folders.
    let name = if path.ends_with(".go") { file_name(folder(path)) } else { name };
    let is_imported =
        |file: &BaseFile| file.path != path && imports(&file.text).any(|line| has_word(line, name));
    let is_other_package = |file: &&BaseFile| !(path.ends_with(".go") && folder(&file.path) == folder(path));
    tests.iter().any(is_imported) && !production.iter().filter(is_other_package).any(is_imported)
}

/// The lines that import something; for Go, the lines with nothing but a quoted path too.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| {
        let starts = [
            "import ", "import{", "from ", "use ", "pub use ", "mod ", "pub mod ", "export ", "} from",
            "#[path", "include!",
        ];
        starts.iter().any(|start| line.starts_with(start))
            || ["require(", "import(", "__import__(", "import_module(", "pytest_plugins", "include!("]
                .iter()
                .any(|call| line.contains(call))
            || (line.starts_with('"') && line.ends_with('"'))
    })
}
