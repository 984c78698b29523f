//! Kernel namespaces: a program that is alone in its network may use it freely.
//!
//! Ordinary users need a user namespace to create the others, and only a process with one thread can enter one. The
//! other namespaces belong to the thread that starts the program.

use super::gateway::{PrivateNetwork, ServicePlaces};
use super::policy::{ConfineError, Policy, TEMPORARY_FOLDERS};
use super::{devices, netlink, view};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_remount};
use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder in which the kernel shows processes.
const PROCESSES: &str = "/proc";

/// The program's private folder for temporary files. Its path is short, because the paths of sockets are limited.
pub(super) fn temporary_folder(policy: &Policy) -> Option<&'static Path> {
    let own = policy.private.iter().flat_map(|private| &private.folders);
    let own: Vec<&Path> = own.map(PathBuf::as_path).collect();
    TEMPORARY_FOLDERS.iter().map(Path::new).find(|folder| own.contains(folder))
}

/// The policy inside the namespaces, which permits everything that is private.
pub(super) fn policy_within(policy: &Policy) -> Policy {
    let mut within = Policy { shared_memory: true, ..policy.clone() };
    let folders = policy.private.iter().flat_map(|private| &private.folders);
    let terminals = [devices::TERMINALS, devices::NEW_TERMINAL, devices::TERMINAL].map(PathBuf::from);
    within.read_write.extend(folders.chain(&terminals).filter(|path| path.exists()).cloned());
    if policy.has_private_network() {
        (within.network, within.sockets) = (true, true);
    }
    within
}

/// Enters a user namespace if this process needs one to enter others. Every user and group keeps its number.
pub(super) fn enter_user_namespace() -> Result<(), ConfineError> {
    let is_administrator =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN));
    if is_administrator {
        return Ok(());
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let failed = |source: io::Error| ConfineError::Private { what: "the user namespace".to_string(), source };
    enter(UnshareFlags::NEWUSER).map_err(|error| failed(error.into()))?;
    fs::write("/proc/self/setgroups", "deny").map_err(failed)?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1")).map_err(failed)?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1")).map_err(failed)
}

/// Makes processes, network, shared memory and folders of what the calling thread starts private, as far as the policy
/// requires. Returns the network, to be served by a thread outside.
pub(super) fn enter_private(policy: &Policy) -> Result<Option<PrivateNetwork>, ConfineError> {
    let Some(private) = &policy.private else { return Ok(None) };
    let sockets = view::named_sockets();
    let failed = |what: &str, source: io::Error| ConfineError::Private { what: what.to_string(), source };
    let namespaces = UnshareFlags::NEWNS | UnshareFlags::NEWIPC | UnshareFlags::NEWUTS | UnshareFlags::NEWPID;
    enter(namespaces).map_err(|error| failed("processes, files and shared memory", error.into()))?;
    if !policy.has_private_network() {
        view::mount_all(policy, private, &sockets, &BTreeMap::new())?;
        return Ok(None);
    }
    enter(UnshareFlags::NEWNET).map_err(|error| failed("the network", error.into()))?;
    netlink::start_loopback().map_err(|source| failed("the loopback device", source))?;
    netlink::keep_all_addresses().map_err(|source| failed("the routes", source))?;
    let places = ServicePlaces::of(&policy.services);
    view::mount_all(policy, private, &sockets, &places.names)?;
    let network = places.listen(&policy.services).map_err(|source| failed("the services", source))?;
    Ok(Some(network))
}

/// Keeps the capabilities of this thread in the init that it starts. Root keeps them anyway.
pub(super) fn keep_capabilities() -> Result<(), ConfineError> {
    let failed =
        |error: Errno| ConfineError::Private { what: "the capabilities".to_string(), source: error.into() };
    if geteuid().is_root() {
        return Ok(());
    }
    let mut sets = capabilities(None).map_err(failed)?;
    sets.inheritable = sets.permitted;
    set_capabilities(None, sets).map_err(failed)?;
    for capability in sets.permitted.iter() {
        configure_capability_in_ambient_set(capability, true).map_err(failed)?;
    }
    Ok(())
}

/// Mounts a `/proc` that shows only the processes of this namespace.
pub(super) fn mount_processes() -> Result<(), ConfineError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", PROCESSES, "proc", flags, None::<&CStr>)
        .map_err(|error| ConfineError::Private { what: PROCESSES.to_string(), source: error.into() })
}

/// Lets every program of this network listen on every port, as an administrator may outside: nothing else is in it.
pub(super) fn open_all_ports() {
    const FIRST_OPEN_PORT: &str = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
    // Where the kernel has no such setting, the ports below 1024 stay closed.
    let _ = fs::write(FIRST_OPEN_PORT, "0");
}

/// Makes `/proc` read-only: some of its files change the machine.
pub(super) fn protect_processes() -> Result<(), ConfineError> {
    let flags = MountFlags::BIND
        | MountFlags::RDONLY
        | MountFlags::NOSUID
        | MountFlags::NODEV
        | MountFlags::NOEXEC
        | MountFlags::RELATIME;
    mount_remount(PROCESSES, flags, c"")
        .map_err(|error| ConfineError::Private { what: PROCESSES.to_string(), source: error.into() })
}

/// Forbids further namespaces in this user namespace. Without a user namespace, only the filter of system calls forbids
/// them.
pub(super) fn forbid_nested() {
    const WHOLE_RANGE: &str = "4294967295";
    let is_initial = fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().eq(["0", "0", WHOLE_RANGE]));
    if is_initial {
        return;
    }
    for kind in ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"] {
        let _ = fs::write(format!("/proc/sys/user/max_{kind}_namespaces"), "0");
    }
}

#[allow(deprecated, reason = "deprecated because of `UnshareFlags::FILES`, which is not used here")]
fn enter(namespaces: UnshareFlags) -> Result<(), Errno> {
    rustix::thread::unshare(namespaces)
}
