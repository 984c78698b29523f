//! The meaning of a short statement, as far as the detectors need it: what it says, denies, counts and names.
//!
//! Identifiers and paths do not count towards similarity: a finding's location already holds them, and they would make
//! any two reports about one function similar. They only distinguish statements.

use super::permille::Permille;
use super::tokens::{Token, name_parts, normalize, tokens};
use super::vocabulary;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The minimum number of content words of a similar statement; shorter statements are similar only if they are equal.
const MIN_WORDS: usize = 4;
/// The minimum number of common words: two common words show the same topic, not the same claim.
const MIN_SHARED: usize = 3;

/// A statement as stems.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// All words and symbols, folded, including identifiers.
    normal: String,
    /// Stems of all content words.
    stated: BTreeSet<String>,
    /// Stems next to a negation.
    denied: BTreeSet<String>,
    /// Stems of clauses that are negative in any way; a superset of `denied`.
    doubted: BTreeSet<String>,
    /// Stems after "instead of", "rather than", "no longer".
    replaced: BTreeSet<String>,
    numbers: BTreeSet<String>,
    names: BTreeSet<String>,
    /// Stems of the names of the location that the statement is about.
    topic: BTreeSet<String>,
    /// Stems that have an opposite.
    poles: BTreeSet<String>,
    order: Option<Order>,
}

/// The order of events that a statement gives with "before" or "after".
#[derive(Clone, Debug, Default)]
struct Order {
    earlier: BTreeSet<String>,
    later: BTreeSet<String>,
}

impl Order {
    /// Whether the two orders are opposite. Equal counts of matching and swapped stems mean yes, because a subject that
    /// is later called "it" matches on one side only.
    fn is_reversed(&self, other: &Self) -> bool {
        let common = |one: &BTreeSet<String>, two: &BTreeSet<String>| one.intersection(two).count();
        let same = common(&self.earlier, &other.earlier) + common(&self.later, &other.later);
        let (postponed, advanced) =
            (common(&self.earlier, &other.later), common(&self.later, &other.earlier));
        postponed > 0 && advanced > 0 && postponed + advanced >= same
    }
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = Self { normal: normalize(text), ..Self::default() };
        let mut clause = Clause::default();
        for token in tokens(text) {
            match token {
                Token::Name(name) => words.names.extend(name_parts(name)),
                Token::Number(digits) => words.record_number(digits, &clause),
                Token::Word(word) => clause.words.push(word),
                Token::Comma => {
                    clause.continues = true;
                    words.record_clause(core::mem::take(&mut clause));
                }
                Token::End => words.record_clause(core::mem::take(&mut clause)),
            }
        }
        words.record_clause(clause);
        words
    }

    /// Adds the names of a location to the topic of the statement; they weigh less than the claim.
    pub(super) fn about(mut self, location: &str) -> Self {
        for part in name_parts(location) {
            self.names.remove(&part);
            self.topic.insert(part);
        }
        self
    }

    /// The similarity of two claims, in permille: 0 if they contradict each other, 1000 for equal words.
    pub(super) fn similarity(&self, other: &Self) -> Permille {
        self.compare(other, &self.stated, &other.stated)
    }

    /// The similarity of two plans. Parts that a plan replaces do not count. A plan that replaces parts of the other
    /// is a different plan.
    pub(super) fn plan_similarity(&self, other: &Self) -> Permille {
        let (mine, theirs) = (self.without_replaced(), other.without_replaced());
        if are_replaced(&theirs, &self.replaced) || are_replaced(&mine, &other.replaced) {
            return Permille::default();
        }
        self.compare(other, &mine, &theirs)
    }

    fn compare(&self, other: &Self, mine: &BTreeSet<String>, theirs: &BTreeSet<String>) -> Permille {
        if self.normal == other.normal && !self.normal.is_empty() {
            return Permille::WHOLE;
        }
        let is_too_short = mine.len().min(theirs.len()) < MIN_WORDS;
        let shares_too_little = mine.intersection(theirs).count() < MIN_SHARED;
        if is_too_short || shares_too_little || self.contradicts(other) {
            return Permille::default();
        }
        let weigh = |stem: &String| {
            if self.topic.contains(stem) || other.topic.contains(stem) { 1 } else { 2 }
        };
        let shared = mine.intersection(theirs).map(weigh).sum();
        cosine(shared, mine.iter().map(weigh).sum(), theirs.iter().map(weigh).sum())
    }

    fn without_replaced(&self) -> BTreeSet<String> {
        self.stated.difference(&self.replaced).cloned().collect()
    }

    fn contradicts(&self, other: &Self) -> bool {
        self.denies(other)
            || other.denies(self)
            || self.opposes(other)
            || self.reverses(other)
            || differ(&self.numbers, &other.numbers)
            || self.has_other_names(other)
    }

    /// Whether this statement denies a stem that the other affirms. A doubted stem is not affirmed, as in
    /// "missing check" and "should check".
    fn denies(&self, other: &Self) -> bool {
        self.denied.iter().any(|stem| other.stated.contains(stem) && !other.doubted.contains(stem))
    }

    /// Whether this statement is the opposite of the other. A denied opposite agrees: "not allowed" and "denied".
    fn opposes(&self, other: &Self) -> bool {
        self.poles.difference(&other.poles).any(|mine| {
            vocabulary::opposites(mine).any(|theirs| {
                other.poles.contains(theirs)
                    && !self.poles.contains(theirs)
                    && self.denied.contains(mine) == other.denied.contains(theirs)
            })
        })
    }

    /// Whether the two give opposite orders, or one chooses what the other replaces.
    fn reverses(&self, other: &Self) -> bool {
        let reversed =
            self.order.as_ref().zip(other.order.as_ref()).is_some_and(|(one, two)| one.is_reversed(two));
        reversed || self.replaces_choice_of(other) || other.replaces_choice_of(self)
    }

    fn replaces_choice_of(&self, other: &Self) -> bool {
        let replaced_too = self.replaced.intersection(&other.replaced).count();
        let chosen = self.replaced.intersection(&other.stated).count();
        !other.replaced.is_empty() && chosen > replaced_too * 2
    }

    fn has_other_names(&self, other: &Self) -> bool {
        let occurs = |name: &String, words: &Self| words.names.contains(name) || words.stated.contains(name);
        !self.names.is_empty()
            && !other.names.is_empty()
            && !self.names.iter().any(|name| occurs(name, other))
            && !other.names.iter().any(|name| occurs(name, self))
    }

    fn record_number(&mut self, digits: String, clause: &Clause) {
        let is_reference = clause.words.last().is_some_and(|word| vocabulary::is_reference(word));
        if !is_reference {
            self.numbers.insert(digits);
        }
    }

    fn record_clause(&mut self, clause: Clause) {
        let mut stated: Vec<(usize, String)> = Vec::new();
        let (mut negates_next, mut doubtful) = (false, false);
        for (index, word) in clause.words.iter().enumerate() {
            doubtful |= vocabulary::is_faint_denial(word);
            if let Some(digits) = vocabulary::number_word(word) {
                self.numbers.insert(digits.to_string());
            } else if vocabulary::is_denial(word) {
                (negates_next, doubtful) = (true, true);
            } else if let Some((stem, denied)) = self.content_stem(word) {
                doubtful |= denied || vocabulary::is_faint_denial(&stem);
                if negates_next || denied {
                    self.denied.insert(stem.clone());
                }
                negates_next = false;
                stated.push((index, stem));
            }
        }
        // "… is missing" denies the word before it.
        if negates_next {
            self.denied.extend(stated.last().map(|(_, stem)| stem.clone()));
        }
        self.record_order(&clause, &stated);
        self.record_replaced(&clause, &stated);
        let stems = stated.into_iter().map(|(_, stem)| stem);
        if doubtful {
            self.doubted.extend(stems.clone());
        }
        self.stated.extend(stems);
    }

    fn record_replaced(&mut self, clause: &Clause, stated: &[(usize, String)]) {
        let Some(from) = clause.replaced_start() else {
            return;
        };
        for (_, stem) in stated.iter().filter(|(index, _)| *index >= from) {
            self.doubted.insert(stem.clone());
            self.replaced.insert(stem.clone());
        }
    }

    /// Records the first order that the statement gives. If a clause opens with "before" or "after", the next
    /// clause completes the order.
    fn record_order(&mut self, clause: &Clause, stated: &[(usize, String)]) {
        let stems = |from: usize, to: usize| -> BTreeSet<String> {
            stated
                .iter()
                .filter(|(index, _)| (from..to).contains(index))
                .map(|(_, stem)| stem.clone())
                .collect()
        };
        if let Some(order) = self.order.as_mut() {
            let open = [&mut order.earlier, &mut order.later].into_iter().find(|side| side.is_empty());
            open.into_iter().for_each(|side| *side = stems(0, usize::MAX));
            return;
        }
        let Some(at) = clause.words.iter().position(|word| word == "before" || word == "after") else {
            return;
        };
        let (left, right) = (stems(0, at), stems(at, usize::MAX));
        if left.is_empty() && !clause.continues {
            return;
        }
        let (earlier, later) = if clause.words[at] == "before" { (left, right) } else { (right, left) };
        self.order = Some(Order { earlier, later });
    }

    /// The stem of a content word, and whether the word denies the stem, as "unchecked" does. Records opposites.
    fn content_stem(&mut self, word: &str) -> Option<(String, bool)> {
        let denied = vocabulary::denied_by_prefix(word);
        let is_denied = denied.is_some();
        let stem = denied.unwrap_or_else(|| vocabulary::stem(word));
        if vocabulary::opposites(&stem).next().is_some() {
            self.poles.insert(stem.clone());
        }
        (!vocabulary::is_stop(word) && !stem.is_empty()).then_some((stem, is_denied))
    }
}

/// The words between two punctuation marks.
#[derive(Default)]
struct Clause {
    words: Vec<String>,
    /// Whether a comma follows.
    continues: bool,
}

impl Clause {
    /// The index of the first word about something replaced, such as the word after "instead of".
    fn replaced_start(&self) -> Option<usize> {
        let pairs =
            [("instead", "of"), ("rather", "than"), ("no", "longer"), ("place", "of"), ("opposed", "to")];
        let follows = |pair: &[String]| pairs.iter().any(|(one, two)| pair[0] == *one && pair[1] == *two);
        let pair = self.words.windows(2).position(follows).map(|at| at + 2);
        let unlike = self.words.iter().position(|word| word == "unlike").map(|at| at + 1);
        pair.into_iter().chain(unlike).min()
    }
}

/// Whether stems contain at least half of what another plan replaces.
fn are_replaced(stems: &BTreeSet<String>, replaced: &BTreeSet<String>) -> bool {
    let common = replaced.intersection(stems).count();
    common > 0 && common * 2 >= replaced.len()
}

fn differ(mine: &BTreeSet<String>, theirs: &BTreeSet<String>) -> bool {
    !mine.is_subset(theirs) && !theirs.is_subset(mine)
}

/// The cosine similarity of two sets in permille: more lenient than Jaccard if only one statement is terse.
fn cosine(shared: u64, mine: u64, theirs: u64) -> Permille {
    let squared = u128::from(shared) * u128::from(shared) * 1_000_000;
    let permille = (squared / (u128::from(mine) * u128::from(theirs)).max(1)).isqrt();
    Permille(u16::try_from(permille.min(1000)).unwrap_or(1000))
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
