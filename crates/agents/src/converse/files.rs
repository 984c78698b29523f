//! Reads and writes files on behalf of an agent.

use super::fault;
use super::plan::ConversationPlan;
use agent_client_protocol::v1::schema::{ReadTextFileRequest, ReadTextFileResponse, WriteTextFileResponse};
use agent_client_protocol::{Error, ErrorCode};
use serde_json::json;
use std::fmt::Display;
use std::path::{Component, Path, PathBuf};

/// The largest file that is read, in bytes.
const MOST: u64 = 16 * 1024 * 1024;

/// Whether the role may write to a path.
pub fn may_write(plan: &ConversationPlan, path: &Path) -> bool {
    let Some(path) = canonical(&plan.tree.join(path)) else { return false };
    let inside = |folder: &Path| canonical(folder).is_some_and(|folder| path.starts_with(folder));
    inside(&plan.out) || (plan.write && inside(&plan.tree))
}

/// The path with symbolic links resolved. The last components need not exist. `None` denies access.
fn canonical(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return path.canonicalize().ok();
    }
    let existing = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
    Some(existing.canonicalize().ok()?.join(path.strip_prefix(existing).ok()?))
}

/// The text of a file, or some of its lines.
pub fn read(plan: &ConversationPlan, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Error> {
    let path = plan.tree.join(&request.path);
    let unread = |why: String| {
        Error::new(ErrorCode::RESOURCE_NOT_FOUND, format!("{}: {why}", path.display()))
            .data(json!({"path": path}))
    };
    let length = path.metadata().map_err(|error| unread(error.to_string()))?.len();
    if length > MOST {
        return Err(unread(format!("the file has {length} bytes; the limit is {MOST}")));
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

/// Writes a file and creates its parent folders.
pub fn write(path: &Path, text: &str) -> Result<WriteTextFileResponse, Error> {
    let unwritten = |error: std::io::Error| failed(path, error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(unwritten)?;
    }
    std::fs::write(path, text).map_err(unwritten)?;
    Ok(WriteTextFileResponse::new())
}

/// The error for a file that could not be written.
pub fn failed(path: &Path, why: impl Display) -> Error {
    fault::refused(format!("{}: {why}", path.display()))
}
