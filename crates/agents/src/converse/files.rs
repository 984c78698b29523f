//! Reads and writes files on behalf of an agent.

use super::fault;
use super::plan::ConversationPlan;
use agent_client_protocol::v1::schema::{ReadTextFileRequest, ReadTextFileResponse, WriteTextFileResponse};
use agent_client_protocol::{Error, ErrorCode};
use serde_json::json;
use std::fmt::Display;
use std::path::{Component, Path, PathBuf};

/// The maximum size of a file that is read.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Whether the role may write to a path.
pub fn may_write(plan: &ConversationPlan, path: &Path) -> bool {
    let Some(path) = canonical(&plan.tree.join(path)) else { return false };
    let is_inside = |folder: &Path| canonical(folder).is_some_and(|folder| path.starts_with(folder));
    is_inside(&plan.out) || (plan.write && is_inside(&plan.tree))
}

/// Resolves the symbolic links of a path. Its last components need not exist, unless it contains `..`. `None` means that
/// access is denied.
fn canonical(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return path.canonicalize().ok();
    }
    let existing = path.ancestors().find(|above| above.symlink_metadata().is_ok())?;
    Some(existing.canonicalize().ok()?.join(path.strip_prefix(existing).ok()?))
}

/// Reads a file, or the requested lines of it.
pub fn read(plan: &ConversationPlan, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Error> {
    let path = plan.tree.join(&request.path);
    let read_error = |why: String| {
        Error::new(ErrorCode::RESOURCE_NOT_FOUND, format!("{}: {why}", path.display()))
            .data(json!({"path": path}))
    };
    let metadata = path.metadata().map_err(|error| read_error(error.to_string()))?;
    // A device or a pipe has no length, and perhaps no end.
    if !metadata.is_file() {
        return Err(read_error("this is not a file".to_string()));
    }
    let length = metadata.len();
    if length > MAX_FILE_BYTES {
        return Err(read_error(format!("the file has {length} bytes; the limit is {MAX_FILE_BYTES}")));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| read_error(error.to_string()))?;
    let number = |given: Option<u32>| given.and_then(|given| usize::try_from(given).ok());
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
    let failed = |error: std::io::Error| write_error(path, error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)?;
    Ok(WriteTextFileResponse::new())
}

pub fn write_error(path: &Path, why: impl Display) -> Error {
    fault::client_error(format!("{}: {why}", path.display()))
}
