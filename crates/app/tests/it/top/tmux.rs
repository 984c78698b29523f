//! A command at a terminal of tmux.

use std::ffi::OsStr;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A shell in tmux, which ends with this value.
pub struct Tmux {
    socket: String,
}

impl Tmux {
    /// Starts a shell at a terminal of this size; `None`, with a message, when the tests run without tmux.
    pub fn start(columns: u16, rows: u16) -> Option<Tmux> {
        let without = std::env::var("REMAND_TEST_WITHOUT").unwrap_or_default();
        if without.split(',').any(|name| name == "tmux") {
            eprintln!("NOT TESTED: the terminal view in tmux, since REMAND_TEST_WITHOUT names tmux");
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let tmux = Tmux { socket: format!("remand-test-{}-{number}", std::process::id()) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let shell = "env -i PATH=\"$PATH\" TERM=screen-256color PS1=shell: LANG=C.UTF-8 sh";
        tmux.ask(&["-f", "/dev/null", "new-session", "-d", "-s", "it", "-x", &columns, "-y", &rows, shell]);
        tmux.wait_for("shell:");
        Some(tmux)
    }

    fn ask(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env("LANG", "C.UTF-8").args(["-u", "-L", &self.socket]).args(arguments);
        let done = command.output().expect("tmux runs; tools/toolchains installs it");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// What the terminal shows.
    pub fn screen(&self) -> String {
        self.ask(&["capture-pane", "-p", "-t", "it"])
    }

    /// Presses keys, by the names that tmux has for them.
    pub fn press(&self, keys: &[&str]) {
        self.ask(&[&["send-keys", "-t", "it"], keys].concat());
    }

    /// Types a text.
    pub fn types(&self, text: &str) {
        self.ask(&["send-keys", "-t", "it", "-l", text]);
    }

    /// Types the command line of a command, with its folder and its environment.
    pub fn run(&self, command: &Command) {
        let quoted = |text: &OsStr| shlex_quote(text.to_str().expect("a test uses UTF-8"));
        let mut line = vec!["env".to_string()];
        if let Some(folder) = command.get_current_dir() {
            line.extend(["-C".to_string(), quoted(folder.as_os_str())]);
        }
        for (name, value) in command.get_envs() {
            if let (Some(name), Some(value)) = (name.to_str(), value) {
                line.push(format!("{name}={}", quoted(value)));
            }
        }
        line.push(quoted(command.get_program()));
        line.extend(command.get_args().map(quoted));
        // A long line would be wrapped by the shell, and the screen with it.
        let file = std::env::temp_dir().join(&self.socket);
        std::fs::write(&file, line.join(" ")).expect("a script");
        self.types(&format!(". {}", file.display()));
        self.press(&["Enter"]);
    }

    pub fn wait_for(&self, text: &str) -> String {
        self.wait(text, |screen| screen.contains(text))
    }

    pub fn wait(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let screen = self.screen();
            if holds(&screen) {
                return screen;
            }
            assert!(Instant::now() < deadline, "{what} never held:\n{screen}");
            std::thread::yield_now();
        }
    }

    /// What tmux knows of the terminal, such as `alternate_on`.
    pub fn about(&self, name: &str) -> String {
        self.ask(&["display-message", "-p", "-t", "it", &format!("#{{{name}}}")]).trim().to_string()
    }

    /// The settings of the terminal, as the shell sees them.
    pub fn settings(&self) -> String {
        let file = std::env::temp_dir().join(format!("{}.stty", self.socket));
        let _ = std::fs::remove_file(&file);
        self.types(&format!("stty -g >{0}.new && mv {0}.new {0}", file.display()));
        self.press(&["Enter"]);
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Ok(text) = std::fs::read_to_string(&file) {
                let _ = std::fs::remove_file(&file);
                return text;
            }
            assert!(Instant::now() < deadline, "the shell does not answer:\n{}", self.screen());
            std::thread::yield_now();
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
        let _ = std::fs::remove_file(std::env::temp_dir().join(&self.socket));
    }
}

fn shlex_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
