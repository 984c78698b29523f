//! Messages recorded in whole runs with real agents match the schema of the protocol.

use super::desk::{CLAUDE_ACP, Desk, OPENCODE_ACP, Program, tools};
use crate::place::Place;
use crate::rehearsed::TRIVIAL;
use crate::three_tasks::await_some;
use remand_agents::converse::{ConversationPlan, McpServerCommand};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

/// A malformed result is corrected, so the agent resumes its session.
const CORRECTED: &str = r#"
rehearsal: 1
dispatches:
  - role: implementer
    attempt: 1
    do:
      - write: {path: sums/sub.py, text: "def sub(a, b):\n    return a - b\n"}
      - result: {payload: {verdict: splendid}}
  - role: implementer
    do:
      - result:
          payload:
            verdict: done
            hypothesis: A function is enough.
            changes: [{file: sums/sub.py, what: Subtraction., why: the request}]
  - role: reviewer
    do:
      - result:
          payload: {verdict: approve, summary: It does what was asked for.}
"#;

/// A proxy in front of the agent that records the input if the role may write.
const LISTENER: &str =
    "#!/bin/sh\nif touch heard.jsonl 2>/dev/null; then tee -a heard.jsonl; else cat; fi | PROGRAM \"$@\"\n";

/// The name in the schema for a message that Remand sends.
fn shape(message: &Value) -> Option<&'static str> {
    Some(match message["method"].as_str() {
        Some("initialize") => "InitializeRequest",
        Some("authenticate") => "AuthenticateRequest",
        Some("session/new") => "NewSessionRequest",
        Some("session/load") => "LoadSessionRequest",
        Some("session/prompt") => "PromptRequest",
        Some("session/set_mode") => "SetSessionModeRequest",
        Some("session/set_config_option") => "SetSessionConfigOptionRequest",
        Some("session/cancel") => "CancelNotification",
        Some(other) => panic!("{other} is not in the schema"),
        None if message["result"].get("outcome").is_some() => "RequestPermissionResponse",
        None if message["result"].get("content").is_some() => "ReadTextFileResponse",
        None if message["result"].is_object() => "WriteTextFileResponse",
        None => return None,
    })
}

fn speaks_as_the_schema_says(program: Program, command: &str, more: &[&str]) {
    let Some(desk) = Desk::at(Place::configured(TRIVIAL), CORRECTED) else { return };
    let agents = tools().join("agents");
    let real = agents.join("node_modules/.bin").join(command);
    let listener =
        desk.place.write_program("listener", &LISTENER.replace("PROGRAM", &real.display().to_string()));
    let row = format!("[agents.{}]\ncommand = [{listener:?}]\nreads = [{agents:?}]\n", program.name);
    desk.write_in_home(".config/remand/config.toml", &row);
    let shown = desk.quick(program);
    assert_eq!(shown.code, 0, "{shown:?}");

    let path = agents.join("node_modules/@agentclientprotocol/sdk/schema/v1/schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).expect("the schema")).expect("JSON");
    let mut shapes = BTreeSet::new();
    for line in desk.committed("heard.jsonl").lines() {
        let message: Value = serde_json::from_str(line).expect("a message");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        let Some(name) = shape(&message) else { continue };
        let part = json!({"$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"]});
        let validator = jsonschema::validator_for(&part).expect("a schema");
        let body = if message["method"].is_string() { &message["params"] } else { &message["result"] };
        let errors: Vec<String> = validator.iter_errors(body).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{message}");
        shapes.insert(name);
    }
    let usual = ["InitializeRequest", "NewSessionRequest", "LoadSessionRequest", "PromptRequest"];
    for name in usual.iter().chain(more) {
        assert!(shapes.contains(name), "{name}: {shapes:?}");
    }
}

// CORE-15
each! { speaks_as_the_schema_says:
    opencode = OPENCODE_ACP, "opencode", &["RequestPermissionResponse"];
    claude = CLAUDE_ACP, "claude-agent-acp", &["RequestPermissionResponse"];
}

/// Records its input and ends its turn when it is cancelled.
const AGENT: &str = r#"#!/bin/sh
while read -r line; do
    printf '%s\n' "$line" >> "$1"
    id=$(printf '%s' "$line" | grep -o '"id":[^,}]*' | head -n 1 | cut -d: -f2-)
    case "$line" in
        *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1}}' ;;
        *'"session/new"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s"}}' ;;
        *'"session/prompt"'*) prompt=$id ;;
        *'"session/cancel"'*) echo '{"jsonrpc":"2.0","id":'$prompt',"result":{"stopReason":"cancelled"}}' ;;
    esac
done
"#;

// CORE-17
#[test]
fn a_cancel_reaches_the_agent_before_anything_is_killed() {
    let place = Place::new();
    let agent = place.write_program("agent", AGENT);
    let (heard, tree) = (place.write_outside("heard", ""), place.project());
    let server = McpServerCommand { name: "remand".to_string(), command: "true".into(), args: Vec::new() };
    let plan = ConversationPlan {
        out: tree.clone(),
        tree,
        write: false,
        shell: false,
        network: false,
        session: None,
        model: None,
        mode: None,
        reads: true,
        tokens: true,
        session_log: None,
        meta: None,
        server,
    };
    let plan = place.write_outside("plan.json", &serde_json::to_string(&plan).expect("a plan"));
    let mut command = place.command(&["converse", "--plan", &plan, "--", &agent, &heard]);
    let client = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("a client");
    let received = |method: &str| std::fs::read_to_string(&heard).is_ok_and(|text| text.contains(method));
    await_some("the prompt", || received("session/prompt").then_some(()));
    let term = Command::new("kill").arg(client.id().to_string()).status().expect("kill");
    assert!(term.success());
    let ended = client.wait_with_output().expect("an end");
    assert!(received("session/cancel"), "{ended:?}");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(said.contains(r#""reason":"cancelled""#) && ended.status.code() == Some(1), "{said}");
}
