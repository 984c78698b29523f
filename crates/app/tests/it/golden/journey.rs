//! Runs from start to end, and every command that shows a run.

use super::redaction::narrow_columns;
use crate::place::Place;
use crate::rehearsed::{REQUEST, SUB, Script, TEST_SUB, TRIVIAL, finding, implemented, review, role};
use serde_json::{Value, json};
use std::process::Command;

/// The implementer swaps the operands, the reviewer finds it, and the second round is right.
fn sent_back_once() -> Script {
    let wrong = "def sub(a, b):\n    return b - a\n";
    let first =
        role("implementer").round(1).writes("sums/sub.py", wrong).writes("tests/test_sub.py", TEST_SUB);
    let second = role("implementer").round(2).writes("sums/sub.py", SUB).says(json!({
        "verdict": "done", "hypothesis": "The operands were the wrong way round.",
        "changes": [{"file": "sums/sub.py", "what": "operands swapped"}],
    }));
    let found = [finding("R-1", "major", "sub takes a from b")];
    Script::quick()
        .with(first.says(implemented("")))
        .with(second)
        .with(role("reviewer").round(1).says(review("code", "general", "needs-revision", &found)))
}

fn agent(place: &Place, script: &Script) -> String {
    format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &script.text()))
}

/// Changes the ledger behind the engine's back.
fn tamper(place: &Place, script: &str) {
    let script =
        format!("import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\n{script}");
    let ledger = place.home().join("ledger.db");
    let output = Command::new("python3").args(["-c", &script]).arg(&ledger).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

const CHANGED_EVENT: &str = "\
kept = db.execute(\"SELECT sql FROM sqlite_master WHERE name = 'events_are_not_changed'\").fetchone()[0]
db.execute('DROP TRIGGER events_are_not_changed')
changed = db.execute('UPDATE events SET at = at + 1 WHERE seq = 4').rowcount
db.execute(kept)
assert changed == 1, changed
";

const CHANGED_PROJECTION: &str = "db.execute(\"UPDATE runs SET confidence = 'high', stage = 'failed'\")";

// CORE-03 CORE-08 EP-23 BY-07
#[test]
fn a_run_goes_from_request_to_commit_and_is_rolled_back() {
    let place = Place::configured(TRIVIAL);
    let agent = agent(&place, &sent_back_once());
    let run = place.transcript(&[&["run", REQUEST, "--workflow", "quick", "--agent", &agent]]);
    insta::assert_snapshot!("run", run);

    insta::assert_snapshot!(
        "status",
        place.transcript(&[&["status"], &["status", "latest"], &["status", "nobody"]])
    );
    insta::assert_snapshot!("runs", narrow_columns(&place.transcript(&[&["runs"]])));
    let lines: &[&[&str]] =
        &[&["log"], &["log", "--rulings"], &["log", "nobody"], &["log", "--task", "task-9"]];
    insta::assert_snapshot!("log", place.transcript(lines));
    insta::assert_snapshot!(
        "findings",
        place.transcript(&[&["findings"], &["findings", "--open"], &["findings", "nobody"]])
    );
    let lines: &[&[&str]] = &[
        &["show", "--list"],
        &["show", "request"],
        &["show", "code@1"],
        &["show", "code", "--yaml"],
        &["show", "plan"],
        &["show", "code@3"],
        &["show", "code@zero"],
        &["show", "code", "--part", "x"],
    ];
    insta::assert_snapshot!("show", place.transcript(lines));
    insta::assert_snapshot!("diff", place.transcript(&[&["diff"], &["diff", "--task", "task-9"]]));
    insta::assert_snapshot!("gates-none", place.transcript(&[&["gates"], &["gates", "--all"]]));
    let lines: &[&[&str]] =
        &[&["resume"], &["resume", "latest"], &["cancel", "latest"], &["answer", "latest", "yes"]];
    insta::assert_snapshot!("over", place.transcript(lines));
    evidence(&place);
    let lines: &[&[&str]] =
        &[&["clean", "--dry-run"], &["clean", "--older-than", "1"], &["clean"], &["clean"]];
    insta::assert_snapshot!("clean", narrow_columns(&place.transcript(lines)));
    let lines: &[&[&str]] = &[&["rollback", "latest"], &["rollback", "latest", "--yes"]];
    insta::assert_snapshot!("rollback", place.transcript(lines));
    insta::assert_snapshot!("audit", place.transcript(&[&["audit"], &["audit", "--head", "9"]]));
    tamper(&place, CHANGED_PROJECTION);
    insta::assert_snapshot!("audit-rebuilt", place.transcript(&[&["audit"], &["audit", "--rebuild"]]));
    tamper(&place, CHANGED_EVENT);
    insta::assert_snapshot!("audit-tampered", place.transcript(&[&["audit", "--rebuild"]]));
}

fn evidence(place: &Place) {
    insta::assert_snapshot!("evidence", place.transcript(&[&["evidence"], &["evidence", "nobody"]]));
    let (file, folder) = (place.folder_of_test().join("run.db"), place.folder_of_test().join("sealed"));
    let (file, sealed) = (file.display().to_string(), folder.display().to_string());
    let none = place.folder_of_test().join("none").display().to_string();
    let mut text = place.transcript(&[
        &["evidence", "--sqlite", &file],
        &["evidence", "--sqlite", &file],
        &["evidence", "--export", &sealed],
        &["evidence", "--export", &sealed],
        &["evidence", "--verify", &sealed],
        &["evidence", "--verify", &sealed, "--key", &"0".repeat(64)],
        &["evidence", "--verify", &none],
    ]);
    let page = folder.join("evidence-bundle.md");
    let kept = std::fs::read_to_string(&page).expect("the page");
    std::fs::write(&page, kept.replace("## Confidence: high", "## Confidence: higher")).expect("changed");
    text.push_str(&place.transcript(&[&["evidence", "--verify", &sealed]]));
    std::fs::remove_file(&page).expect("removed");
    text.push_str(&place.transcript(&[&["evidence", "--verify", &sealed]]));
    insta::assert_snapshot!("evidence-export", text);
}

// EP-12 CORE-14 CORE-17
#[test]
fn a_run_that_waits_is_answered_and_cancelled() {
    let place = Place::configured(TRIVIAL);
    let agent = agent(&place, &Script::subtraction());
    // Panel members end in any order, so only the status after the panel is compared.
    let run = place.remand(&["run", REQUEST, "--workflow", "feature", "--interactive", "--agent", &agent]);
    insta::assert_snapshot!(
        "run-waiting",
        super::redact(&format!("{}exit code {}\n", run.out, run.code), &place.folder_of_test())
    );
    let lines: &[&[&str]] =
        &[&["gates"], &["status"], &["status", "latest"], &["resume"], &["resume", "latest"]];
    insta::assert_snapshot!("waiting", place.transcript(lines));
    let lines: &[&[&str]] = &[
        &["answer", "latest", "maybe"],
        &["answer", "nobody", "proceed"],
        &["rollback", "latest", "--yes"],
        &["answer", "latest", "proceed", "--note", "Mind negative numbers.", "--park"],
        &["status", "latest"],
    ];
    insta::assert_snapshot!("answer", place.transcript(lines));
    let resumed = place.remand(&["resume"]);
    let asked =
        super::redact(&format!("{}exit code {}\n", resumed.out, resumed.code), &place.folder_of_test());
    insta::assert_snapshot!("resume-answered", asked);
    insta::assert_snapshot!(
        "cancel",
        place.transcript(&[&["cancel", "latest"], &["gates", "--all"], &["diff"]])
    );
}

// CORE-15
#[test]
fn a_run_that_fails_says_where_and_why() {
    let place = Place::configured(TRIVIAL);
    let agent = agent(&place, &Script::quick().with(role("implementer").does(json!({"crash": true}))));
    let run = place.transcript(&[
        &["run", REQUEST, "--workflow", "quick", "--agent", &agent],
        &["status"],
        &["evidence"],
    ]);
    insta::assert_snapshot!("run-failed", run);
}

#[test]
fn json_output_is_nothing_but_json_and_has_its_keys() {
    let place = Place::configured(TRIVIAL);
    let agent = agent(&place, &Script::quick());
    let run = place.remand(&["run", REQUEST, "--workflow", "quick", "--agent", &agent, "--json"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let steps: Vec<Value> =
        serde_json::Deserializer::from_str(&run.out).into_iter().map(|step| step.expect("JSON")).collect();
    let (last, steps) = steps.split_last().expect("steps");
    let (first, steps) = steps.split_first().expect("steps");
    assert!(first["outlook"]["forecast"].is_object(), "{first}");
    assert!(steps.iter().all(|step| step["rulings"].is_array() && step["at"].is_string()), "{steps:?}");
    assert_eq!((&last["stage"], &last["exit"]), (&json!("committed"), &json!(0)));
    let (file, folder) = (place.folder_of_test().join("run.db"), place.folder_of_test().join("sealed"));
    let (file, folder) = (file.display().to_string(), folder.display().to_string());
    let cases: &[(&[&str], &[&str])] = &[
        (&["runs"], &["count", "runs"]),
        (&["status"], &["count", "runs", "ended"]),
        (
            &["status", "latest"],
            &[
                "run",
                "driver",
                "by",
                "confidence",
                "budgets",
                "tasks",
                "findings",
                "gates",
                "requests",
                "problem",
                "failure",
                "retry",
                "untold",
            ],
        ),
        (&["log"], &["run", "log"]),
        (&["findings"], &["run", "tally", "findings"]),
        (&["costs"], &["run", "by", "rows", "total", "limit", "currency"]),
        (&["costs", "--all"], &["run", "by", "rows", "total", "limit", "currency"]),
        (&["agents"], &["agents"]),
        (&["show", "--list"], &["run", "artifacts", "documents"]),
        (&["show", "code"], &["run", "artifact", "text"]),
        (&["output"], &["run", "outputs"]),
        (&["output", "1"], &["run", "output", "text"]),
        (&["diff"], &["run", "task", "base", "patch"]),
        (
            &["evidence"],
            &["checks", "findings", "gates", "mutants", "notes", "run", "tasks", "test_proofs", "totals"],
        ),
        (&["evidence", "--sqlite", &file], &["run", "file"]),
        (&["evidence", "--export", &folder], &["folder", "manifest"]),
        (&["evidence", "--verify", &folder], &["sound", "manifest"]),
        (&["gates"], &["gates"]),
        (&["gates", "--all"], &["run", "gates", "refused"]),
        (&["resume"], &["runs", "waiting"]),
        (&["audit"], &["sound", "head", "compared", "parts", "problems"]),
        (&["clean", "--dry-run"], &["removed", "bytes", "runs"]),
        (&["doctor"], &["health", "lines"]),
        (&["rollback", "latest", "--yes"], &["run", "branch", "done", "first", "commit", "by", "command"]),
        (&["man"], &["page"]),
        (&["completions", "zsh"], &["shell", "script"]),
    ];
    for (arguments, keys) in cases {
        let shown = place.remand(&[*arguments, &["--json"]].concat());
        assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{arguments:?}");
        let value: Value =
            serde_json::from_str(&shown.out).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
        let mut found: Vec<&String> = value.as_object().expect("an object").keys().collect();
        let mut keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        found.sort();
        keys.sort();
        assert_eq!(found, keys.iter().collect::<Vec<_>>(), "{arguments:?}");
    }
    let settings: Value = serde_json::from_str(&place.remand(&["config", "--json"]).out).expect("JSON");
    assert!(settings[0]["key"].is_string() && settings[0]["layer"].is_string(), "{settings}");
    for arguments in [["log", "nobody"], ["cancel", "latest"], ["show", "plan"]] {
        let shown = place.remand(&[&arguments[..], &["--json"]].concat());
        let failure: Value = serde_json::from_str(&shown.out).expect("JSON of a failure");
        assert_eq!(shown.code, 1, "{arguments:?}");
        assert!(failure["error"].is_string() && failure["hint"].is_string() && failure["causes"].is_array());
    }
}
