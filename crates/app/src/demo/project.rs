//! The project of a demonstration, made in a folder of its own.

use super::catalogue::Choice;
use crate::exit::Failure;
use crate::workplace::of_git;
use remand_runtime::clock;
use remand_runtime::git::Repository;
use std::fs;
use std::path::{Path, PathBuf};

/// The branch that the checkout is on.
const BRANCH: &str = "work";

/// Where everything of one demonstration lies.
#[derive(Clone, Debug)]
pub struct Project {
    pub root: PathBuf,
    folder: String,
}

impl Project {
    /// Makes the project in a new folder: the given one, or one below the temporary folder.
    pub fn make(choice: &Choice, into: Option<&Path>) -> Result<Project, Failure> {
        let root = match into {
            Some(folder) => std::path::absolute(folder).map_err(|error| unwritable(folder, &error))?,
            None => std::env::temp_dir().join(format!("remand-demo-{}", clock::new_run_id(choice.name))),
        };
        if root.exists() {
            let what = format!("{} exists already", root.display());
            return Err(Failure::user(what, "name a folder that does not exist yet"));
        }
        let sample = &choice.demonstration.project;
        let project = Project { root, folder: sample.folder.clone() };
        for file in choice.files() {
            write(&project.checkout().join(file.unfolded()), file.text)?;
        }
        for file in choice.beside() {
            write(&project.root.join(file.path), file.text)?;
        }
        let made = Repository::create(&project.checkout(), BRANCH, &sample.commit);
        // Commands without flags find the state there.
        made.and_then(|repository| repository.keep_state_in(&project.state()))
            .map_err(|error| of_git(&error))?;
        Ok(project)
    }

    pub fn checkout(&self) -> PathBuf {
        self.root.join(&self.folder)
    }

    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// A file that lies beside the checkout, such as a rehearsal.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).and_then(|()| fs::write(file, text)).map_err(|error| unwritable(file, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::user(format!("{} cannot be written", path.display()), "name another folder with `--into`")
        .caused_by(error.to_string())
}
