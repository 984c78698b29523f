//! Mount calls, with errors that name the path.

use super::policy::ConfineError;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{MountFlags, mount, mount_bind_recursive};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

pub(super) fn failed(path: &Path, source: io::Error) -> ConfineError {
    ConfineError::Private { what: path.display().to_string(), source }
}

/// Opens a path only to refer to it. The standard library cannot do that with musl: it takes `O_PATH` for an access mode.
pub(super) fn refer_to(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a path so that it can be mounted elsewhere after it is covered.
pub(super) fn open(path: &Path) -> Result<OwnedFd, ConfineError> {
    refer_to(path).map_err(|error| failed(path, error))
}

pub(super) fn bind(source: &OwnedFd, path: &Path) -> Result<(), ConfineError> {
    let opened = format!("/proc/self/fd/{}", source.as_raw_fd());
    mount_bind_recursive(opened, path).map_err(|error| failed(path, error.into()))
}

pub(super) fn mount_memory(path: &Path, options: &str) -> Result<(), ConfineError> {
    let options = std::ffi::CString::new(options).unwrap_or_default();
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", path, "tmpfs", flags, options.as_c_str()).map_err(|error| failed(path, error.into()))
}
