//! The init of a confined program: the first process of a process namespace. It sees the end of the program, adopts and
//! reaps every orphan, and when it ends, the kernel kills everything else in the namespace.
//!
//! It is a second instance of the supervisor's program. The supervisor holds the other end of its standard input:
//! however the supervisor ends, the init ends too.

use super::channel::{self, INIT_ROLE, InitMessage};
use super::ended::ProgramEnd;
use super::policy::{ConfineError, Policy, UNCONFINED};
use super::program::ConfinedProgram;
use super::{limits, namespaces};
use rustix::process::{Pid, WaitOptions, getpid, setsid, wait};
use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread;

/// Whether this process is an init.
pub(super) fn is_this_process() -> bool {
    getpid() == Pid::INIT && std::env::var_os(INIT_ROLE).is_some()
}

/// Starts the program and stays until the supervisor ends.
pub(super) fn run(
    policy: &Policy,
    program: &OsString,
    rest: &[OsString],
) -> Result<Infallible, ConfineError> {
    let supervisor_error = |source: io::Error| ConfineError::Supervisor { source };
    let channel = io::stdin().as_fd().try_clone_to_owned().map_err(supervisor_error)?;
    let channel = UnixStream::from(channel);
    let child = match start(&channel, &ConfinedProgram { policy, program, rest }) {
        Ok(child) => child,
        Err(error) => {
            // Without the message, the supervisor sees that this process ended.
            let _ = channel::send(&channel, &failure(&error));
            std::process::exit(UNCONFINED);
        }
    };
    channel::send(&channel, &InitMessage::Started).map_err(supervisor_error)?;
    let supervisor = channel.try_clone().map_err(supervisor_error)?;
    thread::Builder::new()
        .name("supervisor".to_string())
        .spawn(move || end_with(supervisor))
        .map_err(supervisor_error)?;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => {
                channel::send(&channel, &InitMessage::Ended(ProgramEnd::from(status)))
                    .map_err(supervisor_error)?;
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            // Nothing is left to reap; the supervisor decides when this process ends.
            Err(_) => thread::park(),
        }
    }
}

fn start(channel: &UnixStream, program: &ConfinedProgram<'_>) -> Result<Pid, ConfineError> {
    let supervisor_error = |source: io::Error| ConfineError::Supervisor { source };
    let files = channel::receive_files(channel).map_err(supervisor_error)?;
    setsid().map_err(|error| supervisor_error(error.into()))?;
    namespaces::mount_processes()?;
    limits::apply_within(program.policy)?;
    limits::end_first_without_memory("self");
    if program.policy.has_private_network() {
        namespaces::open_all_ports();
    }
    namespaces::forbid_nested();
    namespaces::protect_processes()?;
    super::forbid_inspection();
    let child = program.start_private(files)?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| supervisor_error(io::Error::other("the program has no process number")))
}

fn failure(error: &ConfineError) -> InitMessage {
    match error {
        ConfineError::Private { what, source } => {
            InitMessage::NotPrivate { what: what.clone(), why: source.to_string() }
        }
        other => InitMessage::Failed { why: other.chain() },
    }
}

/// Ends this process, and with it everything in the namespace, when the supervisor closes the channel.
fn end_with(mut supervisor: UnixStream) {
    let mut byte = [0];
    loop {
        match supervisor.read(&mut byte) {
            Ok(0) => std::process::exit(0),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => std::process::exit(1),
            Ok(_) | Err(_) => {}
        }
    }
}
