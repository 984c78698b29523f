//! The Stop hooks of real agent programs keep the model from stopping once, and then let it go.

use super::desk::{Desk, KNOWN, tools};
use crate::place::{Place, shown};
use crate::rehearsed::{Script, role};
use crate::vet_recipes::{recipe, with_remand};
use serde_json::json;
use std::fs;

/// A desk whose model breaks a test and says that it is done. The settings of the hook are in the base.
fn desk(settings: &str, recipe_name: &str) -> Option<Desk> {
    let place = Place::new();
    let text = fs::read_to_string(recipe(recipe_name)).expect("a recipe");
    place.write(settings, &text);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "A Stop hook"]);
    place.git(&["branch", "-f", "main", "work"]);
    let breaks = json!({"patch": {"path": "sums/add.py", "find": "a + b", "replace": "a - b"}});
    let work = role("implementer").does(breaks).does(json!({"print": "It is done."}));
    Desk::at(place, &Script::of([work]).text())
}

/// What the user asks for. The stand-in recognizes its entry by the path.
fn request(desk: &Desk) -> String {
    let folder = desk.place.state().join("../dispatches/p1");
    fs::create_dir_all(folder.join("out")).expect("a folder");
    let folder = folder.canonicalize().expect("a folder");
    let result = folder.join("out/result.yaml");
    let about = json!({
        "run": "r", "phase": "build", "role": "implementer", "round": 1, "attempt": 1,
        "result": result, "tree": desk.place.project(), "folder": folder,
    });
    fs::write(folder.join("dispatch.json"), about.to_string()).expect("a file");
    format!("Work, and say so in {}", result.display())
}

/// Runs a program in the project. Returns the number of requests to the model after it was kept from stopping.
fn kept_from_stopping(desk: &Desk, program: &str, arguments: &[&str]) -> usize {
    let program = tools().join("agents/node_modules/.bin").join(program);
    let mut command = with_remand(&desk.place, &program.display().to_string(), arguments);
    let template = desk.command(&[]);
    let variables = template.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(variables.filter(|(name, _)| *name != "PATH")).env("IS_SANDBOX", "1");
    let ended = shown(command);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    assert!(desk.place.git(&["diff"]).contains("a - b"), "the model worked: {}{}", ended.out, ended.err);
    let is_told = |body: &serde_json::Value| body.to_string().contains("The work is not done: 1 test is red");
    desk.standin.requests().iter().filter(|request| is_told(&request.body)).count()
}

// BY-02
#[test]
fn claude_code_is_kept_from_stopping_once() {
    let Some(desk) = desk(".claude/settings.json", "claude-settings.json") else { return };
    let request = request(&desk);
    let line = ["-p", &request, "--model", "claude-sonnet-4-5", "--permission-mode", "bypassPermissions"];
    assert_eq!(kept_from_stopping(&desk, "claude", &line), 1);
}

// BY-02
#[test]
fn codex_is_kept_from_stopping_once() {
    let Some(desk) = desk(".codex/hooks.json", "codex-hooks.json") else { return };
    let settings = desk.place.user_home().join(".codex/config.toml");
    let text = fs::read_to_string(&settings).expect("settings");
    let project = desk.place.project().canonicalize().expect("a folder");
    let trusted =
        format!("{text}[projects.{:?}]\ntrust_level = \"trusted\"\n", project.display().to_string());
    fs::write(&settings, trusted).expect("settings");
    let request = request(&desk);
    let line = [
        "exec",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "--model",
        KNOWN,
        &request,
    ];
    assert_eq!(kept_from_stopping(&desk, "codex", &line), 1);
}
