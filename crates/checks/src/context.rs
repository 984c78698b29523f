//! The context in which a check runs.

use remand_git::{Repository, TreeId};
use remand_process::Cancel;
use remand_process::confine::{ContactLog, Policy, Privacy, PrivateFolders, TEMPORARY_FOLDERS};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The work tree, files and sandbox of a check.
#[derive(Clone, Copy)]
pub struct CheckContext<'c> {
    pub tree: &'c Path,
    /// All environment variables that the check sees.
    pub environment: &'c BTreeMap<OsString, OsString>,
    pub files: FileScope<'c>,
    pub base: BaseFiles<'c>,
    /// A folder outside the tree that is deleted afterwards; checks with the same context share it.
    pub scratch: &'c Path,
    pub cancel: &'c Cancel,
    /// `None` runs the check unconfined, to find out whether the sandbox makes a difference.
    pub sandbox: Option<&'c CheckSandbox>,
}

/// How the processes of checks are confined.
#[derive(Clone, Debug)]
pub struct CheckSandbox {
    /// The program that sets up the sandbox.
    pub program: PathBuf,
    /// The policy of all checks; each check replaces the network setting.
    pub policy: Policy,
    /// Identifies the processes of one command; `None` gives each process a separate marker.
    pub marker: Option<String>,
    /// Collects the hosts that checks ask for.
    pub contacts: ContactLog,
}

impl CheckSandbox {
    /// The sandbox of the checks in one tree. They may change the tree and the scratch folder, may read the installed
    /// packages, and have a private home and private temporary folders.
    pub fn in_tree(
        &self,
        tree: &Path,
        scratch: &Path,
        installed: Vec<PathBuf>,
        environment: &BTreeMap<OsString, OsString>,
    ) -> CheckSandbox {
        let mut private = Privacy { hidden: self.policy.hidden.clone(), shown: self.policy.shown.clone() };
        private.show_packages(installed);
        let policy = Policy {
            hidden: private.hidden,
            read_write: vec![tree.to_path_buf(), scratch.to_path_buf(), "/dev/null".into()],
            shown: private.shown,
            private: Some(private_folders(environment, scratch)),
            contacts: scratch.file_name().map(|name| {
                // Checks can write to the scratch folder, but not beside it.
                let mut name = name.to_os_string();
                name.push(".hosts");
                scratch.with_file_name(name)
            }),
            ..self.policy.clone()
        };
        CheckSandbox { policy, ..self.clone() }
    }
}

/// A private home and private temporary folders for programs; their content is kept in a scratch folder.
pub fn private_folders(environment: &BTreeMap<OsString, OsString>, scratch: &Path) -> PrivateFolders {
    let home = environment.get(OsStr::new("HOME")).map(PathBuf::from);
    // Toolchains write to their caches, and tests to `~/.cache`.
    let copied = home.as_deref().map(|home| Privacy::of_home(home, environment).shown).unwrap_or_default();
    // Some system users have no home.
    let folders =
        home.into_iter().chain(TEMPORARY_FOLDERS.map(PathBuf::from)).filter(|folder| folder.is_dir());
    PrivateFolders {
        folders: folders.collect(),
        copied,
        storage: scratch.join("private"),
        empties_hidden: true,
    }
}

/// The files that checks of individual files look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileScope<'f> {
    /// All files, for a baseline.
    Whole,
    /// Relative to the tree; deleted ones are ignored.
    Changed(&'f [String]),
}

/// The files as they were before the change.
#[derive(Clone, Copy)]
pub enum BaseFiles<'b> {
    /// Every file counts as new.
    Absent,
    Tree(&'b Repository, &'b TreeId),
    Folder(&'b Path),
}

impl BaseFiles<'_> {
    /// The content of a file before the change; `None` if the file is new or cannot be read.
    pub(super) fn read(&self, file: &str) -> Option<Vec<u8>> {
        match self {
            BaseFiles::Absent => None,
            BaseFiles::Tree(repository, tree) => repository.read(tree, Path::new(file)).ok().flatten(),
            BaseFiles::Folder(folder) => std::fs::read(folder.join(file)).ok(),
        }
    }
}
