//! Limits for the files that a program adds to a work tree, and the excesses that are reported.

use std::path::{Path, PathBuf};

/// The maximum that a program may add to a work tree. Ignored files do not count, because git does not read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// New files; the same number of new folders is allowed.
    pub files: u64,
    /// Bytes of a new or grown file.
    pub file_size: u64,
    /// Bytes by which all files together grow.
    pub size: u64,
    /// The number of names in the path of a new file.
    pub depth: usize,
    /// Bytes of the name of a new file. Its path may have ten times as many.
    pub name_length: usize,
}

impl Default for TreeLimits {
    fn default() -> TreeLimits {
        TreeLimits { files: 10_000, file_size: 50_000_000, size: 200_000_000, depth: 64, name_length: 200 }
    }
}

/// Something in a work tree that exceeds a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    pub kind: ExcessKind,
    /// An example; the root if all files together exceed the limit.
    pub path: PathBuf,
}

/// The exceeded limit, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcessKind {
    Files { found: u64, limit: u64 },
    Folders { found: u64, limit: u64 },
    FileSize { found: u64, limit: u64 },
    Size { found: u64, limit: u64 },
    Depth { limit: usize },
    NameLength { found: usize, limit: usize },
    PathLength { limit: usize },
}

impl std::fmt::Display for Excess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = shortened(&self.path);
        let path = remand_notation::clean(&path);
        match self.kind {
            ExcessKind::Files { found, limit } => {
                write!(f, "{found} new files; at most {limit} are allowed (`changes.files`)")
            }
            ExcessKind::Folders { found, limit } => {
                write!(f, "{found} new folders; at most {limit} are allowed (`changes.files`)")
            }
            ExcessKind::FileSize { found, limit } => {
                write!(f, "`{path}` has {found} bytes; at most {limit} are allowed (`changes.file-size`)")
            }
            ExcessKind::Size { found, limit } => {
                write!(f, "{found} bytes of new content; at most {limit} are allowed (`changes.size`)")
            }
            ExcessKind::Depth { limit } => {
                write!(f, "`{path}` is more than {limit} folders deep (`changes.depth`)")
            }
            ExcessKind::NameLength { found, limit } => {
                write!(
                    f,
                    "`{path}` has a name of {found} bytes; at most {limit} are allowed (`changes.name-length`)"
                )
            }
            ExcessKind::PathLength { limit } => {
                write!(f, "the path `{path}` has more than {limit} bytes, ten times `changes.name-length`")
            }
        }
    }
}

/// The path; only the start and the end of a long one.
fn shortened(path: &Path) -> String {
    const KEPT: usize = 60;
    let text = path.to_string_lossy();
    let length = text.chars().count();
    if length <= 2 * KEPT {
        return text.into_owned();
    }
    let (start, end): (String, String) =
        (text.chars().take(KEPT).collect(), text.chars().skip(length - KEPT).collect());
    format!("{start}…{end}")
}
