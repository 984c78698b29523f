//! The mounts that the calling thread sees, and making them read-only.

use super::mounting::failed;
use super::policy::ConfineError;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount_remount};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A mount, with the restrictions that it has.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    point: PathBuf,
    flags: MountFlags,
}

impl Mount {
    /// Reads a line of `mountinfo`.
    fn parse(line: &str) -> Option<Mount> {
        let mut fields = line.split(' ').skip(4);
        let point = PathBuf::from(unescape(fields.next()?));
        let flags = fields.next()?.split(',').map(|option| match option {
            "ro" => MountFlags::RDONLY,
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            _ => MountFlags::empty(),
        });
        Some(Mount { point, flags: flags.collect() })
    }
}

/// A path without the escapes of `/proc`: `\040` for a space.
fn unescape(text: &str) -> OsString {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|digits| *first == b'\\' && digits.iter().all(u8::is_ascii_digit));
        match digits.and_then(|digits| u8::from_str_radix(&String::from_utf8_lossy(digits), 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes)
}

/// Forbids changes to all mounts except the writable ones and those below them, unless a fixed one is nearer. Programs on
/// the other mounts get no additional rights.
pub(super) fn forbid_changes_outside(writable: &[PathBuf], fixed: &[PathBuf]) -> Result<(), ConfineError> {
    // The mounts of the calling thread, because the other threads of this process are in another namespace.
    let list = "/proc/thread-self/mountinfo";
    let text = fs::read(list).map_err(|source| failed(Path::new(list), source))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let mounts = text.lines().filter_map(Mount::parse);
    for mount in mounts.filter(|mount| !is_writable(&mount.point, writable, fixed)) {
        if mount.flags.contains(MountFlags::RDONLY | MountFlags::NOSUID) {
            continue;
        }
        let flags = mount.flags | MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID;
        match mount_remount(&mount.point, flags, c"") {
            // A mount that cannot be reached, for example below another, needs no protection.
            Ok(()) | Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR | Errno::INVAL) => {}
            Err(error) => return Err(failed(&mount.point, error.into())),
        }
    }
    Ok(())
}

fn is_writable(point: &Path, writable: &[PathBuf], fixed: &[PathBuf]) -> bool {
    let nearest = |paths: &[PathBuf]| {
        let above = paths.iter().filter(|path| point.starts_with(path));
        above.map(|path| path.components().count()).max()
    };
    nearest(writable) > nearest(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    // BX-03
    #[test]
    fn a_mount_below_a_fixed_path_in_a_writable_folder_is_not_writable() {
        let (writable, fixed) = (["/tmp".into(), "/tmp/tool/own".into()], ["/tmp/tool".into()]);
        for (point, expected) in
            [("/tmp", true), ("/tmp/tool/lib", false), ("/tmp/tool/own/x", true), ("/srv", false)]
        {
            assert_eq!(is_writable(Path::new(point), &writable, &fixed), expected, "{point}");
        }
    }

    #[test]
    fn a_mount_is_read_with_its_restrictions() {
        let line = "36 35 98:0 /mnt1 /a\\040b ro,nosuid,noatime master:1 - ext3 /dev/root rw,errors=continue";
        let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NOATIME;
        assert_eq!(Mount::parse(line), Some(Mount { point: "/a b".into(), flags }));
        assert_eq!(Mount::parse("36 35 98:0"), None);
    }
}
