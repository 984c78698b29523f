//! What makes two short texts alike, and what tells them apart.

use super::*;
use alloc::format;
use alloc::string::String;

fn likeness(one: &str, two: &str) -> u16 {
    Words::of(one).likeness(&Words::of(two)).0
}

fn apart(one: &str, two: &str) {
    assert_eq!(likeness(one, two), 0, "{one} / {two}");
}

fn alike(one: &str, two: &str) {
    assert!(likeness(one, two) >= 700, "{} {one} / {two}", likeness(one, two));
}

#[test]
fn a_denial_is_not_the_claim_that_it_denies() {
    apart("The header length is checked by the parser", "The header length is not checked by the parser");
    apart("The parser checks the header length", "The parser doesn’t check the header length");
    apart("The cache evicts old entries on insert", "The cache never evicts old entries on insert");
}

#[test]
fn denials_in_different_words_agree() {
    alike("The header length is not checked by the parser", "The parser lacks a check of the header length");
    alike("The header length is unchecked in the parser", "The parser never checks the header length");
    alike("The parser should check the header length", "The parser does not check the header length");
}

#[test]
fn opposites_numbers_names_and_turned_orders_tell_texts_apart() {
    apart("The first row of the sheet is skipped", "The last row of the sheet is skipped");
    apart("The server waits 30 seconds for the reply", "The server waits 60 s for the reply");
    apart(
        "The width `max_cols` is never bounded by the sheet",
        "The width `min_rows` is never bounded by the sheet",
    );
    apart(
        "The journal entry is hashed before it is sealed",
        "The journal entry is sealed before it is hashed",
    );
    apart(
        "Retries use a queue instead of a timer wheel here",
        "Retries use a timer wheel instead of a queue here",
    );
}

#[test]
fn spelling_of_numbers_names_and_orders_does_not_matter() {
    alike("The job is started three times by the server", "The server starts the job 3 times");
    alike(
        "`maxCols` is never bounded by the width of the whole sheet",
        "max_cols isn't bounded by the whole sheet's width",
    );
    alike(
        "The journal entry is sealed after it is hashed",
        "The journal entry is hashed before it is sealed",
    );
    alike(
        "Requests of guests without a role are not allowed by the policy",
        "Requests of guests without a role are denied by the policy",
    );
}

#[test]
fn references_to_rounds_lines_and_findings_are_no_part_of_a_claim() {
    alike(
        "The guard is held across the await on line 42",
        "Round 2: the guard is still held across the await, see F-7",
    );
}

#[test]
fn short_texts_are_alike_only_when_equal() {
    assert_eq!(likeness("Missing docs!", "missing DOCS"), 1000);
    apart("Missing docs", "Docs are missing");
    apart("x < 0 panics", "x > 0 panics");
    apart("", "");
    apart("…", "—");
}

#[test]
fn a_shared_topic_is_not_a_claim() {
    apart("The cache of parsed schemas leaks memory", "The cache of parsed schemas");
    assert!(likeness("The retry loop sleeps under the lock", "The retry loop drops the last error") < 560);
}

#[test]
fn any_text_in_any_script_is_taken() {
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
        assert_eq!(words.likeness(&words), words.plan_likeness(&words));
    }
    alike("Größe des Puffers wird nirgends geprüft", "größe des puffers wird NIRGENDS geprüft.");
}

#[test]
fn a_large_text_is_read_in_one_pass() {
    let text: String = (0..200_000).map(|n| format!("word{n}x is checked, ")).collect();
    let words = Words::of(&text);
    assert_eq!(words.likeness(&words).0, 1000);
}
