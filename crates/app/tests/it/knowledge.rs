//! The knowledge phase never blocks a run, passes lessons to later runs, and changes no file.

use crate::place::Place;
use crate::rehearsed::{Script, TRIVIAL, design, implemented, plan, research, role, spec, task};
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
        let lessons = place.brief_part(&second, &row.command, "lessons.md").expect("lessons");
        assert_eq!(lessons, "- Subtraction is not commutative. (a test) (sums/sub.py)\n");
    }
}

// EP-22 HO-10
#[test]
fn decisions_reach_the_roles_of_the_next_run_that_do_not_know_its_files_yet() {
    let place = Place::configured(TRIVIAL);
    let learned = json!({
        "verdict": "done", "summary": "Operands have an order.",
        "decisions": [{"id": "K-1", "text": "sub takes b from a", "files": ["sums/sub.py"]}],
    });
    let shown = place.feature(&Script::subtraction().with(role("knowledge").says(learned)), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);

    let decided = ["sub takes b from a"];
    let script = Script::subtraction()
        .with(role("researcher").item("impact").given(&decided).says(research("impact")))
        .with(role("spec").given(&decided).says(spec("done", json!([]))))
        .with(role("designer").given(&decided).says(design()))
        .with(role("planner").given(&decided).says(plan(&[task(
            "task-1",
            &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")],
            &[],
        )])));
    let shown = place.feature(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
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
    let history = place.brief_part(&second, &row.command, "regressions.md").expect("the history");
    assert!(history.contains("test_adds") && history.contains("(sums/add.py)"), "{history}");
}

/// A knowledge role that proposes to add to an instruction file, to create one, and to change code.
fn proposing() -> Script {
    Script::subtraction().with(role("knowledge").says(json!({
        "verdict": "done", "summary": "Operands have an order.",
        "proposals": [
            {"file": "AGENTS.md", "reason": "it is forgotten", "change": "Mind the order of operands."},
            {"file": ".github/copilot-instructions.md", "reason": "others need it", "change": "See AGENTS.md."},
            {"file": "sums/sub.py", "reason": "meddling", "change": "import os"},
        ],
    })))
}

fn with_rules() -> Place {
    let place = Place::configured(TRIVIAL);
    place.write("AGENTS.md", "# Rules\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Rules"]);
    place
}

// EP-22
#[test]
fn approved_changes_to_instruction_files_are_shown_as_a_diff_and_are_part_of_the_commit() {
    let place = with_rules();
    place.feature(&proposing(), &["--interactive"]);
    for option in ["proceed", "approve"] {
        place.remand(&["answer", "latest", option]);
    }

    let asked = place.remand(&["gates"]);

    let gate = place.reader().open_gates().expect("gates").pop().expect("a gate");
    assert_eq!((gate.phase.as_str(), gate.default.as_deref()), ("approve-proposals", Some("leave")));
    for expected in [
        "AGENTS.md: it is forgotten",
        "+++ b/AGENTS.md",
        "+Mind the order of operands.",
        "+++ b/.github/copilot-instructions.md",
        "sums/sub.py is not an instruction file",
    ] {
        assert!(asked.out.contains(expected), "{expected}: {}", asked.out);
    }
    assert!(!asked.out.contains("+import os"), "{}", asked.out);
    let shown = place.remand(&["answer", "latest", "apply"]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    let rules = place.git(&["show", &format!("{}:AGENTS.md", run.branch)]);
    assert_eq!(rules, "# Rules\n\nMind the order of operands.\n");
    let changed = place.git(&["diff", "--name-only", "work", &run.branch]);
    assert_eq!(changed, ".github/copilot-instructions.md\nAGENTS.md\nsums/sub.py\ntests/test_sub.py\n");
    assert!(!place.git(&["show", &format!("{}:sums/sub.py", run.branch)]).contains("import os"));
    assert_eq!(place.git(&["rev-list", "--count", &format!("work..{}", run.branch)]).trim(), "1");
}

// EP-22
#[test]
fn changes_to_instruction_files_that_nobody_approved_stay_proposals() {
    let place = with_rules();
    let shown = place.feature(&proposing(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!(place.git(&["show", &format!("{}:AGENTS.md", run.branch)]), "# Rules\n");
    let gates = place.reader().gates(&run.run).expect("gates");
    let last = gates.last().expect("a gate");
    assert_eq!(
        (last.phase.as_str(), last.option.as_deref(), last.auto),
        ("approve-proposals", Some("leave"), true)
    );
}
