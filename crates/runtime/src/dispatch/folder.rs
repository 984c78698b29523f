//! The folder of one dispatch: what the agent is given, and where its result goes.

use crate::git::{GitError, remove};
use crate::home::private_folder;
use crate::submission::Terms;
use crate::workshop::{Job, Trouble};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where the folders of a run's dispatches are.
pub const DISPATCHES: &str = "dispatches";

/// The session of an attempt, for the next one.
pub const SESSION: &str = "session.json";

/// The agent's home.
pub const HOME: &str = "home";

/// Laid out anew for every dispatch; a dispatch that is issued again finds nothing of the one before.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    pub fn make(job: &Job) -> Result<Folder, Trouble> {
        let root = Folder::root_of(job, &job.id.to_string());
        remove(&root)?;
        let folder = Folder { root };
        for path in [folder.root.clone(), folder.inputs(), folder.out(), folder.home(), folder.shims()] {
            private_folder(&path)?;
        }
        folder.refuse_git()?;
        Ok(folder)
    }

    fn root_of(job: &Job, command: &str) -> PathBuf {
        Folder::of(&job.site.folder(), command)
    }

    /// Where it is in the folder of its run.
    pub fn of(run: &Path, command: &str) -> PathBuf {
        run.join(DISPATCHES).join(command)
    }

    /// Tells where the session of an attempt is, until the next one begins.
    pub fn session_of(job: &Job, command: &str) -> PathBuf {
        Folder::root_of(job, command).join(SESSION)
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

    /// A home of its own, so that it meets nobody's settings. It may write all in it, but put nothing in its place.
    pub fn home(&self) -> PathBuf {
        self.root.join(HOME)
    }

    /// Goes before all other folders of programs.
    pub fn shims(&self) -> PathBuf {
        self.root.join("shims")
    }

    /// What the agent tried to run and was refused, a line each.
    pub fn refused(&self) -> PathBuf {
        self.out().join("refused")
    }

    /// Puts a `git` in front of the real one that says why there is none.
    fn refuse_git(&self) -> Result<(), Trouble> {
        let quoted = format!("'{}'", self.refused().display().to_string().replace('\'', "'\\''"));
        let script = format!(
            "#!/bin/sh\necho \"git $*\" >>{quoted}\necho 'git: not for agents; the engine does all git work' >&2\nexit 126\n"
        );
        let shim = self.shims().join("git");
        std::fs::write(&shim, script)?;
        std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// Takes away what the agent itself wrote but for its home, and what served it alone: what counts of it is in the
    /// ledger, secrets taken out (EP-30).
    pub fn clear(&self) -> Result<(), GitError> {
        [self.out(), self.shims(), self.enforced(), self.unseen(), Terms::path(&self.about())]
            .iter()
            .try_for_each(|path| remove(path))
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

    /// What is out of the tree while the agent works.
    pub fn unseen(&self) -> PathBuf {
        self.root.join("unseen")
    }

    /// Where the sandbox says what it enforces, out of the agent's reach.
    pub fn enforced(&self) -> PathBuf {
        self.root.join("enforced.json")
    }
}
