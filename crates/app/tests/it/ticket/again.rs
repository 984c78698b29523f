//! A second run on a ticket: the work and findings that it inherits from the first.

use super::{input_of, refusals, status_on_branch};
use crate::place::Place;
use crate::tickets::{
    self, FOLDER, TEXT, TICKET, agents, answer, circling, coded, design, dispatched, document, entry, judged,
    on_branch, place,
};
use serde_json::json;
use std::fs;
use std::process::Child;
use std::time::Duration;

/// Agents that complete a revision from an earlier run.
pub fn completing_revision() -> String {
    [agents(), entry(json!({ "role": "design-reviewer", "round": 1 }), &[], judged("met"))].concat()
}

/// The same, and the first attempt reports findings.
fn looking_around() -> String {
    let look =
        json!({ "run": "cp sums/double.py seen.txt; test -e sums/bits.py && touch bits-seen.txt; true" });
    let made = tickets::write("sums/double.py", "def double(a):\n    return a + a\n");
    let fits = json!({ "role": "coder", "round": 1 });
    [completing_revision(), entry(fits, &[look, made], coded("Addition keeps fractions."))].concat()
}

/// A design that changes more than the findings cite.
fn more_than_cited() -> String {
    let (revised, notes) = (tickets::revised(), "One test.\n");
    let (_, notes) = revised.split_once(notes).expect("notes");
    design(tickets::ADD, "Addition is exact for fractions.", "Another module.", notes)
}

/// A run that fails after a human approved a revision, and has only the first design.
fn left_in_revision() -> Place {
    let place = place(TEXT);
    let mut rehearsal = circling();
    for attempt in 1..=2 {
        let fits = json!({ "role": "architect/revise", "attempt": attempt });
        rehearsal.push_str(&entry(fits, &[], document(&more_than_cited())));
    }
    assert_eq!(tickets::run(&place, &rehearsal).code, 5);
    assert_eq!(answer(&place, &["approve", "--note", "Mind negative numbers."]).code, 4);
    assert!(on_branch(&place, TICKET).contains("- **Design Revision Count**: 1"));
    place
}

fn merge(place: &Place) {
    place.git(&["merge", "-q", "--no-edit", &place.latest().branch]);
}

// DR-14, DR-19
#[test]
fn an_approved_revision_continues_although_its_branch_is_not_merged() {
    let place = left_in_revision();
    let first = place.latest();
    let shown = tickets::run(&place, &completing_revision());
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_ne!(place.latest().run, first.run);
    let phases = dispatched(&place);
    assert_eq!(phases[..2], ["revise", "design-review"], "{phases:?}");
    assert!(!phases.contains(&"design".to_string()), "{phases:?}");
    // The architect gets the findings and their design, the implementer the earlier attempt.
    assert!(input_of(&place, "revise", 0, "findings.yaml").contains("INCORRECT_INVARIANT"));
    assert!(input_of(&place, "revise", 0, "design.yaml").contains(tickets::SHIFT));
    assert!(input_of(&place, "revise", 0, "failed-approaches.md").contains(tickets::SHIFT));
    let log = input_of(&place, "implement", 0, "iteration-log.md");
    assert!(log.contains(&format!("## Run {}", first.run)) && log.contains("It was the rounding"), "{log}");
    // The second branch repeats the revision of the first.
    let ticket = on_branch(&place, TICKET);
    assert!(ticket.contains("- **Design Revision Count**: 1"), "{ticket}");
    assert_eq!(ticket.matches("### Design Revision Phase 1 of 2").count(), 1, "{ticket}");
    assert!(ticket.contains("**Human Gate Decision**: Approved by ada"), "{ticket}");
    let stated = format!("{FOLDER}/implementation-findings-1.md");
    let earlier = place.git(&["show", &format!("{}:{stated}", first.branch)]);
    assert_eq!(on_branch(&place, &stated), earlier);
}

// DR-17
#[test]
fn a_second_run_starts_from_the_work_of_the_first_without_the_discarded_parts() {
    let place = left_in_revision();
    let first = place.latest().run;
    place.write("README.md", "# Sums\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Meanwhile"]);
    let shown = tickets::run(&place, &looking_around());
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(on_branch(&place, "seen.txt"), "def double(a):\n    return a << 1  # FIXME\n");
    let names = place.git(&["ls-tree", "-r", "--name-only", &place.latest().branch]);
    assert!(!names.contains("bits") && names.contains("README.md"), "{names}");
    let log = place.remand(&["log"]).out;
    assert!(log.contains(&format!("the first attempt starts from the work of run {first}")), "{log}");
}

// DR-17
#[test]
fn without_the_tree_of_the_first_run_the_second_starts_from_the_base_and_says_so() {
    let place = left_in_revision();
    let first = place.latest().run;
    let trees = place.git(&["for-each-ref", "--format=%(refname)", &format!("refs/remand/{first}/trees")]);
    for reference in trees.lines() {
        place.git(&["update-ref", "-d", reference]);
    }
    let shown = tickets::run(&place, &looking_around());
    assert_eq!(shown.code, 0, "{shown:?}");
    let names = place.git(&["ls-tree", "-r", "--name-only", &place.latest().branch]);
    assert!(!names.contains("seen.txt"), "{names}");
    let log = place.remand(&["log"]).out;
    assert!(log.contains(&format!("the work of run {first} is no longer kept")), "{log}");
}

// DR-13, DR-14, DR-20
#[test]
fn without_ledger_entries_the_documents_decide_the_mode() {
    let place = left_in_revision();
    merge(&place);
    fs::remove_dir_all(place.state()).expect("the state is removed");
    let stated = format!("{FOLDER}/implementation-findings-1.md");
    let (findings, ticket) = (on_disk(&place, &stated), on_disk(&place, TICKET));
    let rehearsal = [
        completing_revision(),
        entry(json!({ "role": "architect/revise", "attempt": 1 }), &[], document(&more_than_cited())),
    ]
    .concat();
    let shown = tickets::run(&place, &rehearsal);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(dispatched(&place).iter().filter(|phase| *phase == "design").count(), 0);
    assert!(input_of(&place, "revise", 0, "findings.md").contains("`INCORRECT_INVARIANT`"));
    let reported = refusals(&place, "revise");
    assert!(reported[0].contains("`DD-0079-002` changed, but the findings do not cite it"), "{reported:?}");
    assert_eq!(on_branch(&place, &stated), findings);
    let entries = |text: &str| text.matches("### Design Revision Phase").count();
    assert_eq!(entries(&on_branch(&place, TICKET)), entries(&ticket));
}

// DR-14
#[test]
fn a_ticket_with_a_revision_count_but_without_findings_is_redesigned() {
    let place =
        place(&TEXT.replace("- **Author**: Dana\n", "- **Author**: Dana\n- **Design Revision Count**: 1\n"));
    assert_eq!(tickets::run(&place, &agents()).code, 0);
    assert_eq!(dispatched(&place)[0], "design");
}

// DR-19
#[test]
fn a_second_run_leaves_every_document_of_the_first_unchanged() {
    let place = place(TEXT);
    assert_eq!(tickets::run(&place, &circling()).code, 5);
    assert_eq!(answer(&place, &["close"]).code, 4);
    let (first, closed) = (place.latest().run, status_on_branch(&place));
    assert_eq!(closed, Some("Closed"));
    merge(&place);
    let ticket = on_disk(&place, TICKET).replace("- [x] Closed", "- [ ] Closed");
    place.write(TICKET, &ticket);
    place.git(&["commit", "-qam", "Not closed after all"]);
    let names = ["design", "implementation-findings-1", "iteration-log", "quality-gate-report"];
    let before = names.map(|name| on_disk(&place, &format!("{FOLDER}/{name}.md")));
    let other = circling().replace("A shift is quick.", "A shift is quicker.");
    assert_eq!(tickets::run(&place, &other).code, 5);
    let second = place.latest().run;
    assert_ne!(first, second);
    let now = names.map(|name| on_branch(&place, &format!("{FOLDER}/{name}.md")));
    assert_eq!(now[..2], before[..2]);
    for (now, before) in now[2..].iter().zip(&before[2..]) {
        assert!(now.starts_with(before.trim_end()), "{now}");
        assert_eq!((now.matches(&first.0).count() < 2, now.matches(&second.0).count()), (true, 1), "{now}");
    }
    let ticket = on_branch(&place, TICKET);
    for (name, says) in [("design-v2", "A shift is quicker."), ("implementation-findings-1-v2", "1 of 2")] {
        let path = format!("{FOLDER}/{name}.md");
        assert!(on_branch(&place, &path).contains(says), "{path}");
        assert!(ticket.contains(&path), "{path}: {ticket}");
    }
}

// CORE-09, DR-11
#[test]
fn exactly_one_of_several_runs_started_at_the_same_time_continues() {
    let place = place(TEXT);
    let go = place.visible_file("go");
    let wait = format!("while [ ! -e '{}' ]; do sleep 0.05; done", go.display());
    let first = design(tickets::SHIFT, "A shift is quick.", "A module for each sum.", "");
    let waiting =
        entry(json!({ "role": "architect", "round": 1 }), &[json!({ "run": wait })], document(&first));
    let words = tickets::arguments(&place, &[agents(), waiting].concat());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut going: Vec<Child> = (0..4).map(|_| place.start(&words)).collect();
    let mut refused = Vec::new();
    while going.len() > 1 {
        let is_over = |child: &mut Child| child.try_wait().expect("a child").is_some();
        match going.iter_mut().position(is_over) {
            Some(at) => refused.push(going.remove(at).wait_with_output().expect("an end")),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    let run = place.latest().run;
    for output in refused {
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{reported}");
        assert!(reported.contains(&format!("run {run} is already working on {TICKET}")), "{reported}");
        assert!(reported.contains(&format!("remand cancel {run}")), "{reported}");
    }
    fs::write(&go, "").expect("go");
    let ended = going.remove(0).wait_with_output().expect("an end");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(place.reader().runs().expect("runs").len(), 1);
}

fn on_disk(place: &Place, path: &str) -> String {
    fs::read_to_string(place.project().join(path)).expect(path)
}
