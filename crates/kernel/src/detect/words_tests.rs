//! Tests what makes two statements similar, and what distinguishes them.

use super::*;
use alloc::format;
use alloc::string::String;

fn similarity(one: &str, two: &str) -> u16 {
    Words::of(one).similarity(&Words::of(two)).0
}

fn assert_different(one: &str, two: &str) {
    assert_eq!(similarity(one, two), 0, "{one} / {two}");
}

fn assert_similar(one: &str, two: &str) {
    assert!(similarity(one, two) >= 700, "{} {one} / {two}", similarity(one, two));
}

#[test]
fn a_denial_differs_from_the_claim_it_denies() {
    assert_different(
        "The header length is checked by the parser",
        "The header length is not checked by the parser",
    );
    assert_different("The parser checks the header length", "The parser doesn’t check the header length");
    assert_different(
        "The cache evicts old entries on insert",
        "The cache never evicts old entries on insert",
    );
}

#[test]
fn denials_in_different_words_agree() {
    assert_similar(
        "The header length is not checked by the parser",
        "The parser lacks a check of the header length",
    );
    assert_similar(
        "The header length is unchecked in the parser",
        "The parser never checks the header length",
    );
    assert_similar(
        "The parser should check the header length",
        "The parser does not check the header length",
    );
}

#[test]
fn opposites_numbers_names_and_reversed_orders_distinguish_statements() {
    assert_different("The first row of the sheet is skipped", "The last row of the sheet is skipped");
    assert_different("The server waits 30 seconds for the reply", "The server waits 60 s for the reply");
    assert_different(
        "The width `max_cols` is never bounded by the sheet",
        "The width `min_rows` is never bounded by the sheet",
    );
    assert_different(
        "The journal entry is hashed before it is sealed",
        "The journal entry is sealed before it is hashed",
    );
    assert_different(
        "Retries use a queue instead of a timer wheel here",
        "Retries use a timer wheel instead of a queue here",
    );
}

#[test]
fn the_spelling_of_numbers_names_and_orders_does_not_matter() {
    assert_similar("The job is started three times by the server", "The server starts the job 3 times");
    assert_similar(
        "`maxCols` is never bounded by the width of the whole sheet",
        "max_cols isn't bounded by the whole sheet's width",
    );
    assert_similar(
        "The journal entry is sealed after it is hashed",
        "The journal entry is hashed before it is sealed",
    );
    assert_similar(
        "Requests of guests without a role are not allowed by the policy",
        "Requests of guests without a role are denied by the policy",
    );
}

#[test]
fn references_to_rounds_lines_and_findings_are_ignored() {
    assert_similar(
        "The guard is held across the await on line 42",
        "Round 2: the guard is still held across the await, see F-7",
    );
}

#[test]
fn short_statements_are_similar_only_if_equal() {
    assert_eq!(similarity("Missing docs!", "missing DOCS"), 1000);
    assert_different("Missing docs", "Docs are missing");
    assert_different("x < 0 panics", "x > 0 panics");
    assert_different("", "");
    assert_different("…", "—");
}

#[test]
fn a_shared_topic_is_not_a_claim() {
    assert_different("The cache of parsed schemas leaks memory", "The cache of parsed schemas");
    assert!(similarity("The retry loop sleeps under the lock", "The retry loop drops the last error") < 560);
}

#[test]
fn any_string_in_any_script_is_accepted() {
    for text in [
        "`",
        "``",
        "```",
        "a`b",
        "…`é`’s",
        "n't",
        "'",
        "ﬁ İ ß ΑΣ",
        "不检查长度",
        "-/-",
        "1.",
        ".1.a",
        "un",
        "_",
        "\u{0}",
    ] {
        let words = Words::of(text).about(text);
        assert_eq!(words.similarity(&words), words.plan_similarity(&words));
    }
    assert_similar("Größe des Puffers wird nirgends geprüft", "größe des puffers wird NIRGENDS geprüft.");
}

#[test]
fn a_very_long_statement_can_be_compared() {
    let text: String = (0..200_000).map(|n| format!("word{n}x is checked, ")).collect();
    let words = Words::of(&text);
    assert_eq!(words.similarity(&words).0, 1000);
}
