//! The id of a repository: it stays when the checkout is moved or cleaned, and all its work trees share it.

use super::{GitError, Repository, error};
use crate::hex::{hex, random};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where a state directory may be named, in the git directory.
const STATE: &str = "remand/state";

/// Hexadecimal digits of an id.
const LENGTH: usize = 32;

impl Repository {
    /// The id, which is made if need be.
    pub fn identity(&self) -> Result<String, GitError> {
        if let Some((id, _)) = read(&id_file(self.common_dir()))? {
            return Ok(id);
        }
        let fresh = unguessable::<{ LENGTH / 2 }>()?;
        let (file, aside) = self.write_aside(&fresh)?;
        // Linked into place: who comes second reads a whole id, never half of one.
        let linked = fs::hard_link(&aside, &file);
        fs::remove_file(&aside).map_err(error::file("remove", &aside))?;
        match linked {
            Ok(()) => Ok(fresh),
            Err(taken) if taken.kind() == ErrorKind::AlreadyExists => self.identity(),
            Err(source) => Err(error::file("create", &file)(source)),
        }
    }

    /// Tells whether another repository, by its shared folder, is there with the same id, so that this one is a copy.
    pub fn is_copy_of(&self, other: &Path) -> Result<bool, GitError> {
        let place = |folder: &Path| fs::metadata(folder).map(|found| (found.dev(), found.ino())).ok();
        if place(other).is_none() || place(other) == place(self.common_dir()) {
            return Ok(false);
        }
        // What is not to be read there takes nobody's place.
        let theirs = read(&id_file(other)).ok().flatten();
        Ok(theirs.is_some_and(|(theirs, _)| self.identity().is_ok_and(|own| own == theirs)))
    }

    /// Gives a copy, which has this id of another repository, one of its own. It follows from the file that was copied, so
    /// that all who see it at once agree.
    pub fn part_identity(&self, copied: &str) -> Result<String, GitError> {
        let Some((found, mark)) = read(&id_file(self.common_dir()))? else {
            return self.identity();
        };
        if found != copied {
            // Somebody else was faster.
            return Ok(found);
        }
        let hash = blake3::hash(format!("{copied} {mark} {}", self.common_dir().display()).as_bytes());
        let own = hash.to_hex()[..LENGTH].to_string();
        let (file, aside) = self.write_aside(&own)?;
        fs::rename(&aside, &file).map_err(error::file("write", &file))?;
        Ok(own)
    }

    /// The state directory that this clone is kept in, where one was named in its git directory. That is never cloned, so
    /// nobody but the user says so.
    pub fn state_directory(&self) -> Option<PathBuf> {
        let text = fs::read_to_string(self.common_dir().join(STATE)).ok()?;
        Some(PathBuf::from(text.trim_end())).filter(|folder| folder.is_absolute())
    }

    /// Names the state directory of this clone.
    pub fn keep_state_in(&self, folder: &Path) -> Result<(), GitError> {
        let file = self.common_dir().join(STATE);
        let above = self.common_dir().join("remand");
        fs::create_dir_all(&above).map_err(error::file("create", &above))?;
        fs::write(&file, format!("{}\n", folder.display())).map_err(error::file("write", &file))
    }

    /// Writes an id beside its file; gives both.
    fn write_aside(&self, id: &str) -> Result<(PathBuf, PathBuf), GitError> {
        let file = id_file(self.common_dir());
        let aside = file.with_extension(format!("{id}.{}", std::process::id()));
        let folder = self.common_dir().join("remand");
        fs::create_dir_all(&folder).map_err(error::file("create", &folder))?;
        let written = OpenOptions::new().write(true).create(true).truncate(true).open(&aside);
        written
            .and_then(|mut aside| {
                aside.write_all(format!("{id}\n").as_bytes()).and_then(|()| aside.sync_all())
            })
            .map_err(error::file("write", &aside))?;
        Ok((file, aside))
    }
}

/// A word of so many bytes that is another one each time.
pub(super) fn unguessable<const BYTES: usize>() -> Result<String, GitError> {
    let random = random::<BYTES>().map_err(error::file("read", Path::new("/dev/urandom")))?;
    Ok(hex(&random))
}

fn id_file(common_dir: &Path) -> PathBuf {
    common_dir.join("remand/id")
}

/// The id in a file, and what tells this file from a copy of it; none where there is no file.
fn read(file: &Path) -> Result<Option<(String, String)>, GitError> {
    let mut opened = match File::open(file) {
        Ok(opened) => opened,
        Err(absent) if absent.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(error::file("read", file)(source)),
    };
    let mut text = String::new();
    let found = opened.metadata().map_err(error::file("read", file))?;
    opened.read_to_string(&mut text).map_err(error::file("read", file))?;
    let id = text.trim();
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    // It becomes the name of a folder.
    if id.len() != LENGTH || !id.bytes().all(is_digit) {
        return Err(GitError::UnfitIdentity { path: file.to_path_buf() });
    }
    let mark = format!("{} {} {}.{}", found.dev(), found.ino(), found.ctime(), found.ctime_nsec());
    Ok(Some((id.to_string(), mark)))
}
