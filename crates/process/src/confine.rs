//! The sandbox that agents and checks start in: files, programs, network, signals, kernel interfaces, limits.
//!
//! The engine starts `<own exe> confine --policy JSON -- argv`. That process, the keeper, starts the program with
//! permanent restrictions and stays its ancestor, so that no descendant escapes. The report lists what the kernel cannot
//! enforce.

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod keeper;
mod landlocked;
mod limits;
mod policy;
mod privacy;
pub mod programs;
#[cfg(target_os = "linux")]
mod readable;

pub use policy::{ConfineError, Enforcement, EnforcementLevel, Policy};
pub use privacy::Privacy;

pub(crate) use limits::limit_memory_of;

use rustix::process::Pid;
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Reports what this machine enforces of a policy that allows nothing.
pub fn probe() -> Enforcement {
    enforcement(&Policy { hidden: vec!["/proc/1".into()], ..Policy::default() })
}

/// Prevents other processes of the user from reading this one's memory and environment.
pub fn close_to_others() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // If this fails, Landlock still keeps agents out.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

#[cfg(target_os = "linux")]
fn enforcement(policy: &Policy) -> Enforcement {
    keeper::enforcement(policy)
}

#[cfg(not(target_os = "linux"))]
fn enforcement(policy: &Policy) -> Enforcement {
    landlocked::enforcement(policy)
}

/// Returns the command line with which `exe` starts `argv` under the policy.
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

/// Starts `argv` restricted by the policy and exits with its status; returns only if that fails.
pub fn run_confined(policy: &Policy, argv: &[OsString]) -> Result<Infallible, ConfineError> {
    let (program, rest) = argv.split_first().ok_or(ConfineError::NoProgram)?;
    #[cfg(target_os = "linux")]
    {
        keeper::keep(policy, program, rest)
    }
    #[cfg(not(target_os = "linux"))]
    {
        use std::os::unix::process::CommandExt;
        start_session();
        limits::apply(policy)?;
        let source = std::process::Command::new(program).args(rest).exec();
        Err(ConfineError::Exec { program: program.to_string_lossy().into_owned(), source })
    }
}

/// Starts a new session, away from the terminal, as far as the system allows.
fn start_session() {
    // A group leader cannot start a session, so it first joins the group of its parent. If any of these calls fails, the
    // process group has to do, and the marker finds processes that leave it.
    let parent = rustix::process::getppid().and_then(|parent| rustix::process::getpgid(Some(parent)).ok());
    if rustix::process::getpgrp() == rustix::process::getpid() {
        let _ = rustix::process::setpgid(None::<Pid>, parent);
    }
    if rustix::process::setsid().is_err() {
        let _ = rustix::process::setpgid(None, None);
    }
}

#[cfg(test)]
mod confine_tests;
