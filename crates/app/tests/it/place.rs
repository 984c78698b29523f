//! The environment of a test: a real repository, a state directory, a home, and the binary.

use remand_agents::driver::{AgentRows, NamedRow};
use remand_ledger::query::RunRow;
use remand_ledger::{Ledger, Reader, RunId};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A test environment below one temporary folder, which is removed with it.
pub struct Place {
    folder: TempDir,
}

/// The exit code and output of a command.
#[derive(Debug)]
pub struct Shown {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A project with a module and a test, in Python, which needs no build.
const PROJECT: &[(&str, &str)] = &[
    ("pyproject.toml", "[project]\nname = \"sums\"\nversion = \"0.1.0\"\n"),
    (".gitignore", "__pycache__/\n"),
    ("README.md", "# sums\n"),
    ("sums/__init__.py", ""),
    ("sums/add.py", "def add(a, b):\n    return a + b\n"),
    ("tests/__init__.py", ""),
    (
        "tests/test_add.py",
        "import unittest\n\nfrom sums.add import add\n\n\nclass AddTest(unittest.TestCase):\n    \
         def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n",
    ),
];

impl Place {
    /// A repository with the sample project, on the branch `work`.
    pub fn new() -> Place {
        let place = Place { folder: TempDir::new().expect("a temporary folder") };
        for folder in ["project", "home", "state"] {
            fs::create_dir(place.folder.path().join(folder)).expect("folder");
        }
        for (path, text) in PROJECT {
            place.write(path, text);
        }
        place.git(&["init", "-q", "-b", "main"]);
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "The project"]);
        place.git(&["switch", "-q", "-c", "work"]);
        place
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The user's home.
    pub fn user_home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The path of a file that agents see as soon as it exists, since caches are shared with them.
    pub fn visible_file(&self, name: &str) -> PathBuf {
        let caches = self.user_home().join(".cache");
        fs::create_dir_all(&caches).expect("a folder");
        caches.join(name)
    }

    /// The folder of the repository in the state directory.
    pub fn home(&self) -> PathBuf {
        let mut folders = fs::read_dir(self.state()).expect("state").flatten().map(|entry| entry.path());
        folders.find(|path| path.is_dir()).expect("the repository's folder")
    }

    /// Writes a file in the project.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("file");
    }

    /// Writes a file next to the project, such as a rehearsal, and returns its path.
    pub fn write_outside(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("file");
        path.display().to_string()
    }

    /// Writes a program next to the project and returns its path.
    pub fn write_program(&self, name: &str, script: &str) -> String {
        let path = self.write_outside(name, script);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
        path
    }

    /// Makes this agent the default in the user's settings.
    pub fn set_user_agent(&self, agent: &str) {
        let file = self.user_home().join(".config/remand/config.toml");
        let others = fs::read_to_string(&file).unwrap_or_default();
        fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
        // A key that belongs to no table comes first.
        fs::write(&file, format!("agent = \"{agent}\"\n{others}")).expect("settings");
    }

    /// Hides all known agents, whatever is installed on the machine.
    pub fn without_agents(self) -> Place {
        let known = AgentRows::from_config(&BTreeMap::new()).and_then(|known| known.all()).expect("the rows");
        let absent = |agent: NamedRow| format!("[agents.{}]\ncommand = [\"/absent/{0}\"]\n", agent.name);
        self.add_user_settings(&known.into_iter().map(absent).collect::<String>());
        self
    }

    /// Adds to the user's settings.
    pub fn add_user_settings(&self, text: &str) {
        let file = self.folder.path().join("home/.config/remand/config.toml");
        fs::create_dir_all(file.parent().expect("a folder")).expect("folder");
        let before = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, before + text).expect("file");
    }

    /// Runs git in the project as the user, and returns its output.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.project(), arguments)
    }

    pub fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self
            .hermetic(Command::new("git"))
            .args(arguments)
            .current_dir(folder)
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn hermetic(&self, mut command: Command) -> Command {
        let home = self.folder.path().join("home");
        command.env_clear().env("PATH", std::env::var_os("PATH").expect("PATH"));
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "A User"),
            ("GIT_AUTHOR_EMAIL", "user@example.org"),
            ("GIT_COMMITTER_NAME", "A User"),
            ("GIT_COMMITTER_EMAIL", "user@example.org"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("EMAIL", "user@example.org"),
            ("USER", "ada"),
            ("NO_COLOR", "1"),
            ("COLUMNS", "100"),
        ] {
            command.env(name, value);
        }
        let settings = home.join(".gitconfig");
        if !settings.exists() {
            fs::write(&settings, "[user]\n\tname = A User\n\temail = user@example.org\n").expect("settings");
        }
        command.env("HOME", &home);
        command
    }

    /// The binary, ready to be run in the project.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.hermetic(Command::new(env!("CARGO_BIN_EXE_remand")));
        command.env("REMAND_STATE_DIR", self.state()).current_dir(self.project()).args(arguments);
        command.stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub fn remand(&self, arguments: &[&str]) -> Shown {
        shown(self.command(arguments))
    }

    /// Starts the binary and leaves it running.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts")
    }

    /// Runs a request with a rehearsal.
    pub fn run(&self, request: &str, rehearsal: &str, more: &[&str]) -> Shown {
        let script = self.write_outside("rehearsal.yaml", rehearsal);
        let agent = format!("rehearsal:{script}");
        let mut arguments = vec!["run", request, "--agent", agent.as_str()];
        arguments.extend(more);
        self.remand(&arguments)
    }

    /// The prompt of a dispatch.
    pub fn prompt(&self, run: &RunId, command: &str) -> String {
        let folder = self.home().join("runs").join(&run.0).join("dispatches").join(command);
        fs::read_to_string(folder.join("prompt.md")).expect("a prompt")
    }

    /// A part of the brief that a dispatch got, from its prompt or from its file.
    pub fn brief_part(&self, run: &RunId, command: &str, name: &str) -> Option<String> {
        let prompt = self.prompt(run, command);
        let heading = format!("### `{name}`: ");
        let mut lines = prompt.lines().skip_while(|line| !line.starts_with(&heading)).skip(2);
        let fence: String = lines.next()?.chars().take_while(|it| *it == '`').collect();
        if fence.is_empty() {
            let folder = self.home().join("runs").join(&run.0).join("dispatches").join(command);
            return Some(fs::read_to_string(folder.join("inputs").join(name)).expect("a file"));
        }
        let text: Vec<&str> = lines.take_while(|line| *line != fence).collect();
        Some(text.join("\n") + "\n")
    }

    pub fn reader(&self) -> Reader {
        Reader::open(&self.home().join("ledger.db")).expect("the ledger opens")
    }

    pub fn ledger(&self) -> Ledger {
        Ledger::open(&self.home().join("ledger.db")).expect("the ledger opens")
    }

    /// The newest run.
    pub fn latest(&self) -> RunRow {
        self.reader().latest().expect("a query").expect("a run")
    }
}

/// Runs a command to its end.
pub fn shown(mut command: Command) -> Shown {
    let output = command.output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Shown { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// Lets a process with another home find the Rust toolchain.
pub fn with_rust(command: &mut Command) {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        let usual = Some(home.join(folder)).filter(|path| path.is_dir()).map(Into::into);
        if let Some(path) = std::env::var_os(name).or(usual) {
            command.env(name, path);
        }
    }
}
