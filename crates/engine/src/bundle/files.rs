//! The files that a run changed.

use crate::row_names::REVERT;
use remand_ledger::fact::Delivery;
use remand_ledger::query::{ArtifactRow, CheckRow};
use remand_ledger::{LedgerError, Reader, RunId};
use std::collections::BTreeSet;

/// The files that the run changed, as it delivered its work; `None` before that, and in runs of earlier versions.
pub fn delivered_files(reader: &Reader, run: &RunId) -> Result<Option<BTreeSet<String>>, LedgerError> {
    let deliveries = reader.deliveries(run)?;
    Ok(deliveries.into_iter().rev().find_map(|row| match row.delivery {
        Delivery::Committed { changed, .. } | Delivery::HandedOver { changed, .. } => {
            (!changed.is_empty()).then(|| changed.into_iter().collect())
        }
        Delivery::Nothing => Some(BTreeSet::new()),
        Delivery::Refused { .. } => None,
    }))
}

/// The files of the last change that each task reported, unless it was reverted.
pub fn reported_files(
    reader: &Reader,
    run: &RunId,
    checks: &[CheckRow],
) -> Result<BTreeSet<String>, LedgerError> {
    let mut files = BTreeSet::new();
    let is_kept = |row: &&ArtifactRow| reverted_at(checks, &row.part).is_none_or(|seq| seq < row.seq);
    let artifacts = reader.artifacts(run)?;
    for artifact in artifacts.iter().filter(|row| row.format == "patch").filter(is_kept) {
        let patch = reader.blob(artifact.blob)?;
        files.extend(touched_files(&String::from_utf8_lossy(&patch)));
    }
    Ok(files)
}

/// The event that reverted the change of a task.
pub fn reverted_at(checks: &[CheckRow], task: &str) -> Option<u64> {
    let name = format!("{REVERT}{task}");
    checks.iter().filter(|row| row.name == name).map(|row| row.seq).max()
}

/// The files that a patch touches.
fn touched_files(patch: &str) -> Vec<String> {
    patch
        .lines()
        .filter_map(|line| line.strip_prefix("diff --git "))
        .filter_map(|rest| match rest.strip_prefix("\"a/") {
            Some(quoted) => quoted.split("\" ").next().map(unquote),
            None => rest.strip_prefix("a/")?.split(" b/").next().map(str::to_string),
        })
        .collect()
}

/// A file name from git's quoted form, with octal escapes for bytes.
fn unquote(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let [first, tail @ ..] = rest {
        let (byte, after) = match (first, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                (((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'), after)
            }
            (b'\\', [b'n', after @ ..]) => (b'\n', after),
            (b'\\', [b't', after @ ..]) => (b'\t', after),
            (b'\\', [other, after @ ..]) => (*other, after),
            _ => (*first, tail),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::touched_files;

    // EP-23
    #[test]
    fn quoted_and_unusual_file_names_are_read_from_a_patch() {
        let patch =
            "diff --git a/a b.py b/a b.py\n+x\ndiff --git \"a/\\303\\274\\t.py\" \"b/\\303\\274\\t.py\"\n";
        assert_eq!(touched_files(patch), ["a b.py", "ü\t.py"]);
    }
}
