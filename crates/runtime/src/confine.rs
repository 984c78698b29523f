//! The sandbox that agents and checks start in: writing, TCP, signals, memory, sessions.
//!
//! The engine starts `<own exe> confine --policy JSON -- argv`; that process restricts itself for good and becomes
//! the program. What the kernel cannot enforce is named in the report, never passed over.

#[cfg(target_os = "linux")]
mod beside;
mod landlocked;
mod limits;
mod policy;

pub use policy::{ConfineError, Enforcement, Level, Policy};

pub(crate) use limits::limit_memory_of;

use rustix::process::{Pid, Signal};
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Tells what this machine enforces of a policy that allows nothing.
pub fn probe() -> Enforcement {
    landlocked::enforcement(&Policy::default())
}

/// Makes the arguments by which `exe` starts `argv` under the policy.
pub fn wrap(exe: &Path, policy: &Policy, argv: &[OsString]) -> Result<Vec<OsString>, ConfineError> {
    let (program, rest) = argv.split_first().ok_or(ConfineError::NoProgram)?;
    let mut wrapped = vec![exe.into()];
    wrapped.extend(arguments(policy, program, rest)?);
    Ok(wrapped)
}

pub(crate) fn arguments(
    policy: &Policy,
    program: &OsStr,
    rest: &[OsString],
) -> Result<Vec<OsString>, ConfineError> {
    let mut arguments: Vec<OsString> =
        vec!["confine".into(), "--policy".into(), policy.to_json()?.into(), "--".into()];
    arguments.push(program.into());
    arguments.extend_from_slice(rest);
    Ok(arguments)
}

/// Restricts this process by the policy and becomes `argv`; returns only when that fails.
///
/// The restriction stays in force on the calling thread even then: the caller prints the error and ends.
pub fn enter_and_exec(policy: &Policy, argv: &[OsString]) -> Result<Infallible, ConfineError> {
    let (program, rest) = argv.split_first().ok_or(ConfineError::NoProgram)?;
    // Opened before, since nothing may be writable after.
    let report = policy.report.as_ref().map(|path| {
        std::fs::File::create(path).map_err(|source| ConfineError::Report { path: path.clone(), source })
    });
    let report = report.transpose()?;
    own_session();
    limits::apply(policy)?;
    let enforced = landlocked::enter(policy)?;
    if let (Some(mut report), Some(path)) = (report, &policy.report) {
        let text = serde_json::to_vec(&enforced).map_err(|source| ConfineError::Unwritable { source })?;
        report.write_all(&text).map_err(|source| ConfineError::Report { path: path.clone(), source })?;
    }
    let source = Command::new(program).args(rest).exec();
    Err(ConfineError::Exec { program: program.to_string_lossy().into_owned(), source })
}

/// Leaves the terminal behind and dies with the engine, as far as the system allows.
fn own_session() {
    // A group leader cannot start a session: it first goes back to the group of its parent. Where that is not
    // possible the group alone has to do, and the marker finds whoever leaves it.
    let parent = rustix::process::getppid().and_then(|parent| rustix::process::getpgid(Some(parent)).ok());
    if rustix::process::getpgrp() == rustix::process::getpid() {
        let _ = rustix::process::setpgid(None::<Pid>, parent);
    }
    let alone = rustix::process::setsid();
    if alone.is_err() {
        let _ = rustix::process::setpgid(None, None);
    }
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    }
}

#[cfg(test)]
mod confine_tests;
