//! The settings of a commit: its `remand.toml`, workflows and roles, in a folder of their own.
//!
//! A change is judged by the settings of its base, so it cannot narrow its own checks.

use crate::context::CommandContext;
use crate::environment;
use remand_engine::config::{Config, FILE, Flag, Sources};
use remand_git::{CommitId, Repository, private_folder, remove};
use remand_terminal::CommandFailure;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder of a repository's workflows and roles.
const FOLDER: &str = ".remand";

/// Numbers the folders of one process.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A private folder that is removed at the end.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub fn new() -> Result<Scratch, CommandFailure> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("remand-settings-{}-{number}", std::process::id()));
        let failed = |error: &dyn std::fmt::Display| {
            let hint = "make space there, or set TMPDIR to a folder that you may write to";
            CommandFailure::user(format!("{} cannot be created", path.display()), hint)
                .caused_by(error.to_string())
        };
        remove(&path).map_err(|error| failed(&error))?;
        private_folder(&path).map_err(|error| failed(&error))?;
        Ok(Scratch { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system cleans its temporary folder if this fails.
        let _ = remove(&self.path);
    }
}

/// The settings of a commit.
#[derive(Debug)]
pub struct BaseSettings {
    folder: PathBuf,
    pub config: Config,
}

impl BaseSettings {
    /// Reads the settings of a commit. Their files are written to a folder within `scratch`.
    pub fn of(
        repository: &Repository,
        base: &CommitId,
        scratch: &Scratch,
        flags: Vec<Flag>,
    ) -> Result<BaseSettings, CommandFailure> {
        let folder = scratch.path().join("base");
        let tree = repository.tree_of(base)?;
        let is_settings = |path: &PathBuf| path.starts_with(FOLDER) || path.as_path() == Path::new(FILE);
        let files: Vec<PathBuf> = repository.files(&tree)?.into_iter().filter(is_settings).collect();
        let write = |files: &[PathBuf]| -> Result<(), CommandFailure> {
            let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
            for (path, bytes) in paths.iter().zip(repository.read_all(&tree, &paths)?) {
                let Some(bytes) = bytes else { continue };
                let at = folder.join(path);
                let parent = at.parent().unwrap_or(&folder);
                let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&at, bytes));
                written.map_err(|error| {
                    CommandFailure::user(format!("{} cannot be written", at.display()), "make space there")
                        .caused_by(error.to_string())
                })?;
            }
            Ok(())
        };
        // The mark of a repository's root: settings are not looked for above it.
        private_folder(&folder.join(".git")).map_err(|error| {
            CommandFailure::user(format!("{} cannot be created", folder.display()), "make space there")
                .caused_by(error.to_string())
        })?;
        write(&files)?;
        let config = Config::load(&Sources { flags, ..Sources::of(&folder, environment::all()) })?;
        let roles: Vec<PathBuf> =
            config.roles.values().filter_map(|choice| choice.file.as_ref()).map(PathBuf::from).collect();
        write(&roles)?;
        Ok(BaseSettings { folder, config })
    }

    /// The context of a command that reads workflows and roles from the commit.
    pub fn context<'c>(&'c self, context: &CommandContext<'c>) -> CommandContext<'c> {
        CommandContext {
            json: context.json,
            roles: context.roles,
            directory: Some(&self.folder),
            state: context.state,
        }
    }
}
