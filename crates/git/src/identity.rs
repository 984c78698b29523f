//! The id of a repository. It survives moving and cleaning the checkout, and all work trees share it.

use super::random::random_hex;
use super::{GitError, Repository, error};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file in the git directory that may name a state directory.
const STATE_FILE: &str = "remand/state";

/// The number of hexadecimal digits of an id.
const ID_LENGTH: usize = 32;

impl Repository {
    /// Returns the id, and creates it if it does not exist.
    pub fn identity(&self) -> Result<String, GitError> {
        if let Some((id, _)) = read(&id_file(self.common_dir()))? {
            return Ok(id);
        }
        let fresh = random_hex::<{ ID_LENGTH / 2 }>()?;
        let (file, temporary) = self.write_temporary(&fresh)?;
        // A hard link appears atomically, so a concurrent process reads a complete id or none.
        let linked = fs::hard_link(&temporary, &file);
        fs::remove_file(&temporary).map_err(error::file("remove", &temporary))?;
        match linked {
            Ok(()) => Ok(fresh),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => self.identity(),
            Err(source) => Err(error::file("create", &file)(source)),
        }
    }

    /// Returns whether another repository, with the shared git folder `other`, has the same id, so one of them is a copy.
    pub fn is_copy_of(&self, other: &Path) -> Result<bool, GitError> {
        // A folder that cannot be examined counts as missing.
        let device_and_inode =
            |folder: &Path| fs::metadata(folder).map(|found| (found.dev(), found.ino())).ok();
        if device_and_inode(other).is_none() || device_and_inode(other) == device_and_inode(self.common_dir())
        {
            return Ok(false);
        }
        // An id that cannot be read does not count as the same.
        let theirs = read(&id_file(other)).ok().flatten();
        Ok(theirs.is_some_and(|(theirs, _)| self.identity().is_ok_and(|ours| ours == theirs)))
    }

    /// Gives a new id to a copied repository, which still has the id of the original. The new id is derived from the copied
    /// file, so concurrent processes get the same one.
    pub fn replace_copied_identity(&self, copied: &str) -> Result<String, GitError> {
        let Some((found, stamp)) = read(&id_file(self.common_dir()))? else {
            return self.identity();
        };
        if found != copied {
            // Another process was faster.
            return Ok(found);
        }
        let hash = blake3::hash(format!("{copied} {stamp} {}", self.common_dir().display()).as_bytes());
        let id = hash.to_hex()[..ID_LENGTH].to_string();
        let (file, temporary) = self.write_temporary(&id)?;
        fs::rename(&temporary, &file).map_err(error::file("write", &file))?;
        Ok(id)
    }

    /// The state directory of this clone, if its git directory names one. The git directory is not cloned, so only the user
    /// can have set this. An unreadable file counts as unset.
    pub fn state_directory(&self) -> Option<PathBuf> {
        let text = fs::read_to_string(self.common_dir().join(STATE_FILE)).ok()?;
        Some(PathBuf::from(text.trim_end())).filter(|folder| folder.is_absolute())
    }

    /// Sets the state directory of this clone.
    pub fn set_state_directory(&self, folder: &Path) -> Result<(), GitError> {
        let file = self.common_dir().join(STATE_FILE);
        let parent = self.common_dir().join("remand");
        fs::create_dir_all(&parent).map_err(error::file("create", &parent))?;
        fs::write(&file, format!("{}\n", folder.display())).map_err(error::file("write", &file))
    }

    /// Writes an id to a temporary file. Returns the paths of the id file and of the temporary file.
    fn write_temporary(&self, id: &str) -> Result<(PathBuf, PathBuf), GitError> {
        let file = id_file(self.common_dir());
        let temporary = file.with_extension(format!("{id}.{}", std::process::id()));
        let folder = self.common_dir().join("remand");
        fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
        let written = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary);
        written
            .and_then(|mut temporary| {
                temporary.write_all(format!("{id}\n").as_bytes()).and_then(|()| temporary.sync_all())
            })
            .map_err(error::file("write", &temporary))?;
        Ok((file, temporary))
    }
}

fn id_file(common_dir: &Path) -> PathBuf {
    common_dir.join("remand/id")
}

/// Reads the id in a file, and a stamp that distinguishes the file from a copy; `None` if the file does not exist.
fn read(file: &Path) -> Result<Option<(String, String)>, GitError> {
    let mut opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(error::file("read", file)(source)),
    };
    let mut text = String::new();
    let found = opened.metadata().map_err(error::file("read", file))?;
    opened.read_to_string(&mut text).map_err(error::file("read", file))?;
    let id = text.trim();
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    // The id becomes the name of a folder, so it must be well-formed.
    if id.len() != ID_LENGTH || !id.bytes().all(is_digit) {
        return Err(GitError::InvalidIdentity { path: file.to_path_buf() });
    }
    let stamp = format!("{} {} {}.{}", found.dev(), found.ino(), found.ctime(), found.ctime_nsec());
    Ok(Some((id.to_string(), stamp)))
}
