//! Anthropic's messages, and its token count.

use crate::wire::{ask, post};
use crate::workspace::{Workspace, standin};
use serde_json::{Value, json};

const PATH: &str = "/v1/messages?beta=true";

fn request(workspace: &Workspace, turns: &[Value]) -> Value {
    let reminder = json!({"type": "text", "text": "<system-reminder>be nice</system-reminder>"});
    let mut messages =
        vec![json!({"role": "user", "content": [reminder, {"type": "text", "text": workspace.prompt()}]})];
    messages.extend_from_slice(turns);
    let submit = json!({
        "name": "mcp__remand__submit_result",
        "input_schema": {"type": "object", "properties": {"result": {"type": "object"}}, "required": ["result"]},
    });
    let shell = json!({
        "name": "Bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
    });
    json!({"model": "m", "system": [{"type": "text", "text": "you code"}], "messages": messages, "tools": [submit, shell]})
}

#[test]
fn a_result_goes_to_the_submit_tool() {
    let workspace = Workspace::new();
    let standin = standin("  usage: {tokens: 211}\n  do:\n  - result: {payload: {verdict: done}}\n");
    let first = post(&standin, PATH, &request(&workspace, &[])).json();
    let call = &first["content"][0];
    assert_eq!((&call["type"], &call["name"]), (&json!("tool_use"), &json!("mcp__remand__submit_result")));
    assert_eq!(call["input"]["result"]["payload"], json!({"verdict": "done"}));
    let outcome = json!({"type": "tool_result", "tool_use_id": call["id"], "content": "accepted"});
    let turns = [
        json!({"role": "assistant", "content": first["content"]}),
        json!({"role": "user", "content": [outcome]}),
    ];
    let last = post(&standin, PATH, &request(&workspace, &turns)).json();
    assert_eq!((&last["content"][0]["text"], &last["stop_reason"]), (&json!("done"), &json!("end_turn")));
    let sum: u64 = ["input_tokens", "output_tokens"]
        .iter()
        .flat_map(|kind| [&first, &last].map(|turn| turn["usage"][kind].as_u64().unwrap()))
        .sum();
    assert_eq!(sum, 211);
}

#[test]
fn a_malformed_result_is_written_to_the_file_with_the_shell() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - result-text: 'no: [yaml'\n");
    let turn = post(&standin, PATH, &request(&workspace, &[])).json();
    let command = turn["content"][0]["input"]["command"].as_str().unwrap();
    let status = std::process::Command::new("sh").arg("-c").arg(command).status().unwrap();
    assert!(status.success());
    assert_eq!(std::fs::read_to_string(workspace.result()).unwrap(), "no: [yaml");
}

#[test]
fn a_stream_has_events_for_start_delta_and_stop_of_each_block() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - print: now then\n  - run: make\n");
    let mut body = request(&workspace, &[]);
    body["stream"] = json!(true);
    let events = post(&standin, PATH, &body).events();
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected: Vec<&str> = ["message_start"]
        .into_iter()
        .chain(block)
        .chain(block)
        .chain(["message_delta", "message_stop"])
        .collect();
    assert_eq!(names, expected);
    assert_eq!(events[2].1["delta"]["text"], "now then");
    assert_eq!(events[5].1["delta"]["partial_json"], "{\"command\":\"make\"}");
    assert_eq!(events[0].1["message"]["usage"]["input_tokens"], 1000);
    assert_eq!(events[7].1["usage"]["output_tokens"], 50);
}

#[test]
fn the_service_counts_tokens_lists_models_and_answers_a_probe() {
    let standin = standin("  do: []\n");
    let body = json!({"model": "m", "messages": []});
    assert!(post(&standin, "/v1/messages/count_tokens", &body).json()["input_tokens"].is_u64());
    assert_eq!(ask(&standin, "GET", "/v1/models", "").json()["object"], "list");
    assert_eq!(ask(&standin, "HEAD", "/", "").status, 200);
    assert_eq!(ask(&standin, "POST", "/elsewhere", "{}").status, 404);
    let paths: Vec<String> = standin.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/messages/count_tokens", "/v1/models", "/", "/elsewhere"]);
}
