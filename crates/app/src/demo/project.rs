//! The project of the demonstration, made in a folder of its own.

use crate::exit::Failure;
use crate::workplace::of_git;
use remand_runtime::clock;
use remand_runtime::git::Repository;
use std::fs;
use std::path::{Path, PathBuf};

macro_rules! files {
    ($($path:literal from $source:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../../demo/feature/project/", $source)))),*]
    };
}

const FILES: &[(&str, &str)] = files![
    ".gitignore" from "gitignore",
    "README.md" from "README.md",
    "pyproject.toml" from "pyproject.toml",
    "remand.toml" from "remand.toml",
    "shop/__init__.py" from "shop/__init__.py",
    "shop/cart.py" from "shop/cart.py",
    "tests/__init__.py" from "tests/__init__.py",
    "tests/test_cart.py" from "tests/test_cart.py",
];

/// What the agents of the demonstration do.
const REHEARSAL: &str = include_str!("../../../../demo/feature/rehearsal.yaml");

/// What is asked of them.
pub const REQUEST: &str = "Let customers use a discount code: Cart.total(code) takes a percentage off. Unknown codes \
    must be refused.";

/// Where everything of one demonstration lies.
#[derive(Clone, Debug)]
pub struct Project {
    pub root: PathBuf,
}

impl Project {
    /// Makes the project in a new folder: the given one, or one below the temporary folder.
    pub fn make(into: Option<&Path>) -> Result<Project, Failure> {
        let root = match into {
            Some(folder) => std::path::absolute(folder).map_err(|error| unwritable(folder, &error))?,
            None => std::env::temp_dir().join(format!("remand-demo-{}", clock::new_run_id("demo"))),
        };
        if root.exists() {
            let what = format!("{} exists already", root.display());
            return Err(Failure::user(what, "name a folder that does not exist yet"));
        }
        let project = Project { root };
        for (path, text) in FILES {
            let file = project.checkout().join(path);
            let folder = file.parent().map_or_else(|| project.checkout(), Path::to_path_buf);
            fs::create_dir_all(&folder)
                .and_then(|()| fs::write(&file, project.fitted(path, text)))
                .map_err(|error| unwritable(&file, &error))?;
        }
        fs::write(project.rehearsal(), REHEARSAL)
            .map_err(|error| unwritable(&project.rehearsal(), &error))?;
        Repository::create(&project.checkout(), "work", "A cart").map_err(|error| of_git(&error))?;
        Ok(project)
    }

    pub fn checkout(&self) -> PathBuf {
        self.root.join("shop")
    }

    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    pub fn rehearsal(&self) -> PathBuf {
        self.root.join("rehearsal.yaml")
    }

    /// The settings of the project say where its state is, so that commands without flags find it.
    fn fitted(&self, path: &str, text: &str) -> String {
        if path != "remand.toml" {
            return text.to_string();
        }
        let folder = self.state().display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        format!("{text}\n[state]\ndir = \"{folder}\"\n")
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::user(format!("{} cannot be written", path.display()), "name another folder with `--into`")
        .caused_by(error.to_string())
}
