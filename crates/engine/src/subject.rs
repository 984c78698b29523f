//! The subject of a run: a request in words, or a file of the repository.

use remand_documents::Markdown;
use remand_documents::tracker::FOLDER;
use remand_git::{CommitId, GitError, Repository};
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// The kind of subject that a workflow takes. Workflow files use its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubjectKind {
    /// Text from the user. An unknown subject name in a workflow also means a request.
    #[default]
    Request,
    Issue,
    Ticket,
    Spec,
    /// A change that somebody made.
    Change,
}

/// The subject of a new run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub kind: SubjectKind,
    /// For lists and for the commit message.
    pub title: String,
    pub text: String,
    /// Relative to the root of the repository; `None` for a request and for a change.
    pub file: Option<String>,
}

/// Why a file cannot be the subject.
#[derive(Debug, Error)]
pub enum SubjectError {
    #[error("{path} is not in the repository")]
    Outside { path: String },
    #[error("{path} is not in the commit that the run would start from")]
    NotCommitted { path: String },
    #[error("{path} is not UTF-8 text")]
    NotText { path: String },
    #[error(transparent)]
    Git(#[from] GitError),
}

impl SubjectKind {
    /// The kind with this name in a workflow.
    pub fn of(name: &str) -> SubjectKind {
        let known = [SubjectKind::Issue, SubjectKind::Ticket, SubjectKind::Spec, SubjectKind::Change];
        known.into_iter().find(|kind| kind.name() == name).unwrap_or_default()
    }

    pub fn name(self) -> &'static str {
        match self {
            SubjectKind::Request => "request",
            SubjectKind::Issue => "issue",
            SubjectKind::Ticket => "ticket",
            SubjectKind::Spec => "spec",
            SubjectKind::Change => "change",
        }
    }

    /// The command that starts a run on a subject of this kind.
    pub fn usage(self) -> &'static str {
        match self {
            SubjectKind::Request => "remand run REQUEST",
            SubjectKind::Issue => "remand run --issue ID",
            SubjectKind::Ticket => "remand run --ticket FILE",
            SubjectKind::Spec => "remand run --spec FILE",
            SubjectKind::Change => "remand vet",
        }
    }
}

impl Subject {
    pub fn request(text: String) -> Subject {
        Subject { kind: SubjectKind::Request, title: text.clone(), text, file: None }
    }

    /// A change, by its name.
    pub fn change(name: String) -> Subject {
        Subject { kind: SubjectKind::Change, ..Subject::request(name) }
    }

    /// A file of a commit. Uncommitted changes do not count, because a run starts from the commit.
    pub fn file(
        repository: &Repository,
        commit: &CommitId,
        kind: SubjectKind,
        path: &Path,
    ) -> Result<Subject, SubjectError> {
        let relative = relative_to_root(repository, path)?;
        let file = relative.display().to_string();
        let tree = repository.tree_of(commit)?;
        let bytes = repository
            .read(&tree, &relative)?
            .ok_or_else(|| SubjectError::NotCommitted { path: file.clone() })?;
        let text = String::from_utf8(bytes).map_err(|_| SubjectError::NotText { path: file.clone() })?;
        let name = relative.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Subject { kind, title: title(&name, &text), text, file: Some(file) })
    }

    /// The file of an issue, by its id.
    pub fn issue_file(id: &str) -> PathBuf {
        Path::new(FOLDER).join(format!("{}.md", id.strip_suffix(".md").unwrap_or(id)))
    }
}

impl SubjectError {
    pub fn hint(&self) -> String {
        match self {
            SubjectError::Outside { .. } => "name a file below the root of the repository".to_string(),
            SubjectError::NotCommitted { path } => {
                format!("commit it first: `git add {path} && git commit`; a run starts from HEAD")
            }
            SubjectError::NotText { .. } => "save it as UTF-8".to_string(),
            SubjectError::Git(error) => error.hint(),
        }
    }
}

/// Replaces a file atomically.
pub fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mut temporary = file.as_os_str().to_os_string();
    temporary.push(".new");
    std::fs::write(&temporary, text)?;
    std::fs::rename(&temporary, file)
}

/// Makes a path relative to the root of the repository. A relative path already starts there and is only normalized.
fn relative_to_root(repository: &Repository, path: &Path) -> Result<PathBuf, SubjectError> {
    let outside = || SubjectError::Outside { path: path.display().to_string() };
    let relative = if path.is_absolute() {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        real.strip_prefix(repository.root()).map_err(|_| outside())?.to_path_buf()
    } else {
        path.to_path_buf()
    };
    let mut normalized = PathBuf::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => normalized.push(name),
            Component::CurDir => {}
            Component::ParentDir if normalized.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    Ok(normalized)
}

/// The file name and the first heading. A heading that contains the number in the file name is used alone.
fn title(name: &str, text: &str) -> String {
    let markdown = Markdown::read(text);
    let number = name.split(['_', ' ']).next().unwrap_or(name).to_lowercase();
    match markdown.headings().first().map(|heading| heading.title.as_str()) {
        None | Some("") => name.to_string(),
        Some(title) if title.to_lowercase().contains(&number) => title.to_string(),
        Some(title) => format!("{name}: {title}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_of_a_subject_is_its_file_name_and_its_first_heading() {
        assert_eq!(title("ABC-12", "---\nstatus: Todo\n---\n\n# Round totals\n"), "ABC-12: Round totals");
        assert_eq!(title("0075", "# Ticket 0075: Flicker\n"), "Ticket 0075: Flicker");
        assert_eq!(title("0007_split_the_bill", "# 0007: Split the bill\n"), "0007: Split the bill");
        assert_eq!(title("notes", "no heading"), "notes");
    }

    #[test]
    fn every_kind_is_found_by_its_name_and_any_other_name_means_a_request() {
        let kinds = [
            SubjectKind::Request,
            SubjectKind::Issue,
            SubjectKind::Ticket,
            SubjectKind::Spec,
            SubjectKind::Change,
        ];
        for kind in kinds {
            assert_eq!(SubjectKind::of(kind.name()), kind);
        }
        assert_eq!(SubjectKind::of("wish"), SubjectKind::Request);
    }
}
