//! Recognises test files by name.

use std::path::Path;

/// Whether a file is a test file by the naming conventions of supported languages.
pub fn is_test_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (stem, extension) = name.split_once('.').unwrap_or((&name, ""));
    let folders: &[&str] = match extension {
        // A module of production code may be called `test` or `spec`.
        "rs" => &["tests"],
        _ => &["test", "tests", "__tests__", "__snapshots__", "testdata", "spec"],
    };
    let is_in_test_folder = path.parent().is_some_and(|parent| {
        parent.components().any(|part| folders.iter().any(|folder| part.as_os_str() == *folder))
    });
    let has_test_name = match extension {
        "java" | "kt" | "scala" | "cs" => {
            stem.ends_with("Test")
                || stem.ends_with("Tests")
                || stem.ends_with("IT")
                || stem.starts_with("Test")
        }
        "py" => stem == "conftest" || stem == "tests" || stem == "test",
        // The file of `#[cfg(test)] mod tests;`.
        "rs" => stem == "tests",
        _ => false,
    };
    is_in_test_folder
        || has_test_name
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || name.contains(".test.")
        || name.contains(".spec.")
}
