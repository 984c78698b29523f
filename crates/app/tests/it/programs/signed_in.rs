//! A key in the environment is enough to sign a program in with its vendor's service; without a key it is reported as not
//! signed in.

use super::desk::{CODEX, CODEX_ACP, Desk, GEMINI, KEY, Program};
use crate::place::{Place, Shown, shown};
use crate::rehearsed::{Script, TRIVIAL, role};
use serde_json::json;

/// A desk with the stand-in as the service of OpenAI.
fn desk() -> Option<Desk> {
    let greeter = role("greeter").says(json!({"verdict": "done", "summary": "Hello."}));
    let desk = Desk::at(Place::configured(TRIVIAL), &Script::quick().with(greeter).text())?;
    let url = desk.standin.url();
    desk.write_in_home(".codex/config.toml", &format!("openai_base_url = \"{url}/v1\"\n"));
    Some(desk)
}

fn greet(desk: &Desk, program: Program, keys: &[&str]) -> Shown {
    let mut command = desk.command(&["doctor", "--agent", program.name, "--model", program.model]);
    for key in ["OPENAI_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"] {
        command.env_remove(key);
    }
    command.envs(keys.iter().map(|key| (key, KEY)));
    shown(command)
}

fn signs_in(program: Program, key: &str) {
    let Some(desk) = desk() else { return };
    let shown = greet(&desk, program, &[key]);
    assert!(shown.code == 0 && shown.out.contains("returned a result"), "{shown:?}");
    let turns = desk.turns();
    assert!(!turns.is_empty() && turns.iter().all(|turn| turn.key.as_deref() == Some(KEY)), "{turns:?}");
}

// CORE-10
each! { signs_in:
    codex = CODEX, "CODEX_API_KEY";
    codex_acp = CODEX_ACP, "CODEX_API_KEY";
    codex_acp_by_another_key = CODEX_ACP, "OPENAI_API_KEY";
    gemini = GEMINI, "GEMINI_API_KEY";
}

fn is_not_signed_in(program: Program, keys: &[&str]) {
    let Some(desk) = desk() else { return };
    let shown = greet(&desk, program, keys);
    let said = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.code == 1 && said.contains("is not signed in"), "{said}{}", shown.err);
    assert!(desk.turns().is_empty());
}

// CORE-10
each! { is_not_signed_in:
    codex_acp_without_a_key = CODEX_ACP, &[];
    gemini_without_a_key = GEMINI, &["GOOGLE_API_KEY"];
}
