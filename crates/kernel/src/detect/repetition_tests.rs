//! Tests when two reports are the same finding, and how that is explained.

use super::*;
use crate::finding::{Category, Severity};
use alloc::borrow::ToOwned;

const CLAIM: &str = "The backoff counter is never reset after a successful request.";

fn finding(id: &str, file: &str, symbol: &str, claim: &str) -> Finding {
    Finding {
        id: id.to_owned(),
        severity: Severity::Major,
        category: Category::Correctness,
        kind: None,
        injected_by: Default::default(),
        task: None,
        place: Location { file: file.to_owned(), symbol: symbol.to_owned(), line: 1 },
        claim: claim.to_owned(),
        evidence: String::new(),
        impact: String::new(),
        recommendation: String::new(),
        patch: None,
        repeats: None,
    }
}

// CORE-12
#[test]
fn line_numbers_and_severities_are_never_compared() {
    let first = finding("F-1", "src/retry.rs", "run", CLAIM);
    let mut second = finding("F-2", "./src/retry.rs", "Retry::run()", CLAIM);
    second.place.line = 900;
    second.severity = Severity::Minor;
    assert_eq!(same_finding(&first, &second).map(|same| same.by), Some(SamenessBy::EqualWords));
}

// CORE-12
#[test]
fn a_reviewer_may_declare_two_reports_the_same_but_not_with_an_empty_id() {
    let first = finding("F-1", "src/retry.rs", "run", CLAIM);
    let mut second = finding("F-2", "docs/retry.md", "", "Still open.");
    second.repeats = Some("F-1".to_owned());
    assert_eq!(same_finding(&second, &first).map(|same| same.by), Some(SamenessBy::NamedByReviewer));
    let without_id = finding("", "src/retry.rs", "run", CLAIM);
    second.repeats = Some(String::new());
    assert_eq!(same_finding(&second, &without_id), None);
}

#[test]
fn without_a_symbol_the_words_must_be_more_similar() {
    let first = finding("F-1", "src/retry.rs", "run", CLAIM);
    let close = "After a successful request nobody resets the counter of the backoff.";
    let loose =
        "After a successful request, the next delay is long since no reset of the backoff counter is done.";
    assert!(same_finding(&first, &finding("F-2", "src/retry.rs", "", close)).is_some());
    assert!(same_finding(&first, &finding("F-2", "src/retry.rs", "run", loose)).is_some());
    assert_eq!(same_finding(&first, &finding("F-2", "src/retry.rs", "", loose)), None);
}

#[test]
fn each_sameness_explains_itself() {
    let sentence = |by| {
        let (first, second, file) = ("F-1".to_owned(), "G-4".to_owned(), "src/retry.rs".to_owned());
        Sameness { first, second, file, by }.sentence()
    };
    assert_eq!(
        sentence(SamenessBy::NamedByReviewer),
        "The reviewer says that F-1 and G-4 are the same finding."
    );
    assert_eq!(
        sentence(SamenessBy::EqualWords),
        "F-1 and G-4 make the same claim about src/retry.rs in the same words."
    );
    assert_eq!(
        sentence(SamenessBy::SimilarWords { share: Permille(684) }),
        "F-1 and G-4 make the same claim about src/retry.rs (word similarity 68 %)."
    );
}
