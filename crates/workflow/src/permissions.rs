//! The write permissions of a role, and whether they agree with the changes in its contract.

use crate::diagnostic::{Code, Diagnostic, suggest};
use crate::source::{Span, Spanned};
use std::collections::BTreeSet;

/// A write permission of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writable {
    Report,
    TaskFiles,
    TaskCode,
    Tree,
    Tests,
    Tracker,
    Knowledge,
}

impl Writable {
    pub const ALL: &'static [Writable] = &[
        Writable::Report,
        Writable::TaskFiles,
        Writable::TaskCode,
        Writable::Tree,
        Writable::Tests,
        Writable::Tracker,
        Writable::Knowledge,
    ];

    /// The name that front matter uses.
    pub fn name(self) -> &'static str {
        match self {
            Writable::Report => "report",
            Writable::TaskFiles => "task-files",
            Writable::TaskCode => "task-code",
            Writable::Tree => "tree",
            Writable::Tests => "tests",
            Writable::Tracker => "tracker",
            Writable::Knowledge => "knowledge",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Writable::Report => {
                "The dispatch's report. Always allowed; a role that may write nothing else is read-only."
            }
            Writable::TaskFiles => {
                "The files that the task names; in a phase without a task, every file of the work tree."
            }
            Writable::TaskCode => {
                "Like `task-files`, but without tests: no test files that the task does not name, and no lines inside test modules."
            }
            Writable::Tree => "Every file of the work tree.",
            Writable::Tests => "Test files, and in Rust lines inside `#[cfg(test)]` modules.",
            Writable::Tracker => "The files of the issue tracker.",
            Writable::Knowledge => "The knowledge files of the repository.",
        }
    }

    pub fn by_name(name: &str) -> Option<Writable> {
        Writable::ALL.iter().copied().find(|writable| writable.name() == name)
    }
}

/// Reads a `may-write` list. The report is always included.
pub(crate) fn read(written: &[Spanned<String>], problems: &mut Vec<Diagnostic>) -> BTreeSet<Writable> {
    let mut writable = BTreeSet::from([Writable::Report]);
    for name in written {
        match Writable::by_name(&name.value) {
            Some(known) => {
                writable.insert(known);
            }
            None => {
                let message = format!("`{}` is not a write permission", name.value);
                let known = Writable::ALL.iter().map(|writable| writable.name());
                let remedy = suggest(&name.value, known);
                problems.push(Diagnostic::error(Code::RoleValue, name.span, message, remedy));
            }
        }
    }
    writable
}

/// Reports contradictions between the permissions and the changes of a contract.
pub(crate) fn check_changes(
    title: &str,
    changes: &[Spanned<String>],
    writable: &BTreeSet<Writable>,
    span: Span,
    problems: &mut Vec<Diagnostic>,
) {
    let code = [Writable::TaskFiles, Writable::TaskCode, Writable::Tree];
    let may_write_code = code.iter().any(|permission| writable.contains(permission));
    let may_write_tests = writable.contains(&Writable::Tests);
    let mut report = |span: Span, message: String, remedy: &str| {
        problems.push(Diagnostic::error(Code::RolePermission, span, message, remedy));
    };
    for change in changes {
        let message = format!("`{title}` changes `{}`, but has no permission to write it", change.value);
        if change.value == "code" && !may_write_code {
            let remedy =
                "add `may-write: [task-files]` for the files of its task, or `may-write: [tree]` for all";
            report(change.span, message, remedy);
        } else if change.value == "tests" && !may_write_tests {
            report(change.span, message, "add `tests` to `may-write`");
        }
    }
    if may_write_code && changes.iter().all(|change| change.value == "tests") {
        let message = format!("`{title}` may write code, but its contract does not say what it changes");
        report(
            span,
            message,
            "add `changes: [code]`, or narrow `may-write`; `[report]` makes a role read-only",
        );
    }
    if may_write_tests && !changes.iter().any(|change| change.value == "tests") {
        let message =
            format!("`{title}` may write tests, but its contract does not say that it changes them");
        report(span, message, "add `tests` to `changes`, or remove it from `may-write`");
    }
}
