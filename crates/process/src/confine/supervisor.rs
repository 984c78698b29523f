//! The supervisor: the parent process of a confined program. It restricts the program, not itself, and kills all
//! descendants of the program.
//!
//! The kernel makes the supervisor the parent of every orphaned descendant, even of one that has left its process group
//! and session and cleared its environment. So all descendants of the supervisor belong to the program. The program can
//! neither signal nor trace the supervisor.

use super::filter::{self, Tracing};
use super::gateway::{PrivateNetwork, ServedNetwork};
use super::policy::{ConfineError, Enforcement, EnforcementLevel, HOSTS, PRIVATE, Policy};
use super::service::PROXY_VARIABLES;
use super::{capabilities, landlocked, limits, namespaces};
use crate::kill_descendants;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process, set_child_subreaper,
    set_parent_process_death_signal,
};
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

/// How long a signal to this process may take to arrive.
const PAUSE: Duration = Duration::from_millis(200);

/// Starts the program under the policy and exits with its status.
pub(super) fn supervise(
    policy: &Policy,
    program: &OsString,
    rest: &[OsString],
) -> Result<Infallible, ConfineError> {
    let parent = getppid();
    let report = policy.report.as_deref().map(create_report).transpose()?;
    let contacts = policy.contacts.as_deref().map(create_report).transpose()?;
    let supervisor_error = |source: io::Error| ConfineError::Supervisor { source };
    let mut signals =
        Signals::new([SIGCHLD, SIGCONT, SIGTERM, SIGINT, SIGQUIT, SIGHUP]).map_err(supervisor_error)?;
    super::start_session();
    let user_namespace = policy.private.as_ref().map(|_| namespaces::enter_user_namespace());
    set_parent_process_death_signal(Some(Signal::HUP)).map_err(|error| supervisor_error(error.into()))?;
    set_child_subreaper(Some(getpid())).map_err(|error| supervisor_error(error.into()))?;
    limits::apply(policy)?;
    let start = StartedProgram { policy, report, program, rest };
    let (child, network) = match user_namespace {
        None => start.in_thread(Isolation::Shared),
        Some(Ok(())) => match start.in_thread(Isolation::Private) {
            Err(ConfineError::Private { .. }) if !is_required(policy) => start.in_thread(Isolation::Shared),
            started => started,
        },
        Some(Err(error)) if is_required(policy) => Err(error),
        Some(Err(_)) => start.in_thread(Isolation::Shared),
    }?;
    let network = network.map(|network| network.serve(contacts)).transpose().map_err(supervisor_error)?;
    let save_contacts = || network.iter().for_each(ServedNetwork::save);
    let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if getppid() != parent {
        exit_without_engine();
    }
    let mut program_status = None;
    for signal in signals.forever() {
        let status = match signal {
            SIGHUP | SIGCONT if getppid() != parent => exit_without_engine(),
            SIGCHLD => reap(child),
            SIGCONT => None,
            // The signal is meant for the program, which receives it through its process group.
            _ => continue,
        };
        match (status, program_status) {
            (Some(status), _) if policy.watched => {
                // The engine kills and counts the remaining processes and then continues this one with SIGCONT. The
                // death of the engine must send the same signal; if that cannot be set, the check below catches most
                // cases.
                let _ = set_parent_process_death_signal(Some(Signal::CONT));
                // If the engine has already died, nothing would continue this process after it stops.
                if getppid() != parent {
                    exit_without_engine();
                }
                save_contacts();
                // A process can always signal itself.
                let _ = kill_process(getpid(), Signal::STOP);
                program_status = Some(status);
            }
            (Some(status), _) => {
                kill_descendants(getpid());
                save_contacts();
                exit_with(status);
            }
            (None, Some(status)) if signal == SIGCONT => {
                save_contacts();
                exit_with(status)
            }
            (None, _) => {}
        }
    }
    Err(supervisor_error(io::Error::other("the signal handler stopped")))
}

fn create_report(path: &Path) -> Result<File, ConfineError> {
    File::create(path).map_err(|source| ConfineError::Report { path: path.into(), source })
}

fn is_required(policy: &Policy) -> bool {
    policy.private.as_ref().is_some_and(|private| private.required)
}

/// Whether the program gets the private network and folders of its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Isolation {
    Private,
    Shared,
}

/// The program to start.
struct StartedProgram<'s> {
    policy: &'s Policy,
    report: Option<File>,
    program: &'s OsString,
    rest: &'s [OsString],
}

impl StartedProgram<'_> {
    /// Starts the program in a new thread: namespaces, Landlock, seccomp and capabilities restrict only the calling thread
    /// and the processes that it starts.
    fn in_thread(&self, isolation: Isolation) -> Result<(Child, Option<PrivateNetwork>), ConfineError> {
        let started = thread::scope(|scope| scope.spawn(|| self.start(isolation)).join());
        let panicked = io::Error::other("the thread that starts the program panicked");
        started.map_err(|_| ConfineError::Supervisor { source: panicked })?
    }

    fn start(&self, isolation: Isolation) -> Result<(Child, Option<PrivateNetwork>), ConfineError> {
        let network = match isolation {
            Isolation::Private => namespaces::enter_private(self.policy)?,
            Isolation::Shared => None,
        };
        capabilities::drop_administrative();
        let within = match isolation {
            Isolation::Private => namespaces::policy_within(self.policy),
            Isolation::Shared => self.policy.clone(),
        };
        let mut enforced = landlocked::enter(&within)?;
        let tracing =
            if enforced.files == EnforcementLevel::None { Tracing::Denied } else { Tracing::WithinSandbox };
        enforced.add_filter(filter::enter(&within, tracing), &within);
        enforced.add_isolation(isolation, self.policy);
        if let (Some(mut report), Some(path)) = (self.report.as_ref(), &self.policy.report) {
            let json = serde_json::to_vec(&enforced).map_err(|source| ConfineError::Unwritable { source })?;
            report.write_all(&json).map_err(|source| ConfineError::Report { path: path.clone(), source })?;
        }
        let mut command = Command::new(self.program);
        command.args(self.rest);
        let temporary = namespaces::temporary_folder(self.policy);
        if let Some(folder) = temporary.filter(|_| isolation == Isolation::Private) {
            command.env("TMPDIR", folder);
        }
        if network.is_some() {
            for name in PROXY_VARIABLES {
                command.env_remove(name);
            }
        }
        let program = || self.program.to_string_lossy().into_owned();
        let child = command.spawn().map_err(|source| ConfineError::Exec { program: program(), source })?;
        Ok((child, network))
    }
}

impl Enforcement {
    /// Adds the effect of the private network, or the gap if there is none.
    fn add_isolation(&mut self, isolation: Isolation, policy: &Policy) {
        match isolation {
            Isolation::Private if policy.has_private_network() => self.network = EnforcementLevel::Full,
            Isolation::Shared if policy.private.is_some() => {
                self.gaps.push(PRIVATE.to_string());
                self.gaps.extend((!policy.services.is_empty()).then(|| HOSTS.to_string()));
            }
            Isolation::Private | Isolation::Shared => {}
        }
    }
}

/// Reports how much of the policy would be enforced. Restricts only a short-lived thread.
pub(super) fn enforcement(policy: &Policy) -> Enforcement {
    let mut enforced = landlocked::enforcement(policy);
    let filter = thread::scope(|scope| scope.spawn(|| filter::enter(policy, Tracing::WithinSandbox)).join());
    enforced.add_filter(filter.unwrap_or(Err(filter::FilterUnavailable)), policy);
    enforced
}

/// Reaps all processes that ended, and returns the status of the program if it is among them.
fn reap(child: Option<Pid>) -> Option<WaitStatus> {
    let mut ended = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if Some(pid) == child {
            ended = Some(status);
        }
    }
    ended
}

/// Exits with the program's status. All its descendants are gone.
fn exit_with(status: WaitStatus) -> ! {
    if let Some(signal) = status.terminating_signal().and_then(Signal::from_named_raw) {
        // The first signal may only reset a handler of the Rust runtime. If neither signal ends the process, it exits
        // below.
        for _ in 0..2 {
            let _ = kill_process(getpid(), signal);
            thread::sleep(PAUSE);
        }
    }
    let signalled = status.terminating_signal().map(|signal| 128 + signal);
    std::process::exit(status.exit_status().or(signalled).unwrap_or(1))
}

/// Kills all descendants and exits, because the engine is gone.
fn exit_without_engine() -> ! {
    kill_descendants(getpid());
    std::process::exit(1)
}
