//! The other way around: real agent programs that a person works with start runs through `remand mcp`.

use super::desk::{CLAUDE, CODEX, Desk, GEMINI, OPENCODE, Program, QWEN};
use crate::place::{Place, shown};
use crate::rehearsed::{REQUEST, Script, TRIVIAL};
use remand_kernel::Event;
use remand_ledger::query::RunStage;
use serde_json::json;
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// Merges the exported snippet into the settings of the program, and returns the command line that asks it.
fn ask(desk: &Desk, plugin: &Path, program: Program, prompt: &str) -> Command {
    let snippet = |path: &str| std::fs::read_to_string(plugin.join(path)).expect("a snippet");
    let merged = |path: &str, more: serde_json::Value| {
        let extension: serde_json::Value = serde_json::from_str(&snippet(path)).expect("JSON");
        let mut settings = more;
        settings["mcpServers"] = extension["mcpServers"].clone();
        settings["mcpServers"]["remand"]["trust"] = json!(true);
        settings.to_string()
    };
    let argv: Vec<String> = match program.name {
        "claude" => {
            let tools = "mcp__remand__start,mcp__remand__wait,mcp__remand__evidence,mcp__remand__answer";
            let config = plugin.join(".mcp.json").display().to_string();
            let words =
                ["-p", prompt, "--output-format", "stream-json", "--verbose", "--model", program.model];
            let more = [
                "--setting-sources",
                "",
                "--mcp-config",
                &config,
                "--strict-mcp-config",
                "--allowedTools",
                tools,
            ];
            words.iter().chain(&more).map(ToString::to_string).collect()
        }
        "codex" => {
            let file = desk.place.user_home().join(".codex/config.toml");
            let before = std::fs::read_to_string(&file).expect("the configuration");
            let approved =
                format!("{}default_tools_approval_mode = \"approve\"\n", snippet("codex/config.toml"));
            std::fs::write(file, format!("{before}\n{approved}")).expect("a file");
            ["exec", "--json", "-m", program.model, prompt].map(str::to_string).to_vec()
        }
        // It puts an argument with spaces in quotes; its standard input it takes as it is.
        "opencode" => ["run", "--format", "json"].map(str::to_string).to_vec(),
        "gemini" => {
            let own = json!({
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false},
                "general": {"enableAutoUpdate": false},
            });
            desk.write_in_home(".gemini/settings.json", &merged("gemini/gemini-extension.json", own));
            ["-p", prompt, "-m", program.model, "-o", "stream-json"].map(str::to_string).to_vec()
        }
        _ => {
            // Otherwise the model has to search for the tools.
            let names = ["start", "wait", "evidence", "answer"].map(|name| format!("mcp__remand__{name}"));
            let visible = json!({"tools": {"visible": names}});
            desk.write_in_home(".qwen/settings.json", &merged("qwen/qwen-extension.json", visible));
            [prompt, "--auth-type", "openai", "-o", "stream-json"].map(str::to_string).to_vec()
        }
    };
    let mut command = desk.command(&[]);
    let path = std::env::join_paths(
        Path::new(env!("CARGO_BIN_EXE_remand")).parent().into_iter().map(Path::to_path_buf).chain(
            command
                .get_envs()
                .filter(|(name, _)| *name == "PATH")
                .filter_map(|(_, value)| value)
                .flat_map(|value| std::env::split_paths(value).collect::<Vec<_>>()),
        ),
    )
    .expect("a path");
    let environment: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command = Command::new("env");
    command.env_clear().envs(environment).env("PATH", path).current_dir(desk.place.project());
    command.stdin(match program.name {
        "opencode" => File::open(desk.place.write_outside("prompt.txt", prompt)).expect("a file").into(),
        _ => std::process::Stdio::null(),
    });
    for (name, value) in [
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("ENABLE_TOOL_SEARCH", "false"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
    ] {
        command.env(name, value);
    }
    if program.name == "opencode" {
        command.env("OPENCODE_CONFIG_CONTENT", snippet("opencode/opencode.json"));
    }
    command.arg(program.name).args(argv);
    command
}

/// The program starts a run, waits for it and reads its evidence; then it tries to answer a gate that is for people.
fn starts_a_run(program: Program) {
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), &Script::quick().text()) else { return };
    let place = &desk.place;
    let held = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(held.code, 5, "{}{}", held.out, held.err);
    let gate = place.reader().open_gates().expect("gates").remove(0);
    let plugin = place.user_home().join("plugin");
    assert_eq!(place.remand(&["export", "--mcp", &plugin.display().to_string()]).code, 0);

    let agent = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &Script::quick().text()));
    place.set_user_agent(&agent);
    let start = json!({"request": REQUEST, "workflow": "quick"});
    let answer = json!({
        "run": gate.run, "gate": gate.command, "digest": gate.digest().to_string(), "option": "go-on",
    });
    let calls = json!([
        {"tool": "start", "arguments": start},
        {"tool": "wait", "arguments": {"run": "latest"}},
        {"tool": "wait", "arguments": {"run": "latest"}},
        {"tool": "evidence", "arguments": {"run": "latest"}},
        {"tool": "answer", "arguments": answer},
    ]);
    let said = shown(ask(&desk, &plugin, program, &format!("Use remand.\nstandin: {calls}\n")));
    let requests = desk.standin.requests();
    let asked: Vec<&str> = requests.iter().map(|request| request.answered.as_str()).collect();
    let trace = || format!("{asked:#?}\n{}\n{}", said.out, said.err);

    let run = place.latest();
    assert_ne!(run.run, gate.run, "a run was started: {}", trace());
    assert_eq!(run.stage, RunStage::Committed, "{}", trace());
    let heard = requests.iter().map(|request| request.body.to_string()).collect::<String>();
    let evidence = format!("remand/{}", run.run);
    assert!(
        heard.contains(&evidence) && heard.contains("test -d sums"),
        "the evidence came back: {}",
        trace()
    );
    assert!(heard.contains("refused, and recorded"), "{}", trace());

    let refused = place.reader().refused_requests(&gate.run).expect("requests");
    assert_eq!(refused.len(), 1, "{}", trace());
    let Event::Answered { option, by, .. } = &refused[0].request.event else { panic!("{refused:?}") };
    assert!(option == "go-on" && by.starts_with("ada, through ") && by.ends_with(" over MCP"), "{by}");
    assert_eq!(place.reader().open_gates().expect("gates"), [gate], "it still waits");
}

// BY-10
each! { starts_a_run:
    claude = CLAUDE;
    codex = CODEX;
    opencode = OPENCODE;
    gemini = GEMINI;
    qwen = QWEN;
}
