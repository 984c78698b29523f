//! The edits of one file in a window: finds three that work on the same lines in the same way.
//!
//! Three edits of one file are healthy work as a rule. A circle shows in lines that come and go: every edit
//! of the group but the first takes out lines that an earlier one put in, or puts back what one took out.

use super::lines::{Lines, Touched};
use super::permille::Permille;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Shingles that two edits share from here on make them alike.
const ALIKE: Permille = Permille(400);
/// The share of an edit's lines that must come or go again.
const AGAIN: Permille = Permille(300);
/// Edits that make a circle.
const GROUP: usize = 3;
/// Edits of fewer lines need more evidence: a counter is bumped in healthy work, too.
const FEW_LINES: usize = 4;
/// Older edits of a file are forgotten.
const MOST_EDITS: usize = 16;
/// Hashes kept of one set: the smallest ones are a fair sample of a larger set.
const MOST_HASHES: usize = 256;

/// Three or more edits that are alike.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) attempts: Vec<u32>,
    /// The least likeness between two of them.
    pub(super) share: Permille,
}

/// The edits of one file, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Edits(Vec<Edit>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Edit {
    attempt: u32,
    by: Hand,
    removed: Sample,
    added: Sample,
    shingles: Sample,
    /// The share of lines that an earlier edit had put in or taken out.
    again: Permille,
    /// Whether a line came back that an earlier edit had taken out.
    back: bool,
}

/// Whose edit it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Hand {
    Agent,
    /// A restore by the engine: it explains lines that come again, and is no attempt.
    Engine,
}

impl Edits {
    /// Notes an edit and returns the group that it completes, the newest attempt last.
    pub(super) fn note(
        &mut self,
        attempt: u32,
        by: Hand,
        touched: &Touched<'_>,
        failed: impl Fn(u32) -> bool,
    ) -> Option<Group> {
        let edit = self.edit(attempt, by, touched);
        let group = match by {
            Hand::Agent => self.group(&edit, failed),
            Hand::Engine => None,
        };
        if self.0.len() == MOST_EDITS {
            self.0.remove(0);
        }
        self.0.push(edit);
        group
    }

    fn edit(&self, attempt: u32, by: Hand, touched: &Touched<'_>) -> Edit {
        let (removed, added) = (Sample::of_lines(&touched.removed), Sample::of_lines(&touched.added));
        let out_again = removed.count_in(self.0.iter().map(|edit| &edit.added));
        let in_again = added.count_in(self.0.iter().map(|edit| &edit.removed));
        let again = Permille::share(out_again + in_again, removed.0.len() + added.0.len());
        let shingles = Sample::of_shingles(touched);
        Edit { attempt, by, removed, added, shingles, again, back: in_again > 0 }
    }

    fn group(&self, edit: &Edit, failed: impl Fn(u32) -> bool) -> Option<Group> {
        let mut members = Vec::from([edit]);
        let mut share = Permille::WHOLE;
        for earlier in self.0.iter().rev().filter(|earlier| earlier.by == Hand::Agent) {
            // Only the oldest member may be new work, so nothing older can join behind it.
            if members.last().is_some_and(|last| last.again < AGAIN) {
                break;
            }
            let least = members.iter().map(|member| member.shingles.likeness(&earlier.shingles)).min();
            if let Some(least) = least.filter(|least| *least >= ALIKE) {
                share = share.min(least);
                members.push(earlier);
            }
        }
        if members.len() < GROUP || !has_weight(&members, failed) {
            return None;
        }
        Some(Group { attempts: members.iter().rev().map(|member| member.attempt).collect(), share })
    }
}

/// Small edits count when a line really came back, or when every attempt before the last had failed.
fn has_weight(members: &[&Edit], failed: impl Fn(u32) -> bool) -> bool {
    let is_small = |edit: &&Edit| edit.removed.0.len() + edit.added.0.len() < FEW_LINES;
    !members.iter().any(is_small)
        || members.iter().any(|member| member.back)
        || members.iter().skip(1).all(|member| failed(member.attempt))
}

/// A set of hashes in ascending order, cut to the smallest ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Sample(Vec<u32>);

impl Sample {
    fn of_lines(lines: &Lines<'_>) -> Self {
        Self(lines.keys().copied().take(MOST_HASHES).collect())
    }

    fn of_shingles(touched: &Touched<'_>) -> Self {
        let mut hashes = touched.shingles();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.truncate(MOST_HASHES);
        Self(hashes)
    }

    /// The largest hash up to which the sample is the whole set.
    fn reach(&self) -> u32 {
        self.0.last().copied().filter(|_| self.0.len() == MOST_HASHES).unwrap_or(u32::MAX)
    }

    fn has(&self, hash: u32) -> bool {
        self.0.binary_search(&hash).is_ok()
    }

    /// How many of these hashes are in one of the others.
    fn count_in<'a>(&self, others: impl Iterator<Item = &'a Self> + Clone) -> usize {
        self.0.iter().filter(|hash| others.clone().any(|other| other.has(**hash))).count()
    }

    /// Jaccard's likeness, over the hashes up to which both samples are whole.
    fn likeness(&self, other: &Self) -> Permille {
        let reach = self.reach().min(other.reach());
        let within = |sample: &Self| sample.0.partition_point(|hash| *hash <= reach);
        let (mine, theirs) = (within(self), within(other));
        let shared = self.0[..mine].iter().filter(|hash| other.has(**hash)).count();
        Permille::share(shared, mine + theirs - shared)
    }
}
