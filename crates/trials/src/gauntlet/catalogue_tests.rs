//! Every case in the catalogue can be played.
#![allow(clippy::expect_used)]

use super::*;
use crate::gauntlet::case::Measured;
use crate::gauntlet::project::ProjectName;
use crate::gauntlet::runners::TestRunners;
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
        let is_kind = choice.kind().is_some_and(|kind| kind == choice.short());
        assert!(shorts.insert(choice.short().to_string()) && !is_family && !is_kind, "{}", choice.name);
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

// TE-01 TE-03 TE-05 TE-06
#[test]
fn each_kind_has_bad_cases_on_most_projects_and_honest_twins() {
    let all: Vec<ChosenCase> = all().into_iter().filter(|choice| choice.kind().is_some()).collect();
    let (honest, bad): (Vec<_>, Vec<_>) = all.iter().partition(|choice| choice.is_honest());
    assert!(bad.len() >= 60 && honest.len() >= 20, "{} and {}", bad.len(), honest.len());
    let kinds: BTreeSet<Option<&str>> = all.iter().map(|choice| choice.kind()).collect();
    for kind in kinds {
        let of_kind = |choice: &&&ChosenCase| choice.kind() == kind;
        let projects: BTreeSet<ProjectName> =
            bad.iter().filter(of_kind).map(|choice| choice.case.project).collect();
        assert!(projects.len() >= 5, "{kind:?}: {projects:?}");
        assert!(honest.iter().any(|choice| choice.kind() == kind), "{kind:?}");
    }
}

// TE-01
#[test]
fn a_sample_has_every_kind_and_every_project_and_a_few_cases() {
    let all: Vec<ChosenCase> = all().into_iter().filter(|choice| choice.kind().is_some()).collect();
    let kinds = |choices: &[ChosenCase]| -> BTreeSet<String> {
        choices.iter().filter_map(|choice| Some(choice.kind()?.to_string())).collect()
    };
    let sampled = sample(all.clone());
    assert_eq!(kinds(&sampled), kinds(&all));
    let projects: BTreeSet<ProjectName> = sampled.iter().map(|choice| choice.case.project).collect();
    assert_eq!(projects, ProjectName::WITH_KINDS.into_iter().collect());
    assert!(sampled.len() <= 50, "{}", sampled.len());
}

// TE-05
#[test]
fn cases_whose_runner_is_missing_are_left_out_by_name_with_a_command_that_installs_it() {
    let all = all();
    let (played, left_out) = TestRunners::new(None).divide(all.clone());
    let missing: usize = left_out.iter().map(|left_out| left_out.cases.len()).sum();
    assert_eq!(played.len() + missing, all.len());
    let named: Vec<(&str, &str)> =
        left_out.iter().map(|left_out| (left_out.needs, left_out.install.as_str())).collect();
    assert_eq!(named[0], ("pytest", "python3 -m venv DIR/venv && DIR/venv/bin/pip install pytest"));
    assert_eq!(named[1], ("vitest", "npm --prefix DIR/npm install vitest jest"));
    assert_eq!(named.len(), 3);
}
