//! How a run ended, what it cost and what it will cost: the same words and figures in every command.

use crate::kills::output_unless_killed;
use crate::place::Place;
use crate::rehearsed::{REQUEST, Script, TRIVIAL, role, unit};
use remand_ledger::query::RunStage;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn refusing_hook(place: &Place) {
    let hook = place.project().join(".git/hooks/pre-commit");
    let text = "#!/bin/sh\necho checking style >&2\necho 'error: E501 line too long' >&2\nexit 1\n";
    std::fs::write(&hook, text).expect("hook");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("mode");
}

fn json_of(place: &Place, arguments: &[&str]) -> Value {
    serde_json::from_str(&place.remand(&[arguments, &["--json"]].concat()).out).expect("JSON")
}

/// The output with single spaces, because long lines are wrapped.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

// UP-09
#[test]
fn a_commit_that_a_hook_refused_is_left_to_you_in_every_command() {
    let place = Place::configured(TRIVIAL);
    refusing_hook(&place);
    let shown = place.quick(&Script::quick(), &[]);
    let outcome = "left to you: the hook said: error: E501 line too long";
    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let run = place.latest();
    let page = std::fs::read_to_string(place.home().join("runs").join(&run.run.0).join("evidence-bundle.md"));
    let log = place.remand(&["log"]).out;
    let texts = [
        ("run", shown.out),
        ("runs", place.remand(&["runs"]).out),
        ("status", place.remand(&["status"]).out),
        ("status latest", place.remand(&["status", "latest"]).out),
        ("evidence", place.remand(&["evidence"]).out),
        ("costs", place.remand(&["costs"]).out),
        ("log", log),
        ("the bundle", page.expect("a bundle")),
    ];
    for (name, text) in texts {
        // A table cell wraps between the words of other columns.
        let words = if name == "runs" { "left to you" } else { outcome };
        assert!(joined(&text).contains(words), "{name}: {text}");
        assert!(!text.contains("nothing was degraded"), "{name}: {text}");
        assert!(!joined(&text).contains("confidence high"), "{name}: {text}");
    }
    let reason = json!("the hook said: error: E501 line too long");
    for (row, name) in [
        (&json_of(&place, &["runs"])["runs"][0], "runs"),
        (&json_of(&place, &["status"])["ended"], "status"),
        (&json_of(&place, &["status", "latest"])["run"], "status latest"),
        (&json_of(&place, &["evidence"])["run"], "evidence"),
        (&json_of(&place, &["log"])["run"], "log"),
    ] {
        let found = (&row["stage"], &row["reason"], &row["confidence"]);
        assert_eq!(found, (&json!("left-to-you"), &reason, &json!("low")), "{name}");
    }
}

// UP-09
#[test]
fn a_refused_commit_is_left_to_you_even_where_the_workflow_calls_it_a_failure() {
    let place = Place::new();
    refusing_hook(&place);
    let units = [unit("unit-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[])];
    let shown = place.tsp(&Script::tsp(&units));
    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    assert_eq!(place.latest().outcome(), "left to you: the hook said: error: E501 line too long");
    let retry = format!("remand retry {}", place.latest().run);
    assert!(shown.out.contains(&retry), "{}", shown.out);
    std::fs::remove_file(place.project().join(".git/hooks/pre-commit")).expect("hook");
    let retried = place.remand(&["retry"]);
    assert_eq!((retried.code, place.latest().outcome().as_str()), (0, "committed"), "{}", retried.err);
}

// UP-09
#[test]
fn a_killed_run_is_interrupted_until_a_process_continues_it() {
    let place = Place::configured(TRIVIAL);
    let script = place.write_outside("quick.yaml", &Script::quick().text());
    let agent = format!("rehearsal:{script}");
    let words = ["run", REQUEST, "--workflow", "quick", "--agent", &agent];
    assert!(output_unless_killed(&place, &words, Some(3)).is_none(), "it is killed");
    assert_eq!(place.latest().stage, RunStage::Running, "the tables do not know who drives it");
    for arguments in [&["runs"][..], &["status"], &["status", "latest"], &["evidence"], &["log"]] {
        let shown = place.remand(arguments);
        assert!(shown.out.contains("interrupted"), "{arguments:?}: {}", shown.out);
    }
    assert_eq!(json_of(&place, &["runs"])["runs"][0]["stage"], "interrupted");
    assert_eq!(place.remand(&["resume"]).code, 0);
    assert!(place.remand(&["runs"]).out.contains("committed"));
}

// UP-12
#[test]
fn a_run_ends_with_its_cost_and_the_command_that_takes_its_commit() {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &[]);
    let branch = place.latest().branch;
    let text = joined(&shown.out);
    for expected in ["cost $0.02", "2 dispatches, 200 tokens", &format!("take it git merge {branch}")] {
        assert!(text.contains(expected), "{expected}: {}", shown.out);
    }
    place.git(&["merge", "-q", &branch]);
    let unpriced = Script::quick().with(role("reviewer").unpriced().says(crate::rehearsed::review(
        "code",
        "general",
        "approve",
        &[],
    )));
    let shown = place.quick(&unpriced, &[]);
    assert!(!joined(&shown.out).contains("cost $0.00"), "{}", shown.out);
}

// UP-12
#[test]
fn a_forecast_rests_on_earlier_runs_once_there_are_three() {
    let place = Place::configured(TRIVIAL);
    let first = place.quick(&Script::quick(), &[]);
    let text = joined(&first.err);
    assert!(text.contains("probably unknown cost; unknown time; about 2 dispatches"), "{}", first.err);
    assert!(text.contains("cost: the agents are scripted"), "{}", first.err);
    assert!(text.contains("at most 6 dispatches, 12 with all retries (proven)"), "{}", first.err);
    for _ in 0..2 {
        place.quick(&Script::quick(), &[]);
    }

    let fourth = place.quick(&Script::quick(), &[]);

    let text = joined(&fourth.err);
    assert!(text.contains("probably about $0.02;"), "{}", fourth.err);
    let basis = "cost, time, dispatches: the last 3 runs of this workflow here";
    assert!(text.contains(basis), "{}", fourth.err);
    let json = place.quick(&Script::quick(), &["--json"]);
    let line: Value = serde_json::from_str(json.out.lines().next().expect("a line")).expect("JSON");
    let outlook = &line["outlook"];
    assert_eq!(outlook["forecast"]["money"]["expected"], 20_000, "{outlook}");
    assert_eq!(outlook["forecast"]["money"]["basis"], json!({"runs": {"runs": 4}}), "{outlook}");
    assert_eq!(outlook["currency"], "USD");
}
