//! Compares tests before and after a change, to find removed, disabled and weakened ones.

use super::item::{Assertion, Strength, TestItem};
use std::collections::BTreeMap;

/// Two bodies that share at least this fraction of their tokens count as one test that was renamed and edited.
const MIN_SIMILARITY: f64 = 0.7;

/// The tests of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    pub path: String,
    pub tests: Vec<TestItem>,
}

/// A test that is weaker than before, or that moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    /// The file before the change.
    pub file: String,
    pub path: Vec<String>,
    /// From 1: before the change for a removed test, after it for others.
    pub line: usize,
    pub kind: WeakeningKind,
}

/// How a test changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeakeningKind {
    Removed,
    /// Disabled by this marker or call.
    SwitchedOff(String),
    /// Has this marker, which turns a failure into a pass.
    Inverted(String),
    /// Has this marker, which keeps other tests from running.
    Alone(String),
    Emptied,
    LeavesEarly,
    /// Has this assertion, which cannot fail.
    Void(String),
    /// Has fewer assertions.
    Fewer {
        from: usize,
        to: usize,
    },
    /// Has as many assertions, but fewer that compare values.
    Weaker {
        from: usize,
        to: usize,
    },
    /// Has this assertion, which has a wider tolerance than before.
    Wider(String),
    /// This many assertions changed. They look as strict as before, so only a reader can judge them.
    Rewritten(usize),
    /// The same test under another name or in another file.
    Renamed {
        file: String,
        path: Vec<String>,
    },
}

impl WeakeningKind {
    /// Whether the test proves less than before; if not, only a reader can tell.
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

/// Compares the tests of the files that a change touches, in the order of files and lines before the change. New tests are
/// not compared.
pub fn compare(before: &[TestFile], after: &[TestFile]) -> Vec<Weakening> {
    let old = by_key(before);
    let new = by_key(after);
    let mut added: BTreeMap<Key<'_>, &TestItem> =
        new.iter().filter(|(key, _)| !old.contains_key(key)).map(|(key, item)| (*key, *item)).collect();
    let mut found = Vec::new();
    for file in before {
        for test in &file.tests {
            let key = (file.path.as_str(), test.path.as_slice());
            let weakening =
                |line, kind| Weakening { file: file.path.clone(), path: test.path.clone(), line, kind };
            if let Some(now) = new.get(&key) {
                found.extend(compare_test(test, now).map(|kind| weakening(now.line, kind)));
                continue;
            }
            match counterpart(test, file, &added) {
                Some(at) => {
                    let Some(now) = added.remove(&at) else { continue };
                    let (path, kind) = (now.path.clone(), compare_test(test, now));
                    found.push(weakening(now.line, WeakeningKind::Renamed { file: at.0.to_string(), path }));
                    found.extend(kind.map(|kind| weakening(now.line, kind)));
                }
                None => found.push(weakening(test.line, WeakeningKind::Removed)),
            }
        }
    }
    found
}

/// The tests by file and names; only the first of duplicates.
fn by_key(files: &[TestFile]) -> BTreeMap<Key<'_>, &TestItem> {
    let mut tests = BTreeMap::new();
    for file in files {
        for test in &file.tests {
            tests.entry((file.path.as_str(), test.path.as_slice())).or_insert(test);
        }
    }
    tests
}

/// Finds the added test that replaces a removed one: it has the same body, the same name in another file or scope, or in the
/// same file a similar body or the same assertions, such as a loop that has become a table.
fn counterpart<'f>(
    test: &TestItem,
    file: &TestFile,
    added: &BTreeMap<Key<'f>, &TestItem>,
) -> Option<Key<'f>> {
    let has_body = !test.tokens.is_empty();
    let same_body = added.iter().find(|(_, now)| has_body && now.tokens == test.tokens);
    let same_name = || {
        let has_name = |(key, now): &(&Key<'f>, &&TestItem)| {
            now.path == test.path || (key.0 == file.path && now.name() == test.name())
        };
        added.iter().find(|entry| has_name(entry))
    };
    let similar_body = || {
        let same_file = added.iter().filter(|(key, _)| key.0 == file.path);
        let rated = same_file.map(|entry| (similarity(&test.tokens, &entry.1.tokens), entry));
        rated
            .filter(|(rate, _)| *rate >= MIN_SIMILARITY)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, entry)| entry)
    };
    let same_assertions = || {
        let has = |now: &TestItem, text: &str| now.assertions.iter().any(|assertion| assertion.text == text);
        let keeps_all = |now: &TestItem| test.assertions.iter().all(|old| has(now, &old.text));
        let same_file = added.iter().filter(|(key, _)| key.0 == file.path && !test.assertions.is_empty());
        same_file.into_iter().find(|(_, now)| keeps_all(now))
    };
    same_body.or_else(same_name).or_else(similar_body).or_else(same_assertions).map(|(key, _)| *key)
}

/// The fraction of tokens that two bodies share, counting repetitions.
fn similarity(one: &[String], other: &[String]) -> f64 {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    one.iter().for_each(|token| counts.entry(token).or_default().0 += 1);
    other.iter().for_each(|token| counts.entry(token).or_default().1 += 1);
    let shared: usize = counts.values().map(|(one, other)| one.min(other)).sum();
    let all: usize = counts.values().map(|(one, other)| one.max(other)).sum();
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// What a loop repeats, given its first word and what follows: all of that if no brackets show where it ends.
fn repeated<'t>(word: &str, tokens: &'t [String]) -> &'t [String] {
    let mut depth = 0_usize;
    let is_call = word != "for" && tokens.first().is_some_and(|first| first == "(");
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => continue,
        }
        // The header of a loop or a type in it such as `struct {...}` goes on.
        let goes_on =
            tokens.get(at + 1).is_some_and(|next| matches!(next.as_str(), "{" | "(" | ":" | "." | "," | "]"));
        let is_end = if is_call { token == ")" || token == "}" } else { token == "}" };
        if depth == 0 && is_end && !goes_on {
            return &tokens[..=at];
        }
    }
    tokens
}

/// Whether a test repeats its assertions for all values of the earlier one: a list of assertions that has become a table.
fn is_table_of(before: &TestItem, now: &TestItem) -> bool {
    let is_value = |token: &&String| token.starts_with(|c: char| c.is_ascii_digit() || "\"'`".contains(c));
    let count = |item: &TestItem, value: &String| item.tokens.iter().filter(|token| *token == value).count();
    let repeats =
        |token: &String| ["for", "each", "forEach", "for_each", "every", "subTest"].contains(&token.as_str());
    let mut values = before.tokens.iter().filter(is_value);
    let asserts = |tokens: &[String]| {
        let text: String = tokens.concat();
        let is_inside = |assertion: &Assertion| text.contains(&assertion.text);
        now.assertions.iter().filter(|it| it.strength > Strength::Void).any(is_inside)
    };
    let repeats_assertion =
        |at: usize| repeats(&now.tokens[at]) && asserts(repeated(&now.tokens[at], &now.tokens[at + 1..]));
    (0..now.tokens.len()).any(repeats_assertion)
        && !before.tokens.iter().any(repeats)
        && values.clone().next().is_some()
        && values.all(|value| count(now, value) >= count(before, value))
}

/// The most obvious change that weakens a test or may weaken it; `None` if there is none.
fn compare_test(before: &TestItem, now: &TestItem) -> Option<WeakeningKind> {
    let added = |old: &[String], new: &[String]| {
        if new.len() > old.len() {
            new.iter().find(|marker| !old.contains(marker)).or(new.last()).cloned()
        } else {
            None
        }
    };
    // Another marker does not weaken a test that is already disabled.
    if let Some(marker) = added(&before.off, &now.off).filter(|_| before.off.is_empty()) {
        return Some(WeakeningKind::SwitchedOff(marker));
    }
    if let Some(marker) = added(&before.inverted, &now.inverted) {
        return Some(WeakeningKind::Inverted(marker));
    }
    if let Some(marker) = added(&before.alone, &now.alone) {
        return Some(WeakeningKind::Alone(marker));
    }
    if before.statements > 0 && now.statements == 0 {
        return Some(WeakeningKind::Emptied);
    }
    if now.leaves_early && !before.leaves_early {
        return Some(WeakeningKind::LeavesEarly);
    }
    let void_count = |item: &TestItem| item.assertions.len() - item.at_least(Strength::Presence);
    if void_count(now) > void_count(before) {
        let void = now.assertions.iter().find(|assertion| assertion.strength == Strength::Void);
        return void.map(|assertion| WeakeningKind::Void(assertion.text.clone()));
    }
    let (from, to) = (before.at_least(Strength::Presence), now.at_least(Strength::Presence));
    if to < from && !(to > 0 && is_table_of(before, now)) {
        return Some(WeakeningKind::Fewer { from, to });
    }
    let (from, to) = (before.at_least(Strength::Loose), now.at_least(Strength::Loose));
    if to < from && !(to > 0 && is_table_of(before, now)) {
        return Some(WeakeningKind::Weaker { from, to });
    }
    let wider = before.assertions.iter().zip(&now.assertions).find(|(old, new)| {
        let grown = old.tolerance.zip(new.tolerance).is_some_and(|(old, new)| new > old);
        grown || (old.strength == Strength::Exact && old.tolerance.is_none() && new.tolerance.is_some())
    });
    if let Some((_, new)) = wider {
        return Some(WeakeningKind::Wider(new.text.clone()));
    }
    let remains = |text: &String| now.assertions.iter().any(|assertion| assertion.text == *text);
    let lost = before.assertions.iter().filter(|assertion| !remains(&assertion.text)).count();
    (lost > 0).then_some(WeakeningKind::Rewritten(lost))
}
