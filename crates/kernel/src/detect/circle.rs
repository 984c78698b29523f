//! Circle: records the trail of one window of work, and detects when the work goes in a circle.
//!
//! A window is the work on one version of a design. The trail holds hashes, never the text of a diff. Every recorded
//! change is an attempt, counted from 1, except restores by the engine.

use super::edits::{Editor, Edits};
use super::lines::{self, Files};
use super::permille::Permille;
use super::words::Words;
use crate::change::{Change, Digest, TestEnd, TestResult};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The word similarity from which two hypotheses count as the same.
const SIMILAR: Permille = Permille(700);
/// The minimum number of flips of a test that make a circle, if the last flip is to failing: the test broke twice.
/// Breaking a test once is healthy work, whether it was repaired before or is repaired afterwards.
const MIN_FLIPS: usize = 3;
/// Two tests that trade their results twice make a circle: each repair breaks the other test.
const MIN_TRADED_FLIPS: usize = 2;
/// The number of characters of a hypothesis that are kept.
const MAX_CHARACTERS: usize = 600;

/// A repetition that shows a circle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Circle {
    /// This attempt produced the tree of an earlier one; 0 is the tree before the first attempt.
    Tree { attempt: u32, earlier: u32, tree: Digest },
    /// These attempts edited one file in the same way; `share` is their lowest similarity.
    Edits { file: String, attempts: Vec<u32>, share: Permille },
    /// One test changed its result after each of these attempts; `end` is its last result.
    Test { name: String, attempts: Vec<u32>, end: TestEnd },
    /// This attempt reworks the lines of an earlier attempt that failed, with the same hypothesis.
    Hypothesis { attempt: u32, earlier: u32, text: String, share: Permille },
}

impl Circle {
    /// Explains the circle in one sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Tree { attempt, earlier: 0, .. } => {
                format!("Attempt {attempt} restored exactly the files from before the first attempt.")
            }
            Self::Tree { attempt, earlier, .. } => {
                format!("Attempt {attempt} produced exactly the same files as attempt {earlier}.")
            }
            Self::Edits { file, attempts, share } => {
                format!(
                    "Attempts {} edited the same lines of {file} (similarity at least {share}).",
                    list_phrase(attempts)
                )
            }
            Self::Test { name, attempts, end } => format!(
                "The test {name} changed its result after attempts {}, each of which changed code, and now {}.",
                list_phrase(attempts),
                result_phrase(*end)
            ),
            Self::Hypothesis { attempt, earlier, text, share } => format!(
                "Attempt {attempt} reworks the lines of attempt {earlier}, which failed, and repeats its hypothesis (\"{text}\", word similarity {share})."
            ),
        }
    }
}

fn list_phrase(attempts: &[u32]) -> String {
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

fn result_phrase(end: TestEnd) -> &'static str {
    match end {
        TestEnd::Passed => "passes",
        TestEnd::Failed => "fails",
        TestEnd::Flaky => "is flaky",
        TestEnd::Skipped => "is skipped",
    }
}

/// The events of a window that matter for finding circles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trail {
    attempt: u32,
    /// Whether the last recorded change was a restore by the engine.
    restored: bool,
    tree: Digest,
    /// The first attempt that produced each tree.
    trees: BTreeMap<Digest, u32>,
    edits: BTreeMap<String, Edits>,
    hypotheses: Vec<Hypothesis>,
    outcomes: BTreeMap<u32, AttemptOutcome>,
    results: TestedTree,
    /// Tests by the hash of their name.
    tests: BTreeMap<u64, TestHistory>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Hypothesis {
    attempt: u32,
    text: String,
}

/// The outcome of an attempt. If its tests ran several times, the best outcome counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum AttemptOutcome {
    Green,
    Failed,
    /// A test that passed before the attempt fails, and none was repaired.
    Broke,
    /// A failing test was repaired and none broke.
    Advanced,
}

impl AttemptOutcome {
    fn is_failure(self) -> bool {
        match self {
            AttemptOutcome::Failed | AttemptOutcome::Broke => true,
            AttemptOutcome::Green | AttemptOutcome::Advanced => false,
        }
    }
}

/// The tree on which the tests ran last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct TestedTree {
    tree: Digest,
    attempt: u32,
    /// How often the tested tree has changed.
    version: u32,
}

/// The last result of one test, and the attempts after which its result changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TestHistory {
    end: TestEnd,
    version: u32,
    flips: Vec<u32>,
}

/// How a test result compares with the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultChange {
    /// There is no usable previous result.
    First,
    Steady,
    Flip,
}

/// The combined results of one run of the tests.
#[derive(Default)]
struct TestRun {
    fixed: bool,
    broken: bool,
    failing: bool,
}

impl TestRun {
    fn add(&mut self, change: ResultChange, end: TestEnd) {
        let fails = end == TestEnd::Failed;
        self.failing |= fails;
        self.fixed |= change == ResultChange::Flip && !fails;
        self.broken |= change == ResultChange::Flip && fails;
    }

    fn outcome(&self) -> AttemptOutcome {
        match (self.fixed, self.broken) {
            (true, false) => AttemptOutcome::Advanced,
            (false, true) => AttemptOutcome::Broke,
            (true, true) => AttemptOutcome::Failed,
            (false, false) if self.failing => AttemptOutcome::Failed,
            (false, false) => AttemptOutcome::Green,
        }
    }
}

impl Trail {
    /// Records a change. Of several circles it returns the clearest: tree, then edits, then hypothesis.
    pub fn record_change(&mut self, change: &Change) -> Option<Circle> {
        self.record_lines(change, &lines::touched_lines(change))
    }

    /// [`Trail::record_change`] with the changed lines already extracted.
    pub(super) fn record_lines(&mut self, change: &Change, files: &Files<'_>) -> Option<Circle> {
        let is_repair = self.last_attempt_broke_a_test();
        self.restored = change.restored;
        if !change.restored {
            self.attempt = self.attempt.saturating_add(1);
        }
        let tree = self.record_tree(change).filter(|_| !is_repair);
        let edits = self.record_edits(change, files);
        let hypothesis = self.record_hypothesis(change, files);
        tree.or(edits).or(hypothesis)
    }

    /// Records the test results on a tree. Results before the first change are the baseline.
    pub fn record_results(&mut self, tree: Digest, results: &[TestResult]) -> Option<Circle> {
        if results.is_empty() {
            return None;
        }
        if self.attempt == 0 && tree != Digest::default() {
            self.tree = tree;
            self.trees.entry(tree).or_insert(0);
        }
        self.record_version(tree);
        let mut run = TestRun::default();
        let mut flipped: Vec<&TestResult> = Vec::new();
        for result in results.iter().filter(|result| matches!(result.end, TestEnd::Passed | TestEnd::Failed))
        {
            let change = self.record_test(result);
            run.add(change, result.end);
            if change == ResultChange::Flip {
                flipped.push(result);
            }
        }
        let circle = self.test_circle(&flipped);
        if !self.restored {
            self.record_outcome(run.outcome());
        }
        circle
    }

    /// Whether a test that passed before the last attempt fails since. Undoing such an attempt is a repair.
    pub(super) fn last_attempt_broke_a_test(&self) -> bool {
        self.outcomes.get(&self.attempt) == Some(&AttemptOutcome::Broke)
    }

    /// Starts a new window: earlier attempts no longer count.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn record_tree(&mut self, change: &Change) -> Option<Circle> {
        let tree = change.tree;
        if tree == Digest::default() || tree == self.tree {
            return None;
        }
        self.tree = tree;
        let attempt = self.attempt;
        let earlier = *self.trees.entry(tree).or_insert(attempt);
        (earlier != attempt && !change.restored).then_some(Circle::Tree { attempt, earlier, tree })
    }

    fn record_edits(&mut self, change: &Change, files: &Files<'_>) -> Option<Circle> {
        let by = if change.restored { Editor::Engine } else { Editor::Agent };
        let outcomes = &self.outcomes;
        let failed = |attempt: u32| outcomes.get(&attempt).is_some_and(|outcome| outcome.is_failure());
        let size = files.values().map(|touched| touched.size()).sum();
        let mut circle = None;
        for (path, touched) in files {
            let edits = self.edits.entry((*path).to_string()).or_default();
            let weight = Permille::share(touched.size(), size);
            let group = edits.record(self.attempt, by, touched, weight, failed);
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

    /// Records a hypothesis. Words alone decide nothing: steps of one plan are worded alike. They count if the change
    /// also reworks the lines of the attempt that failed.
    fn record_hypothesis(&mut self, change: &Change, files: &Files<'_>) -> Option<Circle> {
        let text: String = change.hypothesis.as_deref()?.trim().chars().take(MAX_CHARACTERS).collect();
        if text.is_empty() {
            return None;
        }
        let words = Words::of(&text);
        let failed = |attempt: u32| self.outcomes.get(&attempt).is_some_and(|outcome| outcome.is_failure());
        let edits = || files.keys().filter_map(|path| self.edits.get(*path));
        let reworks = |attempt: u32| edits().any(|edits| edits.reworks(attempt));
        let is_tried = |earlier: &&Hypothesis| failed(earlier.attempt) && reworks(earlier.attempt);
        let repeated = self.hypotheses.iter().filter(is_tried).find_map(|earlier| {
            let share = words.similarity(&Words::of(&earlier.text));
            (share >= SIMILAR).then_some((earlier.attempt, share))
        });
        let attempt = self.attempt;
        self.hypotheses.push(Hypothesis { attempt, text: text.clone() });
        repeated.map(|(earlier, share)| Circle::Hypothesis { attempt, earlier, text, share })
    }

    /// Counts the versions of the tested tree. A tree without a digest counts as a new version after each attempt.
    fn record_version(&mut self, tree: Digest) {
        let is_unknown = tree == Digest::default() && self.results.attempt != self.attempt;
        let is_new = tree != self.results.tree || is_unknown;
        let version = self.results.version.saturating_add(u32::from(is_new));
        self.results = TestedTree { tree, attempt: self.attempt, version };
    }

    fn record_test(&mut self, result: &TestResult) -> ResultChange {
        let TestedTree { version, attempt, .. } = self.results;
        let key = hash_name(&result.name);
        let Some(history) = self.tests.get_mut(&key) else {
            self.tests.insert(key, TestHistory { end: result.end, version, flips: Vec::new() });
            return ResultChange::First;
        };
        if history.end == result.end {
            history.version = version;
            return ResultChange::Steady;
        }
        if history.version == version {
            // Two results on one tree: the test is flaky, so its history does not count.
            self.tests.remove(&key);
            return ResultChange::First;
        }
        history.end = result.end;
        history.version = version;
        if self.restored {
            // The engine undid the change, and with it the change's effect on the test.
            history.flips.pop();
            return ResultChange::Steady;
        }
        history.flips.push(attempt);
        ResultChange::Flip
    }

    /// The first of the tests that just changed their result and now fail, if it shows a circle.
    fn test_circle(&self, flipped: &[&TestResult]) -> Option<Circle> {
        let flips = |result: &TestResult| {
            self.tests.get(&hash_name(&result.name)).map_or(Vec::new(), |history| history.flips.clone())
        };
        let is_traded = |attempts: &Vec<u32>| {
            let is_other = |other: &&&TestResult| other.end == TestEnd::Passed && flips(other) == *attempts;
            attempts.len() >= MIN_TRADED_FLIPS && flipped.iter().any(|other| is_other(&other))
        };
        flipped.iter().filter(|result| result.end == TestEnd::Failed).find_map(|result| {
            let attempts = flips(result);
            let is_circle = attempts.len() >= MIN_FLIPS || is_traded(&attempts);
            is_circle.then(|| Circle::Test { name: result.name.clone(), attempts, end: result.end })
        })
    }

    fn record_outcome(&mut self, outcome: AttemptOutcome) {
        let greatest = self.outcomes.entry(self.attempt).or_insert(outcome);
        *greatest = outcome.max(*greatest);
        // Edits that make progress are not part of a circle.
        if *greatest == AttemptOutcome::Advanced {
            self.edits.clear();
        }
    }
}

fn hash_name(name: &str) -> u64 {
    let backwards = lines::hash(name.chars().rev());
    (u64::from(lines::hash(name.chars())) << 32) | u64::from(backwards)
}

#[cfg(test)]
#[path = "circle_tests.rs"]
mod tests;
