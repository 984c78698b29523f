//! Python environments: inside the project, or where Poetry and Pipenv create them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Usual names of Python environments.
pub const USUAL_NAMES: [&str; 2] = [".venv", "venv"];

/// The folder with an environment's programs.
pub const PROGRAMS: &str = "bin";

/// The maximum number of folders that are searched for an environment, from the project upwards.
const MAX_SEARCHED_FOLDERS: usize = 6;

/// The number of characters of a path's hash in the names of environments.
const HASH_LENGTH: usize = 8;

/// A Python environment for the project in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The path of the environment in a work tree, relative to the folder.
    pub path: String,
    /// Where the environment is.
    pub source: PathBuf,
}

impl Environment {
    /// The environment in a folder or, for a project of Poetry or Pipenv, outside of it.
    pub fn of(folder: &Path) -> Option<Environment> {
        if let Some(path) = inside(folder) {
            return Some(Environment { source: folder.join(&path), path });
        }
        // All tools that create environments elsewhere also use one with this name in the project.
        elsewhere(folder).map(|source| Environment { path: USUAL_NAMES[0].to_string(), source })
    }

    /// The environment of a folder or, in a repository with several projects, of a folder above it.
    pub fn nearest(folder: &Path) -> Option<Environment> {
        let searched: Vec<&Path> = folder.ancestors().take(MAX_SEARCHED_FOLDERS).collect();
        // Outside a repository, the folders above belong to others.
        let root = searched.iter().position(|above| above.join(".git").exists()).unwrap_or(0);
        searched.iter().take(root + 1).enumerate().find_map(|(levels, above)| {
            let found = Environment::of(above)?;
            Some(Environment { path: format!("{}{}", "../".repeat(levels), found.path), ..found })
        })
    }

    /// The path of a program in a work tree, relative to the folder of the project.
    pub fn program(&self, program: &str) -> String {
        program_path(&self.path, program)
    }

    pub fn has_program(&self, program: &str) -> bool {
        self.source.join(PROGRAMS).join(program).is_file()
    }

    pub fn has_package(&self, name: &str) -> bool {
        packages(&self.source).iter().any(|packages| self.source.join(packages).join(name).is_dir())
    }
}

/// The path of an environment's program, relative to the folder that holds the environment.
pub fn program_path(environment: &str, program: &str) -> String {
    format!("{environment}/{PROGRAMS}/{program}")
}

/// The package folders of an environment, relative to it.
pub fn packages(environment: &Path) -> Vec<PathBuf> {
    let versions = std::fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let folders = versions.map(|version| Path::new("lib").join(version.file_name()).join("site-packages"));
    folders.filter(|folder| environment.join(folder).is_dir()).collect()
}

pub fn is_environment(folder: &Path) -> bool {
    folder.join("pyvenv.cfg").is_file() && folder.join(PROGRAMS).join("python").is_file()
}

/// The name of the environment in a folder: a usual name, or any other.
fn inside(folder: &Path) -> Option<String> {
    let usual = USUAL_NAMES.into_iter().map(str::to_string);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut others: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    others.sort();
    usual.chain(others).find(|name| is_environment(&folder.join(name)))
}

/// The environment that Poetry or Pipenv created for the project in a folder. Its name contains a hash of the project's path.
fn elsewhere(folder: &Path) -> Option<PathBuf> {
    let has = |file: &str| folder.join(file).is_file();
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let real = folder.canonicalize().ok()?;
    if has("poetry.lock") || has("pyproject.toml") {
        let cache = || variable("XDG_CACHE_HOME").or_else(|| Some(home()?.join(".cache")));
        let of_poetry = || variable("POETRY_CACHE_DIR").or_else(|| Some(cache()?.join("pypoetry")));
        let all = variable("POETRY_VIRTUALENVS_PATH").or_else(|| Some(of_poetry()?.join("virtualenvs")));
        let name = format!("-{}-py", hash(&real));
        if let Some(found) = newest(&all?, |entry| entry.contains(&name)) {
            return Some(found);
        }
    }
    if has("Pipfile") {
        let all = variable("WORKON_HOME").or_else(|| Some(home()?.join(".local/share/virtualenvs")));
        let name = format!("-{}", hash(&real.join("Pipfile")));
        return newest(&all?, |entry| entry.ends_with(&name));
    }
    None
}

/// The hash of a path as both tools compute it.
fn hash(path: &Path) -> String {
    let mut text = URL_SAFE.encode(Sha256::digest(path.as_os_str().as_bytes()));
    text.truncate(HASH_LENGTH);
    text
}

/// The last environment by name, which is the one with the newest Python.
fn newest(all: &Path, is_wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let entries = std::fs::read_dir(all).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    names.retain(|name| name.to_str().is_some_and(&is_wanted) && is_environment(&all.join(name)));
    // A version with more digits is newer: 3.9 comes before 3.11.
    let last = names.into_iter().max_by_key(|name| (name.len(), name.clone()));
    last.map(|name| all.join(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::fs;

    fn make(environment: &Path) {
        fs::create_dir_all(environment.join(PROGRAMS)).unwrap();
        fs::write(environment.join("pyvenv.cfg"), "").unwrap();
        fs::write(environment.join("bin/python"), "").unwrap();
    }

    // UP-03
    #[test]
    fn an_environment_may_have_any_name_and_may_be_above_the_project() {
        let temp = tempfile::tempdir().unwrap();
        let project = temp.path().join("services/api");
        fs::create_dir_all(&project).unwrap();
        make(&temp.path().join("env"));
        assert_eq!(
            Environment::nearest(&project),
            None,
            "outside a repository, it belongs to something else"
        );
        fs::create_dir(temp.path().join(".git")).unwrap();
        let found = Environment::nearest(&project).unwrap();
        assert_eq!(
            (found.program("python"), found.source),
            ("../../env/bin/python".to_string(), temp.path().join("env"))
        );
        make(&temp.path().join("venv"));
        assert_eq!(Environment::nearest(&project).unwrap().path, "../../venv");
    }

    #[test]
    fn poetry_and_pipenv_name_their_environments_by_the_path_of_the_project() {
        // From `poetry env info` and `pipenv --venv`.
        assert_eq!(hash(Path::new("/home/ada/shop")), "_woB1T2D");
        let temp = tempfile::tempdir().unwrap();
        for version in ["3.9", "3.11", "3.10"] {
            make(&temp.path().join(format!("shop-_woB1T2D-py{version}")));
        }
        let found = newest(temp.path(), |name| name.contains("-_woB1T2D-py")).unwrap();
        assert!(found.ends_with("shop-_woB1T2D-py3.11"));
    }
}
