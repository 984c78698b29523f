//! One tiny dispatch on request, outside of any run: it tells whether a program is there, signed in and understood.

use super::desk::{CLAUDE, CODEX, CODEX_ACP, Desk, GEMINI, OPENCODE, Program, QWEN};
use crate::place::{Place, shown};
use crate::rehearsed::{Script, TRIVIAL, role};
use serde_json::json;

fn is_understood(program: Program) {
    let greeter = role("greeter").says(json!({"verdict": "done", "summary": "Hello."}));
    let script = Script::quick().with(greeter).text();
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), &script) else { return };
    let shown = shown(desk.command(&["doctor", "--agent", program.name, "--model", program.model]));
    let said = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.code == 0 && said.contains("handed in its result"), "{said}{}", shown.err);
    assert_eq!(desk.submissions(), 1);
}

// CORE-11, CORE-15
each! { is_understood:
    claude = CLAUDE;
    codex = CODEX;
    opencode = OPENCODE;
    gemini = GEMINI;
    qwen = QWEN;
    codex_acp = CODEX_ACP;
}
