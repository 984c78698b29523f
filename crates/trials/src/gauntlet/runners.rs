//! Test runners of other people, as far as they are installed: cases whose runner is missing are left out, by name.

use super::catalogue::ChosenCase;
use super::project::Needs;
use remand_terminal::CommandFailure;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A folder with a Python environment `venv` and Node packages in `npm/node_modules`.
#[derive(Clone, Debug, Default)]
pub struct TestRunners {
    folder: Option<PathBuf>,
}

/// Cases that cannot be played.
#[derive(Debug)]
pub struct LeftOutCases {
    pub cases: Vec<String>,
    /// The runner that they need.
    pub needs: &'static str,
    /// The command that installs it below the folder.
    pub install: String,
    /// The folder for `--tools`.
    pub folder: String,
}

impl TestRunners {
    pub fn new(folder: Option<&Path>) -> TestRunners {
        TestRunners {
            folder: folder.map(|folder| fs::canonicalize(folder).unwrap_or_else(|_| folder.into())),
        }
    }

    /// Separates the cases whose runner is missing.
    pub fn divide(&self, choices: Vec<ChosenCase>) -> (Vec<ChosenCase>, Vec<LeftOutCases>) {
        let is_there = |choice: &ChosenCase| self.has(choice.case.project.project().needs);
        let (played, missing): (Vec<_>, Vec<_>) = choices.into_iter().partition(is_there);
        let folder = self.folder.as_deref().unwrap_or(Path::new("DIR")).display().to_string();
        let left_out = Needs::ALL.into_iter().filter_map(|needs| {
            let of_runner = missing.iter().filter(|choice| choice.case.project.project().needs == needs);
            let cases: Vec<String> = of_runner.map(|choice| choice.name.clone()).collect();
            let (needs, install) = match needs {
                Needs::Nothing => return None,
                Needs::Pytest => (
                    "pytest",
                    format!("python3 -m venv {folder}/venv && {folder}/venv/bin/pip install pytest"),
                ),
                Needs::Vitest => ("vitest", format!("npm --prefix {folder}/npm install vitest jest")),
                Needs::Jest => ("jest", format!("npm --prefix {folder}/npm install vitest jest")),
                Needs::Go => ("go", "apt-get install golang-go".to_string()),
            };
            (!cases.is_empty()).then_some(LeftOutCases { cases, needs, install, folder: folder.clone() })
        });
        (played, left_out.collect())
    }

    /// Links the packages that a project needs into its folder.
    pub fn link(&self, needs: Needs, project: &Path) -> Result<(), CommandFailure> {
        let Some((from, name)) = self.place(needs) else { return Ok(()) };
        let to = project.join(name);
        symlink(&from, &to).map_err(|error| {
            CommandFailure::internal_error(format!("{} cannot be linked", to.display()), &error)
        })
    }

    /// Whether what a project needs is installed.
    pub fn has(&self, needs: Needs) -> bool {
        if needs == Needs::Go {
            let path = std::env::var_os("PATH").unwrap_or_default();
            return std::env::split_paths(&path).any(|folder| folder.join("go").is_file());
        }
        let Some((folder, _)) = self.place(needs) else { return needs == Needs::Nothing };
        match needs {
            Needs::Nothing | Needs::Go => true,
            Needs::Pytest => folder.join("bin/pytest").is_file(),
            // The TypeScript of the project for jest is translated by a package that vitest brings.
            Needs::Vitest | Needs::Jest => {
                let has = |package: &str| folder.join(package).join("package.json").is_file();
                has("rolldown") && has(if needs == Needs::Jest { "jest" } else { "vitest" })
            }
        }
    }

    /// The folder to link, and its name in a project.
    fn place(&self, needs: Needs) -> Option<(PathBuf, &'static str)> {
        let folder = self.folder.as_deref()?;
        match needs {
            Needs::Nothing | Needs::Go => None,
            Needs::Pytest => Some((folder.join("venv"), ".venv")),
            Needs::Vitest | Needs::Jest => Some((folder.join("npm/node_modules"), "node_modules")),
        }
    }
}
