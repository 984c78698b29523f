//! Reversal: whether a change undoes the previous round's change to a file.

use super::lines::{self, Counts, Files, Touched};
use super::permille::Permille;
use crate::change::{Change, Digest};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// The minimum share of the previous change that must be undone.
const MIN_UNDONE: Permille = Permille(800);
/// The minimum share of all lines of the previous change that must be undone: a correction in one of many files is not a
/// reversal.
const MIN_UNDONE_OF_ALL: Permille = Permille(500);
/// The minimum number of significant lines; a smaller change is not judged.
const MIN_LINES: usize = 2;

/// A change that undoes the previous one in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reversal {
    pub file: String,
    /// The number of lines of the previous change that are undone.
    pub undone: u32,
    /// The number of lines that the previous change touched in the file.
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

/// What is remembered about a change for the comparison with the next one: hashes, never its text.
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

impl FileTrace {
    fn touched(&self) -> usize {
        self.added.iter().chain(&self.removed).map(|(_, times)| *times as usize).sum()
    }
}

impl Trace {
    pub(super) fn new(change: &Change, files: &Files<'_>) -> Trace {
        let file_trace = |touched: &Touched<'_>| FileTrace {
            removed: lines::counts(&touched.removed),
            added: lines::counts(&touched.added),
        };
        let files = files.iter().map(|(path, touched)| ((*path).to_string(), file_trace(touched))).collect();
        Trace { tree: change.tree, files }
    }

    /// Finds the file in which `current` undoes the largest share of this change; of equal shares, the first by name.
    pub(super) fn find_reversal(&self, current: &Change, now: &Files<'_>) -> Option<Reversal> {
        if current.restored {
            return None;
        }
        let mut worst: Option<Reversal> = None;
        let (mut undone, mut restored) = (0, 0);
        for (path, before) in &self.files {
            let Some(after) = now.get(path.as_str()) else { continue };
            let Some((reversal, restored_here)) = file_reversal(path, before, after) else { continue };
            undone += reversal.undone as usize;
            restored += restored_here;
            let largest = worst.as_ref().map_or(Permille(0), |reversal| reversal.share);
            worst = Some(reversal).filter(|reversal| reversal.share > largest).or(worst);
        }
        let touched = self.files.values().map(FileTrace::touched).sum();
        let new_lines = now.values().map(|after| lines::total(&after.added)).sum::<usize>() - restored;
        // A change that undoes another one and adds even more new lines follows another idea.
        worst.filter(|_| Permille::share(undone, touched) >= MIN_UNDONE_OF_ALL && new_lines <= undone)
    }
}

/// Finds the file in which `current` undoes the largest share of `previous`; of equal shares, the first by name.
pub fn reversal(previous: &Change, current: &Change) -> Option<Reversal> {
    Trace::new(previous, &lines::touched_lines(previous))
        .find_reversal(current, &lines::touched_lines(current))
}

/// The reversal of one file, and the number of lines that it restores.
fn file_reversal(path: &str, before: &FileTrace, after: &Touched<'_>) -> Option<(Reversal, usize)> {
    let removed_again = lines::overlap(&before.added, &after.removed);
    let added_again = lines::overlap(&before.removed, &after.added);
    let touched = before.touched();
    let undone = removed_again + added_again;
    let share = Permille::share(undone, touched);
    if touched < MIN_LINES || share < MIN_UNDONE || is_rewrite(before, after, removed_again, added_again) {
        return None;
    }
    let reversal =
        Reversal { file: path.to_string(), undone: to_u32(undone), touched: to_u32(touched), share };
    Some((reversal, added_again))
}

/// Whether lines were replaced by new ones without restoring any old line: that is progress, not a reversal.
fn is_rewrite(before: &FileTrace, after: &Touched<'_>, removed_again: usize, added_again: usize) -> bool {
    let new_lines = lines::total(&after.substituted) - lines::overlap(&before.removed, &after.substituted);
    added_again == 0 && new_lines * 2 > removed_again
}

fn to_u32(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "reversal_tests.rs"]
mod tests;
