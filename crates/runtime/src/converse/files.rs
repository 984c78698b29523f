//! Files that an agent reads and writes through the client.

use super::plan::Plan;
use super::wire::Fault;
use serde_json::{Value, json};
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
pub fn read(plan: &Plan, params: &Value) -> Result<Value, Fault> {
    let path = plan.tree.join(params["path"].as_str().unwrap_or_default());
    let failed = |why: String| Fault { code: -32002, message: why, data: json!({"path": path}) };
    let length = path.metadata().map_err(|error| failed(format!("{}: {error}", path.display())))?.len();
    if length > MOST {
        return Err(failed(format!("{} has {length} bytes, more than {MOST}", path.display())));
    }
    let text =
        std::fs::read_to_string(&path).map_err(|error| failed(format!("{}: {error}", path.display())))?;
    let number = |key: &str| params.get(key).and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok());
    let text = match (number("line"), number("limit")) {
        (None, None) => text,
        (from, limit) => {
            let from = from.unwrap_or(1).saturating_sub(1);
            text.split_inclusive('\n').skip(from).take(limit.unwrap_or(usize::MAX)).collect()
        }
    };
    Ok(json!({"content": text}))
}

/// Writes a file, with the folders above it.
pub fn write(path: &Path, text: &str) -> Result<Value, Fault> {
    let failed = |error: std::io::Error| Fault::refused(format!("{}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)?;
    Ok(json!({}))
}
