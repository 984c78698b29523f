//! Compares the changes of a role with its permissions.

use crate::pinned::MayWrite;
use crate::ticket::TicketPaths;
use remand_documents::tracker::FOLDER;
use remand_git::{ChangeKind, ChangedPath, Leftover, LeftoverKind};
use remand_source::{is_test_file, same_outside_tests, same_tests};
use std::path::Path;

/// No agent may change these: the configuration of the engine, and git's files.
const PROTECTED: [&str; 3] = [".git", ".remand", "remand.toml"];

/// Returns the content of a file before and after the dispatch, if both are text.
pub type FileVersions<'t> = dyn Fn(&Path) -> Option<(String, String)> + 't;

/// The paths of a work tree that a dispatch may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    may_write: Vec<MayWrite>,
    /// The files of the task; a trailing `/` means a folder with everything in it.
    files: Option<Vec<String>>,
    /// The ticket and its documents, which only the engine writes.
    ticket_paths: Option<TicketPaths>,
}

impl Permit {
    /// `files` are the files of the dispatch's task; `None` without a task.
    pub fn new(may_write: &[MayWrite], files: Option<&[String]>) -> Permit {
        Permit { may_write: may_write.to_vec(), files: files.map(<[String]>::to_vec), ticket_paths: None }
    }

    /// A permit for any code, independent of a task.
    pub fn any_code() -> Permit {
        Permit::new(&[MayWrite::Tree], None)
    }

    /// The same permit without the documents of the run's ticket.
    pub fn except_documents(self, paths: &TicketPaths) -> Permit {
        Permit { ticket_paths: Some(paths.clone()), ..self }
    }

    /// Whether no file of the tree may be changed.
    pub fn is_read_only(&self) -> bool {
        !self.may_write.iter().any(|permission| match permission {
            MayWrite::TaskFiles
            | MayWrite::TaskCode
            | MayWrite::Tree
            | MayWrite::Tests
            | MayWrite::Tracker => true,
            MayWrite::Knowledge => false,
        })
    }

    /// The changes that the permit does not allow; `versions` returns a file before and after.
    pub fn violations<'c>(
        &self,
        changes: &'c [ChangedPath],
        versions: &FileVersions<'_>,
    ) -> Vec<&'c ChangedPath> {
        changes.iter().filter(|change| !self.allows(change, versions)).collect()
    }

    /// Whether a leftover fails the dispatch. Other leftovers are only undone and noted, because tools create them too.
    pub fn forbids(&self, leftover: &Leftover) -> bool {
        let path = &leftover.path;
        match &leftover.kind {
            LeftoverKind::Fifo
            | LeftoverKind::Socket
            | LeftoverKind::Device
            | LeftoverKind::HardLink
            | LeftoverKind::Privileged(_)
            | LeftoverKind::Repository
            | LeftoverKind::Submodule
            | LeftoverKind::Git(..) => true,
            LeftoverKind::Mode(..) => !self.covers(path),
            LeftoverKind::EmptyFolder | LeftoverKind::Ignored | LeftoverKind::InSubmodule => {
                self.is_read_only() || is_protected(path)
            }
        }
    }

    fn allows(&self, change: &ChangedPath, versions: &FileVersions<'_>) -> bool {
        let (path, is_edit) = (&change.path, change.kind == ChangeKind::Modified);
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        let is_rust_edit = |same: fn(&str, &str) -> bool| {
            is_edit && is_rust && versions(path).is_some_and(|(before, after)| same(&before, &after))
        };
        !self.is_reserved(path)
            && self.may_write.iter().any(|permission| match permission {
                MayWrite::Tests => is_test_file(path) || is_rust_edit(same_outside_tests),
                MayWrite::TaskCode if self.grants(*permission, path) => {
                    !is_edit || !is_rust || is_test_file(path) || is_rust_edit(same_tests)
                }
                MayWrite::TaskCode
                | MayWrite::TaskFiles
                | MayWrite::Tree
                | MayWrite::Tracker
                | MayWrite::Knowledge => self.grants(*permission, path),
            })
    }

    /// Whether the dispatch may write at this path.
    fn covers(&self, path: &Path) -> bool {
        !self.is_reserved(path) && self.may_write.iter().any(|permission| self.grants(*permission, path))
    }

    /// Whether only the engine and the user may write this path.
    fn is_reserved(&self, path: &Path) -> bool {
        let is_tracker = path.starts_with(FOLDER) && !self.may_write.contains(&MayWrite::Tracker);
        is_protected(path)
            || is_tracker
            || self.ticket_paths.as_ref().is_some_and(|paths| paths.contains(path))
    }

    /// Whether one permission includes a path.
    fn grants(&self, permission: MayWrite, path: &Path) -> bool {
        match (permission, &self.files) {
            (MayWrite::TaskFiles, Some(files)) => files.iter().any(|file| includes(file, path)),
            // A folder of the task does not include the tests in it: the task has to name them.
            (MayWrite::TaskCode, Some(files)) => files
                .iter()
                .any(|file| Path::new(file) == path || (includes(file, path) && !is_test_file(path))),
            (MayWrite::TaskCode, None) => !is_test_file(path),
            (MayWrite::TaskFiles, None) | (MayWrite::Tree, _) => true,
            (MayWrite::Tests, _) => is_test_file(path),
            (MayWrite::Tracker, _) => path.starts_with(FOLDER),
            (MayWrite::Knowledge, _) => false,
        }
    }

    /// Describes the permit, for the prompt and for messages.
    pub fn description(&self) -> String {
        let granted: Vec<String> = self
            .may_write
            .iter()
            .filter_map(|permission| match (permission, &self.files) {
                (MayWrite::TaskFiles, Some(files)) => Some(files.join(", ")),
                (MayWrite::TaskCode, Some(files)) => {
                    Some(format!("{}, except tests that are not listed here by name", files.join(", ")))
                }
                (MayWrite::TaskCode, None) => Some("any file of the work tree except tests".into()),
                (MayWrite::TaskFiles, None) | (MayWrite::Tree, _) => Some("any file of the work tree".into()),
                (MayWrite::Tests, _) => {
                    Some("test files and, in Rust, lines inside `#[cfg(test)]` modules".into())
                }
                (MayWrite::Tracker, _) => Some("files below TODO/".into()),
                (MayWrite::Knowledge, _) => None,
            })
            .collect();
        match (&self.ticket_paths, granted.is_empty()) {
            (_, true) => "only your result".into(),
            (None, false) => granted.join("; "),
            (Some(paths), false) => format!(
                "{}; except {} and everything below {}/, which only the engine writes",
                granted.join("; "),
                paths.ticket.display(),
                paths.folder().display()
            ),
        }
    }
}

/// Whether an entry of the task's files includes a path.
fn includes(file: &str, path: &Path) -> bool {
    match file.strip_suffix('/') {
        Some(folder) => path.starts_with(folder),
        None => path == Path::new(file),
    }
}

fn is_protected(path: &Path) -> bool {
    // Git's files outside the tree have absolute paths.
    let first = path.components().next();
    path.is_absolute() || first.is_some_and(|first| PROTECTED.iter().any(|name| first.as_os_str() == *name))
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
        let change = ChangedPath { path: path.into(), kind: ChangeKind::Added };
        permit(may_write, files).allows(&change, &|_| None)
    }

    fn may_edit(may_write: &[MayWrite], files: Option<&[&str]>, path: &str, after: &str) -> bool {
        let change = ChangedPath { path: path.into(), kind: ChangeKind::Modified };
        permit(may_write, files).allows(&change, &|_| Some((CODE.into(), after.into())))
    }

    // OT-05
    #[test]
    fn a_test_writer_may_change_test_files_and_rust_test_modules() {
        let tests = [MayWrite::Tests];
        let (inside, outside) = (CODE.replace("fn t() {}", "fn u() {}"), CODE.replace("fn a", "fn b"));
        assert!(may_edit(&tests, None, "src/lib.rs", &inside));
        assert!(!may_edit(&tests, None, "src/lib.rs", &outside));
        assert!(!may_edit(&tests, None, "src/lib.py", &inside));
        assert!(may_edit(&tests, None, "tests/all.rs", &outside));
        assert!(!allowed(&tests, None, "src/new.rs"));
        let deleted = ChangedPath { path: "src/lib.rs".into(), kind: ChangeKind::Deleted };
        assert!(!permit(&tests, None).allows(&deleted, &|_| Some((CODE.into(), CODE.into()))));
    }

    // OT-05
    #[test]
    fn task_code_excludes_tests_unless_the_task_names_them() {
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
    fn malicious_leftovers_fail_every_role_and_leftovers_of_tools_fail_only_readers() {
        let leftover = |kind: LeftoverKind| Leftover { path: "src/a".into(), kind };
        let (writer, reader) = (permit(&[MayWrite::Tree], None), permit(&[], None));
        for kind in [
            LeftoverKind::Fifo,
            LeftoverKind::HardLink,
            LeftoverKind::Privileged(0o4755),
            LeftoverKind::Submodule,
            LeftoverKind::Git(None, None),
        ] {
            assert!(writer.forbids(&leftover(kind.clone())) && reader.forbids(&leftover(kind)));
        }
        for kind in [
            LeftoverKind::Ignored,
            LeftoverKind::InSubmodule,
            LeftoverKind::EmptyFolder,
            LeftoverKind::Mode(0o644, 0o600),
        ] {
            assert!(!writer.forbids(&leftover(kind.clone())) && reader.forbids(&leftover(kind)));
        }
        let planted = Leftover { path: ".remand/roles".into(), kind: LeftoverKind::Ignored };
        assert!(writer.forbids(&planted));
    }

    // EP-35
    #[test]
    fn an_implementer_may_write_only_the_files_of_its_task() {
        let files = ["src/a.py", "docs/"];
        assert!(allowed(&[MayWrite::TaskFiles], Some(&files), "src/a.py"));
        assert!(allowed(&[MayWrite::TaskFiles], Some(&files), "docs/deep/b.md"));
        assert!(!allowed(&[MayWrite::TaskFiles], Some(&files), "src/b.py"));
        assert!(!allowed(&[MayWrite::TaskFiles], Some(&files), "docsx/b.md"));
        assert!(allowed(&[MayWrite::TaskFiles], None, "src/b.py"));
    }

    // OT-02 OT-05
    #[test]
    fn only_the_tracker_role_may_write_the_tracker_and_it_may_write_nothing_else() {
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
    fn no_role_may_write_the_configuration_of_the_engine_or_of_git() {
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
        assert_eq!(permit.description(), "only your result");
    }

    #[test]
    fn test_files_are_recognized_by_folder_and_name() {
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
            assert!(is_test_file(Path::new(path)), "{path}");
        }
        for path in
            ["src/latest.rs", "contest.py", "attest/a.rs", "src/spec/a.rs", "src/test.rs", "Latest.java"]
        {
            assert!(!is_test_file(Path::new(path)), "{path}");
        }
    }
}
