//! Data that tests read while they run: expected output, recorded answers, tables of cases.

use super::words::{file_name, folder, has_word};
use crate::red::BaseFile;

/// Extensions of files that hold expectations. A file with another extension, such as a script or a style sheet, counts as
/// production code.
const EXTENSIONS: [&str; 26] = [
    "txt", "json", "jsonl", "ndjson", "yaml", "yml", "csv", "tsv", "xml", "html", "svg", "md", "golden",
    "snap", "snapshot", "expected", "approved", "out", "output", "stdout", "stderr", "dat", "data", "bin",
    "log", "ron",
];

/// Names of files in these formats that tools of production code read.
const TOOLS: [&str; 12] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "composer.json",
    "deno.json",
    "jsconfig.json",
    "tslint.json",
    "angular.json",
    "lerna.json",
    "nx.json",
    "turbo.json",
    "requirements.txt",
];

/// Whether a file may hold what tests expect.
pub fn may_be_expected(path: &str) -> bool {
    let name = file_name(path);
    let is_tool = TOOLS.contains(&name) || name.starts_with("tsconfig") || name.starts_with("requirements");
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    !is_tool && extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// Whether a data file is read by tests rather than by production code: whoever names the file itself counts more than
/// whoever names its folder.
pub fn is_of_tests(path: &str, tests: &[BaseFile], production: &[BaseFile]) -> bool {
    let (name, folder) = (file_name(path), file_name(folder(path)));
    let names_file = |code: &[BaseFile]| code.iter().any(|file| has_word(&file.text, name));
    let names_folder =
        |code: &[BaseFile]| folder.len() > 2 && code.iter().any(|file| is_quoted(&file.text, folder));
    !names_file(production) && (names_file(tests) || !names_folder(production))
}

/// Whether a name is a part of a string literal, alone or in a path.
fn is_quoted(text: &str, name: &str) -> bool {
    let ends = |c: char| matches!(c, '"' | '\'' | '`' | '/' | '\\');
    text.match_indices(name)
        .any(|(at, _)| text[..at].ends_with(ends) && text[at + name.len()..].starts_with(ends))
}
