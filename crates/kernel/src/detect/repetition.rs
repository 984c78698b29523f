//! Repetition: whether two reports are the same finding.
//!
//! Two reports are the same finding if category, location and claim agree, or if one of them names the other. Counts,
//! topics and trends do not matter.

use super::permille::Permille;
use super::words::Words;
use crate::finding::{Finding, Location};
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The word similarity from which two claims about one symbol count as the same.
const SIMILAR: Permille = Permille(560);
/// The word similarity needed if one of the reports names no symbol.
const SIMILAR_IN_FILE: Permille = Permille(850);

/// Two reports of the same finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sameness {
    /// The ids of the two findings, in the given order.
    pub first: String,
    pub second: String,
    /// The file of the first finding.
    pub file: String,
    pub by: SamenessBy,
}

/// Why two reports are the same finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SamenessBy {
    /// One report names the other as the finding that it repeats.
    NamedByReviewer,
    /// Same category and location, and the same words.
    EqualWords,
    /// Same category and location, and similar claims.
    SimilarWords { share: Permille },
}

impl Sameness {
    /// Explains the match in one sentence.
    pub fn sentence(&self) -> String {
        let Self { first, second, file, by } = self;
        match by {
            SamenessBy::NamedByReviewer => {
                format!("The reviewer says that {first} and {second} are the same finding.")
            }
            SamenessBy::EqualWords => {
                format!("{first} and {second} make the same claim about {file} in the same words.")
            }
            SamenessBy::SimilarWords { share } => {
                format!("{first} and {second} make the same claim about {file} (word similarity {share}).")
            }
        }
    }
}

/// Whether two reports are the same finding, and why. Their order does not matter.
pub fn same_finding(a: &Finding, b: &Finding) -> Option<Sameness> {
    let by = declared_same(a, b).or_else(|| similar(a, b))?;
    Some(Sameness { first: a.id.clone(), second: b.id.clone(), file: a.place.file.clone(), by })
}

fn declared_same(a: &Finding, b: &Finding) -> Option<SamenessBy> {
    let declares = |one: &Finding, two: &Finding| !two.id.is_empty() && one.repeats.as_ref() == Some(&two.id);
    (declares(a, b) || declares(b, a)).then_some(SamenessBy::NamedByReviewer)
}

fn similar(a: &Finding, b: &Finding) -> Option<SamenessBy> {
    if a.category != b.category {
        return None;
    }
    let needed = match proximity(&a.place, &b.place) {
        Proximity::Elsewhere => return None,
        Proximity::SameFile => SIMILAR_IN_FILE,
        Proximity::SameSymbol => SIMILAR,
    };
    let share = claim_words(a).similarity(&claim_words(b));
    if share == Permille::WHOLE {
        return Some(SamenessBy::EqualWords);
    }
    (share >= needed).then_some(SamenessBy::SimilarWords { share })
}

fn claim_words(finding: &Finding) -> Words {
    Words::of(&finding.claim).about(&finding.place.symbol).about(&finding.place.file)
}

/// How close two locations are.
enum Proximity {
    Elsewhere,
    SameFile,
    SameSymbol,
}

fn proximity(a: &Location, b: &Location) -> Proximity {
    let (one, two) = (trim_symbol(&a.symbol), trim_symbol(&b.symbol));
    if normalize_path(&a.file) != normalize_path(&b.file) {
        Proximity::Elsewhere
    } else if one.is_empty() != two.is_empty() || (one.is_empty() && a.file.is_empty()) {
        Proximity::SameFile
    } else if one == two || is_last_part(one, two) || is_last_part(two, one) {
        Proximity::SameSymbol
    } else {
        Proximity::Elsewhere
    }
}

fn normalize_path(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    path.strip_prefix("./").map_or_else(|| path.clone(), String::from)
}

fn trim_symbol(name: &str) -> &str {
    name.trim().trim_matches('`').trim_end_matches("()")
}

/// Whether a name is the last part of a qualified one, as `run` is of `Retry::run`.
fn is_last_part(name: &str, qualified: &str) -> bool {
    qualified.strip_suffix(name).is_some_and(|front| front.ends_with("::") || front.ends_with(['.', '#']))
}

#[cfg(test)]
#[path = "repetition_tests.rs"]
mod tests;
