//! Resource limits of a confined process.

use super::policy::{ConfineError, Policy};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Sets the policy's limits on this process. Also disables core files, which would look like changes to the tree.
pub(super) fn apply(policy: &Policy) -> Result<(), ConfineError> {
    limit(Resource::Core, "core files", 0)?;
    if let Some(bytes) = policy.memory {
        limit(Resource::Data, "memory", bytes)?;
    }
    if let Some(bytes) = policy.file_size {
        limit(Resource::Fsize, "file size", bytes)?;
    }
    if let Some(count) = policy.processes {
        // The kernel counts all threads of the user, so the existing ones are added.
        limit(Resource::Nproc, "processes", count.saturating_add(threads_of_user()))?;
    }
    Ok(())
}

/// Limits the private writable memory of a child that has just been started.
///
/// The limit is on data, not on address space, so that runtimes that reserve much more than they use can start.
#[cfg(target_os = "linux")]
pub(crate) fn limit_memory_of(child: Pid, bytes: u64) -> io::Result<()> {
    let rlimit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    match rustix::process::prlimit(Some(child), Resource::Data, rlimit) {
        // The child has already ended.
        Ok(_) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn limit_memory_of(_: Pid, _: u64) -> io::Result<()> {
    Err(io::Error::other("outside the sandbox, memory can be limited only on Linux"))
}

fn limit(resource: Resource, what: &'static str, value: u64) -> Result<(), ConfineError> {
    // A stricter inherited limit stays.
    let value = getrlimit(resource).maximum.map_or(value, |maximum| maximum.min(value));
    let rlimit = Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(resource, rlimit).map_err(|error| ConfineError::Limit { what, value, source: error.into() })
}

/// Counts the threads that run as this user; zero without `/proc`.
fn threads_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::getuid().as_raw();
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let user_processes = entries.filter_map(Result::ok).filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            && entry.metadata().is_ok_and(|metadata| metadata.uid() == user)
    });
    user_processes
        .map(|entry| std::fs::read_dir(entry.path().join("task")).map_or(0, |tasks| tasks.count() as u64))
        .sum()
}
