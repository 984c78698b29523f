//! Cancelling: from anywhere, at any time, without leftovers.

use crate::place::Place;
use crate::rehearsed::{SUB, Script, TRIVIAL, role};
use remand_ledger::query::RunStage;
use serde_json::json;
use std::time::{Duration, Instant};

fn is_alive(mark: &str) -> bool {
    std::fs::read_dir("/proc").expect("processes").flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.windows(mark.len()).any(|at| at == mark.as_bytes())
    })
}

pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

// CORE-17
#[test]
fn a_cancel_from_another_process_kills_the_agent_and_all_its_processes() {
    let place = Place::configured(TRIVIAL);
    let mark = format!("31{:07}", std::process::id());
    let hanging =
        role("implementer").writes("sums/sub.py", SUB).does(json!({"spawn": format!("sleep {mark}")}));
    let script = Script::quick().with(hanging.does(json!({"hang": true})));
    let file = place.write_outside("rehearsal.yaml", &script.text());
    let agent = format!("rehearsal:{file}");
    let driver = place.start(&["run", crate::rehearsed::REQUEST, "--workflow", "quick", "--agent", &agent]);
    wait_until("the agent is at work", || is_alive(&mark));

    let shown = place.remand(&["cancel", "latest"]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let ended = driver.wait_with_output().expect("the process ends");
    assert_eq!(ended.status.code(), Some(4), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!is_alive(&mark), "its processes are dead");
    let run = place.latest();
    assert_eq!(run.stage, RunStage::Stopped);
    let runs = place.remand(&["runs", "--json"]).out;
    assert!(runs.contains(r#""confidence": "low""#), "the same as in the table: {runs}");
    assert!(run.reason.as_deref().is_some_and(|reason| reason.contains("ada")), "{run:?}");
    assert_eq!(place.git(&["branch", "--list", "remand/*"]), "");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    let trees = place.home().join("trees").join(&run.run.0);
    let left = std::fs::read_dir(trees.join("main")).map(|it| it.count()).unwrap_or(0);
    let restored = left == 0 || !trees.join("main/sums/sub.py").exists();
    assert!(restored, "the tree is as it was");
    let again = place.remand(&["cancel", "latest"]);
    assert_eq!(again.code, 1, "{}{}", again.out, again.err);
}

// CORE-17
#[test]
fn a_cancel_ends_a_signer_that_waits_and_leaves_no_branch() {
    let place = Place::configured(TRIVIAL);
    let mark = format!("33{:07}", std::process::id());
    let signer = place.write_program("signer", &format!("#!/bin/sh\nsleep {mark}\n"));
    place.git(&["config", "commit.gpgSign", "true"]);
    place.git(&["config", "gpg.program", &signer]);
    let file = place.write_outside("rehearsal.yaml", &Script::quick().text());
    let agent = format!("rehearsal:{file}");
    let driver = place.start(&["run", crate::rehearsed::REQUEST, "--workflow", "quick", "--agent", &agent]);
    wait_until("the signer waits", || is_alive(&mark));

    let shown = place.remand(&["cancel", "latest"]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let ended = driver.wait_with_output().expect("the process ends");
    assert_eq!(ended.status.code(), Some(4), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!is_alive(&mark), "the signer is dead");
    assert_eq!(place.git(&["branch", "--list", "remand/*"]), "");
    assert_eq!(place.latest().stage, RunStage::Stopped);
}

// CORE-17
#[test]
fn a_cancel_ends_a_hook_that_hangs_and_leaves_no_branch() {
    let place = Place::configured(TRIVIAL);
    let mark = format!("32{:07}", std::process::id());
    let hook = place.project().join(".git/hooks/pre-commit");
    std::fs::write(&hook, format!("#!/bin/sh\nsleep {mark}\n")).expect("hook");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
    let file = place.write_outside("rehearsal.yaml", &Script::quick().text());
    let agent = format!("rehearsal:{file}");
    let driver = place.start(&["run", crate::rehearsed::REQUEST, "--workflow", "quick", "--agent", &agent]);
    wait_until("the hook hangs", || is_alive(&mark));

    let shown = place.remand(&["cancel", "latest"]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let ended = driver.wait_with_output().expect("the process ends");
    assert_eq!(ended.status.code(), Some(4), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!is_alive(&mark), "the hook is dead");
    assert_eq!(place.git(&["branch", "--list", "remand/*"]), "");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}
