//! Cancelling a run while a program waits for its model leaves no process running.

use super::desk::{
    CLAUDE, CLAUDE_ACP, CODEX, CODEX_ACP, Desk, GEMINI, GEMINI_ACP, OPENCODE, OPENCODE_ACP, Program, QWEN,
    QWEN_ACP,
};
use crate::place::Place;
use crate::rehearsed::TRIVIAL;
use crate::three_tasks::{await_some, marked_processes};
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
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), HANGS) else { return };
    let engine = desk.start_quick(program);
    // The model was asked for its second action, and does not answer.
    await_some("the second request", || {
        desk.asked("implementer").iter().any(|request| request.status.is_none()).then_some(())
    });
    let run = desk.place.latest().run;
    assert!(!marked_processes(&run).is_empty());
    let cancel = desk.place.remand(&["cancel", &run.0]);
    assert_eq!(cancel.code, 0, "{cancel:?}");
    let ended = engine.wait_with_output().expect("an end");
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
    assert_eq!(desk.place.latest().stage, RunStage::Stopped);
    assert_eq!(marked_processes(&run), Vec::<String>::new());
    assert_eq!(desk.place.git(&["status", "--porcelain", "--ignored"]), "");
}

// CORE-17
each! { is_cancelled:
    claude = CLAUDE;
    codex = CODEX;
    opencode = OPENCODE;
    gemini = GEMINI;
    qwen = QWEN;
    claude_acp = CLAUDE_ACP;
    codex_acp = CODEX_ACP;
    opencode_acp = OPENCODE_ACP;
    gemini_acp = GEMINI_ACP;
    qwen_acp = QWEN_ACP;
}
