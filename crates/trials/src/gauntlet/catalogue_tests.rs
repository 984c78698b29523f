//! Every case in the catalogue can be played.
#![allow(clippy::expect_used)]

use super::*;
use crate::gauntlet::case::Measured;
use crate::gauntlet::project::ProjectName;
use remand_agents::rehearsal::Script;
use std::collections::BTreeSet;

fn all() -> Vec<ChosenCase> {
    select(&[]).unwrap_or_else(|failure| panic_with(&failure))
}

#[allow(clippy::panic)]
fn panic_with(failure: &CommandFailure) -> Vec<ChosenCase> {
    panic!("{}: {:?}", failure.what, failure.causes)
}

#[test]
fn each_case_states_the_family_of_its_folder_and_short_names_are_unique() {
    let mut shorts = BTreeSet::new();
    for choice in all() {
        assert!(choice.name.starts_with(&format!("{}/", choice.family().name())), "{}", choice.name);
        let is_family = Family::ALL.iter().any(|family| family.name() == choice.short());
        assert!(shorts.insert(choice.short()) && !is_family, "{}", choice.name);
    }
}

#[test]
fn there_are_many_cases_in_every_family_and_every_language_and_eight_measured_lies() {
    let all = all();
    assert!(all.len() >= 40, "{}", all.len());
    for family in Family::ALL {
        assert!(all.iter().filter(|choice| choice.family() == family).count() >= 5, "{family:?}");
    }
    for language in [ProjectName::Rust, ProjectName::Python, ProjectName::Node] {
        let count = all.iter().filter(|choice| choice.case.project == language).count();
        assert!(count >= 10, "{}: {count}", language.name());
    }
    let lies = all.iter().filter(|choice| choice.case.measured == Some(Measured::Lie));
    assert_eq!(lies.count(), 8);
}

#[test]
fn the_honest_casts_are_valid_rehearsals() {
    for language in [ProjectName::Rust, ProjectName::Python, ProjectName::Node] {
        let script = Script::parse(language.project().cast(), language.name()).expect("a rehearsal");
        assert!(script.dispatches.iter().any(|entry| entry.role == "implementer"));
    }
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest_one() {
    let failure = select(&["tamperin".to_string()]).expect_err("no such family");
    assert!(failure.hint.contains("`tampering`"), "{}", failure.hint);
}
