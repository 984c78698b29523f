//! Where a role may write, and whether that agrees with what its contract changes.

use crate::diagnostic::{Code, Diagnostic, suggest};
use crate::source::{Span, Spanned};
use std::collections::BTreeSet;

/// Something that a role may write to.
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

/// Reads a `may-write` list; the report is always included.
pub(crate) fn read(written: &[Spanned<String>], problems: &mut Vec<Diagnostic>) -> BTreeSet<Writable> {
    let mut places = BTreeSet::from([Writable::Report]);
    for place in written {
        match Writable::by_name(&place.it) {
            Some(known) => {
                places.insert(known);
            }
            None => {
                let message = format!("`{}` is not something that a role may write to", place.it);
                let known = Writable::ALL.iter().map(|writable| writable.name());
                let remedy = suggest(&place.it, known);
                problems.push(Diagnostic::error(Code::RoleValue, place.span, message, remedy));
            }
        }
    }
    places
}

/// Reports contradictions between the permissions and the changes of a contract.
pub(crate) fn check_changes(
    title: &str,
    changes: &[Spanned<String>],
    places: &BTreeSet<Writable>,
    at: Span,
    problems: &mut Vec<Diagnostic>,
) {
    let code = [Writable::TaskFiles, Writable::TaskCode, Writable::Tree];
    let code = code.iter().any(|place| places.contains(place));
    let tests = places.contains(&Writable::Tests);
    let mut report = |span: Span, message: String, remedy: &str| {
        problems.push(Diagnostic::error(Code::RolePermission, span, message, remedy));
    };
    for change in changes {
        let message = format!("`{title}` changes `{}`, but has no permission to write it", change.it);
        if change.it == "code" && !code {
            let remedy =
                "add `may-write: [task-files]` for the files of its task, or `may-write: [tree]` for all";
            report(change.span, message, remedy);
        } else if change.it == "tests" && !tests {
            report(change.span, message, "add `tests` to `may-write`");
        }
    }
    if code && changes.iter().all(|change| change.it == "tests") {
        let message = format!("`{title}` may write code, but its contract does not say what it changes");
        report(
            at,
            message,
            "add `changes: [code]`, or narrow `may-write`; `[report]` makes a role read-only",
        );
    }
    if tests && !changes.iter().any(|change| change.it == "tests") {
        let message =
            format!("`{title}` may write tests, but its contract does not say that it changes them");
        report(at, message, "add `tests` to `changes`, or remove it from `may-write`");
    }
}
