//! The folder of one dispatch: inputs, prompt, the agent's home, and the result.

use crate::site::{Job, Trouble};
use crate::store::DISPATCHES;
use remand_agents::submission::Terms;
use remand_git::private_folder;
use remand_git::{GitError, WorkTree, remove};
use remand_process::confine::programs;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file with the saved session of an attempt, for the next one.
pub const SESSION: &str = "session.json";

/// The agent's home.
pub const HOME: &str = "home";

/// The `git` of agents.
const GIT_SHIM: &str = include_str!("git-shim.sh");

/// The folder of one dispatch. It is created from scratch, so a repeated dispatch finds nothing of the previous one.
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Makes the folder of a dispatch in this work tree.
    pub fn make(job: &Job, tree: &WorkTree) -> Result<Folder, Trouble> {
        let root = Folder::root_of(job, &job.id.to_string());
        remove(&root)?;
        let folder = Folder { root };
        for path in [folder.root.clone(), folder.inputs(), folder.out(), folder.home(), folder.shims()] {
            private_folder(&path)?;
        }
        tree.write_outline(&folder.outline())?;
        folder.install_git_shim(job, tree.path())?;
        Ok(folder)
    }

    fn root_of(job: &Job, command: &str) -> PathBuf {
        Folder::path_in(&job.site.folder(), command)
    }

    /// The path of a dispatch's folder inside the folder of its run.
    pub fn path_in(run: &Path, command: &str) -> PathBuf {
        run.join(DISPATCHES).join(command)
    }

    /// The file with the saved session of an attempt.
    pub fn session_of(job: &Job, command: &str) -> PathBuf {
        Folder::root_of(job, command).join(SESSION)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn inputs(&self) -> PathBuf {
        self.root.join("inputs")
    }

    /// The agent may write only here, in its home and in the permitted files.
    pub fn out(&self) -> PathBuf {
        self.root.join("out")
    }

    /// A private home, so the agent does not see the user's settings. The agent may write inside, but not replace the
    /// folder.
    pub fn home(&self) -> PathBuf {
        self.root.join(HOME)
    }

    /// The first entry of the agent's `PATH`.
    pub fn shims(&self) -> PathBuf {
        self.root.join("shims")
    }

    /// The repository from which the agent's `git` answers.
    fn outline(&self) -> PathBuf {
        self.shims().join("outline")
    }

    /// The commands that a shim refused, one per line.
    pub fn refused(&self) -> PathBuf {
        self.out().join("refused")
    }

    /// Installs a `git` that answers questions about the last commit and its files, refuses every other command on the
    /// repository of the run and reports the reason. Tests may use other repositories.
    fn install_git_shim(&self, job: &Job, tree: &Path) -> Result<(), Trouble> {
        let settings = job.site.settings();
        let path = settings.environment.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let git = programs::find("git", &path).unwrap_or_default();
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let values = [
            ("GIT", git),
            ("REFUSED", self.refused()),
            ("OUTLINE", self.outline()),
            ("TREE", real(tree)),
            ("CHECKOUT", real(settings.repository.root())),
            ("COMMON", real(settings.repository.common_dir())),
        ];
        let mut script = GIT_SHIM.to_string();
        for (name, path) in values {
            let path = path.display().to_string();
            let quoted = shlex::try_quote(&path).map_err(|error| Trouble::denied(error.to_string()))?;
            script = script.replace(&format!("@{name}@"), &quoted);
        }
        let shim = self.shims().join("git");
        std::fs::write(&shim, script)?;
        std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// Removes the agent's output and the files that only the agent needed. The ledger holds the result, with secrets
    /// removed.
    pub fn clear(&self) -> Result<(), GitError> {
        let files = [self.enforced(), self.contacts(), Terms::path(&self.about())];
        let folders = [self.out(), self.shims(), self.hidden_settings()];
        folders.iter().chain(&files).try_for_each(|path| remove(path))
    }

    pub fn result(&self) -> PathBuf {
        self.out().join("result.yaml")
    }

    pub fn prompt(&self) -> PathBuf {
        self.root.join("prompt.md")
    }

    /// The description of the dispatch for scripted agents.
    pub fn about(&self) -> PathBuf {
        self.root.join("dispatch.json")
    }

    /// The folder for settings that are moved out of the tree while the agent works.
    pub fn hidden_settings(&self) -> PathBuf {
        self.root.join("hidden-settings")
    }

    /// The sandbox's record of the hosts that the agent tried to reach. The agent cannot write this file.
    pub fn contacts(&self) -> PathBuf {
        self.root.join("contacts.json")
    }

    /// The content of folders that only the agent sees.
    pub fn private(&self) -> PathBuf {
        self.out().join("private")
    }

    /// The sandbox's report about the rules in force. The agent cannot write this file.
    pub fn enforced(&self) -> PathBuf {
        self.root.join("enforced.json")
    }
}
