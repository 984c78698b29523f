//! The meaning of a short text as far as the detectors need it: what it says, denies, counts and names.
//!
//! Identifiers and paths are no part of the likeness: the place of a finding already holds them, and left
//! in they make every two reports on one function alike. They only tell two texts apart.

use super::permille::Permille;
use super::tokens::{Token, name_parts, normal, tokens};
use super::vocabulary;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Below this many content words only equal texts are alike.
const FEWEST_WORDS: usize = 4;
/// Two words in common are a topic, not a claim.
const FEWEST_SHARED: usize = 3;

/// What a text says, in stems.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// Folded words and signs of the whole text, identifiers included.
    normal: String,
    said: BTreeSet<String>,
    /// Stems next to a word of negation.
    denied: BTreeSet<String>,
    /// Stems of a clause that is negative in any way; a superset of `denied`.
    doubted: BTreeSet<String>,
    /// Stems of "instead of …", "rather than …", "no longer …".
    replaced: BTreeSet<String>,
    numbers: BTreeSet<String>,
    names: BTreeSet<String>,
    /// Stems of the names of the place that the text is about.
    topic: BTreeSet<String>,
    /// Stems that have an opposite.
    poles: BTreeSet<String>,
    order: Option<Order>,
}

/// What a text says to come first, by "before" or "after".
#[derive(Clone, Debug, Default)]
struct Order {
    earlier: BTreeSet<String>,
    later: BTreeSet<String>,
}

impl Order {
    /// A subject that is named once and then meant by "it" stands on one side only, hence the tie.
    fn is_turned(&self, other: &Self) -> bool {
        let both = |one: &BTreeSet<String>, two: &BTreeSet<String>| one.intersection(two).count();
        let straight = both(&self.earlier, &other.earlier) + both(&self.later, &other.later);
        let (forth, back) = (both(&self.earlier, &other.later), both(&self.later, &other.earlier));
        forth > 0 && back > 0 && forth + back >= straight
    }
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = Self { normal: normal(text), ..Self::default() };
        let mut clause = Clause::default();
        for token in tokens(text) {
            match token {
                Token::Name(name) => words.names.extend(name_parts(name)),
                Token::Number(digits) => words.note_number(digits, &clause),
                Token::Word(word) => clause.words.push(word),
                Token::Comma => {
                    clause.goes_on = true;
                    words.note_clause(core::mem::take(&mut clause));
                }
                Token::End => words.note_clause(core::mem::take(&mut clause)),
            }
        }
        words.note_clause(clause);
        words
    }

    /// Tells what the text is about: names of the place are the topic and weigh less than the claim.
    pub(super) fn about(mut self, place: &str) -> Self {
        for part in name_parts(place) {
            self.names.remove(&part);
            self.topic.insert(part);
        }
        self
    }

    /// Likeness of two claims, in permille; 0 when they contradict each other, 1000 for equal words.
    pub(super) fn likeness(&self, other: &Self) -> Permille {
        self.compare(other, &self.said, &other.said)
    }

    /// Likeness of two plans: what a plan says it replaces is no part of it, and makes it another plan.
    pub(super) fn plan_likeness(&self, other: &Self) -> Permille {
        let (mine, theirs) = (self.kept(), other.kept());
        if replaces(&self.replaced, &theirs) || replaces(&other.replaced, &mine) {
            return Permille::default();
        }
        self.compare(other, &mine, &theirs)
    }

    fn compare(&self, other: &Self, mine: &BTreeSet<String>, theirs: &BTreeSet<String>) -> Permille {
        if self.normal == other.normal && !self.normal.is_empty() {
            return Permille::WHOLE;
        }
        let too_short = mine.len().min(theirs.len()) < FEWEST_WORDS;
        let too_far = mine.intersection(theirs).count() < FEWEST_SHARED;
        if too_short || too_far || self.contradicts(other) {
            return Permille::default();
        }
        let weigh = |stem: &String| {
            if self.topic.contains(stem) || other.topic.contains(stem) { 1 } else { 2 }
        };
        let shared = mine.intersection(theirs).map(weigh).sum();
        cosine(shared, mine.iter().map(weigh).sum(), theirs.iter().map(weigh).sum())
    }

    fn kept(&self) -> BTreeSet<String> {
        self.said.difference(&self.replaced).cloned().collect()
    }

    fn contradicts(&self, other: &Self) -> bool {
        self.denies(other)
            || other.denies(self)
            || self.opposes(other)
            || self.turns(other)
            || tells_apart(&self.numbers, &other.numbers)
            || self.names_others(other)
    }

    /// Only a plain affirmation contradicts a denial: "missing check" and "should check" agree with it.
    fn denies(&self, other: &Self) -> bool {
        self.denied.iter().any(|stem| other.said.contains(stem) && !other.doubted.contains(stem))
    }

    /// A denied opposite agrees: "not allowed" and "denied".
    fn opposes(&self, other: &Self) -> bool {
        self.poles.difference(&other.poles).any(|mine| {
            vocabulary::opposites(mine).any(|theirs| {
                other.poles.contains(theirs)
                    && !self.poles.contains(theirs)
                    && self.denied.contains(mine) == other.denied.contains(theirs)
            })
        })
    }

    /// Tells whether the two put the same things in the other order, or one chooses what the other replaces.
    fn turns(&self, other: &Self) -> bool {
        let turned =
            self.order.as_ref().zip(other.order.as_ref()).is_some_and(|(one, two)| one.is_turned(two));
        turned || self.is_chosen_by(other) || other.is_chosen_by(self)
    }

    fn is_chosen_by(&self, other: &Self) -> bool {
        let replaced_too = self.replaced.intersection(&other.replaced).count();
        let said = self.replaced.intersection(&other.said).count();
        !other.replaced.is_empty() && said > replaced_too * 2
    }

    fn names_others(&self, other: &Self) -> bool {
        let known = |name: &String, words: &Self| words.names.contains(name) || words.said.contains(name);
        !self.names.is_empty()
            && !other.names.is_empty()
            && !self.names.iter().any(|name| known(name, other))
            && !other.names.iter().any(|name| known(name, self))
    }

    fn note_number(&mut self, digits: String, clause: &Clause) {
        let is_reference = clause.words.last().is_some_and(|word| vocabulary::is_reference(word));
        if !is_reference {
            self.numbers.insert(digits);
        }
    }

    fn note_clause(&mut self, clause: Clause) {
        let mut said: Vec<(usize, String)> = Vec::new();
        let (mut deny_next, mut doubtful) = (false, false);
        for (index, word) in clause.words.iter().enumerate() {
            doubtful |= vocabulary::is_faint_denial(word);
            if let Some(digits) = vocabulary::number_word(word) {
                self.numbers.insert(digits.to_string());
            } else if vocabulary::is_denial(word) {
                (deny_next, doubtful) = (true, true);
            } else if let Some((stem, denied)) = self.content(word) {
                doubtful |= denied || vocabulary::is_faint_denial(&stem);
                if deny_next || denied {
                    self.denied.insert(stem.clone());
                }
                deny_next = false;
                said.push((index, stem));
            }
        }
        // "… is missing" denies what stands before it.
        if deny_next {
            self.denied.extend(said.last().map(|(_, stem)| stem.clone()));
        }
        self.note_order(&clause, &said);
        self.note_replaced(&clause, &said);
        let stems = said.into_iter().map(|(_, stem)| stem);
        if doubtful {
            self.doubted.extend(stems.clone());
        }
        self.said.extend(stems);
    }

    fn note_replaced(&mut self, clause: &Clause, said: &[(usize, String)]) {
        let Some(from) = clause.replaced_from() else {
            return;
        };
        for (_, stem) in said.iter().filter(|(index, _)| *index >= from) {
            self.doubted.insert(stem.clone());
            self.replaced.insert(stem.clone());
        }
    }

    /// Notes the first order that the text tells. A clause that opens with it ("After …, …") is told of by
    /// the next one.
    fn note_order(&mut self, clause: &Clause, said: &[(usize, String)]) {
        let stems = |from: usize, to: usize| -> BTreeSet<String> {
            said.iter()
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
        if left.is_empty() && !clause.goes_on {
            return;
        }
        let (earlier, later) = if clause.words[at] == "before" { (left, right) } else { (right, left) };
        self.order = Some(Order { earlier, later });
    }

    /// The stem of a content word and whether the word itself denies it; notes the poles on the way.
    fn content(&mut self, word: &str) -> Option<(String, bool)> {
        let denied = vocabulary::denied_by_prefix(word);
        let is_denied = denied.is_some();
        let stem = denied.unwrap_or_else(|| vocabulary::stem(word));
        if vocabulary::opposites(&stem).next().is_some() {
            self.poles.insert(stem.clone());
        }
        (!vocabulary::is_stop(word) && !stem.is_empty()).then_some((stem, is_denied))
    }
}

/// The plain words between two marks of punctuation.
#[derive(Default)]
struct Clause {
    words: Vec<String>,
    /// Whether a comma follows.
    goes_on: bool,
}

impl Clause {
    /// Where the words about a replaced thing begin; they reach to the end of the clause.
    fn replaced_from(&self) -> Option<usize> {
        let pairs =
            [("instead", "of"), ("rather", "than"), ("no", "longer"), ("place", "of"), ("opposed", "to")];
        let follows = |pair: &[String]| pairs.iter().any(|(one, two)| pair[0] == *one && pair[1] == *two);
        let pair = self.words.windows(2).position(follows).map(|at| at + 2);
        let unlike = self.words.iter().position(|word| word == "unlike").map(|at| at + 1);
        pair.into_iter().chain(unlike).min()
    }
}

fn replaces(replaced: &BTreeSet<String>, kept: &BTreeSet<String>) -> bool {
    let hit = replaced.intersection(kept).count();
    hit > 0 && hit * 2 >= replaced.len()
}

fn tells_apart(mine: &BTreeSet<String>, theirs: &BTreeSet<String>) -> bool {
    !mine.is_subset(theirs) && !theirs.is_subset(mine)
}

/// The cosine of two sets in permille: milder than Jaccard when one text is terse and the other is not.
fn cosine(shared: u64, mine: u64, theirs: u64) -> Permille {
    let squared = u128::from(shared) * u128::from(shared) * 1_000_000;
    let permille = (squared / (u128::from(mine) * u128::from(theirs)).max(1)).isqrt();
    Permille(u16::try_from(permille.min(1000)).unwrap_or(1000))
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
