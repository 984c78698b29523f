//! The changed lines of a change as hashes, ignoring white space, moved lines and reformatting.

use crate::change::{Change, Hunk};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Lines that say nothing about what a change does.
const TRIVIAL_LINES: &[&str] = &[
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

const LONGEST_TRIVIAL_LINE: usize = 10;

/// Lines by the hash of their text; equal lines are counted.
pub(super) type Lines<'c> = BTreeMap<u32, Line<'c>>;

/// The text of a line, and how often it occurs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line<'c> {
    pub(super) count: u32,
    text: &'c str,
}

/// What one change did to one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched<'c> {
    pub(super) removed: Lines<'c>,
    pub(super) added: Lines<'c>,
    /// Lines added by hunks that also removed lines, so they replace those.
    pub(super) substituted: Lines<'c>,
}

impl<'c> Touched<'c> {
    pub(super) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// Hashes of the neighbouring words of all lines.
    pub(super) fn shingles(&self) -> Vec<u32> {
        let mut hashes = Vec::new();
        for line in self.removed.values().chain(self.added.values()) {
            put_shingles(&mut hashes, line.text);
        }
        hashes
    }

    fn add_hunk(&mut self, hunk: &'c Hunk) {
        if is_reformatting(hunk) {
            return;
        }
        let removed = hunk.removed.iter().filter(|line| put(&mut self.removed, line).is_some()).count();
        for line in &hunk.added {
            let hash = put(&mut self.added, line);
            if let Some(hash) = hash.filter(|_| removed > 0) {
                count_one(&mut self.substituted, hash, line);
            }
        }
    }

    fn remove_moves(&mut self) {
        for hash in common(&self.removed, &self.added) {
            let moved = count(&self.removed, hash).min(count(&self.added, hash));
            take(&mut self.removed, hash, moved);
            take(&mut self.added, hash, moved);
            take(&mut self.substituted, hash, moved);
        }
    }
}

/// What one change did, by file.
pub(super) type Files<'c> = BTreeMap<&'c str, Touched<'c>>;

/// The significant lines that a change touched, by file; generated files are left out.
pub(super) fn touched(change: &Change) -> Files<'_> {
    let mut files = Files::new();
    for file in change.files.iter().filter(|file| !file.generated) {
        let touched = files.entry(file.path.as_str()).or_default();
        file.hunks.iter().for_each(|hunk| touched.add_hunk(hunk));
    }
    files.values_mut().for_each(Touched::remove_moves);
    if files.len() > 1 {
        remove_moves_between(&mut files);
    }
    files.retain(|_, touched| !touched.is_empty());
    files
}

/// The remembered form of lines: hash and count, in ascending order.
pub(super) type Counts = Vec<(u32, u32)>;

pub(super) fn counts(lines: &Lines<'_>) -> Counts {
    lines.iter().map(|(hash, line)| (*hash, line.count)).collect()
}

pub(super) fn total(lines: &Lines<'_>) -> usize {
    lines.values().map(|line| line.count as usize).sum()
}

/// How many lines two multisets have in common.
pub(super) fn overlap(mine: &Counts, theirs: &Lines<'_>) -> usize {
    mine.iter().map(|(hash, times)| (*times).min(count(theirs, *hash)) as usize).sum()
}

fn remove_moves_between(files: &mut Files<'_>) {
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

fn common(mine: &Lines<'_>, theirs: &Lines<'_>) -> Vec<u32> {
    mine.keys().filter(|hash| theirs.contains_key(hash)).copied().collect()
}

fn count(lines: &Lines<'_>, hash: u32) -> u32 {
    lines.get(&hash).map_or(0, |line| line.count)
}

fn take(lines: &mut Lines<'_>, hash: u32, wanted: u32) -> u32 {
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

/// Adds a line and returns its hash, if it is significant.
fn put<'c>(lines: &mut Lines<'c>, text: &'c str) -> Option<u32> {
    let hash = if text.is_ascii() {
        significant_hash(text, ascii(text))
    } else {
        significant_hash(text, text.chars())
    }?;
    count_one(lines, hash, text);
    Some(hash)
}

/// The hash of a line with these characters; `None` if it is trivial.
fn significant_hash(text: &str, chars: impl Iterator<Item = char>) -> Option<u32> {
    let mut state = Fnv::new();
    let (mut count, mut has_word) = (0, false);
    for ch in chars.filter(|ch| !ch.is_whitespace()) {
        state.take(ch);
        count += 1;
        has_word = has_word || ch.is_alphanumeric();
    }
    let is_trivial = !has_word || (count <= LONGEST_TRIVIAL_LINE && is_trivial_line(text));
    (!is_trivial).then(|| state.fold())
}

/// The characters of an ASCII text, as most lines are: nothing has to be decoded.
fn ascii(text: &str) -> impl Iterator<Item = char> {
    text.bytes().map(char::from)
}

fn count_one<'c>(lines: &mut Lines<'c>, hash: u32, text: &'c str) {
    let line = lines.entry(hash).or_insert(Line { count: 0, text });
    line.count = line.count.saturating_add(1);
}

fn is_trivial_line(text: &str) -> bool {
    let chars = || text.chars().filter(|ch| !ch.is_whitespace()).flat_map(char::to_lowercase);
    TRIVIAL_LINES.iter().any(|line| line.chars().eq(chars()))
}

/// Whether a hunk only breaks lines differently. Commas are ignored because formatters add one after a last item.
fn is_reformatting(hunk: &Hunk) -> bool {
    unformatted(&hunk.removed).eq(unformatted(&hunk.added))
}

fn unformatted(lines: &[String]) -> impl Iterator<Item = char> {
    lines.iter().flat_map(|line| line.chars()).filter(|ch| !ch.is_whitespace() && *ch != ',')
}

/// Adds the hashes of neighbouring words of a line. Digits are masked, because tuning a constant is the same edit.
fn put_shingles(hashes: &mut Vec<u32>, text: &str) {
    if text.is_ascii() { put_shingles_of(hashes, ascii(text)) } else { put_shingles_of(hashes, text.chars()) }
}

fn put_shingles_of(hashes: &mut Vec<u32>, chars: impl Iterator<Item = char>) {
    let start = hashes.len();
    let (mut word, mut last): (Option<Fnv>, Option<u32>) = (None, None);
    let mut end_word = |word: Option<Fnv>| {
        let Some(now) = word.map(|word| word.fold()) else {
            return;
        };
        hashes.extend(last.map(|last| last.rotate_left(7) ^ now));
        last = Some(now);
    };
    for ch in chars {
        match ch {
            '0'..='9' => word.get_or_insert_with(Fnv::new).take('#'),
            '_' => word.get_or_insert_with(Fnv::new).take(ch),
            _ if ch.is_alphanumeric() => word.get_or_insert_with(Fnv::new).take(ch),
            _ => end_word(word.take()),
        }
    }
    end_word(word);
    // A single word is its own shingle.
    if hashes.len() == start {
        hashes.extend(last);
    }
}

/// FNV-1a, folded to 32 bits: stable across versions and platforms, as stored trails need it.
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn take(&mut self, ch: char) {
        self.0 = (self.0 ^ u64::from(u32::from(ch))).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn fold(&self) -> u32 {
        (self.0 ^ (self.0 >> 32)) as u32
    }
}

pub(super) fn hash(chars: impl Iterator<Item = char>) -> u32 {
    let mut state = Fnv::new();
    chars.for_each(|ch| state.take(ch));
    state.fold()
}
