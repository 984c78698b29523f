//! Leftovers: paths that a dispatch leaves in a work tree and no snapshot contains.

use std::path::PathBuf;

/// A path that a dispatch left and no snapshot contains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leftover {
    /// Relative to the root of the work tree; absolute for git's files outside the work tree.
    pub path: PathBuf,
    pub kind: LeftoverKind,
}

/// The kind of a leftover.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftoverKind {
    Fifo,
    Socket,
    Device,
    /// A file that has a second name, inside or outside the work tree.
    HardLink,
    /// A set-user, set-group or sticky bit; contains the mode.
    Privileged(u32),
    /// Permissions that git does not track: the mode before and after.
    Mode(u32, u32),
    EmptyFolder,
    /// An ignored file outside of build output.
    Ignored,
    /// A repository inside the work tree.
    Repository,
    /// A changed file of a submodule.
    Submodule,
    /// A file in the folder of a submodule that does not belong to it.
    InSubmodule,
    /// One of git's files, with its content before and after; `None` if it is missing or not a regular file.
    Git(Option<Vec<u8>>, Option<Vec<u8>>),
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match &self.kind {
            LeftoverKind::Fifo => write!(f, "{path} (a named pipe)"),
            LeftoverKind::Socket => write!(f, "{path} (a socket)"),
            LeftoverKind::Device => write!(f, "{path} (a device)"),
            LeftoverKind::HardLink => write!(f, "{path} (a file with a second name)"),
            LeftoverKind::Privileged(mode) => write!(f, "{path} (mode {mode:04o})"),
            LeftoverKind::Mode(before, after) => write!(f, "{path} (mode {before:04o} became {after:04o})"),
            LeftoverKind::EmptyFolder => write!(f, "{path} (an empty folder)"),
            LeftoverKind::Ignored => write!(f, "{path} (ignored by git)"),
            LeftoverKind::Repository => write!(f, "{path} (a repository inside the tree)"),
            LeftoverKind::Submodule => write!(f, "{path} (a file of a submodule)"),
            LeftoverKind::InSubmodule => write!(f, "{path} (in a submodule)"),
            LeftoverKind::Git(..) => write!(f, "{path} (a file of git)"),
        }
    }
}

impl Leftover {
    /// A description for the evidence: one line and, for one of git's files, its content before and after.
    pub fn diff(&self) -> Vec<u8> {
        let mut text = format!("{self}\n").into_bytes();
        if let LeftoverKind::Git(before, after) = &self.kind {
            for (sign, content) in [(b'-', before), (b'+', after)] {
                for line in content.as_deref().unwrap_or(b"(not a plain file)").split(|byte| *byte == b'\n') {
                    text.push(sign);
                    text.extend_from_slice(line);
                    text.push(b'\n');
                }
            }
        }
        text
    }
}
