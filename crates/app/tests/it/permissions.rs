//! The permissions of agents: every other access is denied or undone, recorded, and fails the dispatch.

use crate::place::Place;
use crate::rehearsed::{SUB, Script, TRIVIAL, implemented, review, role, task};
use remand_ledger::fact::NoteKind;

// CORE-05 CORE-16 EP-35
#[test]
fn writes_outside_the_tree_have_no_effect() {
    let place = Place::configured(TRIVIAL);
    let (checkout, home, state) = (place.project(), place.state().with_file_name("home"), place.state());
    let targets = [
        checkout.join("sums/add.py"),
        checkout.join(".git/hooks/pre-commit"),
        checkout.join(".git/config"),
        home.join(".bashrc"),
        state.join("planted"),
    ];
    let before: Vec<Option<Vec<u8>>> = targets.iter().map(|path| std::fs::read(path).ok()).collect();
    let mut agent = role("implementer").attempt(1).ignoring_failures();
    for target in &targets {
        agent = agent.writes(&target.display().to_string(), "owned\n");
    }
    place.remand(&["doctor"]);
    let ledger = format!(": > {}", place.home().join("ledger.db").display());
    let script = Script::quick().with(agent.runs(&ledger).writes("sums/sub.py", SUB).says(implemented("")));

    let shown = place.quick(&script, &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let after: Vec<Option<Vec<u8>>> = targets.iter().map(|path| std::fs::read(path).ok()).collect();
    assert_eq!(after, before);
    let (run, reader) = (place.latest().run, place.reader());
    let rows = reader.dispatches(&run).expect("dispatches");
    let notes = reader.notes(&run).expect("notes");
    let recorded: Vec<_> = notes.iter().filter(|note| note.kind == NoteKind::Violation).collect();
    for target in &targets {
        let target = target.display().to_string();
        assert!(
            recorded.iter().any(|note| note.text.contains(&target)),
            "{target} is not on record: {notes:?}"
        );
    }
    assert!(recorded.iter().any(|note| note.text.contains("ledger.db")), "{notes:?}");
    assert_eq!(rows[0].failure.as_deref(), Some("violation"), "the dispatch fails");
}

// CORE-16 CORE-05 EP-35
#[test]
fn the_dispatch_of_a_reviewer_that_changes_the_tree_fails_and_the_change_is_undone() {
    let place = Place::configured(TRIVIAL);
    let meddling = role("reviewer")
        .attempt(1)
        .ignoring_failures()
        .writes("sums/sub.py", "owned\n")
        .writes("new.txt", "owned\n");
    let script = Script::quick().with(meddling.says(review("code", "general", "approve", &[])));
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!(place.git(&["show", &format!("{}:sums/sub.py", run.branch)]), SUB);
    assert!(!place.git(&["ls-tree", "-r", "--name-only", &run.branch]).contains("new.txt"));
    let rows = place.reader().dispatches(&run.run).expect("dispatches");
    let reviewers: Vec<_> = rows.iter().filter(|row| row.role == "reviewer").collect();
    assert_eq!(reviewers.len(), 2, "{reviewers:?}");
    assert_eq!(reviewers[0].failure.as_deref(), Some("violation"));
}

// EP-35 CORE-05 CORE-18
#[test]
fn an_implementer_keeps_to_the_files_of_its_task_and_never_touches_the_engines_settings() {
    let place = Place::configured(TRIVIAL);
    let files = [("sums/sub.py", "green"), ("remand.toml", "green")];
    let greedy = role("implementer")
        .task("task-1")
        .attempt(1)
        .writes("sums/sub.py", SUB)
        .writes("sums/add.py", "owned\n");
    let cunning = role("implementer")
        .task("task-1")
        .attempt(2)
        .writes("sums/sub.py", SUB)
        .writes("remand.toml", "[checks]\n");
    let script = Script::feature(&[task("task-1", &files, &[])])
        .with(
            role("implementer")
                .task("task-1")
                .writes("sums/sub.py", "sub = lambda a, b: a - b\n")
                .says(implemented("task-1")),
        )
        .with(greedy.round(1).says(implemented("task-1")))
        .with(cunning.round(1).says(implemented("task-1")));

    let shown = place.feature(&script, &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    let notes = reader.notes(&run.run).expect("notes");
    let violations: Vec<_> = notes.iter().filter(|note| note.kind == NoteKind::Violation).collect();
    assert_eq!(
        violations.iter().map(|note| note.files.clone()).collect::<Vec<_>>(),
        [["sums/add.py"], ["remand.toml"]]
    );
    let undone = reader.blob(violations[0].blob.expect("the diff")).expect("blob");
    assert!(String::from_utf8_lossy(&undone).contains("+owned"));
    assert_eq!(place.git(&["diff", "--name-only", "work", &run.branch]), "sums/sub.py\n");
    let bundle = place.remand(&["evidence"]).out;
    assert!(bundle.contains("sums/add.py"), "{bundle}");
}

// CORE-05
#[test]
fn an_agent_cannot_read_the_engines_state() {
    let place = Place::configured(TRIVIAL);
    let state = place.state();
    place.remand(&["doctor"]);
    let look = format!("cat {}; ls {}", place.home().join("ledger.db").display(), state.display());
    let script = Script::quick().with(
        role("implementer")
            .attempt(1)
            .ignoring_failures()
            .runs(&look)
            .writes("sums/sub.py", SUB)
            .says(implemented("")),
    );
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest().run, place.reader());
    let rows = reader.dispatches(&run).expect("dispatches");
    let said = reader.blob(rows[0].output.expect("output")).expect("blob");
    let said = String::from_utf8_lossy(&said);
    assert!(!said.contains("SQLite format") && said.contains("Permission denied"), "{said}");
}

// CORE-18
#[test]
fn changing_roles_workflow_or_settings_does_not_change_a_run_in_progress() {
    let place = Place::configured(TRIVIAL);
    let workflow = std::fs::read_to_string(crate::root().join("workflows/quick.yaml")).expect("quick");
    place.write(".remand/workflows/own.yaml", &workflow.replace("name: quick", "name: own"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "A workflow"]);
    let args = ["--workflow", ".remand/workflows/own.yaml", "--budget-dispatches", "1"];
    let script = Script::quick();
    let shown = place.run(crate::rehearsed::REQUEST, &script.text(), &args);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let run = place.latest().run;

    place.write(".remand/workflows/own.yaml", "name: broken\n");
    place.write(".remand/roles/reviewer.md", "---\nabout: Another.\nsays: [done]\n---\n\n# reviewer\n");
    place.write("remand.toml", "[checks]\ndetect = false\n\n[checks.never]\ncommand = \"false\"\n");
    place.write_outside("rehearsal.yaml", "rehearsal: 1\ndispatches: []\n");
    let shown = place.remand(&["answer", &run.0, "go-on"]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let row = place.latest();
    assert_eq!((&row.run, row.workflow.as_str()), (&run, "own"));
    let checks =
        place.reader().checks(&row.run, remand_ledger::query::CheckFilter::default()).expect("checks");
    assert!(checks.iter().all(|row| row.name != "never"), "{checks:?}");
}
