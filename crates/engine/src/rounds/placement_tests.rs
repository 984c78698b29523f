#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

const SPEC: &str = "# Sessions\n\nIntro.\n\n## Login\n\nA user logs in\nwith a name.\n\n### Errors\n\nNone yet.\n\n## Logout\n\nIt ends.\n";

fn placement(section: &str, replaces: &str, text: &str) -> Placement {
    Placement {
        section: section.to_string(),
        replaces: replaces.to_string(),
        text: text.to_string(),
        gaps: Vec::new(),
    }
}

fn place(section: &str, replaces: &str, text: &str) -> String {
    place_text(SPEC, &placement(section, replaces, text)).unwrap()
}

// SR-17
#[test]
fn text_is_added_before_the_first_subsection() {
    let expected = SPEC.replace("with a name.\n", "with a name.\n\nThree tries.\n");
    assert_eq!(place("login", "", "Three tries.\n"), expected);
}

// SR-17
#[test]
fn text_for_the_last_section_is_added_at_the_end_of_the_document() {
    assert_eq!(place("## Logout", "", "All devices."), format!("{SPEC}\nAll devices.\n"));
}

// SR-17
#[test]
fn a_passage_is_replaced_even_if_its_lines_are_broken_differently() {
    let expected = SPEC.replace("A user logs in\nwith a name.", "A user logs in with a name and a code.");
    assert_eq!(
        place("Login", "A user logs in with a name.", "A user logs in with a name and a code."),
        expected
    );
}

// SR-17
#[test]
fn a_missing_section_is_added_at_the_end() {
    assert_eq!(place("Timeouts", "", "An hour."), format!("{SPEC}\n## Timeouts\n\nAn hour.\n"));
}

// SR-17
#[test]
fn a_missing_section_is_added_at_the_end_of_its_parent() {
    let expected = SPEC.replace("None yet.\n", "None yet.\n\n### Limits\n\nThree tries.\n");
    assert_eq!(place("Login > Limits", "", "Three tries."), expected);
    let flat = "# One\n\nA.\n\n# Two\n\nB.\n";
    assert_eq!(place_text(flat, &placement("Three", "", "C.")).unwrap(), format!("{flat}\n# Three\n\nC.\n"));
}

// SR-17
#[test]
fn text_that_would_absorb_the_text_after_it_is_refused() {
    let is_refused =
        |replaces: &str, text: &str| place_text(SPEC, &placement("Login", replaces, text)).is_err();
    assert!(is_refused("", "As in:\n\n```\nlogin"));
    assert!(is_refused("A user logs in", "A user logs in\n\n### Lockout\n\nNever"));
    assert!(!is_refused("A user logs in\nwith a name.", "A name.\n\n### Lockout\n\nNever.\n"));
}

// SR-17
#[test]
fn a_heading_that_repeats_the_section_name_is_left_out() {
    assert_eq!(place("Logout", "", "## Logout\n\nAll devices."), place("Logout", "", "All devices."));
}

// SR-17
#[test]
fn text_that_cannot_be_inserted_gets_a_reason() {
    let cases = [
        ("Login", "A user walks in", "does not contain the passage"),
        ("Nowhere", "A user logs in", "has no section"),
        ("Login", "n", "times"),
    ];
    for (section, replaces, expected) in cases {
        let why = place_text(SPEC, &placement(section, replaces, "text")).unwrap_err().to_string();
        assert!(why.contains(expected), "{why}");
    }
    let with_two_sections = format!("{SPEC}\n## Admin\n\n### Errors\n\nMany.\n");
    let ambiguous = place_text(&with_two_sections, &placement("Errors", "", "text")).unwrap_err();
    assert_eq!(ambiguous, PlacementError::ManySections { section: "Errors".to_string(), count: 2 });
    assert!(
        place_text(&with_two_sections, &placement("Admin > Errors", "", "text"))
            .unwrap()
            .ends_with("Many.\n\ntext\n")
    );
    let high = place_text(SPEC, &placement("Login", "", "# All of it")).unwrap_err();
    assert!(high.to_string().contains("level 1"), "{high}");
}

// SR-17
#[test]
fn the_line_endings_of_the_document_are_kept() {
    let spec = SPEC.replace('\n', "\r\n");
    let after = place_text(&spec, &placement("Login", "", "One.\nTwo.")).unwrap();
    assert!(after.contains("with a name.\r\n\r\nOne.\r\nTwo.\r\n\r\n### Errors"), "{after:?}");
    assert!(!after.replace("\r\n", "").contains('\n'));
}

// SR-13
#[test]
fn names_that_match_one_section_are_resolved_to_its_path() {
    let resolve =
        |names: &[&str]| serde_json::to_value(resolve_sections(SPEC, names.iter().copied())).unwrap();
    let path = serde_json::json!(["sessions", "login", "errors"]);
    let resolved = resolve(&["## Errors", "Login > `errors`", "Nowhere"]);
    assert_eq!(resolved, serde_json::json!({"## Errors": path, "Login > `errors`": path}));
}

proptest! {
    // SR-17
    #[test]
    fn every_byte_of_the_document_is_kept(text in "[a-z]{1,8}( [a-z]{1,8}){0,4}", at in 0..3_usize) {
        let section = ["Login", "Errors", "Logout"][at];
        let after = place_text(SPEC, &placement(section, "", &text)).unwrap();
        let cut = after.replacen(&format!("\n{text}\n"), "", 1);
        prop_assert_eq!(cut, SPEC);
    }
}
