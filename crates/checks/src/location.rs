//! Reads the file and line of a failure from an output.

use regex::Regex;
use remand_kernel::finding::Location;
use std::path::Path;
use std::sync::LazyLock;

// The pattern is constant, so it cannot fail to compile.
static LOCATIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"File "([^"]+)", line (\d+)|(?:file://)?([\w./@+-]*[\w@+-]\.\w+)(?::(\d+)|\((\d+),\d+\))"#)
        .ok()
});

/// The number of bytes after a name that are searched for a location.
const MAX_DISTANCE: usize = 2000;
/// The number of occurrences of a name that are considered.
const MAX_OCCURRENCES: usize = 100;

/// The first location in a text whose file is in the work tree; empty if there is none.
pub fn location(text: &str, tree: &Path) -> Location {
    first(text, tree).map_or_else(Location::default, |(_, location)| location)
}

/// The location that follows most closely after a name. Runners also list names without locations.
pub fn location_of(name: &str, text: &str, tree: &Path) -> Location {
    let following = text.match_indices(name).take(MAX_OCCURRENCES).filter_map(|(at, _)| {
        let end = text.len().min(at + name.len() + MAX_DISTANCE);
        let end = (at + name.len()..=end).rev().find(|end| text.is_char_boundary(*end))?;
        first(&text[at + name.len()..end], tree)
    });
    following.min_by_key(|(distance, _)| *distance).map_or_else(Location::default, |(_, location)| location)
}

/// The location after the name of a Go test, which the runner gives relative to the folder of its package:
/// `example.test/app/queue.TestA` is in `queue` if that folder has the file.
pub fn location_in_package(test: &str, text: &str, tree: &Path) -> Location {
    let Some((package, name)) = test.rsplit_once('.').filter(|(package, _)| package.contains('/')) else {
        return Location::default();
    };
    let folders = package.match_indices('/').map(|(at, _)| &package[at + 1..]);
    let in_folder = |folder: &str| {
        let found = location_of(name, text, &tree.join(folder));
        let file = format!("{folder}/{}", found.file);
        (!found.file.is_empty()).then_some(Location { file, ..found })
    };
    folders.filter(|folder| tree.join(folder).is_dir()).find_map(in_folder).unwrap_or_default()
}

/// A path inside another work tree of the engine. The output of a reused result names the tree that it was measured in.
fn in_other_tree<'p>(path: &'p Path, tree: &Path) -> Option<&'p Path> {
    let trees = tree.ancestors().find(|above| above.file_name().is_some_and(|name| name == "trees"))?;
    let mut parts = path.strip_prefix(trees).ok()?.components();
    let (_run, kind) = (parts.next()?, parts.next()?);
    match kind.as_os_str().to_str()? {
        "main" => {}
        "pool" => drop(parts.next()?),
        _ => return None,
    }
    Some(parts.as_path())
}

fn first(text: &str, tree: &Path) -> Option<(usize, Location)> {
    LOCATIONS.as_ref()?.captures_iter(text).find_map(|found| {
        let file = found.get(1).or_else(|| found.get(3))?;
        let line = found.get(2).or_else(|| found.get(4)).or_else(|| found.get(5))?.as_str();
        let path = Path::new(file.as_str());
        let inside = path.strip_prefix(tree).ok().or_else(|| in_other_tree(path, tree)).unwrap_or(path);
        let exists = !inside.is_absolute() && tree.join(inside).is_file();
        let location = || Location {
            file: inside.to_string_lossy().trim_start_matches("./").to_string(),
            symbol: String::new(),
            line: line.parse().unwrap_or(0),
        };
        exists.then(|| (file.start(), location()))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    // BY-02
    #[test]
    fn a_failure_of_a_go_test_is_in_the_folder_of_its_package() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("app/queue")).unwrap();
        std::fs::write(folder.path().join("app/queue/queue_test.go"), "").unwrap();
        let output = "=== RUN   TestA\n    queue_test.go:10: Pop is \"b\"\n--- FAIL: TestA (0.00s)\n";
        let found = location_in_package("example.test/other.TestA", output, folder.path());
        assert_eq!((found.file.as_str(), found.line), ("", 0));
        let found = location_in_package("example.test/shop/app/queue.TestA", output, folder.path());
        assert_eq!((found.file.as_str(), found.line), ("app/queue/queue_test.go", 10));
        assert_eq!(location_in_package("tests/a.py::test_a.b", output, folder.path()), Location::default());
    }

    // BY-02
    #[test]
    fn a_failure_in_the_tree_of_an_earlier_run_is_found_in_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("trees/second/pool/2");
        std::fs::create_dir_all(tree.join("tests")).unwrap();
        std::fs::write(tree.join("tests/test_a.py"), "").unwrap();
        for earlier in ["first/pool/1", "first/main", "second/pool/2"] {
            let file = folder.path().join("trees").join(earlier).join("tests/test_a.py");
            let found = location(&format!("  File \"{}\", line 7, in test", file.display()), &tree);
            assert_eq!((found.file.as_str(), found.line), ("tests/test_a.py", 7), "{earlier}");
        }
        let elsewhere = format!("File \"{}\", line 7", folder.path().join("tests/test_a.py").display());
        assert_eq!(location(&elsewhere, &tree), Location::default());
    }
}
