//! The changed lines of a change as hashes, without white space, moves and reformatting.

use crate::change::{Change, Hunk};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Lines that say nothing of what a change is about.
const EMPTY_PHRASES: &[&str] = &[
    "#[test]",
    "*/",
    "/**",
    "break;",
    "continue;",
    "done",
    "else",
    "else:",
    "else{",
    "end",
    "fi",
    "finally{",
    "none",
    "ok(())",
    "pass",
    "return",
    "return;",
    "try:",
    "try{",
    "}else{",
];

const LONGEST_PHRASE: usize = 10;

/// Lines by the hash of their text; equal lines are counted.
pub(super) type Lines = BTreeMap<u32, Line>;

/// One text of a line: how often it occurs and the hashes of its shingles.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) count: u32,
    pub(super) shingles: Vec<u32>,
}

/// What one change did to one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    pub(super) removed: Lines,
    pub(super) added: Lines,
    /// Lines added by the hunks that removed others, without shingles: what stands in the place of the removed ones.
    pub(super) substituted: Lines,
}

impl Touched {
    pub(super) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    fn note(&mut self, hunk: &Hunk) {
        if is_reformatting(hunk) {
            return;
        }
        let removed = hunk.removed.iter().filter(|line| put(&mut self.removed, line).is_some()).count();
        for line in &hunk.added {
            let hash = put(&mut self.added, line);
            if let Some(hash) = hash.filter(|_| removed > 0) {
                let line = self.substituted.entry(hash).or_default();
                line.count = line.count.saturating_add(1);
            }
        }
    }

    fn without_moves(&mut self) {
        for hash in common(&self.removed, &self.added) {
            let moved = count(&self.removed, hash).min(count(&self.added, hash));
            take(&mut self.removed, hash, moved);
            take(&mut self.added, hash, moved);
            take(&mut self.substituted, hash, moved);
        }
    }
}

/// What one change did, by file.
pub(super) type Files<'c> = BTreeMap<&'c str, Touched>;

/// The substantial lines that a change touched, by file; generated files are left out.
pub(super) fn touched(change: &Change) -> Files<'_> {
    let mut files: BTreeMap<&str, Touched> = BTreeMap::new();
    for file in change.files.iter().filter(|file| !file.generated) {
        let touched = files.entry(file.path.as_str()).or_default();
        file.hunks.iter().for_each(|hunk| touched.note(hunk));
    }
    files.values_mut().for_each(Touched::without_moves);
    if files.len() > 1 {
        take_moves_between(&mut files);
    }
    files.retain(|_, touched| !touched.is_empty());
    files
}

/// Lines as they are remembered: hash and count, in ascending order.
pub(super) type Counts = Vec<(u32, u32)>;

pub(super) fn counts(lines: &Lines) -> Counts {
    lines.iter().map(|(hash, line)| (*hash, line.count)).collect()
}

pub(super) fn total(lines: &Lines) -> usize {
    lines.values().map(|line| line.count as usize).sum()
}

/// How many lines two bags have in common.
pub(super) fn overlap(mine: &Counts, theirs: &Lines) -> usize {
    mine.iter().map(|(hash, times)| (*times).min(count(theirs, *hash)) as usize).sum()
}

fn take_moves_between(files: &mut BTreeMap<&str, Touched>) {
    let (mut gone, mut come) = (Lines::new(), Lines::new());
    for touched in files.values() {
        touched.removed.iter().for_each(|(hash, line)| gone.entry(*hash).or_default().count += line.count);
        touched.added.iter().for_each(|(hash, line)| come.entry(*hash).or_default().count += line.count);
    }
    for hash in common(&gone, &come) {
        let moved = count(&gone, hash).min(count(&come, hash));
        let (mut left, mut arrived) = (moved, moved);
        for touched in files.values_mut() {
            left -= take(&mut touched.removed, hash, left);
            let taken = take(&mut touched.added, hash, arrived);
            take(&mut touched.substituted, hash, taken);
            arrived -= taken;
        }
    }
}

fn common(mine: &Lines, theirs: &Lines) -> Vec<u32> {
    mine.keys().filter(|hash| theirs.contains_key(hash)).copied().collect()
}

fn count(lines: &Lines, hash: u32) -> u32 {
    lines.get(&hash).map_or(0, |line| line.count)
}

fn take(lines: &mut Lines, hash: u32, wanted: u32) -> u32 {
    let Some(line) = lines.get_mut(&hash) else {
        return 0;
    };
    let taken = line.count.min(wanted);
    line.count -= taken;
    if line.count == 0 {
        lines.remove(&hash);
    }
    taken
}

/// Puts a line into a bag and gives its hash, if it had substance.
fn put(lines: &mut Lines, text: &str) -> Option<u32> {
    if !is_substantial(text) {
        return None;
    }
    let hash = hash(text.chars().filter(|sign| !sign.is_whitespace()));
    let line = lines.entry(hash).or_default();
    line.count = line.count.saturating_add(1);
    if line.shingles.is_empty() {
        line.shingles = shingles(text);
    }
    Some(hash)
}

fn is_substantial(text: &str) -> bool {
    let signs = || text.chars().filter(|sign| !sign.is_whitespace());
    let says = |phrase: &&str| phrase.chars().eq(signs().flat_map(char::to_lowercase));
    let is_short = signs().nth(LONGEST_PHRASE).is_none();
    signs().any(char::is_alphanumeric) && !(is_short && EMPTY_PHRASES.iter().any(says))
}

/// A hunk that only breaks lines elsewhere; the comma is what formatters put behind a last item.
fn is_reformatting(hunk: &Hunk) -> bool {
    let signs =
        |lines: &[alloc::string::String]| hash(lines.iter().flat_map(|line| line.chars()).filter(is_kept));
    signs(&hunk.removed) == signs(&hunk.added)
}

fn is_kept(sign: &char) -> bool {
    !sign.is_whitespace() && *sign != ','
}

/// Hashes of the neighbouring words of a line, with every number masked: a tuned constant is the same edit.
fn shingles(text: &str) -> Vec<u32> {
    let words: Vec<u32> = text
        .split(|sign: char| !(sign.is_alphanumeric() || sign == '_'))
        .filter(|word| !word.is_empty())
        .map(|word| hash(word.chars().map(|sign| if sign.is_ascii_digit() { '#' } else { sign })))
        .collect();
    match words.as_slice() {
        [only] => Vec::from([*only]),
        several => several.windows(2).map(|pair| pair[0].rotate_left(7) ^ pair[1]).collect(),
    }
}

/// FNV-1a, folded to 32 bits: stable across versions and platforms, as stored trails need it.
pub(super) fn hash(signs: impl Iterator<Item = char>) -> u32 {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for sign in signs {
        state = (state ^ u64::from(u32::from(sign))).wrapping_mul(0x0000_0100_0000_01b3);
    }
    (state ^ (state >> 32)) as u32
}
