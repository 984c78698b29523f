//! A check as a process; both output streams are joined in the order in which they were written.

use super::action::{CheckAction, first_program};
use super::context::CheckContext;
use super::spec::{CheckSpec, SCRATCH};
use remand_process::confine::Policy;
use remand_process::{Confinement, ProcessJob};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Maximum size of an output in bytes; the middle of a longer one is cut.
pub const MAX_OUTPUT: usize = 32 * 1024 * 1024;

/// Variables for programs that would ask a server although they have everything.
pub const NO_NETWORK: [(&str, &str); 1] = [("CARGO_NET_OFFLINE", "true")];

/// Exit code of a shell that cannot find a program.
const NOT_FOUND: i32 = 127;

/// A program that is missing, with the message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingProgram {
    /// Missing on the machine, which is not a defect of the work.
    Machine(String),
    /// Missing in the work tree: a change may have deleted it.
    Tree(String),
}

impl CheckContext<'_> {
    /// The process of a check; `file` becomes its last argument, for checks that run once per file.
    pub(super) fn job(&self, spec: &CheckSpec, file: Option<&str>) -> Option<ProcessJob> {
        let argv: Vec<String> = match &spec.action {
            CheckAction::Argv(argv) => {
                let joined = ["sh", "-c", r#"exec "$@" 2>&1"#, "sh"].map(str::to_string);
                joined.into_iter().chain(argv.iter().map(|word| self.fill_in(word))).collect()
            }
            CheckAction::Shell(text) => {
                vec![
                    "sh".to_string(),
                    "-c".to_string(),
                    format!("exec 2>&1\n{}", self.fill_in(text)),
                    "sh".to_string(),
                ]
            }
            CheckAction::BuiltIn(_) => return None,
        };
        // Without `./`, a file name that begins with a hyphen would be read as an option.
        let argv = argv.into_iter().chain(file.map(|file| format!("./{file}")));
        let mut job = ProcessJob::standalone(argv, self.tree.join(&spec.folder), "check");
        job.environment = self.environment.clone();
        for (name, value) in &spec.environment {
            job.environment.insert(name.into(), self.fill_in(value).into());
        }
        if self.sandbox.is_some() && !spec.network {
            job.environment.extend(NO_NETWORK.map(|(name, value)| (name.into(), value.into())));
        }
        job.limits.time = spec.time;
        job.limits.output = MAX_OUTPUT;
        if let Some(sandbox) = self.sandbox {
            let policy = &sandbox.policy;
            job.limits.memory = Some(spec.memory);
            let memory_of_all = policy.memory_of_all.map(|bytes| bytes.max(spec.memory));
            let policy = Policy { network: spec.network, memory_of_all, memory: None, ..policy.clone() };
            job.confine = Some(Confinement { exe: sandbox.program.clone(), policy });
            if let Some(marker) = &sandbox.marker {
                job.marker.clone_from(marker);
            }
        }
        Some(job)
    }

    /// Replaces the placeholder for the scratch folder.
    pub(super) fn fill_in(&self, text: &str) -> String {
        text.replace(SCRATCH, &self.scratch.to_string_lossy())
    }

    /// Looks for the program of a check before it runs. For a shell script, only running it shows what is missing.
    pub(super) fn missing_before(&self, spec: &CheckSpec) -> Option<MissingProgram> {
        let CheckAction::Argv(argv) = &spec.action else {
            return None;
        };
        self.find_missing(spec, argv.first()?)
    }

    /// Looks for the program of a shell script after the shell reported that a program is missing.
    pub(super) fn missing_after(&self, spec: &CheckSpec, code: Option<i32>) -> Option<MissingProgram> {
        match &spec.action {
            CheckAction::Shell(text) if code == Some(NOT_FOUND) => {
                self.find_missing(spec, first_program(text))
            }
            CheckAction::Shell(_) | CheckAction::Argv(_) | CheckAction::BuiltIn(_) => None,
        }
    }

    fn find_missing(&self, spec: &CheckSpec, program: &str) -> Option<MissingProgram> {
        let is_plain =
            !program.is_empty() && !program.contains(['$', '`', '"', '\'', '(', ';', '|', '&', '{']);
        if !is_plain {
            return None;
        }
        if !program.contains('/') {
            let reason =
                format!("`{program}` is not on the PATH of the checks; install it, or correct the command");
            return (!is_on_path(self.environment, program)).then_some(MissingProgram::Machine(reason));
        }
        if self.tree.join(&spec.folder).join(program).is_file() {
            return None;
        }
        Some(if Path::new(program).is_absolute() {
            MissingProgram::Machine(format!("`{program}` does not exist; install it, or correct the command"))
        } else {
            MissingProgram::Tree(format!("the work tree has no program `{program}`"))
        })
    }
}

/// Whether a program is on the PATH of an environment.
pub fn is_on_path(environment: &BTreeMap<OsString, OsString>, program: &str) -> bool {
    find_program(environment, program).is_some()
}

/// The file of a program on the PATH of an environment.
pub fn find_program(environment: &BTreeMap<OsString, OsString>, program: &str) -> Option<PathBuf> {
    let path = environment.get(OsStr::new("PATH"))?;
    std::env::split_paths(path).map(|folder| folder.join(program)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
