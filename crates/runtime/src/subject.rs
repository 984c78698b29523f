//! What a run is about: words, or a file of the repository that people keep.

use crate::git::{CommitId, GitError, Repository};
use remand_documents::Markdown;
use remand_documents::tracker::FOLDER;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// What kind of thing a workflow takes. Its name is the name of the subject in workflow files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Words of the user's; also whatever else a workflow calls its subject.
    #[default]
    Request,
    Issue,
    Ticket,
    Spec,
}

/// What a new run is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub kind: Kind,
    /// What it is called in lists and in the message of the commit.
    pub title: String,
    pub text: String,
    /// From the root of the repository; none for a request.
    pub file: Option<String>,
}

/// Why there is no such subject.
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

impl Kind {
    /// By the name that a workflow gives its subject.
    pub fn of(name: &str) -> Kind {
        let known = [Kind::Issue, Kind::Ticket, Kind::Spec];
        known.into_iter().find(|kind| kind.name() == name).unwrap_or_default()
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Issue => "issue",
            Kind::Ticket => "ticket",
            Kind::Spec => "spec",
        }
    }

    /// How a run on such a subject is started.
    pub fn usage(self) -> &'static str {
        match self {
            Kind::Request => "remand run REQUEST",
            Kind::Issue => "remand run --issue ID",
            Kind::Ticket => "remand run --ticket FILE",
            Kind::Spec => "remand run --spec FILE",
        }
    }
}

impl Subject {
    pub fn request(text: String) -> Subject {
        Subject { kind: Kind::Request, title: text.clone(), text, file: None }
    }

    /// A file as it is in a commit. What is only in the checkout does not count: a run starts from the commit.
    pub fn file(
        repository: &Repository,
        commit: &CommitId,
        kind: Kind,
        path: &Path,
    ) -> Result<Subject, SubjectError> {
        let inside = inside(repository, path)?;
        let file = inside.display().to_string();
        let tree = repository.tree_of(commit)?;
        let bytes = repository
            .read(&tree, &inside)?
            .ok_or_else(|| SubjectError::NotCommitted { path: file.clone() })?;
        let text = String::from_utf8(bytes).map_err(|_| SubjectError::NotText { path: file.clone() })?;
        let name = inside.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Subject { kind, title: titled(&name, &text), text, file: Some(file) })
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

/// Puts a text in the place of a file's, so that one of the two is there whenever somebody looks.
pub fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mut aside = file.as_os_str().to_os_string();
    aside.push(".new");
    std::fs::write(&aside, text)?;
    std::fs::rename(&aside, file)
}

/// The path from the root of the repository, for one that is given from where the user stands.
fn inside(repository: &Repository, path: &Path) -> Result<PathBuf, SubjectError> {
    let outside = || SubjectError::Outside { path: path.display().to_string() };
    let relative = if path.is_absolute() {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        real.strip_prefix(repository.root()).map_err(|_| outside())?.to_path_buf()
    } else {
        path.to_path_buf()
    };
    let mut inside = PathBuf::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::ParentDir if inside.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    Ok(inside)
}

/// The name of the file with the first heading, unless that holds the name already, or the number before its words.
fn titled(name: &str, text: &str) -> String {
    let read = Markdown::read(text);
    let number = name.split(['_', ' ']).next().unwrap_or(name).to_lowercase();
    match read.headings().first().map(|heading| heading.title.as_str()) {
        None | Some("") => name.to_string(),
        Some(title) if title.to_lowercase().contains(&number) => title.to_string(),
        Some(title) => format!("{name}: {title}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_called_by_its_file_and_its_first_heading() {
        assert_eq!(titled("ABC-12", "---\nstatus: Todo\n---\n\n# Round totals\n"), "ABC-12: Round totals");
        assert_eq!(titled("0075", "# Ticket 0075: Flicker\n"), "Ticket 0075: Flicker");
        assert_eq!(titled("0007_split_the_bill", "# 0007: Split the bill\n"), "0007: Split the bill");
        assert_eq!(titled("notes", "no heading"), "notes");
    }

    #[test]
    fn every_kind_is_known_by_its_name_and_anything_else_is_a_request() {
        for kind in [Kind::Request, Kind::Issue, Kind::Ticket, Kind::Spec] {
            assert_eq!(Kind::of(kind.name()), kind);
        }
        assert_eq!(Kind::of("wish"), Kind::Request);
    }
}
