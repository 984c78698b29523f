//! A run that is cancelled while a program waits for its model leaves no process behind.

use super::desk::{CLAUDE, CODEX, Desk, GEMINI, OPENCODE, Program, QWEN};
use crate::three_tasks::{await_some, marked};
use remand_ledger::query::RunStage;

const HANGS: &str = r#"
rehearsal: 1
dispatches:
  - role: implementer
    do:
      - write: {path: sums/half.py, text: "half = 1\n"}
      - hang: true
"#;

fn is_cancelled(program: Program) {
    let Some(desk) = Desk::new(HANGS) else { return };
    let engine = desk.start_quick(program);
    // The model was asked what comes after the first action, and does not answer.
    await_some("the second request", || {
        desk.asked("implementer").iter().any(|request| request.status.is_none()).then_some(())
    });
    let run = desk.place.latest().run;
    assert!(!marked(&run).is_empty());
    let cancel = desk.place.remand(&["cancel", &run.0]);
    assert_eq!(cancel.code, 0, "{cancel:?}");
    let ended = engine.wait_with_output().expect("an end");
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
    assert_eq!(desk.place.latest().stage, RunStage::Cancelled);
    assert_eq!(marked(&run), Vec::<String>::new());
    assert_eq!(desk.place.git(&["status", "--porcelain", "--ignored"]), "");
}

// CORE-17
#[test]
fn claude_is_cancelled_with_all_it_started() {
    is_cancelled(CLAUDE);
}

// CORE-17
#[test]
fn codex_is_cancelled_with_all_it_started() {
    is_cancelled(CODEX);
}

// CORE-17
#[test]
fn opencode_is_cancelled_with_all_it_started() {
    is_cancelled(OPENCODE);
}

// CORE-17
#[test]
fn gemini_is_cancelled_with_all_it_started() {
    is_cancelled(GEMINI);
}

// CORE-17
#[test]
fn qwen_is_cancelled_with_all_it_started() {
    is_cancelled(QWEN);
}
