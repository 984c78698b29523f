//! Where the papers of a ticket lie in the repository.

use crate::git::{CommitId, GitError, Repository};
use crate::subject::Kind;
use remand_documents::Ticket;
use remand_kernel::Program;
use remand_ledger::fact::Opened;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// One folder for each ticket is below this one.
pub const DESIGNS: &str = "docs/designs";

/// The ticket and the folder of its documents, from the root of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    pub ticket: PathBuf,
    /// The name of the ticket's file, without its ending.
    pub name: String,
    /// What lies in the folder already, from earlier runs. It stays as it is (DR-19).
    kept: BTreeSet<String>,
}

impl Shelf {
    /// The shelf of a run, if it is about a ticket.
    pub fn of(program: &Program, opened: &Opened) -> Option<Shelf> {
        let file = opened.file.as_deref().filter(|_| Kind::of(&program.subject) == Kind::Ticket)?;
        Some(Shelf::for_ticket(Path::new(file)))
    }

    pub fn for_ticket(ticket: &Path) -> Shelf {
        let name = ticket.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Shelf { ticket: ticket.to_path_buf(), name, kept: BTreeSet::new() }
    }

    /// The same shelf with the names of files that lie in its folder.
    pub fn keeping(self, kept: impl IntoIterator<Item = String>) -> Shelf {
        Shelf { kept: kept.into_iter().collect(), ..self }
    }

    /// Another ticket of a commit that would have its papers in the same folder.
    pub fn namesake(&self, repository: &Repository, commit: &CommitId) -> Result<Option<PathBuf>, GitError> {
        let tree = repository.tree_of(commit)?;
        let stem = Some(OsStr::new(&self.name));
        for path in repository.files(&tree)?.into_iter().filter(|path| path.file_stem() == stem) {
            let is_other = path != self.ticket && !path.starts_with(DESIGNS);
            let bytes = if is_other { repository.read(&tree, &path)? } else { None };
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            if text.is_some_and(|text| Ticket::read(text).status().is_some()) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// What decisions of its design are numbered by: `0079` of `0079_sessions`, `ABC-12` of `ABC-12-carts`.
    pub fn id(&self) -> &str {
        let digit = self.name.find(|letter: char| letter.is_ascii_digit());
        let plain = |before: &str| before.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-');
        match digit.filter(|at| plain(&self.name[..*at])) {
            Some(at) => {
                let digits = self.name[at..].find(|letter: char| !letter.is_ascii_digit());
                digits.map_or(self.name.as_str(), |end| &self.name[..at + end])
            }
            None => &self.name,
        }
    }

    pub fn folder(&self) -> PathBuf {
        Path::new(DESIGNS).join(&self.name)
    }

    pub fn document(&self, artifact: &str) -> PathBuf {
        self.free(artifact)
    }

    pub fn findings(&self, number: u16) -> PathBuf {
        self.free(&findings(number))
    }

    /// The findings of this number that lie in the folder already, the latest of them.
    pub fn kept_findings(&self, number: u16) -> Option<PathBuf> {
        self.latest(&findings(number))
    }

    /// The document of this name that lies in the folder already, the latest of them.
    pub fn kept_document(&self, artifact: &str) -> Option<PathBuf> {
        self.latest(artifact)
    }

    /// The first version of a name that nothing lies under.
    fn free(&self, stem: &str) -> PathBuf {
        let taken = self.versions(stem).count();
        self.folder().join(version(stem, taken))
    }

    fn latest(&self, stem: &str) -> Option<PathBuf> {
        self.versions(stem).last().map(|name| self.folder().join(name))
    }

    fn versions(&self, stem: &str) -> impl Iterator<Item = String> {
        (0..).map(move |at| version(stem, at)).take_while(|name| self.kept.contains(name))
    }

    pub fn iterations(&self) -> PathBuf {
        self.folder().join("iteration-log.md")
    }

    pub fn quality(&self) -> PathBuf {
        self.folder().join("quality-gate-report.md")
    }

    /// Whether a path belongs to the papers: nobody but the engine writes it.
    pub fn holds(&self, path: &Path) -> bool {
        path == self.ticket || path.starts_with(self.folder())
    }
}

fn findings(number: u16) -> String {
    format!("implementation-findings-{number}")
}

/// The name of a document after so many others of the same one: `design.md`, `design-v2.md`.
fn version(stem: &str, before: usize) -> String {
    if before == 0 { format!("{stem}.md") } else { format!("{stem}-v{}.md", before + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // DR-23
    #[test]
    fn a_ticket_is_numbered_by_how_its_file_begins() {
        let id = |path: &str| Shelf::for_ticket(Path::new(path)).id().to_string();
        assert_eq!(id("tickets/0079_design_revision.md"), "0079");
        assert_eq!(id("ABC-12-carts.md"), "ABC-12");
        assert_eq!(id("carts.md"), "carts");
        assert_eq!(id("v2 of carts/plan_3.md"), "plan_3");
    }

    // DR-19
    #[test]
    fn what_lies_in_the_folder_keeps_its_name() {
        let shelf = Shelf::for_ticket(Path::new("tickets/0079_carts.md"));
        assert_eq!(shelf.document("design"), Path::new("docs/designs/0079_carts/design.md"));
        let names = ["design.md", "design-v2.md", "implementation-findings-1.md"];
        let shelf = shelf.keeping(names.map(str::to_string));
        assert_eq!(shelf.document("design"), shelf.folder().join("design-v3.md"));
        assert_eq!(shelf.kept_document("design"), Some(shelf.folder().join("design-v2.md")));
        assert_eq!(shelf.findings(1), shelf.folder().join("implementation-findings-1-v2.md"));
        assert_eq!(shelf.findings(2), shelf.folder().join("implementation-findings-2.md"));
        assert_eq!(shelf.kept_findings(2), None);
    }

    // DR-01
    #[test]
    fn the_ticket_and_its_folder_are_the_engines() {
        let shelf = Shelf::for_ticket(Path::new("tickets/0079_carts.md"));
        assert!(shelf.holds(Path::new("tickets/0079_carts.md")));
        assert!(shelf.holds(Path::new("docs/designs/0079_carts/implementation-findings-1.md")));
        assert!(
            !shelf.holds(Path::new("docs/designs/0080/design.md")) && !shelf.holds(Path::new("src/a.rs"))
        );
    }
}
