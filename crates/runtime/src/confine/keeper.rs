//! The process above a confined program: it restricts what it starts, never itself, and loses none of it.
//!
//! Whoever leaves group, session and environment behind is handed to the keeper by the kernel when its parent ends, so
//! that everything below it is the program's. The program can neither signal nor trace its keeper.

use super::filter::{self, Tracing};
use super::policy::{ConfineError, Enforcement, Level, Policy};
use super::{capabilities, landlocked, limits};
use crate::process::kill_below;
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

/// How long a signal to oneself may take.
const PAUSE: Duration = Duration::from_millis(200);

/// Starts the program under the policy and ends as it ends.
pub(super) fn keep(
    policy: &Policy,
    program: &OsString,
    rest: &[OsString],
) -> Result<Infallible, ConfineError> {
    let parent = getppid();
    let report = policy.report.as_deref().map(create).transpose()?;
    let kept = |source: io::Error| ConfineError::Keeper { source };
    let mut signals = Signals::new([SIGCHLD, SIGCONT, SIGTERM, SIGINT, SIGQUIT, SIGHUP]).map_err(kept)?;
    super::own_session();
    set_parent_process_death_signal(Some(Signal::HUP)).map_err(|error| kept(error.into()))?;
    set_child_subreaper(Some(getpid())).map_err(|error| kept(error.into()))?;
    limits::apply(policy)?;
    // Landlock, seccomp and capabilities bind the thread that asks for them, and whatever it starts.
    let start = || start(policy, report, program, rest);
    let started = thread::scope(|scope| scope.spawn(start).join());
    let child = started.map_err(|_| kept(io::Error::other("the starting thread ended")))??;
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
            // Meant for the program, which gets it by its group.
            _ => continue,
        };
        match (status, ended) {
            (Some(status), _) if policy.watched => {
                // The engine kills and counts those who are left, and lets this go on; or it dies, which does as well.
                let _ = set_parent_process_death_signal(Some(Signal::CONT));
                // It may have died before that, and nobody would wake what stops now.
                if getppid() != parent {
                    abandon();
                }
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
    Err(kept(io::Error::other("no more signals arrive")))
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
    let tracing = if enforced.files == Level::None { Tracing::Denied } else { Tracing::InsideTheSandbox };
    enforced.filtered_by(filter::enter(policy, tracing), policy);
    if let (Some(mut report), Some(path)) = (report, &policy.report) {
        let text = serde_json::to_vec(&enforced).map_err(|source| ConfineError::Unwritable { source })?;
        report.write_all(&text).map_err(|source| ConfineError::Report { path: path.clone(), source })?;
    }
    let started = Command::new(program).args(rest).spawn();
    started.map_err(|source| ConfineError::Exec { program: program.to_string_lossy().into_owned(), source })
}

/// Tells what would be enforced, and restricts no more than a thread that ends at once.
pub(super) fn enforcement(policy: &Policy) -> Enforcement {
    let mut enforced = landlocked::enforcement(policy);
    let filtered =
        thread::scope(|scope| scope.spawn(|| filter::enter(policy, Tracing::InsideTheSandbox)).join());
    enforced.filtered_by(filtered.unwrap_or(Err(filter::Unfiltered)), policy);
    enforced
}

/// Reaps whoever ended, and gives the status of the program when it is among them.
fn reap(child: Option<Pid>) -> Option<WaitStatus> {
    let mut ended = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if Some(pid) == child {
            ended = Some(status);
        }
    }
    ended
}

/// Ends as the program did, when nothing of it is left.
fn end(status: WaitStatus) -> ! {
    if let Some(signal) = status.terminating_signal().and_then(Signal::from_named_raw) {
        // The first one may only take a handler of the runtime away, and another thread may have to be told.
        for _ in 0..2 {
            let _ = kill_process(getpid(), signal);
            thread::sleep(PAUSE);
        }
    }
    let signalled = status.terminating_signal().map(|signal| 128 + signal);
    std::process::exit(status.exit_status().or(signalled).unwrap_or(1))
}

/// The engine is gone: nothing goes on without it.
fn abandon() -> ! {
    kill_below(getpid());
    std::process::exit(1)
}
