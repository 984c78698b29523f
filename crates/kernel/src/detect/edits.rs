//! The edits of one file in a window. Finds three edits that change the same lines in the same way.
//!
//! Three edits of one file are usually healthy work. In a circle, lines come and go: every edit of the group except
//! the first removes lines that an earlier one added, or adds lines that an earlier one removed.

use super::lines::{Lines, Touched};
use super::permille::Permille;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The share of common shingles from which two edits count as similar.
const SIMILAR: Permille = Permille(400);
/// The minimum share of an edit's lines that undo an earlier edit.
const MIN_AGAIN: Permille = Permille(300);
/// The minimum number of edits that make a circle.
const MIN_GROUP: usize = 3;
/// Edits of fewer lines need more evidence: healthy work also changes single numbers.
const MIN_CONCLUSIVE_LINES: usize = 4;
/// The maximum number of edits that are remembered per file.
const MAX_EDITS: usize = 16;
/// The maximum number of hashes that are kept per set. The smallest hashes are a fair sample.
const MAX_HASHES: usize = 256;

/// Three or more similar edits.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) attempts: Vec<u32>,
    /// The lowest similarity between two of the edits.
    pub(super) share: Permille,
}

/// The edits of one file, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Edits(Vec<Edit>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Edit {
    attempt: u32,
    by: Editor,
    removed: Sample,
    added: Sample,
    shingles: Sample,
    /// The share of lines that undo an earlier edit.
    again: Permille,
    /// Whether the edit added a line that an earlier edit had removed.
    back: bool,
}

/// Who made an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Editor {
    Agent,
    /// A restore by the engine: it explains repeated lines and does not count as an attempt.
    Engine,
}

impl Edits {
    /// Records an edit and returns the group that it completes, the newest attempt last.
    pub(super) fn record(
        &mut self,
        attempt: u32,
        by: Editor,
        touched: &Touched<'_>,
        failed: impl Fn(u32) -> bool,
    ) -> Option<Group> {
        let edit = self.new_edit(attempt, by, touched);
        let group = match by {
            Editor::Agent => self.find_group(&edit, failed),
            Editor::Engine => None,
        };
        if self.0.len() == MAX_EDITS {
            self.0.remove(0);
        }
        self.0.push(edit);
        group
    }

    fn new_edit(&self, attempt: u32, by: Editor, touched: &Touched<'_>) -> Edit {
        let (removed, added) = (Sample::of_lines(&touched.removed), Sample::of_lines(&touched.added));
        let removed_again = removed.count_in(self.0.iter().map(|edit| &edit.added));
        let added_again = added.count_in(self.0.iter().map(|edit| &edit.removed));
        let again = Permille::share(removed_again + added_again, removed.0.len() + added.0.len());
        let shingles = Sample::of_shingles(touched);
        Edit { attempt, by, removed, added, shingles, again, back: added_again > 0 }
    }

    fn find_group(&self, edit: &Edit, failed: impl Fn(u32) -> bool) -> Option<Group> {
        let mut members = Vec::from([edit]);
        let mut share = Permille::WHOLE;
        for earlier in self.0.iter().rev().filter(|earlier| earlier.by == Editor::Agent) {
            // Only the oldest member may be new work, so nothing older can join the group.
            if members.last().is_some_and(|last| last.again < MIN_AGAIN) {
                break;
            }
            let lowest = members.iter().map(|member| member.shingles.similarity(&earlier.shingles)).min();
            if let Some(lowest) = lowest.filter(|lowest| *lowest >= SIMILAR) {
                share = share.min(lowest);
                members.push(earlier);
            }
        }
        if members.len() < MIN_GROUP || !is_conclusive(&members, failed) {
            return None;
        }
        Some(Group { attempts: members.iter().rev().map(|member| member.attempt).collect(), share })
    }
}

/// Whether the edits are enough evidence. Small edits are enough only if a removed line came back, or if every attempt
/// before the last failed.
fn is_conclusive(members: &[&Edit], failed: impl Fn(u32) -> bool) -> bool {
    let is_small = |edit: &&Edit| edit.removed.0.len() + edit.added.0.len() < MIN_CONCLUSIVE_LINES;
    !members.iter().any(is_small)
        || members.iter().any(|member| member.back)
        || members.iter().skip(1).all(|member| failed(member.attempt))
}

/// A set of hashes in ascending order, truncated to the smallest ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Sample(Vec<u32>);

impl Sample {
    fn of_lines(lines: &Lines<'_>) -> Self {
        Self(lines.keys().copied().take(MAX_HASHES).collect())
    }

    fn of_shingles(touched: &Touched<'_>) -> Self {
        let mut hashes = touched.shingles();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.truncate(MAX_HASHES);
        Self(hashes)
    }

    /// The largest hash up to which the sample is complete.
    fn reach(&self) -> u32 {
        self.0.last().copied().filter(|_| self.0.len() == MAX_HASHES).unwrap_or(u32::MAX)
    }

    fn has(&self, hash: u32) -> bool {
        self.0.binary_search(&hash).is_ok()
    }

    /// The number of these hashes that occur in the other samples.
    fn count_in<'a>(&self, others: impl Iterator<Item = &'a Self> + Clone) -> usize {
        self.0.iter().filter(|hash| others.clone().any(|other| other.has(**hash))).count()
    }

    /// The Jaccard similarity, over the range in which both samples are complete.
    fn similarity(&self, other: &Self) -> Permille {
        let reach = self.reach().min(other.reach());
        let within = |sample: &Self| sample.0.partition_point(|hash| *hash <= reach);
        let (mine, theirs) = (within(self), within(other));
        let shared = self.0[..mine].iter().filter(|hash| other.has(**hash)).count();
        Permille::share(shared, mine + theirs - shared)
    }
}
