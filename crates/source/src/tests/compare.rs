//! Compares tests before and after a change: removed, disabled and weakened ones.

use super::item::{Strength, TestItem};
use std::collections::BTreeMap;

/// Two bodies that share at least this fraction of their tokens are one test that was renamed and edited.
const ALIKE: f64 = 0.7;

/// The tests of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    pub path: String,
    pub tests: Vec<TestItem>,
}

/// A test that is weaker than before, or that moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    /// Before the change.
    pub file: String,
    pub path: Vec<String>,
    /// From 1: before the change for a removed test, after it for others.
    pub line: usize,
    pub kind: WeakeningKind,
}

/// What happened to a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeakeningKind {
    Removed,
    /// The mark or call that disables it.
    SwitchedOff(String),
    /// The mark that turns a failure into a pass.
    Inverted(String),
    /// The mark that keeps other tests from running.
    Alone(String),
    Emptied,
    LeavesEarly,
    /// An assertion that cannot fail.
    Void(String),
    Fewer {
        from: usize,
        to: usize,
    },
    /// The same number of assertions, but fewer compare with a value.
    Weaker {
        from: usize,
        to: usize,
    },
    /// An assertion with a wider tolerance.
    Wider(String),
    /// As strict in form, but it asserts something else; only a reader can judge it.
    Rewritten(usize),
    /// The same test under another name or in another file.
    Renamed {
        file: String,
        path: Vec<String>,
    },
}

impl WeakeningKind {
    /// Whether its text shows that the test proves less than before.
    pub fn is_worse(&self) -> bool {
        match self {
            WeakeningKind::Rewritten(_) | WeakeningKind::Renamed { .. } => false,
            WeakeningKind::Removed
            | WeakeningKind::SwitchedOff(_)
            | WeakeningKind::Inverted(_)
            | WeakeningKind::Alone(_)
            | WeakeningKind::Emptied
            | WeakeningKind::LeavesEarly
            | WeakeningKind::Void(_)
            | WeakeningKind::Fewer { .. }
            | WeakeningKind::Weaker { .. }
            | WeakeningKind::Wider(_) => true,
        }
    }
}

type Key<'f> = (&'f str, &'f [String]);

/// Compares the tests of the files that a change touches, in the order of files and lines before it. A new test is never
/// weaker.
pub fn compare(before: &[TestFile], after: &[TestFile]) -> Vec<Weakening> {
    let old = listed(before);
    let new = listed(after);
    let mut fresh: BTreeMap<Key<'_>, &TestItem> =
        new.iter().filter(|(key, _)| !old.contains_key(key)).map(|(key, item)| (*key, *item)).collect();
    let mut found = Vec::new();
    for file in before {
        for test in &file.tests {
            let key = (file.path.as_str(), test.path.as_slice());
            let told =
                |line, kind| Weakening { file: file.path.clone(), path: test.path.clone(), line, kind };
            if let Some(now) = new.get(&key) {
                found.extend(worse(test, now).map(|kind| told(now.line, kind)));
                continue;
            }
            match counterpart(test, file, &fresh) {
                Some(at) => {
                    let Some(now) = fresh.remove(&at) else { continue };
                    let (path, kind) = (now.path.clone(), worse(test, now));
                    found.push(told(now.line, WeakeningKind::Renamed { file: at.0.to_string(), path }));
                    found.extend(kind.map(|kind| told(now.line, kind)));
                }
                None => found.push(told(test.line, WeakeningKind::Removed)),
            }
        }
    }
    found
}

/// Tests by file and names; of duplicates the first.
fn listed(files: &[TestFile]) -> BTreeMap<Key<'_>, &TestItem> {
    let mut listed = BTreeMap::new();
    for file in files {
        for test in &file.tests {
            listed.entry((file.path.as_str(), test.path.as_slice())).or_insert(test);
        }
    }
    listed
}

/// The new place of a test: the same body, or the same name elsewhere, or nearly the same body in the same file.
fn counterpart<'f>(
    test: &TestItem,
    file: &TestFile,
    fresh: &BTreeMap<Key<'f>, &TestItem>,
) -> Option<Key<'f>> {
    let has_body = !test.tokens.is_empty();
    let same_body = fresh.iter().find(|(_, now)| has_body && now.tokens == test.tokens);
    let same_name = || {
        let named = |(key, now): &(&Key<'f>, &&TestItem)| {
            now.path == test.path || (key.0 == file.path && now.name() == test.name())
        };
        fresh.iter().find(|entry| named(entry))
    };
    let alike = || {
        let near = fresh.iter().filter(|(key, _)| key.0 == file.path);
        let rated = near.map(|entry| (likeness(&test.tokens, &entry.1.tokens), entry));
        rated.filter(|(rate, _)| *rate >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, entry)| entry)
    };
    same_body.or_else(same_name).or_else(alike).map(|(key, _)| *key)
}

/// The fraction of tokens that two bodies share, counting repetitions.
fn likeness(one: &[String], other: &[String]) -> f64 {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    one.iter().for_each(|token| counts.entry(token).or_default().0 += 1);
    other.iter().for_each(|token| counts.entry(token).or_default().1 += 1);
    let shared: usize = counts.values().map(|(one, other)| one.min(other)).sum();
    let all: usize = counts.values().map(|(one, other)| one.max(other)).sum();
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// How a test is weaker, the most obvious way first.
fn worse(before: &TestItem, now: &TestItem) -> Option<WeakeningKind> {
    let added = |old: &[String], new: &[String]| {
        if new.len() > old.len() {
            new.iter().find(|mark| !old.contains(mark)).or(new.last()).cloned()
        } else {
            None
        }
    };
    // A disabled test does not get weaker by another mark.
    if let Some(mark) = added(&before.off, &now.off).filter(|_| before.off.is_empty()) {
        return Some(WeakeningKind::SwitchedOff(mark));
    }
    if let Some(mark) = added(&before.inverted, &now.inverted) {
        return Some(WeakeningKind::Inverted(mark));
    }
    if let Some(mark) = added(&before.alone, &now.alone) {
        return Some(WeakeningKind::Alone(mark));
    }
    if before.statements > 0 && now.statements == 0 {
        return Some(WeakeningKind::Emptied);
    }
    if now.leaves_early && !before.leaves_early {
        return Some(WeakeningKind::LeavesEarly);
    }
    let void = |item: &TestItem| item.assertions.len() - item.at_least(Strength::Presence);
    if void(now) > void(before) {
        let written = now.assertions.iter().find(|assertion| assertion.strength == Strength::Void);
        return written.map(|assertion| WeakeningKind::Void(assertion.text.clone()));
    }
    let (from, to) = (before.at_least(Strength::Presence), now.at_least(Strength::Presence));
    if to < from {
        return Some(WeakeningKind::Fewer { from, to });
    }
    let (strong, left) = (before.at_least(Strength::Loose), now.at_least(Strength::Loose));
    if left < strong {
        return Some(WeakeningKind::Weaker { from: strong, to: left });
    }
    let wider = before.assertions.iter().zip(&now.assertions).find(|(old, new)| {
        let grown = old.tolerance.zip(new.tolerance).is_some_and(|(old, new)| new > old);
        grown || (old.strength == Strength::Exact && old.tolerance.is_none() && new.tolerance.is_some())
    });
    if let Some((_, new)) = wider {
        return Some(WeakeningKind::Wider(new.text.clone()));
    }
    let kept = |text: &String| now.assertions.iter().any(|assertion| assertion.text == *text);
    let lost = before.assertions.iter().filter(|assertion| !kept(&assertion.text)).count();
    (lost > 0).then_some(WeakeningKind::Rewritten(lost))
}
