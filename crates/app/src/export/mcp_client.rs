//! The set-up of `remand mcp` for agent programs: a plugin for Claude Code, and snippets for others.

use super::files::ExportedFile;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The page that explains the other files.
pub const OVERVIEW: &str = "README.md";

/// How long a client must wait for an answer: longer than `wait` takes at most.
const TIMEOUT_SECONDS: u64 = 90;

/// What Remand and the agents that it runs read, in programs that pass on only what is named.
const PASSED: [&str; 8] = [
    "REMAND_STATE_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "USER",
    "ANTHROPIC_API_KEY",
    "CODEX_API_KEY",
    "GEMINI_API_KEY",
    "OPENAI_API_KEY",
];

const COMMAND: &str = "\
---
description: Have a change built, tested and reviewed by Remand, with evidence
argument-hint: what you want
---

Use the tools of the MCP server `remand`.

1. Call `start` with this request: $ARGUMENTS
2. Call `wait` with the `run`, and then again with the `cursor` that it returned, until `over` or `needs_you` is true. Say in one
   line what happened each time.
3. If `needs_you` is true, show the question and the options of each gate, and the command that answers it. Do not answer for the
   user.
4. When the run is over, call `evidence` and report the outcome, what was checked, and how to take the work.
";

pub fn files() -> Vec<ExportedFile> {
    let about = "Runs that are tested, reviewed and proven, from within your agent program";
    let version = env!("CARGO_PKG_VERSION");
    let server = json!({ "command": "remand", "args": ["mcp"] });
    let servers = json!({ "mcpServers": { "remand": server } });
    let timed = json!({ "command": "remand", "args": ["mcp"], "timeout": TIMEOUT_SECONDS * 1000 });
    let extension = json!({ "name": "remand", "version": version, "mcpServers": { "remand": timed } });
    let opencode = json!({
        "$schema": "https://opencode.ai/config.json",
        "mcp": { "remand": {
            "type": "local", "command": ["remand", "mcp"], "enabled": true, "timeout": TIMEOUT_SECONDS * 1000,
        } },
    });
    let plugin =
        json!({ "name": "remand", "version": version, "description": about, "license": "MIT OR Apache-2.0" });
    let market = json!({
        "name": "remand",
        "owner": { "name": "Remand" },
        "plugins": [{ "name": "remand", "source": "./", "description": about }],
    });
    let codex = format!(
        "# Append to ~/.codex/config.toml\n[mcp_servers.remand]\ncommand = \"remand\"\nargs = [\"mcp\"]\n\
         tool_timeout_sec = {TIMEOUT_SECONDS}\n# Codex passes on no other variables.\nenv_vars = {PASSED:?}\n"
    );
    let file = |path: &str, text: String| ExportedFile { path: PathBuf::from(path), text };
    vec![
        file(".claude-plugin/marketplace.json", page(&market)),
        file(".claude-plugin/plugin.json", page(&plugin)),
        file(".mcp.json", page(&servers)),
        file(OVERVIEW, overview()),
        file("codex/config.toml", codex),
        file("commands/remand.md", COMMAND.to_string()),
        file("gemini/gemini-extension.json", page(&extension)),
        file("opencode/opencode.json", page(&opencode)),
        file("qwen/qwen-extension.json", page(&extension)),
    ]
}

fn page(value: &Value) -> String {
    format!("{value:#}\n")
}

fn overview() -> String {
    "\
# Remand in your agent program

These files let an agent program start `remand mcp`. `remand` must be on your `PATH`.

| program | what to do |
| --- | --- |
| Claude Code | `claude plugin marketplace add DIR`, then `claude plugin install remand@remand`; or `claude --plugin-dir DIR` for one session. `/remand:remand what you want` starts a run |
| Codex | append `codex/config.toml` to `~/.codex/config.toml` |
| opencode | merge `opencode/opencode.json` into `~/.config/opencode/opencode.json` |
| Gemini CLI | `gemini extensions install DIR/gemini`, or merge `mcpServers` into `~/.gemini/settings.json` |
| Qwen Code | `qwen extensions install DIR/qwen`, or merge `mcpServers` into `~/.qwen/settings.json` |

The program can start runs, wait for them, and read their findings and evidence. It answers a gate only if you name it, with
`mcp.may-answer` in `~/.config/remand/config.toml` or `--may-answer` after `mcp`, and never one that is asked in every mode.
"
    .to_string()
}
