//! Kernel namespaces: a program that is alone in its network may use it freely.
//!
//! A user namespace, which ordinary users need for the others, can be entered only by a process with one thread. The
//! other namespaces belong to the thread that starts the program.

use super::policy::{ConfineError, Policy};
use super::view;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder for temporary files that programs expect.
pub(super) const TEMPORARY: &str = "/tmp";

/// Whether the program has a temporary folder of its own.
pub(super) fn has_temporary_folder(policy: &Policy) -> bool {
    let is_temporary = |folder: &PathBuf| folder == Path::new(TEMPORARY);
    policy.private.as_ref().is_some_and(|private| private.folders.iter().any(is_temporary))
}

/// The policy inside the namespaces: what is private may be used.
pub(super) fn policy_within(policy: &Policy) -> Policy {
    let mut within = Policy { shared_memory: true, ..policy.clone() };
    let folders = policy.private.iter().flat_map(|private| &private.folders);
    let terminals = [view::TERMINALS, view::NEW_TERMINAL].map(PathBuf::from);
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
    let failed = |source: io::Error| ConfineError::Private { what: "the user".to_string(), source };
    enter(UnshareFlags::NEWUSER).map_err(|error| failed(error.into()))?;
    fs::write("/proc/self/setgroups", "deny").map_err(failed)?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1")).map_err(failed)?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1")).map_err(failed)
}

/// Makes network, shared memory and folders of the calling thread private, as far as the policy says.
pub(super) fn enter_private(policy: &Policy) -> Result<(), ConfineError> {
    let Some(private) = &policy.private else { return Ok(()) };
    let sockets = view::named_sockets();
    let failed = |what: &str, source: io::Error| ConfineError::Private { what: what.to_string(), source };
    enter(UnshareFlags::NEWNS | UnshareFlags::NEWIPC)
        .map_err(|error| failed("shared memory", error.into()))?;
    if policy.has_private_network() {
        enter(UnshareFlags::NEWNET).map_err(|error| failed("the network", error.into()))?;
        start_loopback().map_err(|source| failed("the loopback device", source))?;
    }
    view::mount_all(policy, private, &sockets)
}

#[allow(deprecated, reason = "deprecated because of `UnshareFlags::FILES`, which is not used here")]
fn enter(namespaces: UnshareFlags) -> Result<(), Errno> {
    rustix::thread::unshare(namespaces)
}

/// Starts the loopback device, which is the first device of a new network, through rtnetlink.
fn start_loopback() -> io::Result<()> {
    const LENGTH: u32 = 32;
    const NEW_LINK: u16 = 16;
    const REQUEST_WITH_REPLY: u16 = 1 | 4;
    const DEVICE: i32 = 1;
    const UP: u32 = 1;
    let mut message = Vec::new();
    message.extend(LENGTH.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_WITH_REPLY.to_ne_bytes());
    // The number of the message, the sender, then the address family and the type of the device.
    message.extend([0; 12]);
    message.extend(DEVICE.to_ne_bytes());
    // The flags of the device, and those of them that change.
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut reply = [0; 256];
    let (received, _) = recv(&socket, reply.as_mut_slice(), RecvFlags::empty())?;
    // A reply is a header of 16 bytes and the negated error number, zero for success.
    match reply.get(..received).and_then(|reply| reply.get(16..20)) {
        Some([0, 0, 0, 0]) => Ok(()),
        Some(error) => {
            let number = error.iter().rev().fold(0, |number, byte| number << 8 | i32::from(*byte));
            Err(io::Error::from_raw_os_error(number.wrapping_neg()))
        }
        None => Err(io::Error::other("the kernel sent no reply")),
    }
}
