//! A `/dev` with only the devices that programs need: disks, memory and the like stay outside.

use super::mounting::{bind, failed, mount_memory, open};
use super::policy::{ConfineError, Policy};
use rustix::mount::{MountFlags, mount};
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

const DEVICES: &str = "/dev";

/// The devices of every program; none of them changes the machine.
const USUAL: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", TERMINAL];

/// Links that programs expect.
const LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// The terminal of a process, if it has one.
pub(super) const TERMINAL: &str = "/dev/tty";

/// The folder of pseudo-terminals, and the device that makes new ones.
pub(super) const TERMINALS: &str = "/dev/pts";
pub(super) const NEW_TERMINAL: &str = "/dev/ptmx";

/// The folder of shared memory.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";

/// The policy of a program that shares `/dev` with others: it can read only the usual devices, because terminals and shared
/// memory of other programs are there, too.
pub(super) fn policy_without_others(policy: &Policy) -> Policy {
    let mut within = policy.clone();
    // Without hidden folders, everything may be read.
    if !policy.hidden.is_empty() {
        within.hidden.push(DEVICES.into());
        within.shown.extend(USUAL.map(PathBuf::from));
        within.shown.extend(policy.shared_memory.then(|| SHARED_MEMORY.into()));
    }
    within
}

/// Mounts the devices, and those that the policy names.
pub(super) fn mount_devices(policy: &Policy) -> Result<(), ConfineError> {
    let named = policy.read_write.iter().chain(&policy.read_only).chain(&policy.shown);
    let named = named.filter(|path| path.starts_with(DEVICES) && is_device(path)).cloned();
    let mut devices: Vec<(PathBuf, OwnedFd)> = Vec::new();
    for path in USUAL.iter().map(PathBuf::from).chain(named).filter(|path| is_device(path)) {
        let opened = open(&path)?;
        devices.push((path, opened));
    }
    let folder = Path::new(DEVICES);
    mount_memory(folder, "mode=755,size=1m")?;
    for (path, opened) in devices {
        let made = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::File::create(&path));
        made.map_err(|source| failed(&path, source))?;
        bind(&opened, &path)?;
    }
    for (link, target) in LINKS {
        std::os::unix::fs::symlink(target, link).map_err(|source| failed(Path::new(link), source))?;
    }
    for folder in [SHARED_MEMORY, TERMINALS].map(Path::new) {
        fs::create_dir(folder).map_err(|source| failed(folder, source))?;
    }
    // Few programs need a terminal, so it is not an error if the machine refuses to make new ones.
    let _ = mount_terminals();
    Ok(())
}

fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.file_type().is_char_device())
}

/// Mounts pseudo-terminals that no other program has open.
fn mount_terminals() -> Result<(), ConfineError> {
    let folder = Path::new(TERMINALS);
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("devpts", folder, "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620")
        .map_err(|error| failed(folder, error.into()))?;
    std::os::unix::fs::symlink("pts/ptmx", NEW_TERMINAL)
        .map_err(|source| failed(Path::new(NEW_TERMINAL), source))
}
