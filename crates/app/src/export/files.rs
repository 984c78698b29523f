//! Writes all files or none, and replaces existing files only on request.

use remand_terminal::CommandFailure;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// One file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    /// Relative to the target folder.
    pub path: PathBuf,
    pub text: String,
}

/// Which existing files may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    Nothing,
    Differing,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    New,
    Replaced,
    /// It existed with the same text.
    Same,
}

impl Written {
    pub fn name(self) -> &'static str {
        match self {
            Written::New => "new",
            Written::Replaced => "replaced",
            Written::Same => "same",
        }
    }
}

/// Writes files below a folder; writes nothing if one of them must not be replaced.
pub fn write(
    folder: &Path,
    files: &[ExportedFile],
    replace: Replace,
) -> Result<Vec<Written>, CommandFailure> {
    let mut outcomes = Vec::new();
    let mut differing = Vec::new();
    for file in files {
        let outcome = predict(&folder.join(&file.path), &file.text)?;
        if outcome == Written::Replaced && replace == Replace::Nothing {
            differing.push(file.path.display().to_string());
        }
        outcomes.push(outcome);
    }
    if !differing.is_empty() {
        let what = format!("files in {} already exist and differ", folder.display());
        let failure = CommandFailure::user(what, "name another folder, or replace them with `--force`");
        return Err(differing.into_iter().fold(failure, CommandFailure::caused_by));
    }
    for (file, outcome) in files.iter().zip(&outcomes) {
        if *outcome == Written::Same {
            continue;
        }
        let path = folder.join(&file.path);
        let created = path.parent().map_or(Ok(()), fs::create_dir_all);
        created.and_then(|()| fs::write(&path, &file.text)).map_err(|error| {
            CommandFailure::user(
                format!("{} cannot be written", path.display()),
                "name a folder that you can write to",
            )
            .caused_by(error.to_string())
        })?;
    }
    Ok(outcomes)
}

/// Predicts the outcome of writing a file. A link or a folder at its path is never replaced.
fn predict(path: &Path, text: &str) -> Result<Written, CommandFailure> {
    let blocked = |cause: String| {
        let what = format!("{} is in the way", path.display());
        CommandFailure::user(what, "move it away, or name another folder").caused_by(cause)
    };
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => match fs::read(path) {
            Ok(bytes) if bytes == text.as_bytes() => Ok(Written::Same),
            Ok(_) => Ok(Written::Replaced),
            Err(error) => Err(blocked(error.to_string())),
        },
        Ok(_) => Err(blocked("it is not a plain file".to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Written::New),
        Err(error) => Err(blocked(error.to_string())),
    }
}
