//! Circle: the trail of one window of work, and what in it shows that the work goes round (DR-04).
//!
//! A window is the work on one version of a design. The trail holds hashes, never the text of a diff.
//! Attempts are counted by noted changes other than the engine's restores, from 1 on.

use super::edits::{Edits, Hand};
use super::lines::{self, Files};
use super::permille::Permille;
use super::words::Words;
use crate::change::{Change, Digest, TestEnd, TestResult};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Likeness in words from which on a hypothesis is an earlier one.
const ALIKE: Permille = Permille(700);
/// Flips of one test that make an oscillation, the last one into failure: a test that was broken and is repaired
/// again is healthy work.
const FLIPS: usize = 2;
/// Characters kept of a hypothesis.
const MOST_CHARACTERS: usize = 600;

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Circle {
    /// The tree after this attempt is the tree after an earlier one; 0 is the tree before the first.
    Tree { attempt: u32, earlier: u32, tree: Digest },
    /// One file was changed in the same way by these attempts; `share` is their least likeness.
    Edits { file: String, attempts: Vec<u32>, share: Permille },
    /// One test changed its end after each of these attempts; `end` is how it ended last.
    Test { name: String, attempts: Vec<u32>, end: TestEnd },
    /// The hypothesis of this attempt is that of an earlier one that failed.
    Hypothesis { attempt: u32, earlier: u32, text: String, share: Permille },
}

impl Circle {
    /// Explains the circle in one sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Tree { attempt, earlier: 0, .. } => {
                format!("Attempt {attempt} left exactly the files that were there before the first attempt.")
            }
            Self::Tree { attempt, earlier, .. } => {
                format!("Attempt {attempt} left exactly the files that attempt {earlier} had left.")
            }
            Self::Edits { file, attempts, share } => {
                format!(
                    "Attempts {} changed the same lines of {file}, at least {share} alike.",
                    listed(attempts)
                )
            }
            Self::Test { name, attempts, end } => format!(
                "The test {name} changed its end after attempts {}, each with a change of code, and now {}.",
                listed(attempts),
                ended(*end)
            ),
            Self::Hypothesis { attempt, earlier, text, share } => format!(
                "The hypothesis of attempt {attempt} (\"{text}\") is that of attempt {earlier}, which failed, {share} alike in words."
            ),
        }
    }
}

fn listed(attempts: &[u32]) -> String {
    let mut list = String::new();
    for (index, attempt) in attempts.iter().enumerate() {
        let glue = match index {
            0 => "",
            last if last + 1 == attempts.len() => " and ",
            _ => ", ",
        };
        list.push_str(glue);
        list.push_str(&attempt.to_string());
    }
    list
}

fn ended(end: TestEnd) -> &'static str {
    match end {
        TestEnd::Passed => "passes",
        TestEnd::Failed => "fails",
        TestEnd::Flaky => "is flaky",
        TestEnd::Skipped => "is skipped",
    }
}

/// What happened in a window, as far as a circle shows in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trail {
    attempt: u32,
    /// Whether the last noted change was a restore by the engine.
    restored: bool,
    tree: Digest,
    /// The first attempt that left each tree.
    trees: BTreeMap<Digest, u32>,
    edits: BTreeMap<String, Edits>,
    hypotheses: Vec<Hypothesis>,
    outcomes: BTreeMap<u32, Outcome>,
    results: Results,
    /// Tests by the hash of their name.
    tests: BTreeMap<u64, Track>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Hypothesis {
    attempt: u32,
    text: String,
}

/// What the results said of an attempt; of several results the last in this order holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Green,
    Failed,
    /// Some failing test was repaired and none broke.
    Advanced,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Results {
    tree: Digest,
    attempt: u32,
    /// How many times results were of another tree than those before.
    version: u32,
}

/// How one test ended last, and after which attempts it had ended otherwise than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Track {
    end: TestEnd,
    version: u32,
    flips: Vec<u32>,
}

/// What one end of a test is beside the end before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing to compare with.
    First,
    Steady,
    Flip,
}

/// What the results of one run of the tests say together.
#[derive(Default)]
struct Tally {
    fixed: bool,
    broken: bool,
    failing: bool,
}

impl Tally {
    fn add(&mut self, step: Step, end: TestEnd) {
        let fails = end == TestEnd::Failed;
        self.failing |= fails;
        self.fixed |= step == Step::Flip && !fails;
        self.broken |= step != Step::Steady && fails;
    }

    fn outcome(&self) -> Outcome {
        match (self.fixed && !self.broken, self.failing) {
            (true, _) => Outcome::Advanced,
            (false, true) => Outcome::Failed,
            (false, false) => Outcome::Green,
        }
    }
}

impl Trail {
    /// Notes what a dispatch changed. Of several circles the plainest is told: tree, edits, hypothesis.
    pub fn note_change(&mut self, change: &Change) -> Option<Circle> {
        self.note_touched(change, &lines::touched(change))
    }

    /// The same, for a change whose lines are known.
    pub(super) fn note_touched(&mut self, change: &Change, files: &Files<'_>) -> Option<Circle> {
        self.restored = change.restored;
        if !change.restored {
            self.attempt = self.attempt.saturating_add(1);
        }
        let tree = self.note_tree(change);
        let edits = self.note_edits(change, files);
        let hypothesis = self.note_hypothesis(change);
        tree.or(edits).or(hypothesis)
    }

    /// Notes how the tests ended on a tree. Results before the first change are the baseline.
    pub fn note_results(&mut self, tree: Digest, results: &[TestResult]) -> Option<Circle> {
        if results.is_empty() {
            return None;
        }
        if self.attempt == 0 && tree != Digest::default() {
            self.tree = tree;
            self.trees.entry(tree).or_insert(0);
        }
        self.note_version(tree);
        let mut tally = Tally::default();
        let mut circle = None;
        for result in results.iter().filter(|result| matches!(result.end, TestEnd::Passed | TestEnd::Failed))
        {
            let step = self.note_test(result);
            tally.add(step, result.end);
            circle = circle.or_else(|| self.oscillation_of(result, step));
        }
        if !self.restored {
            self.note_outcome(tally.outcome());
        }
        circle
    }

    /// Starts a new window: a new version of the design makes everything worth a new try.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn note_tree(&mut self, change: &Change) -> Option<Circle> {
        let tree = change.tree;
        if tree == Digest::default() || tree == self.tree {
            return None;
        }
        self.tree = tree;
        let attempt = self.attempt;
        let earlier = *self.trees.entry(tree).or_insert(attempt);
        (earlier != attempt && !change.restored).then_some(Circle::Tree { attempt, earlier, tree })
    }

    fn note_edits(&mut self, change: &Change, files: &Files<'_>) -> Option<Circle> {
        let by = if change.restored { Hand::Engine } else { Hand::Agent };
        let outcomes = &self.outcomes;
        let failed = |attempt: u32| outcomes.get(&attempt) == Some(&Outcome::Failed);
        let mut circle = None;
        for (path, touched) in files {
            let edits = self.edits.entry((*path).to_string()).or_default();
            let group = edits.note(self.attempt, by, touched, failed);
            circle = circle.or_else(|| {
                let group = group?;
                Some(Circle::Edits {
                    file: (*path).to_string(),
                    attempts: group.attempts,
                    share: group.share,
                })
            });
        }
        circle
    }

    fn note_hypothesis(&mut self, change: &Change) -> Option<Circle> {
        let text: String = change.hypothesis.as_deref()?.trim().chars().take(MOST_CHARACTERS).collect();
        if text.is_empty() {
            return None;
        }
        let words = Words::of(&text);
        let failed = |attempt: u32| self.outcomes.get(&attempt) == Some(&Outcome::Failed);
        let alike = self.hypotheses.iter().filter(|earlier| failed(earlier.attempt)).find_map(|earlier| {
            let share = words.likeness(&Words::of(&earlier.text));
            (share >= ALIKE).then_some((earlier.attempt, share))
        });
        let attempt = self.attempt;
        self.hypotheses.push(Hypothesis { attempt, text: text.clone() });
        alike.map(|(earlier, share)| Circle::Hypothesis { attempt, earlier, text, share })
    }

    /// A tree without a digest counts as another one after each attempt.
    fn note_version(&mut self, tree: Digest) {
        let unknown = tree == Digest::default() && self.results.attempt != self.attempt;
        let is_other = tree != self.results.tree || unknown;
        let version = self.results.version.saturating_add(u32::from(is_other));
        self.results = Results { tree, attempt: self.attempt, version };
    }

    fn note_test(&mut self, result: &TestResult) -> Step {
        let Results { version, attempt, .. } = self.results;
        let key = key(&result.name);
        let Some(track) = self.tests.get_mut(&key) else {
            self.tests.insert(key, Track { end: result.end, version, flips: Vec::new() });
            return Step::First;
        };
        if track.end == result.end {
            track.version = version;
            return Step::Steady;
        }
        if track.version == version {
            // Two ends on one tree: the test is flaky, and nothing that it said before counts.
            self.tests.remove(&key);
            return Step::First;
        }
        track.end = result.end;
        track.version = version;
        if self.restored {
            // The engine undid the change, and with it what the change had done to the test.
            track.flips.pop();
            return Step::Steady;
        }
        track.flips.push(attempt);
        Step::Flip
    }

    fn oscillation_of(&self, result: &TestResult, step: Step) -> Option<Circle> {
        if step != Step::Flip {
            return None;
        }
        let track = self
            .tests
            .get(&key(&result.name))
            .filter(|track| track.flips.len() >= FLIPS && result.end == TestEnd::Failed)?;
        let attempts = track.flips.clone();
        Some(Circle::Test { name: result.name.clone(), attempts, end: result.end })
    }

    fn note_outcome(&mut self, outcome: Outcome) {
        let held = self.outcomes.entry(self.attempt).or_insert(outcome);
        *held = outcome.max(*held);
        // Edits that bring the work on are no part of a circle.
        if *held == Outcome::Advanced {
            self.edits.clear();
        }
    }
}

fn key(name: &str) -> u64 {
    let backwards = lines::hash(name.chars().rev());
    (u64::from(lines::hash(name.chars())) << 32) | u64::from(backwards)
}

#[cfg(test)]
#[path = "circle_tests.rs"]
mod tests;
