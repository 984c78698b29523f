//! Runs that an agent's failure or a hook ended, and that a human retries.

use crate::cancel::wait_until;
use crate::kills::output_unless_killed;
use crate::place::Place;
use crate::rehearsed::{REQUEST, SUB, Script, TRIVIAL, implemented, review, role};
use remand_ledger::query::RunStage;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A reviewer that crashes in its first two attempts, which are all that a run makes automatically.
fn fragile() -> Script {
    let crash = role("reviewer").does(json!({"exit": 3}));
    let approve = role("reviewer").says(review("code", "general", "approve", &[]));
    Script::quick().with(approve).with(crash.clone().attempt(1)).with(crash.attempt(2))
}

// UP-08
#[test]
fn a_retry_continues_at_the_phase_that_failed_and_keeps_everything_before_it() {
    let place = Place::configured(TRIVIAL);
    let failed = place.quick(&fragile(), &[]);
    assert_eq!(failed.code, 4, "{failed:?}");
    let run = place.latest();
    assert_eq!(run.outcome(), "failed: review ended with no-result");
    assert!(failed.out.contains(&format!("remand retry {}", run.run)), "{}", failed.out);

    let status = place.remand(&["status", &run.run.0]).out;
    let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status.contains("because it ended without reporting success: exit code 3"), "{status}");
    assert!(status.contains(&format!("remand output p4.v1.s0.a2 --run {}", run.run)), "{status}");
    assert!(failed.err.contains(&format!("remand output p4.v1.s0.a2 --run {}", run.run)), "{}", failed.err);
    let evidence = place.remand(&["evidence", &run.run.0]).out;
    assert!(evidence.contains("- because: it ended without reporting success: exit code 3"), "{evidence}");

    let resumed = place.remand(&["resume", &run.run.0]);
    assert_eq!(resumed.code, 1, "{resumed:?}");
    assert!(resumed.err.contains(&format!("remand retry {}", run.run)), "{}", resumed.err);

    let retried = place.remand(&["retry"]);
    assert_eq!(retried.code, 0, "{retried:?}");
    let dispatches = place.reader().dispatches(&run.run).expect("dispatches");
    let roles: Vec<(&str, u16)> = dispatches.iter().map(|row| (row.role.as_str(), row.attempt)).collect();
    assert_eq!(roles, [("implementer", 1), ("reviewer", 1), ("reviewer", 2), ("reviewer", 3)]);
    assert_eq!(place.latest().stage, RunStage::Committed);
    assert!(place.git(&["show", &format!("{}:sums/sub.py", run.branch)]).contains("a - b"));
    let log = place.remand(&["log", &run.run.0]).out;
    assert!(log.contains("retried by"), "{log}");
    let audit = place.remand(&["audit"]);
    assert_eq!(audit.code, 0, "{audit:?}");
    let again = place.remand(&["retry", &run.run.0]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.err.contains("this run is done"), "{}", again.err);
}

// UP-08
#[test]
fn a_retried_run_gets_new_trees_after_another_run_inherited_its_own() {
    let place = Place::configured(TRIVIAL);
    place.quick(&fragile(), &[]);
    let run = place.latest().run;
    assert_eq!(place.quick(&Script::quick(), &[]).code, 0);
    assert_ne!(place.latest().run, run);
    let retried = place.remand(&["retry", &run.0]);
    assert_eq!(retried.code, 0, "{retried:?}");
}

// UP-08 CORE-04
#[test]
fn a_retry_that_is_killed_at_any_point_is_completed() {
    for point in 1.. {
        let place = Place::configured(TRIVIAL);
        place.quick(&fragile(), &[]);
        let Some(output) = output_unless_killed(&place, &["retry"], Some(point)) else {
            let is_retried = place.latest().stage != RunStage::Failed;
            let continued = place.remand(&[if is_retried { "resume" } else { "retry" }]);
            assert_eq!(continued.code, 0, "killed at {point}: {continued:?}");
            assert_eq!(place.latest().stage, RunStage::Committed);
            let commits = place.git(&["log", "--format=%B", &place.latest().branch]);
            assert_eq!(commits.matches("Remand-Confidence: high").count(), 1, "killed at {point}: {commits}");
            continue;
        };
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(point > 4, "only {point} points");
        return;
    }
}

// UP-08
#[test]
fn a_run_whose_work_was_cleaned_up_cannot_be_retried() {
    let place = Place::configured(TRIVIAL);
    place.quick(&fragile(), &[]);
    assert_eq!(place.remand(&["clean"]).code, 0);
    let retried = place.remand(&["retry"]);
    assert_eq!(retried.code, 1, "{retried:?}");
    assert!(retried.err.contains("its work was removed by `remand clean`"), "{}", retried.err);
    assert_eq!(place.latest().stage, RunStage::Failed);
}

// UP-10
#[test]
fn a_commit_that_a_hook_refused_is_tried_again_without_a_dispatch() {
    let place = Place::configured(TRIVIAL);
    let hook = place.project().join(".git/hooks/pre-commit");
    std::fs::write(&hook, "#!/bin/sh\necho no ticket in the branch name >&2\nexit 1\n").expect("hook");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("mode");
    let refused = place.quick(&Script::quick(), &[]);
    assert_eq!(refused.code, 6, "{refused:?}");
    let run = place.latest();
    assert!(refused.out.contains(&format!("remand retry {}", run.run)), "{}", refused.out);
    let before = place.reader().dispatches(&run.run).expect("dispatches").len();

    let again = place.remand(&["retry"]);
    assert_eq!(again.code, 6, "{again:?}");
    assert!(again.out.contains("no ticket in the branch name"), "{}", again.out);

    std::fs::remove_file(&hook).expect("hook");
    let retried = place.remand(&["retry", "--json"]);
    assert_eq!(retried.code, 0, "{retried:?}");
    let last: Value = serde_json::from_str(retried.out.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["exit"], &last["retry"]), (&json!(0), &Value::Null), "{last}");
    assert_eq!(place.reader().dispatches(&run.run).expect("dispatches").len(), before);
    let messages = place.git(&["log", "--format=%B", &run.branch]);
    assert!(!messages.contains("Remand-Handed-Over"), "{messages}");
    assert_eq!(messages.matches("Remand-Confidence: high").count(), 1, "{messages}");
}

// UP-04
#[test]
fn the_transcript_of_a_dispatch_and_the_output_of_a_check_are_printed_by_one_command() {
    let place = Place::configured(
        "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d sums\"\ntier = 1\n\n[checks.build]\n\
         command = \"seq 1 200; test -f sums/add.py\"\n",
    );
    let script = fragile().with(
        role("implementer")
            .attempt(1)
            .does(json!({"print": "I look around"}))
            .writes("sums/sub.py", SUB)
            .says(implemented("")),
    );
    let failed = place.quick(&script, &[]);
    assert_eq!(failed.code, 4, "{failed:?}");
    let whole: Vec<String> = (1..=200).map(|line| line.to_string()).collect();
    assert_eq!(place.remand(&["output", "build"]).out.lines().collect::<Vec<_>>(), whole);
    let transcript = place.remand(&["output", "implement"]);
    assert!(transcript.out.contains("I look around"), "{transcript:?}");
    let listed = place.remand(&["output"]);
    for words in ["implementer", "build", "exit code 3", "crashed"] {
        assert!(listed.out.contains(words), "{words}: {}", listed.out);
    }
    let listed: Value = serde_json::from_str(&place.remand(&["output", "--json"]).out).expect("JSON");
    let outputs = listed["outputs"].as_array().expect("a list");
    let by_number = outputs.iter().find(|output| output["name"] == "build").expect("the check");
    let number = by_number["number"].to_string();
    let shown: Value = serde_json::from_str(&place.remand(&["output", &number, "--json"]).out).expect("JSON");
    assert_eq!(shown["text"].as_str().map(|text| text.lines().count()), Some(200), "{shown}");
    let unknown = place.remand(&["output", "nonsense"]);
    assert_eq!(unknown.code, 1, "{unknown:?}");
}

// UP-04
#[test]
fn the_transcript_of_a_running_dispatch_can_be_read_and_followed() {
    let place = Place::configured(TRIVIAL);
    let secret = &format!("ghp_{}", "a1B2".repeat(9));
    let hanging = role("implementer")
        .does(json!({"print": "I look around"}))
        .runs(&format!("printf 'I found gh%s there\\n' {}", &secret[2..]))
        .does(json!({"hang": true}));
    let file = place.write_outside("rehearsal.yaml", &Script::quick().with(hanging).text());
    let agent = format!("rehearsal:{file}");
    let driver = place.start(&["run", REQUEST, "--workflow", "quick", "--agent", &agent]);
    let printed = || place.remand(&["output", "implement"]).out;
    wait_until("the agent has printed", || printed().contains("there"));
    let read = place.remand(&["output", "implementer"]);
    assert!(read.out.contains("I look around") && !read.out.contains(secret), "{read:?}");
    let listed = place.remand(&["output"]);
    assert!(listed.out.contains("running"), "{listed:?}");
    let follower = place.start(&["output", "implement", "--follow"]);
    assert_eq!(place.remand(&["cancel", "latest"]).code, 0);
    let followed = follower.wait_with_output().expect("it ends with the dispatch");
    let text = String::from_utf8_lossy(&followed.stdout).into_owned();
    assert!(text.contains("I look around") && !text.contains(secret), "{text}");
    driver.wait_with_output().expect("the run ends");
}
