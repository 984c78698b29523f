//! The shipped roles: readable, used, and never asked for a number of findings.

use remand_workflow::roles::Roles;
use remand_workflow::shipped;
use remand_workflow::source::Source;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_role_file_is_embedded_and_has_a_contract() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../roles");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("roles")
        .map(|entry| entry.expect("entry").path().file_stem().expect("stem").to_string_lossy().into_owned())
        .collect();
    let embedded: BTreeSet<String> = shipped::ROLES.iter().map(|(name, _)| (*name).to_string()).collect();
    assert_eq!(files, embedded);
    for (name, text) in shipped::ROLES {
        let added = Roles::default().add(name, &Source::new(format!("{name}.md"), *text));
        assert!(added.is_ok(), "{name}: {added:?}");
    }
}

#[test]
fn every_shipped_role_is_used_by_a_shipped_workflow() {
    let mut used = BTreeSet::new();
    for (name, _) in shipped::WORKFLOWS {
        let compiled = remand_workflow::check_shipped(name).expect("shipped").compiled.expect("compiled");
        used.extend(compiled.program.contracts.iter().map(|contract| contract.title()));
    }
    let all: BTreeSet<String> = Roles::shipped().titles().map(str::to_string).collect();
    assert_eq!(all, used);
}

// CORE-23
#[test]
fn no_role_is_asked_for_a_number_of_findings() {
    for (name, text) in shipped::ROLES {
        assert_eq!(quota(text), None, "{name} asks for a number of findings");
    }
    assert!(quota("Find at least ten issues in the change.").is_some());
    assert!(quota("Report 3 to 5 findings.").is_some());
    assert!(quota("List a minimum of two problems.").is_some());
    assert_eq!(quota("Report every defect that you find; none is a good answer."), None);
}

/// The sentence that asks for a number of findings, if there is one.
fn quota(text: &str) -> Option<String> {
    const NUMBERS: &[&str] =
        &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "dozen", "several"];
    const ASKED: &[&str] = &["finding", "issue", "problem", "defect", "bug", "flaw", "gap"];
    text.split(['.', '\n', ';'])
        .find(|sentence| {
            let words: Vec<String> = sentence
                .split(|letter: char| !letter.is_alphanumeric())
                .map(str::to_lowercase)
                .filter(|word| !word.is_empty())
                .collect();
            words.iter().enumerate().any(|(at, word)| {
                let number =
                    NUMBERS.contains(&word.as_str()) || word.chars().all(|letter| letter.is_ascii_digit());
                let after = words.iter().skip(at + 1).take(4);
                number && after.clone().any(|word| ASKED.iter().any(|asked| word.starts_with(asked)))
            })
        })
        .map(|sentence| sentence.trim().to_string())
}

#[test]
fn the_example_of_the_reference_is_accepted() {
    let source = Source::new("small.yaml", remand_workflow::reference::EXAMPLE);
    let checked = remand_workflow::check(source, &Roles::shipped());
    assert!(checked.accepted(), "{:#?}", checked.diagnostics);
}
