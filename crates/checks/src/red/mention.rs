//! Whether a text names a test: by its name, its file, the code that it uses, its values, or the same words.

use super::subject::{TestSubject, stem};
use crate::asked::contains_word;
use std::collections::BTreeSet;

/// Words that are too common to link a text to a test.
const COMMON: &str = "a about above add added adds after all also an and any are as at be become been before being but by \
    call can case change changed changes check checks code could create created current do does done each error errors \
    existing expect expected fail failing fails file files first fix fixed for from function get gets give given gives \
    good has have her his how if implement improve in instead into is it its just keep less let like list look main \
    make makes may method module more most move must name named need needs new no none not now object of off on one \
    only open or other our out over pass passes print project put raise read refactor remove rename return returns run \
    same set sets should show simple single so some spec string such support take tell test tests than that the their \
    them then there these they this those through to too two type under up update use used uses using value values \
    very want was way we well were what when where which while who why will with without work works would write you \
    your";

/// Words of a request for documents.
const DOCUMENTS: [&str; 14] = [
    "doc",
    "document",
    "documentation",
    "readme",
    "comment",
    "typo",
    "changelog",
    "translate",
    "wording",
    "spelling",
    "guide",
    "manual",
    "license",
    "tutorial",
];

/// Words for tests as a whole.
const SUITE: [&str; 6] = ["tests", "suite", "build", "ci", "pipeline", "unittests"];

/// Words in front of `test` that show that an existing test is meant.
const THIS_TEST: [&str; 8] = ["the", "this", "that", "failing", "failed", "red", "broken", "flaky"];

/// Words for the state of tests: they fail, or should pass.
const STATE: [&str; 8] = ["fail", "red", "broken", "pass", "green", "flaky", "crash", "error"];

const REPAIR: [&str; 3] = ["fix", "repair", "mend"];

/// Words of a sentence that asks to keep passing tests as they are.
const PRESERVING: [&str; 6] = ["still", "keep", "continue", "remain", "stay", "break"];

/// The maximum distance between the tests and what the request wants of them, in words.
const MAX_DISTANCE: usize = 3;

/// The shortest literal that links a text to a test.
const MIN_LITERAL: usize = 4;

/// A text, prepared for comparison.
#[derive(Clone, Debug, Default)]
pub struct Wording {
    text: String,
    lower: String,
    /// The stems of its words, common ones too.
    stems: BTreeSet<String>,
}

impl Wording {
    pub fn new(text: &str) -> Wording {
        let stems = words(text).iter().map(|word| stem_of(word)).collect();
        Wording { text: text.to_string(), lower: text.to_lowercase(), stems }
    }

    /// What the text names of a test, in words that complete "the request names …".
    pub fn mention_of(&self, subject: &TestSubject) -> Option<String> {
        if self.text.trim().is_empty() {
            return None;
        }
        let title = subject.title.to_lowercase();
        if is_distinct(&subject.title) && contains_word(&self.lower, &title) {
            return Some("it".to_string());
        }
        if let Some(file) = subject.files.iter().find(|file| self.has_test_file(file)) {
            return Some(format!("its file {file}"));
        }
        if let Some(group) = subject.groups.iter().find(|group| is_distinct(group) && self.has_name(group)) {
            return Some(format!("its group `{group}`"));
        }
        if let Some(used) = subject.subjects.iter().find(|name| self.has_name(name)) {
            return Some(format!("`{used}`, which the test uses"));
        }
        let is_telling = |text: &&String| {
            text.chars().count() >= MIN_LITERAL
                && text.chars().any(|c| !c.is_alphabetic())
                && self.text.contains(text.as_str())
        };
        if let Some(literal) = subject.literals.iter().find(is_telling) {
            return Some(format!("`{literal}`, a value of the test"));
        }
        self.shared_words(subject).map(|shared| format!("the same words ({})", shared.join(", ")))
    }

    /// Whether the text names a test: its whole name, or at least two words of it that are most of it.
    pub fn is_about(&self, subject: &TestSubject) -> bool {
        let title = subject.title.to_lowercase();
        let has_title = is_distinct(&subject.title) && contains_word(&self.lower, &title);
        has_title || self.shared_words(subject).is_some_and(|shared| shared.len() > 1)
    }

    /// Whether the text asks for passing tests without naming one, as in "fix the failing tests".
    pub fn asks_for_green_tests(&self) -> bool {
        self.text.split(['.', '!', '?', ';', '\n']).any(asks_for_green)
    }

    pub fn is_about_documents(&self) -> bool {
        DOCUMENTS.iter().any(|word| self.stems.contains(&stem_of(word)))
    }

    /// Whether the text contains the name of a file.
    pub fn has_file(&self, name: &str) -> bool {
        contains_word(&self.lower, &name.to_lowercase())
    }

    /// Whether the text names an identifier: as code, or as a word that is not a common one. The part before a dot or a
    /// double colon only qualifies the name.
    pub fn has_name(&self, name: &str) -> bool {
        let is_common = COMMON.split_whitespace().any(|common| common == name.to_lowercase());
        let is_plain = name.chars().all(|c| c.is_ascii_lowercase());
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        name.chars().count() > 2
            && self.text.match_indices(name).any(|(at, _)| {
                let (before, after) = (&self.text[..at], &self.text[at + name.len()..]);
                if before.ends_with(is_word) || after.starts_with(is_word) || is_owner(after) {
                    return false;
                }
                let is_quoted = before.ends_with('`') && after.starts_with(['`', '(']);
                let is_code = is_quoted || after.starts_with('(') || before.ends_with(['.', ':']);
                is_code || !(is_plain && is_common)
            })
    }

    fn has_test_file(&self, file: &str) -> bool {
        let name = file.rsplit('/').next().unwrap_or(file);
        let stem = stem(file);
        let module = file.rsplit_once('.').map_or(file, |(path, _)| path).replace('/', ".");
        self.has_file(file)
            || self.has_file(name)
            || (is_distinct(stem) && self.has_file(stem))
            || (module.contains('.') && self.has_file(&module))
    }

    /// The words that the text shares with a test's name, if they are most of that name.
    fn shared_words(&self, subject: &TestSubject) -> Option<Vec<String>> {
        let significant: BTreeSet<String> =
            words(&subject.title).into_iter().filter(|word| is_significant(word)).collect();
        let shared: Vec<String> =
            significant.iter().filter(|word| self.stems.contains(&stem_of(word))).cloned().collect();
        let is_most = match significant.len() {
            0 => false,
            1 | 2 => shared.len() == significant.len(),
            count => shared.len() * 2 > count,
        };
        is_most.then_some(shared)
    }
}

fn asks_for_green(sentence: &str) -> bool {
    let words = words(sentence);
    let stems: Vec<String> = words.iter().map(|word| stem_of(word)).collect();
    let is_in = |at: usize, list: &[&str]| list.iter().any(|word| stem_of(word) == stems[at]);
    let is_suite = |at: usize| {
        SUITE.contains(&words[at].as_str())
            || (words[at] == "test" && at > 0 && THIS_TEST.contains(&words[at - 1].as_str()))
    };
    let near = |at: usize| {
        let (from, to) = (at.saturating_sub(2), words.len().min(at + MAX_DISTANCE + 1));
        (from..to).any(|other| other != at && is_in(other, &STATE))
    };
    // "Fix the tests" asks for passing tests; "fix the rounding and add tests" does not.
    let is_repaired = |at: usize| {
        let fixed = (at.saturating_sub(MAX_DISTANCE)..at).rev().find(|other| is_in(*other, &REPAIR));
        let is_between = |word: &String| word.len() < 5 || STATE.contains(&stem_of(word).as_str());
        fixed.is_some_and(|fixed| words[fixed + 1..at].iter().all(is_between))
    };
    let preserves = (0..words.len()).any(|at| is_in(at, &PRESERVING));
    !preserves && (0..words.len()).any(|at| is_suite(at) && (near(at) || is_repaired(at)))
}

/// Whether the text after a name is a member of it, as `.total` in `cart.total`.
fn is_owner(after: &str) -> bool {
    let member = after.strip_prefix("::").or_else(|| after.strip_prefix('.'));
    member.is_some_and(|member| member.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// Whether a name can hardly be an ordinary word.
fn is_distinct(name: &str) -> bool {
    let has_hump = name.chars().zip(name.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    name.chars().count() > 4 && (has_hump || name.contains(['_', '-', '.', ' ']))
}

fn is_significant(word: &str) -> bool {
    word.chars().count() > 2 && !COMMON.split_whitespace().any(|common| common == word)
}

/// The words of a text in lower case; identifiers are split at underscores and humps.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        let starts_word = !c.is_alphanumeric() || (was_lower && c.is_uppercase());
        if starts_word && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A word without its ending, so that `entries` and `entry`, `keeps` and `kept` differ as little as possible.
fn stem_of(word: &str) -> String {
    let mut stem = word.to_string();
    if let Some(start) = stem.strip_suffix("ies").filter(|start| start.len() > 2) {
        stem = format!("{start}y");
    } else if let Some(start) =
        ["ing", "ed"].iter().find_map(|end| stem.strip_suffix(end)).filter(|start| start.len() > 2)
    {
        stem = start.to_string();
    } else if let Some(start) =
        stem.strip_suffix('s').filter(|start| start.len() > 2 && !start.ends_with('s'))
    {
        stem = start.to_string();
    }
    if let Some(start) = stem.strip_suffix('e').filter(|start| start.len() > 2) {
        stem = start.to_string();
    }
    let mut reversed = stem.chars().rev();
    if let (Some(last), Some(previous)) = (reversed.next(), reversed.next())
        && last == previous
        && stem.len() > 3
    {
        stem.pop();
    }
    stem
}
