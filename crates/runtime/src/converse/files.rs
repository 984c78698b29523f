//! Files that an agent reads and writes through the client.

use super::fault;
use super::plan::Plan;
use agent_client_protocol::v1::schema::{ReadTextFileRequest, ReadTextFileResponse, WriteTextFileResponse};
use agent_client_protocol::{Error, ErrorCode};
use serde_json::json;
use std::fmt::Display;
use std::path::{Component, Path, PathBuf};

/// The most that is read of a file.
const MOST: u64 = 16 * 1024 * 1024;

/// Tells whether a path is inside of what the role may write.
pub fn may_write(plan: &Plan, path: &Path) -> bool {
    let Some(path) = real(&plan.tree.join(path)) else { return false };
    let inside = |folder: &Path| real(folder).is_some_and(|folder| path.starts_with(folder));
    inside(&plan.out) || (plan.write && inside(&plan.tree))
}

/// The path as the system will take it, also of what is not there yet.
fn real(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return path.canonicalize().ok();
    }
    let there = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
    Some(there.canonicalize().ok()?.join(path.strip_prefix(there).ok()?))
}

/// The text of a file, or of some of its lines.
pub fn read(plan: &Plan, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Error> {
    let path = plan.tree.join(&request.path);
    let unread = |why: String| {
        Error::new(ErrorCode::RESOURCE_NOT_FOUND, format!("{}: {why}", path.display()))
            .data(json!({"path": path}))
    };
    let length = path.metadata().map_err(|error| unread(error.to_string()))?.len();
    if length > MOST {
        return Err(unread(format!("it has {length} bytes, more than {MOST}")));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| unread(error.to_string()))?;
    let number = |given: Option<u32>| given.and_then(|it| usize::try_from(it).ok());
    let text = match (number(request.line), number(request.limit)) {
        (None, None) => text,
        (from, limit) => {
            let from = from.unwrap_or(1).saturating_sub(1);
            text.split_inclusive('\n').skip(from).take(limit.unwrap_or(usize::MAX)).collect()
        }
    };
    Ok(ReadTextFileResponse::new(text))
}

/// Writes a file, with the folders above it.
pub fn write(path: &Path, text: &str) -> Result<WriteTextFileResponse, Error> {
    let unwritten = |error: std::io::Error| failed(path, error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(unwritten)?;
    }
    std::fs::write(path, text).map_err(unwritten)?;
    Ok(WriteTextFileResponse::new())
}

/// Why nothing was done with a file.
pub fn failed(path: &Path, why: impl Display) -> Error {
    fault::refused(format!("{}: {why}", path.display()))
}
