//! The paths of a ticket and its documents in the repository.

use crate::subject::SubjectKind;
use remand_documents::Ticket;
use remand_git::{CommitId, GitError, Repository};
use remand_kernel::Program;
use remand_ledger::fact::RunOpening;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folder that contains one folder for each ticket.
pub const DESIGNS: &str = "docs/designs";

/// The ticket and the folder of its documents, relative to the root of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketPaths {
    pub ticket: PathBuf,
    /// The name of the ticket's file, without its extension.
    pub name: String,
    /// The names of the files that earlier runs left in the folder.
    existing: BTreeSet<String>,
}

impl TicketPaths {
    /// The paths of a run whose subject is a ticket.
    pub fn of(program: &Program, opened: &RunOpening) -> Option<TicketPaths> {
        let file =
            opened.file.as_deref().filter(|_| SubjectKind::of(&program.subject) == SubjectKind::Ticket)?;
        Some(TicketPaths::for_ticket(Path::new(file)))
    }

    pub fn for_ticket(ticket: &Path) -> TicketPaths {
        let name = ticket.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        TicketPaths { ticket: ticket.to_path_buf(), name, existing: BTreeSet::new() }
    }

    /// The same paths, with the names of the files that are already in the folder.
    pub fn with_existing(self, existing: impl IntoIterator<Item = String>) -> TicketPaths {
        TicketPaths { existing: existing.into_iter().collect(), ..self }
    }

    /// Searches a commit for another ticket that would use the same folder.
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

    /// The prefix of decision ids in the design: `0079` for `0079_sessions`, `ABC-12` for `ABC-12-carts`.
    pub fn id(&self) -> &str {
        let digit = self.name.find(|letter: char| letter.is_ascii_digit());
        let is_prefix =
            |before: &str| before.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-');
        match digit.filter(|at| is_prefix(&self.name[..*at])) {
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
        self.next_version(artifact)
    }

    /// The path of a refused design; `number` counts the refused designs of the run.
    pub fn refused_design(&self, artifact: &str, number: u16) -> PathBuf {
        self.next_version(&format!("{artifact}-refused-{number}"))
    }

    pub fn findings(&self, number: u16) -> PathBuf {
        self.next_version(&findings_stem(number))
    }

    /// The latest existing version of the findings with this number.
    pub fn existing_findings(&self, number: u16) -> Option<PathBuf> {
        self.latest(&findings_stem(number))
    }

    /// The latest existing version of a document.
    pub fn existing_document(&self, artifact: &str) -> Option<PathBuf> {
        self.latest(artifact)
    }

    /// The path of the next version: the first one that does not exist yet.
    fn next_version(&self, stem: &str) -> PathBuf {
        let existing = self.versions(stem).count();
        self.folder().join(version(stem, existing))
    }

    fn latest(&self, stem: &str) -> Option<PathBuf> {
        self.versions(stem).last().map(|name| self.folder().join(name))
    }

    fn versions(&self, stem: &str) -> impl Iterator<Item = String> {
        (0..).map(move |at| version(stem, at)).take_while(|name| self.existing.contains(name))
    }

    pub fn iterations(&self) -> PathBuf {
        self.folder().join("iteration-log.md")
    }

    pub fn quality(&self) -> PathBuf {
        self.folder().join("quality-gate-report.md")
    }

    /// Whether a path is the ticket or one of its documents, which only the engine writes.
    pub fn contains(&self, path: &Path) -> bool {
        path == self.ticket || path.starts_with(self.folder())
    }
}

fn findings_stem(number: u16) -> String {
    format!("implementation-findings-{number}")
}

/// The file name of a document that has `before` earlier versions: `design.md`, `design-v2.md`.
fn version(stem: &str, before: usize) -> String {
    if before == 0 { format!("{stem}.md") } else { format!("{stem}-v{}.md", before + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // DR-23
    #[test]
    fn the_id_of_a_ticket_is_its_file_name_up_to_the_end_of_the_first_number() {
        let id = |path: &str| TicketPaths::for_ticket(Path::new(path)).id().to_string();
        assert_eq!(id("tickets/0079_design_revision.md"), "0079");
        assert_eq!(id("ABC-12-carts.md"), "ABC-12");
        assert_eq!(id("carts.md"), "carts");
        assert_eq!(id("v2 of carts/plan_3.md"), "plan_3");
    }

    // DR-19
    #[test]
    fn existing_documents_keep_their_names() {
        let paths = TicketPaths::for_ticket(Path::new("tickets/0079_carts.md"));
        assert_eq!(paths.document("design"), Path::new("docs/designs/0079_carts/design.md"));
        let names = ["design.md", "design-v2.md", "implementation-findings-1.md"];
        let paths = paths.with_existing(names.map(str::to_string));
        assert_eq!(paths.document("design"), paths.folder().join("design-v3.md"));
        assert_eq!(paths.existing_document("design"), Some(paths.folder().join("design-v2.md")));
        assert_eq!(paths.findings(1), paths.folder().join("implementation-findings-1-v2.md"));
        assert_eq!(paths.findings(2), paths.folder().join("implementation-findings-2.md"));
        assert_eq!(paths.existing_findings(2), None);
    }

    // DR-01
    #[test]
    fn the_ticket_and_its_folder_belong_to_the_engine() {
        let paths = TicketPaths::for_ticket(Path::new("tickets/0079_carts.md"));
        assert!(paths.contains(Path::new("tickets/0079_carts.md")));
        assert!(paths.contains(Path::new("docs/designs/0079_carts/implementation-findings-1.md")));
        assert!(
            !paths.contains(Path::new("docs/designs/0080/design.md"))
                && !paths.contains(Path::new("src/a.rs"))
        );
    }
}
