//! Reversal: whether a change undoes what the previous round did to a file.

use super::lines::{self, Counts, Files, Touched};
use super::permille::Permille;
use crate::change::{Change, Digest};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// The share of the previous change that must be undone.
const UNDONE: Permille = Permille(800);
/// The minimum number of significant lines; a smaller change is not judged.
const FEWEST_LINES: usize = 2;

/// A change that undoes the previous one in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reversal {
    pub file: String,
    /// How many lines of the previous change are undone.
    pub undone: u32,
    /// How many lines the previous change touched in the file.
    pub touched: u32,
    pub share: Permille,
}

impl Reversal {
    /// Explains the reversal in one sentence.
    pub fn sentence(&self) -> String {
        let Self { file, undone, touched, share } = self;
        format!(
            "This change undoes {undone} of the {touched} lines ({share}) that the previous one changed in {file}."
        )
    }
}

/// What is remembered about a change to compare the next one with: hashes, never its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    pub tree: Digest,
    files: BTreeMap<String, FileTrace>,
}

/// The lines that a change touched in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FileTrace {
    removed: Counts,
    added: Counts,
}

impl Trace {
    pub(super) fn of(change: &Change, files: &Files<'_>) -> Trace {
        let before = |touched: &Touched<'_>| FileTrace {
            removed: lines::counts(&touched.removed),
            added: lines::counts(&touched.added),
        };
        let files = files.iter().map(|(path, touched)| ((*path).to_string(), before(touched))).collect();
        Trace { tree: change.tree, files }
    }

    /// Finds the file in which a change with these lines undoes this one the most, and the first by name of equals.
    pub(super) fn undone_by(&self, current: &Change, now: &Files<'_>) -> Option<Reversal> {
        if current.restored {
            return None;
        }
        let mut worst: Option<Reversal> = None;
        for (path, before) in &self.files {
            let found = now.get(path.as_str()).and_then(|after| undone(path, before, after));
            let most = worst.as_ref().map_or(Permille(0), |reversal| reversal.share);
            worst = found.filter(|reversal| reversal.share > most).or(worst);
        }
        worst
    }
}

/// Finds the file in which `current` undoes `previous` the most, and the first by name of equals.
pub fn reversal(previous: &Change, current: &Change) -> Option<Reversal> {
    Trace::of(previous, &lines::touched(previous)).undone_by(current, &lines::touched(current))
}

fn undone(path: &str, before: &FileTrace, after: &Touched<'_>) -> Option<Reversal> {
    let removed_again = lines::overlap(&before.added, &after.removed);
    let added_again = lines::overlap(&before.removed, &after.added);
    let times = |(_, times): &(u32, u32)| *times as usize;
    let touched = before.added.iter().chain(&before.removed).map(times).sum();
    let undone = removed_again + added_again;
    let share = Permille::share(undone, touched);
    if touched < FEWEST_LINES || share < UNDONE || is_rewrite(before, after, removed_again, added_again) {
        return None;
    }
    Some(Reversal { file: path.to_string(), undone: count(undone), touched: count(touched), share })
}

/// Whether lines were replaced by new ones without restoring any old line: that is progress, not a reversal.
fn is_rewrite(before: &FileTrace, after: &Touched<'_>, removed_again: usize, added_again: usize) -> bool {
    let fresh = lines::total(&after.substituted) - lines::overlap(&before.removed, &after.substituted);
    added_again == 0 && fresh * 2 > removed_again
}

fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "reversal_tests.rs"]
mod tests;
