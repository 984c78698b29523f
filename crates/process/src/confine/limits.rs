//! Resource limits of a confined process.

use super::policy::{ConfineError, Policy};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Disables core files of this process and of what it starts: they would look like changes to the tree.
pub(super) fn forbid_core_files() -> Result<(), ConfineError> {
    // At zero, the kernel would still pass the memory of the program to a crash reporter outside the sandbox.
    limit(Resource::Core, "core files", 1)
}

/// Sets the policy's limits on this process. On Linux, the memory that programs use is measured instead: the kernel can only
/// limit what they reserve, and address sanitizers reserve much more than they use.
pub(super) fn apply(policy: &Policy) -> Result<(), ConfineError> {
    #[cfg(not(target_os = "linux"))]
    if let Some(bytes) = policy.memory {
        limit(Resource::Data, "memory", bytes)?;
    }
    if let Some(bytes) = policy.file_size {
        limit(Resource::Fsize, "file size", bytes)?;
    }
    if let Some(processes) = policy.processes {
        // The kernel counts all threads of the user, so the existing ones are added.
        limit(Resource::Nproc, "processes", tasks(processes).saturating_add(threads_of_user()))?;
    }
    Ok(())
}

/// Sets the policy's limits on the init of a program, in the namespaces of the program.
#[cfg(target_os = "linux")]
pub(super) fn apply_within(policy: &Policy) -> Result<(), ConfineError> {
    apply(&Policy { processes: None, ..policy.clone() })?;
    let Some(tasks) = policy.processes.map(tasks) else { return Ok(()) };
    if is_process_number_limit_private() {
        // The limit of the namespace above is lower; nothing in this one can exceed that.
        let _ = std::fs::write("/proc/sys/kernel/pid_max", (RESERVED + tasks).to_string());
    }
    // For an ordinary user, the kernel counts only the processes of this user namespace.
    limit(Resource::Nproc, "processes", tasks)
}

/// The lowest process numbers, which the kernel uses only once.
#[cfg(target_os = "linux")]
const RESERVED: u64 = 300;

/// Whether the kernel limits the processes of a namespace, whoever starts them.
#[cfg(target_os = "linux")]
pub(super) fn bind_everybody() -> bool {
    is_process_number_limit_private() || !rustix::process::geteuid().is_root()
}

/// Whether each process namespace has its own limit on process numbers, as since Linux 6.14. Before, all namespaces
/// share one limit.
#[cfg(target_os = "linux")]
fn is_process_number_limit_private() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 14)
}

/// How many threads a number of processes may have together. Many runtimes start one for each processor.
fn tasks(processes: u64) -> u64 {
    const LEAST: u64 = 8;
    let processors = std::thread::available_parallelism().map_or(1, |number| number.get() as u64);
    processes.saturating_mul(processors.max(LEAST))
}

/// The memory of the machine, in bytes; zero where the system does not say so.
pub fn memory_of_machine() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap_or_default();
    let kibibytes = line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    kibibytes.unwrap_or(0).saturating_mul(1024)
}

/// Makes the kernel end this process before others when memory runs out: files in memory that no process has mapped count
/// to nobody.
#[cfg(target_os = "linux")]
pub(super) fn end_first_without_memory(process: &str) {
    const SCORE: &str = "500";
    // A higher score can stay, and without this, only the measured limits apply.
    let _ = std::fs::write(format!("/proc/{process}/oom_score_adj"), SCORE);
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
