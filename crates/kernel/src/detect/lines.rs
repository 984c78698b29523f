//! The lines of a change as hashes, without white space, moved lines and reformatting.

use crate::change::{Change, Hunk};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Lines that do not show what a change does.
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

/// The maximum number of added lines of a hunk that are searched for the longer version of a removed line.
const MAX_LONGER_LINES: usize = 50;

/// The maximum length of a trivial line, without white space.
const MAX_TRIVIAL_LENGTH: usize = 10;

/// Lines by the hash of their text; equal lines are counted.
pub(super) type Lines<'c> = BTreeMap<u32, Line<'c>>;

/// The text of a line, and how often it occurs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line<'c> {
    pub(super) count: u32,
    text: &'c str,
}

/// The lines that one change touched in one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched<'c> {
    pub(super) removed: Lines<'c>,
    pub(super) added: Lines<'c>,
    /// Added lines that replace others: their hunk also removed lines.
    pub(super) substituted: Lines<'c>,
    /// Removed lines that were only extended: an added line of their hunk starts with all their words, and has more.
    extended: Lines<'c>,
}

impl<'c> Touched<'c> {
    pub(super) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    /// The removed lines without those that were only extended.
    pub(super) fn replaced(&self) -> Lines<'c> {
        let mut replaced = self.removed.clone();
        for (hash, line) in &self.extended {
            subtract(&mut replaced, *hash, line.count);
        }
        replaced
    }

    /// The number of lines touched.
    pub(super) fn size(&self) -> usize {
        total(&self.removed) + total(&self.added)
    }

    /// Hashes of pairs of neighbouring words, from all lines.
    pub(super) fn shingles(&self) -> Vec<u32> {
        let mut hashes = Vec::new();
        for line in self.removed.values().chain(self.added.values()) {
            add_shingles(&mut hashes, line.text);
        }
        hashes
    }

    fn add_hunk(&mut self, hunk: &'c Hunk) {
        if is_reformatting(hunk) {
            return;
        }
        let mut removed = 0;
        for line in &hunk.removed {
            let Some(hash) = add_line(&mut self.removed, line) else { continue };
            removed += 1;
            if hunk.added.iter().take(MAX_LONGER_LINES).any(|longer| extends(longer, line)) {
                count_one(&mut self.extended, hash, line);
            }
        }
        for line in &hunk.added {
            let hash = add_line(&mut self.added, line);
            if let Some(hash) = hash.filter(|_| removed > 0) {
                count_one(&mut self.substituted, hash, line);
            }
        }
    }

    fn remove_moves(&mut self) {
        for hash in common(&self.removed, &self.added) {
            let moved = count(&self.removed, hash).min(count(&self.added, hash));
            subtract(&mut self.removed, hash, moved);
            subtract(&mut self.added, hash, moved);
            subtract(&mut self.substituted, hash, moved);
            subtract(&mut self.extended, hash, moved);
        }
    }
}

/// Whether a line starts with all words of another one, and has more.
fn extends(longer: &str, line: &str) -> bool {
    let mut rest = words(longer);
    words(line).all(|word| rest.next() == Some(word)) && rest.next().is_some()
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|ch: char| !ch.is_alphanumeric() && ch != '_').filter(|word| !word.is_empty())
}

/// The lines that one change touched, by file.
pub(super) type Files<'c> = BTreeMap<&'c str, Touched<'c>>;

/// The significant lines that a change touched, by file; generated files are left out.
pub(super) fn touched_lines(change: &Change) -> Files<'_> {
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

/// The number of lines that two multisets have in common.
pub(super) fn overlap(mine: &Counts, theirs: &Lines<'_>) -> usize {
    mine.iter().map(|(hash, times)| (*times).min(count(theirs, *hash)) as usize).sum()
}

fn remove_moves_between(files: &mut Files<'_>) {
    let (mut removed, mut added) = (Lines::new(), Lines::new());
    for touched in files.values() {
        touched.removed.iter().for_each(|(hash, line)| removed.entry(*hash).or_default().count += line.count);
        touched.added.iter().for_each(|(hash, line)| added.entry(*hash).or_default().count += line.count);
    }
    for hash in common(&removed, &added) {
        let moved = count(&removed, hash).min(count(&added, hash));
        let (mut removed_left, mut added_left) = (moved, moved);
        for touched in files.values_mut() {
            removed_left -= subtract(&mut touched.removed, hash, removed_left);
            let subtracted = subtract(&mut touched.added, hash, added_left);
            subtract(&mut touched.substituted, hash, subtracted);
            added_left -= subtracted;
        }
    }
}

fn common(mine: &Lines<'_>, theirs: &Lines<'_>) -> Vec<u32> {
    mine.keys().filter(|hash| theirs.contains_key(hash)).copied().collect()
}

fn count(lines: &Lines<'_>, hash: u32) -> u32 {
    lines.get(&hash).map_or(0, |line| line.count)
}

/// Subtracts up to `max` from the count of a line, and returns the amount subtracted.
fn subtract(lines: &mut Lines<'_>, hash: u32, max: u32) -> u32 {
    let Some(line) = lines.get_mut(&hash) else {
        return 0;
    };
    let subtracted = line.count.min(max);
    line.count -= subtracted;
    if line.count == 0 {
        lines.remove(&hash);
    }
    subtracted
}

/// Adds a significant line and returns its hash; ignores a trivial line.
fn add_line<'c>(lines: &mut Lines<'c>, text: &'c str) -> Option<u32> {
    let hash = if text.is_ascii() {
        significant_hash(text, ascii(text))
    } else {
        significant_hash(text, text.chars())
    }?;
    count_one(lines, hash, text);
    Some(hash)
}

/// The hash of a line with these characters; `None` if the line is trivial.
fn significant_hash(text: &str, chars: impl Iterator<Item = char>) -> Option<u32> {
    let mut state = Fnv::new();
    let (mut count, mut has_word) = (0, false);
    for ch in chars.filter(|ch| !ch.is_whitespace()) {
        state.add(ch);
        count += 1;
        has_word = has_word || ch.is_alphanumeric();
    }
    let is_trivial = !has_word || (count <= MAX_TRIVIAL_LENGTH && is_trivial_line(text));
    (!is_trivial).then(|| state.fold())
}

/// The characters of an ASCII string, without decoding: most lines are ASCII.
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

/// Adds the hashes of pairs of neighbouring words in a line. Digits are masked, so edits that only tune a
/// constant are equal.
fn add_shingles(hashes: &mut Vec<u32>, text: &str) {
    if text.is_ascii() {
        add_shingles_of_chars(hashes, ascii(text))
    } else {
        add_shingles_of_chars(hashes, text.chars())
    }
}

fn add_shingles_of_chars(hashes: &mut Vec<u32>, chars: impl Iterator<Item = char>) {
    let start = hashes.len();
    let (mut word, mut last): (Option<Fnv>, Option<u32>) = (None, None);
    let mut end_word = |word: Option<Fnv>| {
        let Some(hash) = word.map(|word| word.fold()) else {
            return;
        };
        hashes.extend(last.map(|last| last.rotate_left(7) ^ hash));
        last = Some(hash);
    };
    for ch in chars {
        match ch {
            '0'..='9' => word.get_or_insert_with(Fnv::new).add('#'),
            '_' => word.get_or_insert_with(Fnv::new).add(ch),
            _ if ch.is_alphanumeric() => word.get_or_insert_with(Fnv::new).add(ch),
            _ => end_word(word.take()),
        }
    }
    end_word(word);
    // A line with only one word has that word as its shingle.
    if hashes.len() == start {
        hashes.extend(last);
    }
}

/// FNV-1a, folded to 32 bits. Stored trails need a hash that is stable across versions and platforms.
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, ch: char) {
        self.0 = (self.0 ^ u64::from(u32::from(ch))).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn fold(&self) -> u32 {
        (self.0 ^ (self.0 >> 32)) as u32
    }
}

pub(super) fn hash(chars: impl Iterator<Item = char>) -> u32 {
    let mut state = Fnv::new();
    chars.for_each(|ch| state.add(ch));
    state.fold()
}
