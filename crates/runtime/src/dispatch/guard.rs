//! What a role may change: decided from its permissions, held against what it did change.

use crate::git::{ChangeKind, Changed, Oddity, Strange};
use crate::papers::Shelf;
use crate::pinned::MayWrite;
use remand_documents::tracker::FOLDER;
use remand_source::{same_outside_tests, same_tests};
use std::path::Path;

/// Places that no agent changes: the engine's own configuration, and git's.
const NEVER: [&str; 3] = [".git", ".remand", "remand.toml"];

/// Gives the text of a file before and after, where both are texts.
pub type Texts<'t> = dyn Fn(&Path) -> Option<(String, String)> + 't;

/// The paths of a work tree that a dispatch may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    may_write: Vec<MayWrite>,
    /// The files of the task; a trailing `/` stands for a folder with all that is in it.
    files: Option<Vec<String>>,
    /// What the engine keeps itself, such as the ticket.
    kept: Option<Shelf>,
}

impl Permit {
    /// `files` are those of the task that the dispatch works on, if it works on one.
    pub fn new(may_write: &[MayWrite], files: Option<&[String]>) -> Permit {
        Permit { may_write: may_write.to_vec(), files: files.map(<[String]>::to_vec), kept: None }
    }

    /// For whoever writes code, whatever the task.
    pub fn of_code() -> Permit {
        Permit::new(&[MayWrite::Tree], None)
    }

    /// The same without the papers of the run's ticket.
    pub fn keeping(self, shelf: &Shelf) -> Permit {
        Permit { kept: Some(shelf.clone()), ..self }
    }

    /// Tells whether any file of the tree may be changed.
    pub fn is_read_only(&self) -> bool {
        !self.may_write.iter().any(|place| match place {
            MayWrite::TaskFiles
            | MayWrite::TaskCode
            | MayWrite::Tree
            | MayWrite::Tests
            | MayWrite::Tracker => true,
            MayWrite::Knowledge => false,
        })
    }

    /// Those among the changes that the dispatch had no right to; `texts` gives a file before and after.
    pub fn violations<'c>(&self, changes: &'c [Changed], texts: &Texts<'_>) -> Vec<&'c Changed> {
        changes.iter().filter(|change| !self.allows(change, texts)).collect()
    }

    /// Tells whether an oddity costs the dispatch. The others are undone and noted, no more: tools leave them too.
    pub fn forbids(&self, oddity: &Oddity) -> bool {
        let path = &oddity.path;
        match &oddity.what {
            Strange::Fifo
            | Strange::Socket
            | Strange::Device
            | Strange::HardLink
            | Strange::Privileged(_)
            | Strange::Repository
            | Strange::Submodule
            | Strange::Git(..) => true,
            Strange::Mode(..) => !self.covers(path),
            Strange::EmptyFolder | Strange::Ignored | Strange::InSubmodule => {
                self.is_read_only() || is_never(path)
            }
        }
    }

    fn allows(&self, change: &Changed, texts: &Texts<'_>) -> bool {
        let (path, is_edit) = (&change.path, change.kind == ChangeKind::Modified);
        let is_rust = path.extension().is_some_and(|ending| ending == "rs");
        let compared = |same: fn(&str, &str) -> bool| {
            is_edit && is_rust && texts(path).is_some_and(|(before, after)| same(&before, &after))
        };
        !self.is_kept(path)
            && self.may_write.iter().any(|place| match place {
                MayWrite::Tests => is_test(path) || compared(same_outside_tests),
                MayWrite::TaskCode if self.may_be_at(*place, path) => {
                    !is_edit || !is_rust || is_test(path) || compared(same_tests)
                }
                MayWrite::TaskCode
                | MayWrite::TaskFiles
                | MayWrite::Tree
                | MayWrite::Tracker
                | MayWrite::Knowledge => self.may_be_at(*place, path),
            })
    }

    /// Tells whether a path lies where the dispatch may write.
    fn covers(&self, path: &Path) -> bool {
        !self.is_kept(path) && self.may_write.iter().any(|place| self.may_be_at(*place, path))
    }

    /// Whether nobody but the engine and the user writes a path.
    fn is_kept(&self, path: &Path) -> bool {
        let is_tracker = path.starts_with(FOLDER) && !self.may_write.contains(&MayWrite::Tracker);
        is_never(path) || is_tracker || self.kept.as_ref().is_some_and(|shelf| shelf.holds(path))
    }

    fn may_be_at(&self, place: MayWrite, path: &Path) -> bool {
        match (place, &self.files) {
            (MayWrite::TaskFiles, Some(files)) => files.iter().any(|file| covers(file, path)),
            // A folder of the task does not stand for the tests in it: these it has to name.
            (MayWrite::TaskCode, Some(files)) => {
                files.iter().any(|file| Path::new(file) == path || (covers(file, path) && !is_test(path)))
            }
            (MayWrite::TaskCode, None) => !is_test(path),
            (MayWrite::TaskFiles, None) | (MayWrite::Tree, _) => true,
            (MayWrite::Tests, _) => is_test(path),
            (MayWrite::Tracker, _) => path.starts_with(FOLDER),
            (MayWrite::Knowledge, _) => false,
        }
    }

    /// The permission in words, for the prompt and for messages.
    pub fn words(&self) -> String {
        let places: Vec<String> = self
            .may_write
            .iter()
            .filter_map(|place| match (place, &self.files) {
                (MayWrite::TaskFiles, Some(files)) => Some(files.join(", ")),
                (MayWrite::TaskCode, Some(files)) => {
                    Some(format!("{}, but no tests in them that are not named", files.join(", ")))
                }
                (MayWrite::TaskCode, None) => Some("any file of the work tree but tests".into()),
                (MayWrite::TaskFiles, None) | (MayWrite::Tree, _) => Some("any file of the work tree".into()),
                (MayWrite::Tests, _) => {
                    Some("test files, and in Rust lines inside `#[cfg(test)]` modules".into())
                }
                (MayWrite::Tracker, _) => Some("files below TODO/".into()),
                (MayWrite::Knowledge, _) => None,
            })
            .collect();
        match (&self.kept, places.is_empty()) {
            (_, true) => "nothing but your result".into(),
            (None, false) => places.join("; "),
            (Some(shelf), false) => format!(
                "{}; not {} and nothing below {}/, which the engine keeps",
                places.join("; "),
                shelf.ticket.display(),
                shelf.folder().display()
            ),
        }
    }
}

fn covers(file: &str, path: &Path) -> bool {
    match file.strip_suffix('/') {
        Some(folder) => path.starts_with(folder),
        None => path == Path::new(file),
    }
}

fn is_never(path: &Path) -> bool {
    // Git's own files outside of the tree have absolute paths.
    let first = path.components().next();
    path.is_absolute() || first.is_some_and(|first| NEVER.iter().any(|never| first.as_os_str() == *never))
}

/// Test files by the conventions of the languages we know.
pub fn is_test(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (stem, ending) = name.split_once('.').unwrap_or((&name, ""));
    let folders: &[&str] = match ending {
        // A module of code may well be called `test` or `spec`.
        "rs" => &["tests"],
        _ => &["test", "tests", "__tests__", "__snapshots__", "testdata", "spec"],
    };
    let in_folder = path.parent().is_some_and(|parent| {
        parent.components().any(|part| folders.iter().any(|folder| part.as_os_str() == *folder))
    });
    let by_name = match ending {
        "java" | "kt" | "scala" | "cs" => {
            stem.ends_with("Test")
                || stem.ends_with("Tests")
                || stem.ends_with("IT")
                || stem.starts_with("Test")
        }
        "py" => stem == "conftest" || stem == "tests" || stem == "test",
        // As in `#[cfg(test)] mod tests;`.
        "rs" => stem == "tests",
        _ => false,
    };
    in_folder
        || by_name
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || name.contains(".test.")
        || name.contains(".spec.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";

    fn permit(may_write: &[MayWrite], files: Option<&[&str]>) -> Permit {
        let files: Option<Vec<String>> =
            files.map(|files| files.iter().map(|file| file.to_string()).collect());
        Permit::new(may_write, files.as_deref())
    }

    fn allowed(may_write: &[MayWrite], files: Option<&[&str]>, path: &str) -> bool {
        let change = Changed { path: path.into(), kind: ChangeKind::Added };
        permit(may_write, files).allows(&change, &|_| None)
    }

    fn may_edit(may_write: &[MayWrite], files: Option<&[&str]>, path: &str, after: &str) -> bool {
        let change = Changed { path: path.into(), kind: ChangeKind::Modified };
        permit(may_write, files).allows(&change, &|_| Some((CODE.into(), after.into())))
    }

    // OT-05
    #[test]
    fn a_test_writer_changes_test_files_and_in_rust_lines_inside_test_modules() {
        let tests = [MayWrite::Tests];
        let (inside, outside) = (CODE.replace("fn t() {}", "fn u() {}"), CODE.replace("fn a", "fn b"));
        assert!(may_edit(&tests, None, "src/lib.rs", &inside));
        assert!(!may_edit(&tests, None, "src/lib.rs", &outside));
        assert!(!may_edit(&tests, None, "src/lib.py", &inside));
        assert!(may_edit(&tests, None, "tests/all.rs", &outside));
        assert!(!allowed(&tests, None, "src/new.rs"));
        let deleted = Changed { path: "src/lib.rs".into(), kind: ChangeKind::Deleted };
        assert!(!permit(&tests, None).allows(&deleted, &|_| Some((CODE.into(), CODE.into()))));
    }

    // OT-05
    #[test]
    fn a_coder_that_tests_bind_leaves_them_alone_unless_its_task_names_them() {
        let code = [MayWrite::TaskCode];
        let (inside, outside) = (CODE.replace("fn t() {}", "fn u() {}"), CODE.replace("fn a", "fn b"));
        let files = ["src/", "tests/named.rs"];
        assert!(may_edit(&code, Some(&files), "src/lib.rs", &outside));
        assert!(!may_edit(&code, Some(&files), "src/lib.rs", &inside));
        assert!(may_edit(&code, Some(&files), "tests/named.rs", &inside));
        assert!(allowed(&code, Some(&files), "src/a.py"));
        assert!(!allowed(&code, Some(&files), "src/test_a.py"));
        assert!(!allowed(&code, Some(&files), "other.py"));
        assert!(!allowed(&code, None, "tests/all.rs"));
    }

    // CORE-16
    #[test]
    fn what_only_malice_leaves_is_forbidden_to_all_and_what_tools_leave_to_readers() {
        let odd = |what: Strange| Oddity { path: "src/a".into(), what };
        let (writer, reader) = (permit(&[MayWrite::Tree], None), permit(&[], None));
        for what in [
            Strange::Fifo,
            Strange::HardLink,
            Strange::Privileged(0o4755),
            Strange::Submodule,
            Strange::Git(None, None),
        ] {
            assert!(writer.forbids(&odd(what.clone())) && reader.forbids(&odd(what)));
        }
        for what in
            [Strange::Ignored, Strange::InSubmodule, Strange::EmptyFolder, Strange::Mode(0o644, 0o600)]
        {
            assert!(!writer.forbids(&odd(what.clone())) && reader.forbids(&odd(what)));
        }
        let planted = Oddity { path: ".remand/roles".into(), what: Strange::Ignored };
        assert!(writer.forbids(&planted));
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

    // OT-02 OT-05
    #[test]
    fn the_tracker_is_written_by_the_role_for_it_which_writes_nothing_else() {
        let (tracker, files) = ([MayWrite::Tracker], ["TODO/ABC-1.md", "src/"]);
        assert!(allowed(&tracker, None, "TODO/ABC-1.md"));
        assert!(!allowed(&tracker, None, "src/a.py"));
        for other in [MayWrite::Tree, MayWrite::TaskFiles, MayWrite::TaskCode] {
            assert!(!allowed(&[other], Some(&files), "TODO/ABC-1.md"), "{other:?}");
            assert!(allowed(&[other], Some(&files), "src/a.py"), "{other:?}");
        }
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
        assert!(!permit.covers(Path::new("x")));
        assert_eq!(permit.words(), "nothing but your result");
    }

    #[test]
    fn test_files_are_known_by_folder_and_name() {
        for path in [
            "tests/a.rs",
            "pkg/test_x.py",
            "x_test.go",
            "a.test.ts",
            "src/__tests__/b.js",
            "src/test/java/A.java",
            "app/FooTest.java",
            "conftest.py",
            "src/a_tests.rs",
        ] {
            assert!(is_test(Path::new(path)), "{path}");
        }
        for path in
            ["src/latest.rs", "contest.py", "attest/a.rs", "src/spec/a.rs", "src/test.rs", "Latest.java"]
        {
            assert!(!is_test(Path::new(path)), "{path}");
        }
    }
}
