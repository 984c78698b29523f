//! One tiny dispatch on request, outside of any run, shows whether a program is installed, signed in and understood.

use super::desk::{CLAUDE, CODEX, CODEX_ACP, Desk, GEMINI, KNOWN, OPENCODE, Program, QWEN};
use crate::place::{Place, shown};
use crate::rehearsed::{Script, TRIVIAL, role};
use serde_json::json;

/// Runs the greeting, which must succeed.
fn greet(program: Program) -> Option<Desk> {
    let greeter = role("greeter").says(json!({"verdict": "done", "summary": "Hello."}));
    let script = Script::quick().with(greeter).text();
    let desk = Desk::at(Place::configured(TRIVIAL), &script)?;
    let shown = shown(desk.command(&["doctor", "--agent", program.name, "--model", program.model]));
    let said = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.code == 0 && said.contains("returned a result"), "{said}{}", shown.err);
    Some(desk)
}

fn is_understood(program: Program) {
    let Some(desk) = greet(program) else { return };
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

// CORE-15
#[test]
fn a_model_that_has_to_search_for_the_tool_hands_its_result_in_as_a_file() {
    let Some(desk) = greet(Program { model: KNOWN, ..CODEX }) else { return };
    let turns = desk.turns();
    assert!(turns.iter().all(|turn| turn.body["tools"].to_string().contains("tool_search")), "{turns:?}");
    assert_eq!(desk.submissions(), 0);
}
