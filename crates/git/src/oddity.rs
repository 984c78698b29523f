//! What a dispatch can leave in a work tree that is not part of a snapshot.

use std::path::PathBuf;

/// Something that a dispatch left and no snapshot contains.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Oddity {
    /// Relative to the root of the work tree; absolute for git's own files outside of it.
    pub path: PathBuf,
    pub what: OddityKind,
}

/// Why a path is odd.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OddityKind {
    Fifo,
    Socket,
    Device,
    /// A file with another name, here or elsewhere.
    HardLink,
    /// A set-user, set-group or sticky bit; contains the mode.
    Privileged(u32),
    /// Permissions that git does not track, before and after.
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
    /// One of git's own files, with its content before and after; `None` if it was missing or not a plain file.
    Git(Option<Vec<u8>>, Option<Vec<u8>>),
}

impl std::fmt::Display for Oddity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match &self.what {
            OddityKind::Fifo => write!(f, "{path} (a named pipe)"),
            OddityKind::Socket => write!(f, "{path} (a socket)"),
            OddityKind::Device => write!(f, "{path} (a device)"),
            OddityKind::HardLink => write!(f, "{path} (a file with a second name)"),
            OddityKind::Privileged(mode) => write!(f, "{path} (mode {mode:04o})"),
            OddityKind::Mode(before, after) => write!(f, "{path} (mode {before:04o} became {after:04o})"),
            OddityKind::EmptyFolder => write!(f, "{path} (an empty folder)"),
            OddityKind::Ignored => write!(f, "{path} (ignored by git)"),
            OddityKind::Repository => write!(f, "{path} (a repository inside the tree)"),
            OddityKind::Submodule => write!(f, "{path} (a file of a submodule)"),
            OddityKind::InSubmodule => write!(f, "{path} (in a submodule)"),
            OddityKind::Git(..) => write!(f, "{path} (a file of git)"),
        }
    }
}

impl Oddity {
    /// A description for the evidence: one line, and the content of git's own files before and after.
    pub fn diff(&self) -> Vec<u8> {
        let mut text = format!("{self}\n").into_bytes();
        if let OddityKind::Git(before, after) = &self.what {
            for (mark, content) in [(b'-', before), (b'+', after)] {
                for line in content.as_deref().unwrap_or(b"(not a plain file)").split(|byte| *byte == b'\n') {
                    text.push(mark);
                    text.extend_from_slice(line);
                    text.push(b'\n');
                }
            }
        }
        text
    }
}
