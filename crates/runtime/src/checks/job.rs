//! A check as a process: both streams in one, in the order in which they were written.

use super::spec::{Action, CheckSpec, SCRATCH, program};
use crate::process::Job;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Of an output beyond this, the middle is left out.
pub const OUTPUT: usize = 32 * 1024 * 1024;

/// The exit code with which a shell says that a program is not there.
const NOT_FOUND: i32 = 127;

/// What a check runs in and with.
#[derive(Clone, Copy)]
pub struct Bench<'b> {
    pub tree: &'b Path,
    pub scratch: &'b Path,
    pub environment: &'b BTreeMap<OsString, OsString>,
}

/// Where the program of a check is missing, if it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// On the machine: no defect of the work.
    Machine(String),
    /// In the work tree itself, where a change may have lost it.
    Tree(String),
}

impl Bench<'_> {
    /// The job for a check; `file` is its last argument, where it is run once for each file.
    pub fn job(&self, spec: &CheckSpec, file: Option<&str>) -> Option<Job> {
        let argv: Vec<String> = match &spec.action {
            Action::Argv(argv) => {
                let joined = ["sh", "-c", r#"exec "$@" 2>&1"#, "sh"].map(str::to_string);
                joined.into_iter().chain(argv.iter().map(|word| self.filled(word))).collect()
            }
            Action::Shell(text) => {
                vec![
                    "sh".to_string(),
                    "-c".to_string(),
                    format!("exec 2>&1\n{}", self.filled(text)),
                    "sh".to_string(),
                ]
            }
            Action::BuiltIn(_) => return None,
        };
        // A name that begins with a hyphen would be taken for an option.
        let argv = argv.into_iter().chain(file.map(|file| format!("./{file}")));
        let mut job = Job::apart(argv, self.tree.join(&spec.folder), "check");
        job.environment = self.environment.clone();
        for (name, value) in &spec.environment {
            job.environment.insert(name.into(), self.filled(value).into());
        }
        job.limits.time = spec.time;
        job.limits.memory = Some(spec.memory);
        job.limits.output = OUTPUT;
        Some(job)
    }

    /// A text with the throw-away folder put in.
    pub fn filled(&self, text: &str) -> String {
        text.replace(SCRATCH, &self.scratch.to_string_lossy())
    }

    /// Looks for the program of a check before it is run; of a shell text only the run tells.
    pub fn missing(&self, spec: &CheckSpec) -> Option<Missing> {
        let Action::Argv(argv) = &spec.action else {
            return None;
        };
        self.lacks(spec, argv.first()?)
    }

    /// Looks again after a shell said that something is not there.
    pub fn missing_after(&self, spec: &CheckSpec, code: Option<i32>) -> Option<Missing> {
        match &spec.action {
            Action::Shell(text) if code == Some(NOT_FOUND) => self.lacks(spec, program(text)),
            Action::Shell(_) | Action::Argv(_) | Action::BuiltIn(_) => None,
        }
    }

    fn lacks(&self, spec: &CheckSpec, program: &str) -> Option<Missing> {
        let is_plain =
            !program.is_empty() && !program.contains(['$', '`', '"', '\'', '(', ';', '|', '&', '{']);
        if !is_plain {
            return None;
        }
        if !program.contains('/') {
            let remedy =
                format!("`{program}` is not on the PATH of the checks; install it, or correct the command");
            return (!finds(self.environment, program)).then_some(Missing::Machine(remedy));
        }
        if self.tree.join(&spec.folder).join(program).is_file() {
            return None;
        }
        Some(if Path::new(program).is_absolute() {
            Missing::Machine(format!("there is no program `{program}`; install it, or correct the command"))
        } else {
            Missing::Tree(format!("the work tree has no program `{program}`"))
        })
    }
}

/// Whether a program is on the path of an environment.
pub fn finds(environment: &BTreeMap<OsString, OsString>, program: &str) -> bool {
    finds_at(environment, program).is_some()
}

/// Where a program is on the path of an environment.
pub fn finds_at(environment: &BTreeMap<OsString, OsString>, program: &str) -> Option<PathBuf> {
    let path = environment.get(OsStr::new("PATH"))?;
    std::env::split_paths(path).map(|folder| folder.join(program)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
