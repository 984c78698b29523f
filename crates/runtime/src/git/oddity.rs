//! What a dispatch can leave in a work tree without changing the content of any state.

use std::path::PathBuf;

/// Something that a dispatch left and no snapshot shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Oddity {
    /// From the root of the work tree; absolute for git's own files outside of it.
    pub path: PathBuf,
    pub what: Strange,
}

/// In what way a path is odd.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strange {
    Fifo,
    Socket,
    Device,
    /// A file that has another name, here or elsewhere.
    HardLink,
    /// A set-user, set-group or sticky bit, with the mode.
    Privileged(u32),
    /// Permissions that git does not keep, before and after.
    Mode(u32, u32),
    EmptyFolder,
    /// An ignored file outside of build output.
    Ignored,
    /// A repository inside the work tree.
    Repository,
    /// A file of a submodule that is not as it was.
    Submodule,
    /// Something in the folder of a submodule that is no part of it.
    InSubmodule,
    /// One of git's own files: what it was and what it became, none for absent or no plain file.
    Git(Option<Vec<u8>>, Option<Vec<u8>>),
}

impl std::fmt::Display for Oddity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match &self.what {
            Strange::Fifo => write!(f, "{path} (a named pipe)"),
            Strange::Socket => write!(f, "{path} (a socket)"),
            Strange::Device => write!(f, "{path} (a device)"),
            Strange::HardLink => write!(f, "{path} (a file with a second name)"),
            Strange::Privileged(mode) => write!(f, "{path} (mode {mode:04o})"),
            Strange::Mode(before, after) => write!(f, "{path} (mode {before:04o} became {after:04o})"),
            Strange::EmptyFolder => write!(f, "{path} (an empty folder)"),
            Strange::Ignored => write!(f, "{path} (ignored by git)"),
            Strange::Repository => write!(f, "{path} (a repository inside the tree)"),
            Strange::Submodule => write!(f, "{path} (a file of a submodule)"),
            Strange::InSubmodule => write!(f, "{path} (in a submodule)"),
            Strange::Git(..) => write!(f, "{path} (a file of git)"),
        }
    }
}

impl Oddity {
    /// What the evidence shows of it: one line, and the content of git's own files before and after.
    pub fn diff(&self) -> Vec<u8> {
        let mut text = format!("{self}\n").into_bytes();
        if let Strange::Git(before, after) = &self.what {
            for (mark, content) in [(b'-', before), (b'+', after)] {
                for line in content.as_deref().unwrap_or(b"(no plain file)").split(|byte| *byte == b'\n') {
                    text.push(mark);
                    text.extend_from_slice(line);
                    text.push(b'\n');
                }
            }
        }
        text
    }
}
