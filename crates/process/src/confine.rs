//! The sandbox that agents and checks start in: files, programs, network, signals, kernel interfaces, limits.
//!
//! The engine starts `remand confine --policy JSON -- argv`. That process, the supervisor, starts the program with
//! permanent restrictions and stays its ancestor, so no descendant escapes. The report lists the restrictions that the
//! kernel cannot enforce.

#[cfg(any(target_os = "linux", test))]
mod address_range;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod contact_record;
mod contacts;
#[cfg(target_os = "linux")]
mod devices;
#[cfg(target_os = "linux")]
mod ended;
mod enforcement;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod gateway;
#[cfg(target_os = "linux")]
mod hello;
#[cfg(target_os = "linux")]
mod init;
#[cfg(target_os = "linux")]
mod isolation;
#[cfg(target_os = "linux")]
mod landlocked;
mod limits;
#[cfg(target_os = "linux")]
mod mounting;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod packets;
mod policy;
mod privacy;
#[cfg(target_os = "linux")]
mod program;
pub mod programs;
#[cfg(target_os = "linux")]
mod readable;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
mod service;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod upstream;
#[cfg(target_os = "linux")]
mod view;
mod walls;

pub use contacts::{ContactLog, Contacts, Traffic};
pub use enforcement::{Enforcement, EnforcementLevel};
pub use policy::{ConfineError, Policy, PrivateFolders, TEMPORARY_FOLDERS, UNCONFINED};
pub use privacy::Privacy;
pub use service::{PROXY_VARIABLES, ServiceAddress};
pub use walls::{Ground, Wall, WallLevel, WallState, table};

pub use limits::memory_of_machine;

use rustix::process::Pid;
use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;

/// Reports how much of the strictest policy this machine enforces. `exe` implements `confine`.
pub fn probe(exe: &Path) -> Enforcement {
    let policy = Policy {
        hidden: vec!["/".into()],
        programs: Some(Vec::new()),
        services: ServiceAddress::parse("localhost").into_iter().collect(),
        processes: Some(1),
        ..Policy::default()
    };
    Enforcement::of(ground(can_isolate(exe)), &policy)
}

/// What this machine offers a sandbox with or without namespaces.
fn ground(namespaces: bool) -> Ground {
    #[cfg(target_os = "linux")]
    {
        supervisor::ground(namespaces)
    }
    #[cfg(not(target_os = "linux"))]
    {
        Ground { namespaces, ..Ground::BARE }
    }
}

/// Whether this machine can give a program a private network and private folders. Only a process with one thread can
/// test this.
fn can_isolate(exe: &Path) -> bool {
    let private = Some(PrivateFolders::default());
    let policy = Policy { private, private_required: true, ..Policy::default() };
    let started = wrap(exe, &policy, &["true".into()]).ok().and_then(|argv| {
        let (program, rest) = argv.split_first()?;
        let mut command = std::process::Command::new(program);
        command.args(rest).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().ok()
    });
    started.is_some_and(|status| status.success())
}

/// Prevents other processes of the user from reading this one's memory and environment.
pub fn forbid_inspection() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // If this fails, Landlock still keeps agents out.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
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

/// Keeps files and folders that this process inherited, apart from its standard streams, from the programs that it starts.
/// The engine may have got some from the user's shell, and no rule about paths applies to open files.
pub fn keep_inherited_files() {
    const FIRST: i32 = 3;
    close_fds::set_fds_cloexec_threadsafe(FIRST, &[]);
}

/// Starts `argv` restricted by the policy and exits with the program's status; returns only on failure.
pub fn run_confined(policy: &Policy, argv: &[OsString]) -> Result<Infallible, ConfineError> {
    start_confined(policy, argv).inspect_err(|error| policy.record_failure(error))
}

fn start_confined(policy: &Policy, argv: &[OsString]) -> Result<Infallible, ConfineError> {
    let (program, rest) = argv.split_first().ok_or(ConfineError::NoProgram)?;
    #[cfg(target_os = "linux")]
    {
        match init::is_this_process() {
            true => init::run(policy, program, rest),
            false => supervisor::supervise(policy, program, rest),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        use std::os::unix::process::CommandExt;
        start_session();
        limits::forbid_core_files()?;
        limits::apply(policy)?;
        #[cfg(target_os = "macos")]
        let mut command = {
            let mut command = std::process::Command::new(seatbelt::PROGRAM);
            command.arg("-p").arg(seatbelt::profile(policy)).arg(program);
            command
        };
        #[cfg(not(target_os = "macos"))]
        let mut command = std::process::Command::new(program);
        let source = command.args(rest).exec();
        Err(ConfineError::Exec { program: program.to_string_lossy().into_owned(), source })
    }
}

/// Starts a new session without a terminal, if the system allows it.
fn start_session() {
    // A group leader cannot start a session, so it first joins the group of its parent. If any of these calls fails,
    // only the process group holds the processes together, and the marker finds those that leave it.
    let own = rustix::process::getpid();
    if group_of(own) == Some(own)
        && let Some(group) = rustix::process::getppid().and_then(group_of)
    {
        let _ = rustix::process::setpgid(None::<Pid>, Some(group));
    }
    if rustix::process::setsid().is_err() {
        let _ = rustix::process::setpgid(None, None);
    }
}

/// The group of a process, unless it is outside of our PID namespace: the kernel reports such a group as 0, which `rustix`
/// refuses with a panic.
#[cfg(target_os = "linux")]
fn group_of(process: Pid) -> Option<Pid> {
    crate::procfs::stat(process.as_raw_nonzero().get()).and_then(|stat| Pid::from_raw(stat.group))
}

#[cfg(not(target_os = "linux"))]
fn group_of(process: Pid) -> Option<Pid> {
    rustix::process::getpgid(Some(process)).ok()
}

#[cfg(all(test, target_os = "linux"))]
mod confine_tests;
#[cfg(all(test, target_os = "linux"))]
mod isolation_tests;
#[cfg(all(test, target_os = "linux"))]
mod service_tests;
