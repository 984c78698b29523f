//! The knowledge phase never blocks a run, passes lessons to later runs, and changes no file.

use crate::place::Place;
use crate::rehearsed::{Script, TRIVIAL, implemented, role};
use remand_ledger::fact::NoteKind;
use serde_json::json;

// EP-22 EP-35
#[test]
fn lessons_reach_the_next_run_and_proposals_change_no_file() {
    let place = Place::configured(TRIVIAL);
    place.write("AGENTS.md", "# Rules\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Rules"]);
    let learned = json!({
        "verdict": "done", "summary": "Operands have an order.",
        "decisions": [{"id": "D-1", "text": "sub takes b from a", "files": ["sums/sub.py"]}],
        "lessons": [{"text": "Subtraction is not commutative.", "evidence": "a test", "files": ["sums/sub.py"]}],
        "proposals": [{"file": "AGENTS.md", "reason": "it is forgotten", "change": "Mind the order of operands."}],
    });
    let shown = place.feature(&Script::subtraction().with(role("knowledge").says(learned)), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let first = place.latest();
    let notes = place.reader().notes(&first.run).expect("notes");
    let of = |kind: NoteKind| {
        notes.iter().filter(|note| note.kind == kind).map(|note| note.text.clone()).collect::<Vec<_>>()
    };
    assert!(of(NoteKind::Decision).iter().any(|text| text.contains("sub takes b from a")), "{notes:?}");
    assert_eq!(of(NoteKind::Lesson), ["Subtraction is not commutative. (a test)"]);
    assert_eq!(of(NoteKind::Proposal).len(), 1, "{notes:?}");
    assert_eq!(place.git(&["show", &format!("{}:AGENTS.md", first.branch)]), "# Rules\n");
    assert_eq!(std::fs::read_to_string(place.project().join("AGENTS.md")).expect("rules"), "# Rules\n");

    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let second = place.latest().run;
    for row in place.reader().dispatches(&second).expect("dispatches") {
        let prompt = place.reader().blob(row.prompt.expect("a prompt")).expect("blob");
        assert!(String::from_utf8_lossy(&prompt).contains("lessons.md"), "{row:?}");
        let folder = place.home().join("runs").join(&second.0).join("dispatches").join(&row.command);
        let lessons = std::fs::read_to_string(folder.join("inputs/lessons.md")).expect("lessons");
        assert_eq!(lessons, "- Subtraction is not commutative. (a test) (sums/sub.py)\n");
    }
}

// EP-22 EP-27 EP-32
#[test]
fn a_knowledge_role_that_fails_or_meddles_does_not_block_the_commit() {
    let place = Place::configured(TRIVIAL);
    let meddling =
        role("knowledge").ignoring_failures().writes("AGENTS.md", "owned\n").writes("sums/sub.py", "owned\n");
    let script = Script::subtraction().with(meddling.does(json!({"exit": 1})));
    let shown = place.feature(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!(run.confidence, "medium");
    assert_eq!(place.git(&["diff", "--name-only", "work", &run.branch]), "sums/sub.py\ntests/test_sub.py\n");
    let tries = place.reader().dispatches(&run.run).expect("dispatches");
    assert_eq!(tries.iter().filter(|row| row.role == "knowledge").count(), 2);
    let bundle = place.remand(&["evidence"]).out;
    let degradations = bundle.split("## Degradations").nth(1).expect("a section");
    assert!(degradations.trim_start().starts_with("- ") && degradations.contains("knowledge"), "{bundle}");
}

// EP-22 EP-19
#[test]
fn a_regression_is_remembered_for_its_file() {
    let place = Place::new();
    let broken = "def add(a, b):\n    return a - b\n";
    let script = Script::quick()
        .with(role("implementer").round(1).writes("sums/add.py", broken).says(implemented("")))
        .with(role("implementer").round(2).writes("sums/add.py", "def add(a, b):\n    return b + a\n").says(json!({
            "verdict": "done", "hypothesis": "The sum does not depend on the order.", "changes": [{"file": "sums/add.py", "what": "sum"}],
        })));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let notes = place.reader().notes(&place.latest().run).expect("notes");
    let regressions: Vec<_> = notes.iter().filter(|note| note.kind == NoteKind::Regression).collect();
    assert!(regressions.iter().any(|note| note.text.contains("test_adds")), "{notes:?}");
    assert!(
        regressions.iter().any(|note| note.files.iter().any(|file| file == "sums/add.py")),
        "by file: {regressions:?}"
    );
    let bundle = place.remand(&["evidence"]).out;
    assert!(bundle.contains("regression"), "{bundle}");

    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let second = place.latest().run;
    let row = place.reader().dispatches(&second).expect("dispatches").remove(0);
    let folder = place.home().join("runs").join(&second.0).join("dispatches").join(&row.command);
    let history = std::fs::read_to_string(folder.join("inputs/regressions.md")).expect("the history");
    assert!(history.contains("test_adds") && history.contains("(sums/add.py)"), "{history}");
}
