//! The folder of one dispatch: what the agent is given, and where its result goes.

use crate::git::{GitError, remove};
use crate::home::private_folder;
use crate::workshop::{Job, Trouble};
use std::path::{Path, PathBuf};

/// Laid out anew for every dispatch; a dispatch that is issued again finds nothing of the one before.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    pub fn make(job: &Job) -> Result<Folder, Trouble> {
        let root = job.site.folder().join("dispatches").join(job.id.to_string());
        remove(&root)?;
        let folder = Folder { root };
        for path in [folder.root.clone(), folder.inputs(), folder.out(), folder.home()] {
            private_folder(&path)?;
        }
        Ok(folder)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn inputs(&self) -> PathBuf {
        self.root.join("inputs")
    }

    /// The one folder besides the permitted files that the agent may write.
    pub fn out(&self) -> PathBuf {
        self.root.join("out")
    }

    /// A home of its own, so that it meets nobody's settings.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Takes away what the agent itself wrote: what counts of it is in the ledger, secrets taken out (EP-30).
    pub fn clear(&self) -> Result<(), GitError> {
        [self.out(), self.home()].iter().try_for_each(|path| remove(path))
    }

    pub fn result(&self) -> PathBuf {
        self.out().join("result.yaml")
    }

    pub fn prompt(&self) -> PathBuf {
        self.root.join("prompt.md")
    }

    /// Describes the dispatch to scripted agents.
    pub fn about(&self) -> PathBuf {
        self.root.join("dispatch.json")
    }

    /// Where the sandbox says what it enforces.
    pub fn enforced(&self) -> PathBuf {
        self.out().join("enforced.json")
    }
}
