//! The edits of one file in a window. Finds three edits that change the same lines in the same way.
//!
//! Three edits of one file are usually healthy work. In a circle, lines come and go: every edit of the group except
//! the first removes lines that an earlier one added, or adds lines that an earlier one removed. A rewrite alone is not
//! enough: either lines came back, or the tests failed all along.

use super::lines::{Lines, Touched};
use super::permille::Permille;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The minimum share of common shingles of two similar edits.
const SIMILAR: Permille = Permille(400);
/// The minimum share of an edit's lines that undo an earlier edit, for the edit to belong to a circle. Healthy work stays
/// below it: an edit in a series may replace one line, such as a counter, but adds more new lines.
const MIN_AGAIN: Permille = Permille(400);
/// The minimum share of an edit's lines that an earlier edit had removed, for removed lines to count as restored.
const MIN_BACK: Permille = Permille(200);
/// The minimum share of a change that is in this file. A change with a smaller share mainly concerns other files.
const MIN_WEIGHT: Permille = Permille(600);
/// The minimum share of an edit that a later edit must undo to count as reworking it.
const MIN_UNDONE: Permille = Permille(500);
/// The minimum number of edits in a circle.
const MIN_GROUP: usize = 3;
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
    /// Whether the edit restored lines that an earlier edit had removed.
    back: bool,
    /// The share of the change that is in this file.
    #[serde(default = "whole")]
    weight: Permille,
}

/// The weight of edits that were stored without one.
fn whole() -> Permille {
    Permille::WHOLE
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
        weight: Permille,
        failed: impl Fn(u32) -> bool,
    ) -> Option<Group> {
        let edit = self.new_edit(attempt, by, touched, weight);
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

    /// Whether the last edit reworks an attempt: it undoes at least half of one of its edits, or restores
    /// removed lines.
    pub(super) fn reworks(&self, attempt: u32) -> bool {
        let Some((last, earlier)) = self.0.split_last() else { return false };
        let undoes = |edit: &Edit| {
            let undone = edit.added.count_in([&last.removed].into_iter())
                + edit.removed.count_in([&last.added].into_iter());
            Permille::share(undone, edit.added.0.len() + edit.removed.0.len()) >= MIN_UNDONE
        };
        let of_attempt = |edit: &&Edit| edit.by == Editor::Agent && edit.attempt == attempt;
        last.weight >= MIN_WEIGHT && (last.back || earlier.iter().filter(of_attempt).any(undoes))
    }

    fn new_edit(&self, attempt: u32, by: Editor, touched: &Touched<'_>, weight: Permille) -> Edit {
        let (removed, added) = (Sample::of_lines(&touched.replaced()), Sample::of_lines(&touched.added));
        let removed_again = removed.count_in(self.0.iter().map(|edit| &edit.added));
        let added_again = added.count_in(self.0.iter().map(|edit| &edit.removed));
        let lines = removed.0.len() + added.0.len();
        let again = Permille::share(removed_again + added_again, lines);
        let back = added_again > 0 && Permille::share(added_again, lines) >= MIN_BACK;
        let shingles = Sample::of_shingles(touched);
        Edit { attempt, by, removed, added, shingles, again, back, weight }
    }

    fn find_group(&self, edit: &Edit, failed: impl Fn(u32) -> bool) -> Option<Group> {
        let mut members = Vec::from([edit]);
        let mut share = Permille::WHOLE;
        let is_of_weight = |edit: &&Edit| edit.by == Editor::Agent && edit.weight >= MIN_WEIGHT;
        if !is_of_weight(&edit) {
            return None;
        }
        for earlier in self.0.iter().rev().filter(is_of_weight) {
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

/// Whether the edits are enough evidence: removed lines came back, or every attempt before the last failed.
fn is_conclusive(members: &[&Edit], failed: impl Fn(u32) -> bool) -> bool {
    members.iter().any(|member| member.back) || members.iter().skip(1).all(|member| failed(member.attempt))
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
