//! The folder of one trial: the checkout, a home, a state directory, and a folder outside of these.

use super::bait::Bait;
use super::case::{PlantedFile, Setup};
use super::catalogue::ChosenCase;
use super::runners::TestRunners;
use super::tool::TrialTools;
use remand_agents::rehearsal::Script;
use remand_process::Cancel;
use remand_terminal::CommandFailure;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The program under trial, and the variables that it inherits from the user's environment.
#[derive(Clone, Debug)]
pub struct Engine {
    pub program: PathBuf,
    pub inherited: BTreeMap<OsString, OsString>,
    pub runners: TestRunners,
}

/// The folder of a trial, and its engine.
#[derive(Clone, Debug)]
pub struct Arena {
    root: PathBuf,
    engine: Engine,
}

impl Arena {
    /// Creates the empty folders of a trial.
    pub fn create(root: &Path, engine: &Engine) -> Result<Arena, CommandFailure> {
        let arena = Arena { root: root.to_path_buf(), engine: engine.clone() };
        for folder in [arena.checkout(), arena.home(), arena.state(), arena.outside()] {
            fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        }
        Ok(arena)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The tools that run programs in the environment of the trial.
    pub fn tools(&self, cancel: &Cancel) -> TrialTools {
        TrialTools::new(self.home(), &self.engine.inherited, cancel)
    }

    pub fn runners(&self) -> &TestRunners {
        &self.engine.runners
    }

    pub fn program(&self) -> &Path {
        &self.engine.program
    }

    pub fn checkout(&self) -> PathBuf {
        self.root.join("checkout")
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    pub fn outside(&self) -> PathBuf {
        self.root.join("outside")
    }

    pub fn rehearsal(&self) -> PathBuf {
        self.root.join("rehearsal.yaml")
    }

    /// Replaces the placeholders in the text of a case.
    pub fn fill_in(&self, text: &str, bait: &Bait) -> String {
        let paths = [
            ("@case@", self.root.clone()),
            ("@checkout@", self.checkout()),
            ("@home@", self.home()),
            ("@state@", self.state()),
            ("@outside@", self.outside()),
            ("@unix@", bait_path(&self.root)),
            ("@program@", self.engine.program.clone()),
        ];
        let mut text = text.to_string();
        for (placeholder, path) in paths {
            text = text.replace(placeholder, &path.display().to_string());
        }
        text.replace("@tcp@", &bait.tcp_port().to_string()).replace("@udp@", &bait.udp_port().to_string())
    }

    /// Creates the project and everything that the case adds to it.
    pub fn set_up(&self, choice: &ChosenCase, setup: &Setup, cancel: &Cancel) -> Result<(), CommandFailure> {
        let project = choice.case.project.project();
        for file in project.files() {
            self.write(&self.checkout().join(file.real_path()), file.text)?;
        }
        self.plant(&self.checkout(), &setup.files)?;
        self.runners().link(project.needs, &self.checkout())?;
        if !setup.settings.is_empty() {
            self.write(&self.checkout().join("remand.toml"), &setup.settings)?;
        }
        self.plant(&self.outside(), &setup.outside)?;
        self.plant(&self.home(), &setup.home)?;
        let tools = self.tools(cancel);
        let checkout = self.checkout();
        let commands: [&[&str]; 6] = [
            &["init", "--quiet", "--initial-branch", "main"],
            &["config", "user.name", "Gauntlet"],
            &["config", "user.email", "gauntlet@remand.invalid"],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "The project"],
            &["switch", "--quiet", "--create", "work"],
        ];
        for command in commands {
            tools.git(&checkout, command)?;
        }
        for command in &setup.run {
            let ended = tools.run(&["sh", "-ec", command], &checkout)?;
            if !ended.exit.succeeded() {
                let what = format!("the setup of {} failed: `{command}`", choice.name);
                return Err(CommandFailure::user(what, "this is a bug in Remand")
                    .caused_by(ended.stderr.text().trim().to_string()));
            }
        }
        Ok(())
    }

    /// Writes the script of the agents.
    pub fn write_script(&self, script: &Script) -> Result<(), CommandFailure> {
        let text = serde_json::to_string_pretty(script).unwrap_or_default();
        self.write(&self.rehearsal(), &text)
    }

    fn plant(&self, folder: &Path, files: &[PlantedFile]) -> Result<(), CommandFailure> {
        files.iter().try_for_each(|file| self.write(&folder.join(&file.path), &file.text))
    }

    pub fn write(&self, path: &Path, text: &str) -> Result<(), CommandFailure> {
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(path, text))
            .map_err(|error| unwritable(path, &error))
    }
}

/// The path of a trial's Unix socket. Paths of sockets must be short.
pub fn bait_path(root: &Path) -> PathBuf {
    root.join("s")
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandFailure {
    CommandFailure::user(format!("{} cannot be written", path.display()), "name another folder with `--keep`")
        .caused_by(error.to_string())
}
