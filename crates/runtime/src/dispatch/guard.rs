//! What a role may change: decided from its permissions, held against what it did change.

use crate::git::Changed;
use crate::pinned::MayWrite;
use std::path::Path;

/// Places that no agent changes: the engine's own configuration, and git's.
const NEVER: [&str; 3] = [".git", ".remand", "remand.toml"];

/// The paths of a work tree that a dispatch may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    may_write: Vec<MayWrite>,
    /// The files of the task; a trailing `/` stands for a folder with all that is in it.
    files: Option<Vec<String>>,
}

impl Permit {
    /// `files` are those of the task that the dispatch works on, if it works on one.
    pub fn new(may_write: &[MayWrite], files: Option<&[String]>) -> Permit {
        Permit { may_write: may_write.to_vec(), files: files.map(<[String]>::to_vec) }
    }

    /// Tells whether any file of the tree may be changed.
    pub fn is_read_only(&self) -> bool {
        !self.may_write.iter().any(|place| match place {
            MayWrite::TaskFiles | MayWrite::Tree | MayWrite::Tests | MayWrite::Tracker => true,
            MayWrite::Knowledge => false,
        })
    }

    /// Those among the changes that the dispatch had no right to.
    pub fn violations<'c>(&self, changes: &'c [Changed]) -> Vec<&'c Changed> {
        changes.iter().filter(|change| !self.allows(&change.path)).collect()
    }

    fn allows(&self, path: &Path) -> bool {
        let first = path.components().next();
        if first.is_some_and(|first| NEVER.iter().any(|never| first.as_os_str() == *never)) {
            return false;
        }
        self.may_write.iter().any(|place| match place {
            MayWrite::TaskFiles => match &self.files {
                Some(files) => files.iter().any(|file| covers(file, path)),
                None => true,
            },
            MayWrite::Tree => true,
            MayWrite::Tests => is_test(path),
            MayWrite::Tracker => path.starts_with("TODO"),
            MayWrite::Knowledge => false,
        })
    }

    /// The permission in words, for the prompt and for messages.
    pub fn words(&self) -> String {
        let places: Vec<String> = self
            .may_write
            .iter()
            .filter_map(|place| match (place, &self.files) {
                (MayWrite::TaskFiles, Some(files)) => Some(files.join(", ")),
                (MayWrite::TaskFiles, None) | (MayWrite::Tree, _) => Some("any file of the work tree".into()),
                (MayWrite::Tests, _) => Some("test files".into()),
                (MayWrite::Tracker, _) => Some("files below TODO/".into()),
                (MayWrite::Knowledge, _) => None,
            })
            .collect();
        if places.is_empty() { "nothing but your result".into() } else { places.join("; ") }
    }
}

fn covers(file: &str, path: &Path) -> bool {
    match file.strip_suffix('/') {
        Some(folder) => path.starts_with(folder),
        None => path == Path::new(file),
    }
}

/// Test files by the conventions of the languages we know.
pub fn is_test(path: &Path) -> bool {
    let folder = path.parent().is_some_and(|parent| {
        parent.components().any(|part| {
            let part = part.as_os_str();
            ["test", "tests", "__tests__", "testdata", "spec"].iter().any(|name| part == *name)
        })
    });
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    folder
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || name.contains(".test.")
        || name.contains(".spec.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(may_write: &[MayWrite], files: Option<&[&str]>, path: &str) -> bool {
        let files: Option<Vec<String>> =
            files.map(|files| files.iter().map(|file| file.to_string()).collect());
        Permit::new(may_write, files.as_deref()).allows(Path::new(path))
    }

    // EP-35
    #[test]
    fn an_implementer_writes_the_files_of_its_task_and_no_other() {
        let files = ["src/a.py", "docs/"];
        assert!(allowed(&[MayWrite::TaskFiles], Some(&files), "src/a.py"));
        assert!(allowed(&[MayWrite::TaskFiles], Some(&files), "docs/deep/b.md"));
        assert!(!allowed(&[MayWrite::TaskFiles], Some(&files), "src/b.py"));
        assert!(!allowed(&[MayWrite::TaskFiles], Some(&files), "docsx/b.md"));
        assert!(allowed(&[MayWrite::TaskFiles], None, "src/b.py"));
    }

    // CORE-05
    #[test]
    fn nobody_writes_the_configuration_of_the_engine_or_of_git() {
        for path in ["remand.toml", ".remand/roles/check.md", ".git/config"] {
            assert!(!allowed(&[MayWrite::Tree], None, path), "{path}");
        }
        assert!(allowed(&[MayWrite::Tree], None, ".github/x.yml"));
    }

    // CORE-16
    #[test]
    fn a_role_without_permissions_is_read_only() {
        let permit = Permit::new(&[], None);
        assert!(permit.is_read_only());
        assert!(!permit.allows(Path::new("x")));
        assert_eq!(permit.words(), "nothing but your result");
    }

    #[test]
    fn test_files_are_known_by_folder_and_name() {
        for path in ["tests/a.rs", "pkg/test_x.py", "x_test.go", "a.test.ts", "src/__tests__/b.js"] {
            assert!(is_test(Path::new(path)), "{path}");
        }
        for path in ["src/latest.rs", "contest.py", "attest/a.rs"] {
            assert!(!is_test(Path::new(path)), "{path}");
        }
    }
}
