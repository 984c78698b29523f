//! Each real agent program plays a script, and the effects of the model's actions are checked.

use crate::workspace::{Workspace, standin};
use remand_process::{Cancel, Exit, JobEnd, ProcessJob, run};
use remand_standin::{Protocol, Standin};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const ENTRY: &str = "  usage: {tokens: {input: 4001, output: 203, cached: 100}}\n  do:\n\
                     \x20 - write: {path: hello.txt, text: \"hello\\n\"}\n\
                     \x20 - run: echo ran > ran.txt\n\
                     \x20 - patch: {path: main.rs, find: '{}', replace: '{ run() }'}\n\
                     \x20 - result: {payload: {verdict: done}}\n\
                     \x20 - answer: all done\n";

/// The path of a program that `tools/agents` installed; `None`, with a message, if the user skipped the programs.
fn installed_program(name: &str) -> Option<PathBuf> {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools");
    let tools = std::env::var_os("REMAND_TEST_TOOLS").map_or_else(built, PathBuf::from);
    let programs = tools.join("agents/node_modules/.bin");
    let without = std::env::var("REMAND_TEST_WITHOUT").unwrap_or_default();
    if without.split(',').any(|left_out| left_out == "agents") {
        eprintln!("NOT TESTED: {name}, because REMAND_TEST_WITHOUT contains agents");
        return None;
    }
    let program = programs.join(name);
    assert!(
        program.exists(),
        "`{name}` is missing: install it with `tools/agents {}`, or set REMAND_TEST_WITHOUT=agents to skip the test",
        tools.join("agents").display()
    );
    Some(program)
}

/// A program with a dispatch.
struct Trial {
    workspace: Workspace,
    standin: Standin,
    job: ProcessJob,
}

impl Trial {
    fn new(name: &str) -> Option<Trial> {
        let program = installed_program(name)?;
        let (workspace, standin) = (Workspace::new(), standin(ENTRY));
        fs::write(workspace.tree().join("main.rs"), "fn main() {}\n").unwrap();
        let (home, temporary) = (workspace.root().join("home"), workspace.root().join("tmp"));
        for folder in [&home, &temporary] {
            fs::create_dir(folder).unwrap();
        }
        let marker = format!("standin-{}", workspace.root().display());
        let mut job = ProcessJob::new([program], workspace.tree(), marker).inherit(&["PATH"]);
        job.stdin = workspace.prompt().into_bytes();
        job.limits.time = Duration::from_secs(300);
        let mut trial = Trial { workspace, standin, job };
        trial.set("HOME", home);
        trial.set("TMPDIR", temporary);
        Some(trial)
    }

    fn set(&mut self, name: &str, value: impl Into<std::ffi::OsString>) {
        self.job.environment.insert(name.into(), value.into());
    }

    fn arguments<const N: usize>(&mut self, arguments: [&str; N]) {
        self.job.argv.extend(arguments.map(Into::into));
    }

    /// Runs the program, and checks the effects of the script.
    fn play(&self, protocol: Protocol) -> Vec<Value> {
        let ended = run(&self.job, &Cancel::new()).unwrap();
        let said = format!("{}\n{}", ended.stdout.text(), ended.stderr.text());
        assert_eq!(ended.exit, Exit::Code(0), "{said}");
        let held = |path: PathBuf| {
            fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}: {said}", path.display()))
        };
        let tree = self.workspace.tree();
        assert_eq!(held(tree.join("hello.txt")), "hello\n");
        assert_eq!(held(tree.join("ran.txt")), "ran\n");
        assert_eq!(held(tree.join("main.rs")), "fn main() { run() }\n");
        let result: Value = serde_json::from_str(&held(self.workspace.result())).unwrap();
        assert_eq!((&result["agent"], &result["payload"]["verdict"]), (&json!("maker"), &json!("done")));
        let requests = self.standin.requests();
        let mut turns =
            requests.iter().filter(|request| request.protocol.is_some() && request.dispatch.is_some());
        assert!(turns.all(|turn| turn.protocol == Some(protocol) && turn.status == Some(200)), "{said}");
        lines(&ended)
    }
}

fn lines(ended: &JobEnd) -> Vec<Value> {
    ended.stdout.text().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The last line with this type.
fn last<'l>(lines: &'l [Value], kind: &str) -> &'l Value {
    lines.iter().rfind(|line| line["type"] == kind).unwrap_or_else(|| panic!("no {kind}: {lines:?}"))
}

fn figures<const N: usize>(usage: &Value, names: [&str; N]) -> [u64; N] {
    names.map(|name| usage[name].as_u64().unwrap_or_else(|| panic!("no {name}: {usage}")))
}

// CORE-11
#[test]
fn codex_does_what_the_script_says() {
    let Some(mut trial) = Trial::new("codex") else { return };
    trial.set("STANDIN_KEY", "key");
    let service = format!(
        "model_providers.standin={{name=\"Stand-in\",base_url=\"{}/v1\",env_key=\"STANDIN_KEY\",wire_api=\"responses\"}}",
        trial.standin.url()
    );
    let writable = format!("sandbox_workspace_write.writable_roots=[{:?}]", trial.workspace.out());
    trial.arguments(["exec", "--json", "--skip-git-repo-check", "-s", "workspace-write"]);
    trial.arguments([
        "-c",
        "model=stand-in",
        "-c",
        "model_provider=standin",
        "-c",
        &service,
        "-c",
        &writable,
        "-",
    ]);
    let lines = trial.play(Protocol::Responses);
    let usage = &last(&lines, "turn.completed")["usage"];
    assert_eq!(figures(usage, ["input_tokens", "cached_input_tokens", "output_tokens"]), [4101, 100, 203]);
    assert_eq!(last(&lines, "item.completed")["item"]["text"], "all done");
}

// CORE-11
#[test]
fn claude_does_what_the_script_says() {
    let Some(mut trial) = Trial::new("claude") else { return };
    let (url, out) = (trial.standin.url(), trial.workspace.out());
    trial.set("ANTHROPIC_BASE_URL", url);
    trial.set("ANTHROPIC_API_KEY", "key");
    trial.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    trial.arguments(["-p", "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5"]);
    trial.arguments(["--permission-mode", "acceptEdits", "--setting-sources", "", "--allowedTools", "Bash"]);
    trial.arguments(["--add-dir", out.to_str().unwrap()]);
    let lines = trial.play(Protocol::Messages);
    let result = last(&lines, "result");
    let names = ["input_tokens", "cache_read_input_tokens", "output_tokens"];
    assert_eq!(figures(&result["usage"], names), [4001, 100, 203]);
    assert_eq!((&result["is_error"], &result["result"]), (&json!(false), &json!("all done")));
}

// CORE-11
#[test]
fn opencode_does_what_the_script_says() {
    let Some(mut trial) = Trial::new("opencode") else { return };
    let model = json!({"tool_call": true, "limit": {"context": 128_000, "output": 4096}});
    let settings = json!({
        "autoupdate": false, "share": "disabled", "model": "standin/stand-in", "small_model": "standin/stand-in",
        "enabled_providers": ["standin"], "permission": {"*": "allow", "external_directory": "allow"},
        "provider": {"standin": {
            "npm": "@ai-sdk/openai-compatible", "models": {"stand-in": model},
            "options": {"baseURL": format!("{}/v1", trial.standin.url()), "apiKey": "key"},
        }},
    });
    trial.set("OPENCODE_CONFIG_CONTENT", settings.to_string());
    for switch in ["AUTOUPDATE", "MODELS_FETCH", "PROJECT_CONFIG"] {
        trial.set(&format!("OPENCODE_DISABLE_{switch}"), "1");
    }
    trial.arguments(["run", "--format", "json"]);
    let lines = trial.play(Protocol::Chat);
    let steps =
        || lines.iter().filter(|line| line["type"] == "step_finish").map(|line| &line["part"]["tokens"]);
    let sum = |workspace: &str| {
        steps().map(|tokens| tokens.pointer(workspace).and_then(Value::as_u64).unwrap()).sum::<u64>()
    };
    assert_eq!(["/input", "/cache/read", "/output"].map(sum), [4001, 100, 203]);
    assert_eq!(last(&lines, "text")["part"]["text"], "all done");
}

// CORE-11
#[test]
fn gemini_does_what_the_script_says() {
    let Some(mut trial) = Trial::new("gemini") else { return };
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false}, "general": {"enableAutoUpdate": false},
    });
    let folder = trial.workspace.root().join("home/.gemini");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let (url, out) = (trial.standin.url(), trial.workspace.out());
    trial.set("GOOGLE_GEMINI_BASE_URL", url);
    trial.set("GEMINI_API_KEY", "key");
    trial.set("GEMINI_CLI_TRUST_WORKSPACE", "true");
    trial.arguments(["-m", "gemini-2.5-flash", "-o", "stream-json", "--approval-mode", "yolo"]);
    trial.arguments(["--include-directories", out.to_str().unwrap()]);
    let lines = trial.play(Protocol::Gemini);
    let stats = &last(&lines, "result")["stats"];
    assert_eq!(figures(stats, ["input_tokens", "cached", "output_tokens"]), [4101, 100, 203]);
    assert_eq!(last(&lines, "message")["content"], "all done");
}

// CORE-11
#[test]
fn qwen_does_what_the_script_says() {
    let Some(mut trial) = Trial::new("qwen") else { return };
    let url = format!("{}/v1", trial.standin.url());
    trial.set("OPENAI_BASE_URL", url);
    trial.set("OPENAI_API_KEY", "key");
    trial.set("OPENAI_MODEL", "stand-in");
    trial.arguments(["--auth-type", "openai", "-o", "stream-json", "--approval-mode", "yolo"]);
    let lines = trial.play(Protocol::Chat);
    let result = last(&lines, "result");
    let names = ["input_tokens", "cache_read_input_tokens", "output_tokens"];
    assert_eq!(figures(&result["usage"], names), [4101, 100, 203]);
    assert_eq!((&result["is_error"], &result["result"]), (&json!(false), &json!("all done")));
}
