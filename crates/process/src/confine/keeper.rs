//! The parent process of a confined program: it restricts what it starts, never itself, and tracks all descendants.
//!
//! When a process loses its parent, the kernel makes the keeper its parent, even if it left its group, session and
//! environment. So all descendants of the keeper belong to the program. The program can neither signal nor trace it.

use super::filter::{self, Tracing};
use super::policy::{ConfineError, Enforcement, EnforcementLevel, Policy};
use super::{capabilities, landlocked, limits};
use crate::kill_below;
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
pub(super) fn keep(
    policy: &Policy,
    program: &OsString,
    rest: &[OsString],
) -> Result<Infallible, ConfineError> {
    let parent = getppid();
    let report = policy.report.as_deref().map(create).transpose()?;
    let keeper_error = |source: io::Error| ConfineError::Keeper { source };
    let mut signals =
        Signals::new([SIGCHLD, SIGCONT, SIGTERM, SIGINT, SIGQUIT, SIGHUP]).map_err(keeper_error)?;
    super::start_session();
    set_parent_process_death_signal(Some(Signal::HUP)).map_err(|error| keeper_error(error.into()))?;
    set_child_subreaper(Some(getpid())).map_err(|error| keeper_error(error.into()))?;
    limits::apply(policy)?;
    // Landlock, seccomp and capabilities restrict only the calling thread and what it starts.
    let start = || start(policy, report, program, rest);
    let started = thread::scope(|scope| scope.spawn(start).join());
    let child = started
        .map_err(|_| keeper_error(io::Error::other("the thread that starts the program panicked")))??;
    let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if getppid() != parent {
        abandon();
    }
    let mut ended = None;
    for signal in signals.forever() {
        let status = match signal {
            SIGHUP | SIGCONT if getppid() != parent => abandon(),
            SIGCHLD => reap(child),
            SIGCONT => None,
            // Meant for the program, which receives it through its process group.
            _ => continue,
        };
        match (status, ended) {
            (Some(status), _) if policy.watched => {
                // The engine kills and counts the remaining processes and then continues this one with SIGCONT. Its death
                // has to send the same signal; where that is not possible, the check below catches most cases.
                let _ = set_parent_process_death_signal(Some(Signal::CONT));
                // If the engine died before that, nothing would wake this process once it stops.
                if getppid() != parent {
                    abandon();
                }
                // A process can always signal itself.
                let _ = kill_process(getpid(), Signal::STOP);
                ended = Some(status);
            }
            (Some(status), _) => {
                kill_below(getpid());
                end(status);
            }
            (None, Some(status)) if signal == SIGCONT => end(status),
            (None, _) => {}
        }
    }
    Err(keeper_error(io::Error::other("the signal handler stopped")))
}

fn create(path: &Path) -> Result<File, ConfineError> {
    File::create(path).map_err(|source| ConfineError::Report { path: path.into(), source })
}

fn start(
    policy: &Policy,
    report: Option<File>,
    program: &OsString,
    rest: &[OsString],
) -> Result<Child, ConfineError> {
    capabilities::drop_dangerous();
    let mut enforced = landlocked::enter(policy)?;
    let tracing =
        if enforced.files == EnforcementLevel::None { Tracing::Denied } else { Tracing::InsideTheSandbox };
    enforced.filtered_by(filter::enter(policy, tracing), policy);
    if let (Some(mut report), Some(path)) = (report, &policy.report) {
        let text = serde_json::to_vec(&enforced).map_err(|source| ConfineError::Unwritable { source })?;
        report.write_all(&text).map_err(|source| ConfineError::Report { path: path.clone(), source })?;
    }
    let started = Command::new(program).args(rest).spawn();
    started.map_err(|source| ConfineError::Exec { program: program.to_string_lossy().into_owned(), source })
}

/// Reports what would be enforced. Restricts only a short-lived thread.
pub(super) fn enforcement(policy: &Policy) -> Enforcement {
    let mut enforced = landlocked::enforcement(policy);
    let filtered =
        thread::scope(|scope| scope.spawn(|| filter::enter(policy, Tracing::InsideTheSandbox)).join());
    enforced.filtered_by(filtered.unwrap_or(Err(filter::Unfiltered)), policy);
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

/// Exits with the program's status, once all its descendants are gone.
fn end(status: WaitStatus) -> ! {
    if let Some(signal) = status.terminating_signal().and_then(Signal::from_named_raw) {
        // The first signal may only reset a handler of the Rust runtime. If both have no effect, the exit below follows.
        for _ in 0..2 {
            let _ = kill_process(getpid(), signal);
            thread::sleep(PAUSE);
        }
    }
    let signalled = status.terminating_signal().map(|signal| 128 + signal);
    std::process::exit(status.exit_status().or(signalled).unwrap_or(1))
}

/// The engine is gone, so everything that it started ends.
fn abandon() -> ! {
    kill_below(getpid());
    std::process::exit(1)
}
