//! Plays whole sequences of work through the detectors, as the kernel does, and states precision and recall.

use super::*;
use crate::change::{Digest, FileChange, Hunk, TestEnd, TestResult};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::Deserialize;
use std::println;

#[derive(Deserialize)]
struct Set {
    proves: String,
    sequences: Vec<Sequence>,
}

#[derive(Deserialize)]
struct Sequence {
    name: String,
    /// What the last step closes; nothing in healthy work.
    ends: Option<String>,
    about: String,
    /// The files before the first step, by path, as lines.
    files: BTreeMap<String, Vec<String>>,
    steps: Vec<SequenceStep>,
}

/// One dispatch, with the results of the tests after it; without a patch, only results.
#[derive(Deserialize)]
struct SequenceStep {
    patches: Vec<Patch>,
    says: Option<String>,
    fails: Option<Vec<String>>,
    passes: Option<Vec<String>>,
}

/// Lines that replace others; lines that replace none are appended.
#[derive(Deserialize)]
struct Patch {
    path: String,
    from: Vec<String>,
    to: Vec<String>,
}

type Files = BTreeMap<String, Vec<String>>;

fn apply(files: &mut Files, patch: &Patch, sequence: &str) {
    let lines = files.entry(patch.path.clone()).or_default();
    let at = match patch.from.len() {
        0 => lines.len(),
        count => {
            let found = lines.windows(count).position(|window| window == patch.from.as_slice());
            found.unwrap_or_else(|| panic!("{sequence}: {} has no {:?}", patch.path, patch.from))
        }
    };
    lines.splice(at..at + patch.from.len(), patch.to.iter().cloned());
}

fn digest(files: &Files) -> Digest {
    let text: String = files.iter().flat_map(|(path, lines)| [path.clone(), lines.join("\n")]).collect();
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    Digest(text.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
}

/// The hunks between two versions, from their longest common subsequence of lines.
fn hunks(before: &[String], after: &[String]) -> Vec<Hunk> {
    let mut common = alloc::vec![alloc::vec![0_usize; after.len() + 1]; before.len() + 1];
    for (i, old) in before.iter().enumerate().rev() {
        for (j, new) in after.iter().enumerate().rev() {
            common[i][j] =
                if old == new { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut found, mut hunk) = (0, 0, Vec::new(), Hunk::default());
    while i < before.len() || j < after.len() {
        if i < before.len() && j < after.len() && before[i] == after[j] {
            (i, j) = (i + 1, j + 1);
            if hunk != Hunk::default() {
                found.push(core::mem::take(&mut hunk));
            }
        } else if j == after.len() || (i < before.len() && common[i + 1][j] >= common[i][j + 1]) {
            hunk.removed.push(before[i].clone());
            i += 1;
        } else {
            hunk.added.push(after[j].clone());
            j += 1;
        }
    }
    found.extend(Some(hunk).filter(|hunk| *hunk != Hunk::default()));
    found
}

fn change(before: &Files, after: &Files, says: Option<&String>) -> Change {
    let none = Vec::new();
    let file = |(path, now): (&String, &Vec<String>)| {
        let hunks = hunks(before.get(path).unwrap_or(&none), now);
        (!hunks.is_empty()).then(|| FileChange { path: path.to_owned(), hunks, generated: false })
    };
    Change {
        tree: digest(after),
        files: after.iter().filter_map(file).collect(),
        hypothesis: says.cloned(),
        restored: false,
    }
}

/// What the detectors say after each step, as the kernel asks them.
fn play(sequence: &Sequence) -> Vec<Option<&'static str>> {
    let (mut files, mut trail, mut last) = (sequence.files.clone(), Trail::default(), None);
    let mut found = Vec::new();
    for step in &sequence.steps {
        let before = files.clone();
        step.patches.iter().for_each(|patch| apply(&mut files, patch, &sequence.name));
        let mut signal = None;
        if !step.patches.is_empty() {
            let change = change(&before, &files, step.says.as_ref());
            signal = match check_change(&mut trail, &mut last, &change) {
                (Some(Circle::Tree { earlier: 0, .. }) | None, Some(_)) => Some("reversal"),
                (Some(circle), _) => Some(fixtures_tests::kind(&circle)),
                (None, None) => None,
            };
        }
        let ends = [(&step.fails, TestEnd::Failed), (&step.passes, TestEnd::Passed)];
        let results: Vec<TestResult> = ends
            .into_iter()
            .flat_map(|(names, end)| names.iter().flatten().map(move |name| (name, end)))
            .map(|(name, end)| TestResult { name: name.to_string(), end })
            .collect();
        let circle = trail.record_results(digest(&files), &results);
        found.push(signal.or(circle.as_ref().map(fixtures_tests::kind)));
    }
    found
}

// TE-07 DR-04 CORE-22
#[test]
fn healthy_work_is_never_stopped_and_circles_and_reversals_are_found_where_they_close() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/detectors/sequences.json");
    let set: Set = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(!set.proves.is_empty() && set.sequences.len() >= 60);
    let (mut hits, mut wrong) = (0_usize, Vec::new());
    for sequence in &set.sequences {
        assert!(!sequence.about.is_empty());
        let mut found = play(sequence);
        let last = found.pop().flatten();
        let early = found.into_iter().flatten().next();
        if early.is_none() && last == sequence.ends.as_deref() {
            hits += usize::from(last.is_some());
        } else {
            wrong.push((&sequence.name, &sequence.ends, early, last));
        }
    }
    let positive = set.sequences.iter().filter(|sequence| sequence.ends.is_some()).count();
    let stops = wrong.iter().filter(|(_, _, early, last)| early.or(*last).is_some()).count();
    println!(
        "{} sequences, {positive} positive: precision {}, recall {}",
        set.sequences.len(),
        Permille::share(hits, hits + stops),
        Permille::share(hits, positive)
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}
