//! Starts the program with its restrictions.

use super::channel::{INIT_ROLE, InitFiles};
use super::enforcement::Enforcement;
use super::filter::{self, Tracing};
use super::isolation::Isolation;
use super::policy::{ConfineError, Policy};
use super::service::PROXY_VARIABLES;
use super::walls::Ground;
use super::{capabilities, devices, landlocked, limits, namespaces};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::process::{Child, Command};
use std::thread;

/// The program to start.
pub(super) struct ConfinedProgram<'p> {
    pub policy: &'p Policy,
    pub program: &'p OsString,
    pub rest: &'p [OsString],
}

impl ConfinedProgram<'_> {
    /// Starts the program in the namespaces of this process.
    pub fn start_shared(&self, report: Option<&File>) -> Result<Child, ConfineError> {
        let program = Command::new(self.program);
        let within = devices::policy_without_others(self.policy);
        in_thread(|| self.start(program, Isolation::Shared, &within, report))
    }

    /// Starts the program as a child of its init.
    pub fn start_private(&self, files: InitFiles) -> Result<Child, ConfineError> {
        let mut program = Command::new(self.program);
        program.stdin(files.stdin).env_remove(INIT_ROLE);
        if let Some(folder) = namespaces::temporary_folder(self.policy) {
            program.env("TMPDIR", folder);
        }
        if self.policy.has_private_network() {
            for name in PROXY_VARIABLES {
                program.env_remove(name);
            }
        }
        let within = namespaces::policy_within(self.policy);
        let report = files.report.map(File::from);
        in_thread(|| self.start(program, Isolation::Private, &within, report.as_ref()))
    }

    fn start(
        &self,
        mut command: Command,
        isolation: Isolation,
        within: &Policy,
        report: Option<&File>,
    ) -> Result<Child, ConfineError> {
        capabilities::drop_administrative();
        let landlock = landlocked::enter(within)?;
        let tracing = if landlock == 0 { Tracing::Denied } else { Tracing::WithinSandbox };
        let namespaces = isolation == Isolation::Private;
        let ground = Ground {
            namespaces,
            landlock,
            filter: filter::enter(within, isolation, tracing).is_ok(),
            own_process_limit: namespaces && limits::bind_everybody(),
        };
        let enforced = Enforcement::of(ground, self.policy);
        if let (Some(mut report), Some(path)) = (report, &self.policy.report) {
            let json = serde_json::to_vec(&enforced).map_err(|source| ConfineError::Unwritable { source })?;
            report.write_all(&json).map_err(|source| ConfineError::Report { path: path.clone(), source })?;
        }
        let program = || self.program.to_string_lossy().into_owned();
        command.args(self.rest).spawn().map_err(|source| ConfineError::Exec { program: program(), source })
    }
}

/// Works in a new thread: Landlock, seccomp and capabilities restrict only the calling thread and what it starts, and so do
/// namespaces.
pub(super) fn in_thread<T: Send>(
    work: impl FnOnce() -> Result<T, ConfineError> + Send,
) -> Result<T, ConfineError> {
    let done = thread::scope(|scope| scope.spawn(work).join());
    let panicked = io::Error::other("the thread that starts the program panicked");
    done.map_err(|_| ConfineError::Supervisor { source: panicked })?
}
