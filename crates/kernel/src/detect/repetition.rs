//! Repetition: tells whether two reports are one finding (CORE-12).
//!
//! One finding is one category, one place and one claim, or a reviewer's word for it; never a count, a
//! topic or a trend.

use super::permille::Permille;
use super::words::Words;
use crate::finding::{Finding, Place};
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Claims on one symbol are one from here on.
const ALIKE: Permille = Permille(560);
/// The same where a report does not say which symbol it means.
const ALIKE_IN_FILE: Permille = Permille(850);

/// Two reports that are one finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sameness {
    /// The ids of the two findings, in the order in which they were given.
    pub first: String,
    pub second: String,
    /// The file of the first finding.
    pub file: String,
    pub by: SamenessBy,
}

/// What makes two reports one finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SamenessBy {
    /// One report names the other as what it repeats.
    NamedByReviewer,
    /// Same category and place, and the same words.
    EqualWords,
    /// Same category and place, and claims that are alike.
    SimilarWords { share: Permille },
}

impl Sameness {
    /// Explains the match in one sentence.
    pub fn sentence(&self) -> String {
        let Self { first, second, file, by } = self;
        match by {
            SamenessBy::NamedByReviewer => {
                format!("The reviewer says that {first} and {second} are one finding.")
            }
            SamenessBy::EqualWords => {
                format!("{first} and {second} make the same claim on {file} in equal words.")
            }
            SamenessBy::SimilarWords { share } => {
                format!("{first} and {second} make the same claim on {file}, {share} alike in words.")
            }
        }
    }
}

/// Tells whether two reports are one finding, and by what. The order of the two does not matter for that.
pub fn same_finding(a: &Finding, b: &Finding) -> Option<Sameness> {
    let by = named(a, b).or_else(|| alike(a, b))?;
    Some(Sameness { first: a.id.clone(), second: b.id.clone(), file: a.place.file.clone(), by })
}

fn named(a: &Finding, b: &Finding) -> Option<SamenessBy> {
    let names = |one: &Finding, two: &Finding| !two.id.is_empty() && one.repeats.as_ref() == Some(&two.id);
    (names(a, b) || names(b, a)).then_some(SamenessBy::NamedByReviewer)
}

fn alike(a: &Finding, b: &Finding) -> Option<SamenessBy> {
    if a.category != b.category {
        return None;
    }
    let needed = match meeting(&a.place, &b.place) {
        Meeting::Apart => return None,
        Meeting::File => ALIKE_IN_FILE,
        Meeting::Symbol => ALIKE,
    };
    let share = claim(a).likeness(&claim(b));
    if share == Permille::WHOLE {
        return Some(SamenessBy::EqualWords);
    }
    (share >= needed).then_some(SamenessBy::SimilarWords { share })
}

fn claim(finding: &Finding) -> Words {
    Words::of(&finding.claim).about(&finding.place.symbol).about(&finding.place.file)
}

/// How closely two places meet.
enum Meeting {
    Apart,
    File,
    Symbol,
}

fn meeting(a: &Place, b: &Place) -> Meeting {
    let (one, two) = (symbol(&a.symbol), symbol(&b.symbol));
    if file(&a.file) != file(&b.file) {
        Meeting::Apart
    } else if one.is_empty() != two.is_empty() || (one.is_empty() && a.file.is_empty()) {
        Meeting::File
    } else if one == two || ends_path(one, two) || ends_path(two, one) {
        Meeting::Symbol
    } else {
        Meeting::Apart
    }
}

fn file(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    path.strip_prefix("./").map_or_else(|| path.clone(), String::from)
}

fn symbol(name: &str) -> &str {
    name.trim().trim_matches('`').trim_end_matches("()")
}

/// Tells whether a bare name is the end of a qualified one: `run` of `Retry::run`.
fn ends_path(name: &str, qualified: &str) -> bool {
    qualified.strip_suffix(name).is_some_and(|front| front.ends_with("::") || front.ends_with(['.', '#']))
}

#[cfg(test)]
#[path = "repetition_tests.rs"]
mod tests;
