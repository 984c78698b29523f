//! The file system as a confined program sees it: private folders in place of shared ones, hidden folders empty.
//!
//! Only paths that the policy names remain visible inside them. The mounts are in the mount namespace of the calling
//! thread, and disappear with its last process.

use super::devices::{self, SHARED_MEMORY, TERMINALS};
use super::landlocked;
use super::limits;
use super::mounting::{bind, failed, mount_memory, open};
use super::mounts;
use super::policy::{ConfineError, Policy, PrivateFolders};
use rustix::fs::{StatVfsMountFlags, fstatvfs};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change, mount_remount};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The folder with the sockets of system services.
const RUN: &str = "/run";

/// The file in which programs look up names first.
const HOSTS: &str = "/etc/hosts";

/// Files that are mounted in place of others. They can be read but not changed, not even by an administrator.
/// Connecting to one in place of a socket is denied.
struct Substitutes {
    /// Replaces files that must not be read, and sockets.
    nothing: OwnedFd,
    /// Replaces `/etc/hosts`.
    hosts: OwnedFd,
}

/// What is mounted on a folder.
enum Cover {
    Empty,
    /// A folder that may be changed.
    Private(OwnedFd),
}

/// A path that stays visible inside a covered folder.
struct Kept {
    opened: OwnedFd,
    is_folder: bool,
    changes: Changes,
}

/// What happens to changes of a kept path.
#[derive(Clone)]
enum Changes {
    Refused,
    Made,
    /// They are collected in this folder, and the path itself stays as it is.
    Collected(PathBuf),
}

impl Cover {
    fn mount(&self, path: &Path) -> Result<(), ConfineError> {
        fs::create_dir_all(path).map_err(|source| failed(path, source))?;
        match self {
            Cover::Private(storage) => bind(storage, path),
            Cover::Empty => mount_memory(path, "mode=755,size=1m"),
        }
    }
}

impl Kept {
    fn mount(&self, path: &Path) -> Result<(), ConfineError> {
        create_mount_point(path, self.is_folder).map_err(|source| failed(path, source))?;
        if let Changes::Collected(folder) = &self.changes
            && mount_layers(&self.opened, folder, path).is_ok()
        {
            return Ok(());
        }
        bind(&self.opened, path)?;
        match self.changes {
            Changes::Made => Ok(()),
            // Some file systems cannot hold the upper layer; there, the path can only be read.
            Changes::Refused | Changes::Collected(_) => make_read_only(path),
        }
    }
}

/// Unix sockets with a path that programs of this network listen on.
pub(super) fn named_sockets() -> Vec<PathBuf> {
    // Without the list, the sockets in the covered folders are still out of reach.
    let text = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let paths = text.lines().filter_map(|line| line.split_whitespace().nth(7)).map(PathBuf::from);
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_absolute()).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Mounts the view of the policy for the calling thread.
pub(super) fn mount_all(
    policy: &Policy,
    private: &PrivateFolders,
    sockets: &[PathBuf],
    names: &BTreeMap<String, IpAddr>,
) -> Result<(), ConfineError> {
    let folder = std::env::current_dir().map_err(|source| failed(Path::new("."), source))?;
    // Without Landlock, nothing else keeps a program from reading.
    let private = &PrivateFolders {
        empties_hidden: private.empties_hidden || landlocked::version() == 0,
        ..private.clone()
    };
    let root = Path::new("/");
    mount_change(root, MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| failed(root, error.into()))?;
    let covers = covers(policy, private)?;
    let kept = kept(policy, private, &covers)?;
    let links = links(policy, &covers);
    devices::mount_devices(policy)?;
    // Outer paths come first, so that a hidden folder inside a kept one is covered, and a kept folder inside a hidden
    // one stays visible.
    let paths: BTreeSet<&PathBuf> = covers.keys().chain(kept.keys()).collect();
    for path in paths {
        match (covers.get(path), kept.get(path)) {
            (Some(cover), _) => cover.mount(path)?,
            (None, Some(entry)) => entry.mount(path)?,
            (None, None) => {}
        }
    }
    for (path, target) in &links {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
        }
        // A link that is there already is inside a kept folder.
        let _ = std::os::unix::fs::symlink(target, path);
    }
    let substitutes = substitutes(names)?;
    mount_memory(Path::new(SHARED_MEMORY), &shared_memory_options(policy))?;
    if !names.is_empty() {
        bind(&substitutes.hosts, Path::new(HOSTS))?;
    }
    for path in policy.hidden.iter().filter(|path| private.empties_hidden && path.is_file()) {
        bind(&substitutes.nothing, path)?;
    }
    let is_ours = |path: &PathBuf| policy.read_write.iter().any(|own| path.starts_with(own));
    let is_socket = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket());
    let foreign = |path: &&PathBuf| policy.has_private_network() && !is_ours(path) && is_socket(path);
    for path in sockets.iter().filter(foreign) {
        let bound = bind(&substitutes.nothing, path);
        // Its owner may have removed it in the meantime.
        if is_socket(path) {
            bound?;
        }
    }
    let mut writable: Vec<PathBuf> = [SHARED_MEMORY, TERMINALS].map(PathBuf::from).to_vec();
    let is_private = |cover: &Cover| matches!(cover, Cover::Private(_));
    writable.extend(covers.iter().filter(|(_, cover)| is_private(cover)).map(|(path, _)| path.clone()));
    writable.extend(policy.read_write.iter().filter_map(|path| path.canonicalize().ok()));
    let is_made = |entry: &Kept| !matches!(entry.changes, Changes::Refused);
    writable.extend(kept.iter().filter(|(_, entry)| is_made(entry)).map(|(path, _)| path.clone()));
    let fixed: Vec<PathBuf> =
        kept.iter().filter(|(_, entry)| !is_made(entry)).map(|(path, _)| path.clone()).collect();
    mounts::forbid_changes_outside(&writable, &fixed)?;
    // This comes last, because mount points for the kept paths had to be created in these folders.
    for path in covers.iter().filter(|(_, cover)| matches!(cover, Cover::Empty)).map(|(path, _)| path) {
        make_read_only(path)?;
    }
    // The old working directory is below the covers, so `..` would lead from there into covered folders.
    std::env::set_current_dir(&folder).map_err(|source| failed(&folder, source))
}

/// The folders that something else is mounted on, outer ones first.
fn covers(policy: &Policy, private: &PrivateFolders) -> Result<BTreeMap<PathBuf, Cover>, ConfineError> {
    let mut covers = BTreeMap::new();
    let run = policy.has_private_network().then(|| PathBuf::from(RUN));
    let hidden = policy.hidden.iter().filter(|_| private.empties_hidden);
    let folders = hidden.chain(&run).filter_map(|path| path.canonicalize().ok());
    for path in folders.filter(|path| path.is_dir() && path.parent().is_some()) {
        covers.insert(path, Cover::Empty);
    }
    for (number, path) in private.folders.iter().enumerate() {
        let Ok(path) = path.canonicalize() else { continue };
        let storage = private.storage.join(number.to_string());
        let create = || {
            fs::create_dir_all(&storage)?;
            fs::set_permissions(&storage, path.metadata()?.permissions())
        };
        create().map_err(|source| failed(&storage, source))?;
        covers.insert(path, Cover::Private(open(&storage)?));
    }
    Ok(covers)
}

/// The paths that stay visible inside covered folders, and those that may be changed, outer ones first.
fn kept(
    policy: &Policy,
    private: &PrivateFolders,
    covers: &BTreeMap<PathBuf, Cover>,
) -> Result<BTreeMap<PathBuf, Kept>, ConfineError> {
    let read_only = policy.read_only.iter().chain(&policy.shown).chain(policy.programs.iter().flatten());
    let mut paths: BTreeMap<PathBuf, Changes> = BTreeMap::new();
    for path in read_only.cloned().chain(tools(policy, covers)) {
        paths.extend(path.canonicalize().ok().map(|path| (path, Changes::Refused)));
    }
    for (number, path) in private.copied.iter().enumerate() {
        // Two programs must not share layers.
        let changes = private.storage.join(format!("changes-{}-{number}", std::process::id()));
        let path = path.canonicalize().ok().filter(|path| path.is_dir());
        paths.extend(path.map(|path| (path, Changes::Collected(changes))));
    }
    for path in &policy.read_write {
        paths.extend(path.canonicalize().ok().map(|path| (path, Changes::Made)));
    }
    let is_covered =
        |path: &Path| covers.keys().any(|cover| path.starts_with(cover)) && !covers.contains_key(path);
    // Everything else can be read where it is, and written only at a mount of its own. Devices are mounted separately.
    let made: Vec<PathBuf> = policy.read_write.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let is_inside_made = |path: &Path| made.iter().any(|other| other != path && path.starts_with(other));
    let is_own_mount = |path: &Path, changes: &Changes| {
        let is_elsewhere = path.starts_with("/dev") || path.parent().is_none() || covers.contains_key(path);
        matches!(changes, Changes::Made) && !is_elsewhere && !is_inside_made(path)
    };
    paths.retain(|path, changes| is_covered(path) || is_own_mount(path, changes));
    let mut kept = BTreeMap::new();
    for (path, changes) in paths {
        let entry = Kept { opened: open(&path)?, is_folder: path.is_dir(), changes };
        kept.insert(path, entry);
    }
    Ok(kept)
}

/// The top-level folders of tools on the `PATH` that are in private folders such as `/tmp`, because a tool needs more
/// files than its program. For hidden folders, the policy names what tools need.
fn tools(policy: &Policy, covers: &BTreeMap<PathBuf, Cover>) -> Vec<PathBuf> {
    let hidden: Vec<PathBuf> = policy.hidden.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program_folders = std::env::split_paths(&path).filter_map(|folder| folder.canonicalize().ok());
    let top_entry = |folder: PathBuf| {
        let cover = covers.keys().filter(|cover| folder.starts_with(cover)).max()?;
        let inside = folder.strip_prefix(cover).ok()?.components().next()?;
        (!hidden.contains(cover)).then(|| cover.join(inside))
    };
    program_folders.filter_map(top_entry).collect()
}

/// Links that the policy names inside covered folders, with their targets.
fn links(policy: &Policy, covers: &BTreeMap<PathBuf, Cover>) -> Vec<(PathBuf, PathBuf)> {
    let named = policy.read_write.iter().chain(&policy.read_only).chain(&policy.shown);
    let at = |path: &PathBuf| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let is_covered = |path: &PathBuf| covers.keys().any(|cover| path.starts_with(cover));
    named
        .filter_map(at)
        .filter(is_covered)
        .filter_map(|path| Some((path.clone(), fs::read_link(&path).ok()?)))
        .collect()
}

/// The options of the private shared memory. Without a size, the kernel allows half of the machine's memory.
fn shared_memory_options(policy: &Policy) -> String {
    const MODE: &str = "mode=1777";
    let half = limits::memory_of_machine() / 2;
    let smaller = policy.memory_of_all.or(policy.memory).filter(|limit| *limit < half);
    smaller.map_or_else(|| MODE.to_string(), |bytes| format!("{MODE},size={bytes}"))
}

/// Makes the substitutes, in a file system that nobody can change and that has no path.
fn substitutes(names: &BTreeMap<String, IpAddr>) -> Result<Substitutes, ConfineError> {
    let folder = Path::new(SHARED_MEMORY);
    mount_memory(folder, "mode=755,size=1m")?;
    let make = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|source| failed(&path, source))?;
        open(&path)
    };
    let mut hosts: String = names.iter().map(|(name, address)| format!("{address} {name}\n")).collect();
    hosts.push_str(&fs::read_to_string(HOSTS).unwrap_or_default());
    let substitutes = Substitutes { nothing: make("nothing", "")?, hosts: make("hosts", &hosts)? };
    mount_remount(folder, MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV, c"")
        .map_err(|error| failed(folder, error.into()))?;
    Ok(substitutes)
}

/// Mounts a folder as an overlay, so that changes to it are stored in another folder.
fn mount_layers(lower: &OwnedFd, changes: &Path, path: &Path) -> Result<(), ConfineError> {
    let layer = |name: &str| {
        let folder = changes.join(name);
        fs::create_dir_all(&folder).map_err(|source| failed(&folder, source))?;
        open(&folder)
    };
    let (upper, work) = (layer("upper")?, layer("work")?);
    let number = |opened: &OwnedFd| format!("/proc/self/fd/{}", opened.as_raw_fd());
    // Without privileges on the machine, the layers may only use attributes that users may set.
    let options =
        format!("userxattr,lowerdir={},upperdir={},workdir={}", number(lower), number(&upper), number(&work));
    let options = std::ffi::CString::new(options).unwrap_or_default();
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("overlay", path, "overlay", flags, options.as_c_str()).map_err(|error| failed(path, error.into()))
}

/// Forbids changes below a mount. The kernel refuses to drop restrictions that the mount already has.
fn make_read_only(path: &Path) -> Result<(), ConfineError> {
    let found = fstatvfs(open(path)?).map_err(|error| failed(path, error.into()))?;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for (has, keep) in [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        if found.f_flag.contains(has) {
            flags |= keep;
        }
    }
    mount_remount(path, flags, c"").map_err(|error| failed(path, error.into()))
}

fn create_mount_point(path: &Path, is_folder: bool) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    if is_folder {
        return fs::create_dir_all(path);
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::File::create(path).map(|_| ())
}
