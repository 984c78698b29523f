//! Tests of designs as architects write them, and of deltas.

use super::delta::PREAMBLE;
use super::*;

const DESIGN: &str = "# Design: 0079 sessions

## Summary

Sessions expire.

## Approach

Store the monotonic time with
each session and compare it at reading.

More words that are not part of the statement.

## Components

A store.

### Reader

Reads.

## Decisions

### DD-0079-001: One clock
- **Affects**: Reader
- **Rationale**: One clock is
  simpler than two.
- **Alternatives Considered**:
  - Two clocks: more code.
- **Trade-offs**: None.
- **Status**: active

### DD-0079-002: No daemon
- **Affects**: Components
- **Rationale**: Nobody runs it.
- **Alternatives**: A daemon.
- **Trade-offs**: Late expiry.
- **Status**: active

## Diagram

reader -> store

## Test Impact

One test.
";

fn notes(text: &str) -> String {
    format!("\n## Design Revision Notes\n\n{text}\n")
}

const NOTED: &str = "- DD-0079-001: wall clock now, since the monotonic one restarts.\n- Preserved: DD-0079-002.\n- Warm start: keep src/store.rs.";

/// The design with its first decision changed and noted.
fn revised() -> String {
    let changed = DESIGN.replace("One clock is\n  simpler than two.", "The wall clock lasts.");
    format!("{changed}{}", notes(NOTED))
}

fn departures(cited: &[&str], after: &str) -> Vec<Departure> {
    let delta = Delta { cited: cited.iter().map(|name| name.to_string()).collect() };
    delta.departures(&DesignDocument::read(DESIGN), &DesignDocument::read(after))
}

// DR-23
#[test]
fn the_approach_is_one_paragraph_and_decisions_have_their_fields() {
    let design = DesignDocument::read(DESIGN);
    assert_eq!(
        design.approach().as_deref(),
        Some("Store the monotonic time with each session and compare it at reading.")
    );
    let decisions = design.decisions();
    let ids: Vec<&str> = decisions.iter().map(|decision| decision.id.as_str()).collect();
    assert_eq!(ids, ["DD-0079-001", "DD-0079-002"]);
    let first = &decisions[0];
    assert_eq!(first.title, "One clock");
    assert_eq!(first.affects, "Reader");
    assert_eq!(first.rationale, "One clock is simpler than two.");
    assert_eq!(first.alternatives, "- Two clocks: more code.");
    assert_eq!(first.status, "active");
    assert!(decisions.iter().all(|decision| decision.missing().is_empty()));
}

// DR-23
#[test]
fn missing_fields_of_a_design_are_reported() {
    let design =
        DesignDocument::read("# D\n\n## Approach\n\n## Decisions\n\n### DD-7-1\n- **Status**: active\n");
    assert_eq!(design.approach(), None);
    assert_eq!(design.decisions()[0].missing(), ["affects", "rationale", "alternatives", "trade-offs"]);
    assert!(DesignDocument::read("# D\n\n### DD-overview\n### DDX-1\n").decisions().is_empty());
}

// DR-13
#[test]
fn sections_and_decisions_are_found_in_the_text_of_findings() {
    let design = DesignDocument::read(DESIGN);
    assert_eq!(design.named_in("`docs/d.md`, Components and DD-0079-001"), ["Components", "DD-0079-001"]);
    assert_eq!(design.decisions_in("dd-0079-002 only, not DD-0079-0010"), ["DD-0079-002"]);
    assert!(design.named_in("the subcomponents").is_empty());
}

// DR-13
#[test]
fn a_revision_that_changes_and_notes_the_cited_pieces_is_a_delta() {
    assert_eq!(departures(&["DD-0079-001"], &revised()), []);
    let approach = revised().replace("Store the monotonic time with\neach session", "Store the wall clock");
    assert_eq!(departures(&["DD-0079-001"], &approach), []);
}

// DR-13
#[test]
fn cited_pieces_must_change_and_others_must_not() {
    let untouched = format!("{DESIGN}{}", notes(NOTED));
    assert_eq!(departures(&["DD-0079-001"], &untouched), [Departure::Unchanged("DD-0079-001".into())]);
    let more = revised().replace("Nobody runs it.", "Nobody starts it.");
    assert_eq!(departures(&["DD-0079-001"], &more), [Departure::Uncited("DD-0079-002".into())]);
    let summary = revised().replace("Sessions expire.", "Sessions end.");
    assert_eq!(departures(&["DD-0079-001"], &summary), [Departure::Uncited("Summary".into())]);
    let gone = revised().replace("## Test Impact\n\nOne test.\n", "");
    assert_eq!(departures(&["DD-0079-001"], &gone), [Departure::Removed("Test Impact".into())]);
}

// DR-13
#[test]
fn a_cited_section_covers_its_subsections() {
    let after = format!(
        "{}{}",
        DESIGN.replace("Reads.", "Reads twice."),
        notes(&NOTED.replace("DD-0079-001", "Components"))
    );
    assert_eq!(departures(&["Components"], &after), []);
    assert_eq!(
        departures(&["DD-0079-001"], &after),
        [
            Departure::Unchanged("DD-0079-001".into()),
            Departure::Uncited("Reader".into()),
            Departure::NotNoted("DD-0079-001".into()),
        ]
    );
}

// DR-13
#[test]
fn a_new_decision_needs_a_note_that_names_the_flaw() {
    let decision = "### DD-0079-003: Skew\n- **Affects**: Reader\n";
    let added = revised().replace("## Diagram", &format!("{decision}\n## Diagram"));
    assert_eq!(departures(&["DD-0079-001"], &added), [Departure::Unexplained("DD-0079-003".into())]);
    let named = added.replace("wall clock now", "wall clock now, with DD-0079-003 against skew");
    assert_eq!(departures(&["DD-0079-001"], &named), []);
}

// DR-13
#[test]
fn text_below_the_approach_and_before_the_title_must_not_change() {
    let more = revised().replace("More words that", "Other words that");
    assert_eq!(departures(&["DD-0079-001"], &more), [Departure::Uncited("Approach".into())]);
    let stated = revised().replace("More words", "Store nothing.\n\nMore words");
    assert_eq!(departures(&["DD-0079-001"], &stated), [Departure::Uncited("Approach".into())]);
    let short = |text: &str| text.replace("\nMore words that are not part of the statement.\n", "");
    let delta = Delta { cited: vec!["DD-0079-001".to_string()] };
    let again =
        short(&revised()).replace("Store the monotonic time with\neach session", "Store the wall clock");
    assert_eq!(delta.departures(&DesignDocument::read(short(DESIGN)), &DesignDocument::read(again)), []);
    let noted = revised().replace("wall clock now", "wall clock now in Approach");
    let cited = noted.replace("Store the monotonic time", "Store the wall clock");
    assert_eq!(departures(&["DD-0079-001", "Approach"], &cited), []);
    let below = revised().replace("## Components", "### In detail\n\nA daemon.\n\n## Components");
    assert_eq!(departures(&["DD-0079-001"], &below), [Departure::Unexplained("In detail".into())]);
    let before = format!("A daemon does it.\n\n{}", revised());
    assert_eq!(departures(&["DD-0079-001"], &before), [Departure::Uncited(PREAMBLE.into())]);
}

// DR-13
#[test]
fn notes_of_an_earlier_revision_permit_no_change() {
    let old = "- The diagram answers DD-0079-001, and so does Cache.\n";
    let before = DesignDocument::read(format!("{DESIGN}{}", notes(old)));
    let after =
        revised().replace("## Design Revision Notes\n\n", &format!("## Design Revision Notes\n\n{old}"));
    let delta = Delta { cited: vec!["DD-0079-001".to_string()] };
    let against = |text: &str| delta.departures(&before, &DesignDocument::read(text));
    assert_eq!(against(&after), []);
    let drawn = after.replace("reader -> store", "reader -> clock");
    assert_eq!(against(&drawn), [Departure::Uncited("Diagram".into())]);
    let cached = after.replace("## Diagram", "## Cache\n\nOne.\n\n## Diagram");
    assert_eq!(against(&cached), [Departure::Unexplained("Cache".into())]);
}

// DR-13
#[test]
fn a_diagram_changes_only_with_a_note_on_it() {
    let drawn = revised().replace("reader -> store", "reader -> clock -> store");
    assert_eq!(departures(&["DD-0079-001"], &drawn), [Departure::Uncited("Diagram".into())]);
    let noted = drawn.replace("Preserved:", "The diagram shows the clock.\n- Preserved:");
    assert_eq!(departures(&["DD-0079-001"], &noted), []);
}

// DR-13
#[test]
fn revision_notes_must_be_appended_and_complete() {
    let silent = DESIGN.replace("One clock is\n  simpler than two.", "The wall clock lasts.");
    assert_eq!(departures(&["DD-0079-001"], &silent), [Departure::NoNotes]);
    let short = format!("{silent}{}", notes("- DD-0079-001: wall clock."));
    assert_eq!(
        departures(&["DD-0079-001"], &short),
        [Departure::NotNoted("warm-start hints".into()), Departure::NotNoted("what was preserved".into())]
    );
    let delta = Delta { cited: vec!["DD-0079-002".to_string()] };
    let (first, second) =
        (DesignDocument::read(revised()), revised().replace("Late expiry.", "Early expiry."));
    let lost = second.replace(NOTED, &NOTED.replace("DD-0079-001", "DD-0079-002"));
    assert_eq!(delta.departures(&first, &DesignDocument::read(lost)), [Departure::NotesChanged]);
    let appended = format!("{}\n{}\n", second.trim_end(), NOTED.replace("DD-0079-001", "DD-0079-002"));
    assert_eq!(delta.departures(&first, &DesignDocument::read(appended)), []);
}

// DR-18
#[test]
fn the_log_names_the_changed_pieces() {
    assert_eq!(
        Delta::changes(&DesignDocument::read(DESIGN), &DesignDocument::read(revised())),
        ["DD-0079-001"]
    );
}
