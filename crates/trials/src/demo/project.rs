//! Creates the project of a demonstration in a separate folder.

use super::catalogue::ChosenDemo;
use remand_engine::clock;
use remand_git::Repository;
use remand_terminal::CommandFailure;
use std::fs;
use std::path::{Path, PathBuf};

/// The branch that the checkout is on.
const BRANCH: &str = "work";

/// The folder of one demonstration.
#[derive(Clone, Debug)]
pub struct DemoProject {
    pub root: PathBuf,
    folder: String,
}

impl DemoProject {
    /// Creates the project in a new folder: the given one, or one below the temporary folder.
    pub fn create(choice: &ChosenDemo, into: Option<&Path>) -> Result<DemoProject, CommandFailure> {
        let root = match into {
            Some(folder) => std::path::absolute(folder).map_err(|error| unwritable(folder, &error))?,
            None => std::env::temp_dir().join(format!("remand-demo-{}", clock::new_run_id(choice.name))),
        };
        if root.exists() {
            let what = format!("{} already exists", root.display());
            return Err(CommandFailure::user(what, "name a folder that does not exist yet"));
        }
        let sample = &choice.demonstration.project;
        let project = DemoProject { root, folder: sample.folder.clone() };
        for file in choice.files() {
            write(&project.checkout().join(file.real_path()), file.text)?;
        }
        for file in choice.siblings() {
            write(&project.root.join(file.path), file.text)?;
        }
        let created = Repository::create(&project.checkout(), BRANCH, &sample.commit);
        // Commands find the state directory there without flags.
        created.and_then(|repository| repository.set_state_directory(&project.state()))?;
        Ok(project)
    }

    pub fn checkout(&self) -> PathBuf {
        self.root.join(&self.folder)
    }

    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    /// A file next to the checkout, such as a rehearsal.
    pub fn sibling(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

fn write(file: &Path, text: &str) -> Result<(), CommandFailure> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).and_then(|()| fs::write(file, text)).map_err(|error| unwritable(file, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::user(format!("{} cannot be written", path.display()), "name another folder with `--into`")
        .caused_by(error.to_string())
}
