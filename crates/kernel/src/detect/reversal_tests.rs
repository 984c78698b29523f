//! Tests how much of a change must be undone, and how a reversal is explained.

use super::*;
use crate::change::{FileChange, Hunk};
use alloc::vec::Vec;

fn change(path: &str, removed: Vec<String>, added: Vec<String>) -> Change {
    let hunks = Vec::from([Hunk { removed, added }]);
    let file = FileChange { path: path.to_string(), hunks, generated: false };
    Change { files: Vec::from([file]), ..Change::default() }
}

fn lines(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|n| format!("let value_{n} = read({n});")).collect()
}

// CORE-22
#[test]
fn undoing_four_fifths_is_a_reversal_and_less_is_not() {
    let previous = change("a.rs", Vec::new(), lines(0, 100));
    let found = reversal(&previous, &change("a.rs", lines(0, 80), Vec::new()));
    assert_eq!(found.map(|reversal| (reversal.undone, reversal.touched)), Some((80, 100)));
    assert_eq!(reversal(&previous, &change("a.rs", lines(0, 79), Vec::new())), None);
}

// CORE-22
#[test]
fn a_reversal_names_the_file_and_the_share() {
    let previous = change("a.rs", lines(0, 5), lines(5, 10));
    let found = reversal(&previous, &change("a.rs", lines(5, 10), lines(1, 5)));
    assert_eq!(
        found.map(|reversal| reversal.sentence()),
        Some(
            "This change undoes 9 of the 10 lines (90 %) that the previous one changed in a.rs.".to_string()
        )
    );
}

#[test]
fn a_single_line_is_too_small_to_judge() {
    let previous = change("a.rs", Vec::new(), lines(0, 1));
    assert_eq!(reversal(&previous, &change("a.rs", lines(0, 1), Vec::new())), None);
}

#[test]
fn equal_lines_are_counted_one_by_one() {
    let repeated: Vec<String> = (0..10).map(|_| "push(item);".to_string()).collect();
    let previous = change("a.rs", Vec::new(), repeated.clone());
    assert_eq!(reversal(&previous, &change("a.rs", repeated[..5].to_vec(), Vec::new())), None);
    assert!(reversal(&previous, &change("a.rs", repeated, Vec::new())).is_some());
}

#[test]
fn a_very_large_change_can_be_judged() {
    let previous = change("a.rs", lines(0, 100_000), lines(100_000, 200_000));
    let current = change("a.rs", lines(100_000, 200_000), lines(0, 100_000));
    assert_eq!(reversal(&previous, &current).map(|reversal| reversal.share), Some(Permille::WHOLE));
}
