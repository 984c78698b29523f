//! Agents that speak the Agent Client Protocol, in whole runs with a scripted model.

use super::desk::{Desk, Program};
use crate::place::Place;
use crate::rehearsed::{SUB, Script, TEST_SUB, TRIVIAL, implemented, review, role};
use crate::three_tasks::{await_within, marked};
use remand_ledger::fact::NoteKind;
use serde_json::json;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Some of these programs take a minute to start on a machine that has much to do.
const PATIENCE: Duration = Duration::from_secs(300);

fn program(name: &'static str) -> Program {
    Program { name, model: "" }
}

fn desk(script: Script) -> Option<Desk> {
    Desk::at(Place::configured(TRIVIAL), &script.text())
}

/// Work that is done and handed in, and a reviewer that first changes a file and is held from it.
fn works_and_is_held(agent: &'static str, by_tool: bool, tokens: Option<RangeInclusive<u64>>) {
    let used = json!({"tokens": {"input": 4001, "output": 203, "cached": 100}});
    let work = role("implementer").writes("sums/sub.py", SUB).writes("tests/test_sub.py", TEST_SUB);
    let work = work.uses(used).says(implemented(""));
    let approve = || review("code", "general", "approve", &[]);
    let trespass = role("reviewer").attempt(1).writes("sums/sub.py", "no = 1\n").says(approve());
    let Some(desk) = desk(Script::quick().with(work).with(trespass)) else { return };
    let shown = desk.quick(program(agent));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (desk.place.latest(), desk.place.reader());
    assert_eq!(desk.place.git(&["show", &format!("{}:sums/sub.py", run.branch)]), SUB);
    assert_eq!(desk.submissions() > 0, by_tool);
    let rows = reader.dispatches(&run.run).expect("dispatches");
    let failures: Vec<Option<&str>> = rows.iter().map(|row| row.failure.as_deref()).collect();
    assert_eq!(failures, [None, Some("violation"), None], "{rows:?}");
    assert!(rows[0].session.is_some(), "{rows:?}");
    match (rows[0].tokens, tokens) {
        (used, None) => assert_eq!(used, None, "what is not told is unknown"),
        (used, Some(told)) => assert!(used.is_some_and(|used| told.contains(&used)), "{used:?}"),
    }
    let notes = reader.notes(&run.run).expect("notes");
    let denied = |note: &&remand_ledger::query::NoteRow| {
        note.kind == NoteKind::Violation && note.text.contains("was denied")
    };
    assert!(notes.iter().any(|note| denied(&note)), "{notes:?}");
}

/// A cancel in the middle of a turn that never ends.
fn ends_on_cancel(agent: &'static str) {
    let Some(desk) = desk(Script::quick().with(role("implementer").does(json!({"hang": true})))) else {
        return;
    };
    let engine = desk.start_quick(program(agent));
    await_within(PATIENCE, "a turn", || (!desk.turns().is_empty()).then_some(()));
    let run = desk.place.latest().run;
    let cancel = desk.place.remand(&["cancel", &run.0]);
    assert_eq!(cancel.code, 0, "{cancel:?}");
    let ended = engine.wait_with_output().expect("an end");
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
    assert_eq!(marked(&run), Vec::<String>::new());
}

/// A service that does not know the key.
fn is_not_signed_in(agent: &'static str) {
    let refused = role("implementer").does(json!({"service": {"status": 401}}));
    let Some(desk) = desk(Script::quick().with(refused)) else { return };
    let engine = desk.start_quick(program(agent));
    await_within(PATIENCE, "a turn", || (!desk.turns().is_empty()).then_some(()));
    let row = await_within(PATIENCE, "a failure", || {
        let run = desk.place.reader().latest().ok()??.run;
        let rows = desk.place.reader().dispatches(&run).ok()?;
        rows.into_iter().find(|row| row.failure.is_some())
    });
    assert_eq!(row.failure.as_deref(), Some("environment"), "{row:?}");
    assert!(row.detail.as_deref().is_some_and(|detail| detail.contains("is not signed in")), "{row:?}");
    let cancel = desk.place.remand(&["cancel", &desk.place.latest().run.0]);
    assert_eq!(cancel.code, 0, "{cancel:?}");
    engine.wait_with_output().expect("an end");
}

macro_rules! tried {
    ($($module:ident = $agent:literal, by_tool: $by_tool:literal, tokens: $tokens:expr;)+) => {$(
        mod $module {
            // CORE-05, CORE-11, CORE-15
            #[test]
            fn works_and_is_held() {
                super::works_and_is_held($agent, $by_tool, $tokens);
            }

            // CORE-17
            #[test]
            fn ends_on_cancel() {
                super::ends_on_cancel($agent);
            }

            // CORE-10, CORE-15
            #[test]
            fn is_not_signed_in() {
                super::is_not_signed_in($agent);
            }
        }
    )+};
}

tried! {
    claude = "claude-acp", by_tool: true, tokens: Some(4304..=4304);
    codex = "codex-acp", by_tool: true, tokens: None;
    opencode = "opencode-acp", by_tool: true, tokens: None;
    gemini = "gemini-acp", by_tool: false, tokens: Some(4304..=4304);
    qwen = "qwen-acp", by_tool: true, tokens: Some(1..=u64::MAX);
}
