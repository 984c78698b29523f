//! OpenAI's responses: freeform tools, namespaces, the built-in shell.

use crate::wire::post;
use crate::workspace::{Workspace, standin};
use serde_json::{Value, json};

const PATH: &str = "/v1/responses";

fn request(workspace: &Workspace, tools: &Value, turns: &[Value]) -> Value {
    let mut input = vec![
        json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<cwd>/x</cwd>"}]}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": workspace.prompt()}]}),
    ];
    input.extend_from_slice(turns);
    json!({"model": "m", "instructions": "you code", "input": input, "tools": tools})
}

fn tools() -> Value {
    json!([
        {"type": "function", "name": "exec_command", "parameters": {
            "type": "object", "required": ["cmd"],
            "properties": {"cmd": {"type": "string"}, "yield_time_ms": {"type": "number"}},
        }},
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
        {"type": "namespace", "name": "mcp__remand", "tools": [{
            "type": "function", "name": "submit_result",
            "parameters": {"type": "object", "properties": {"result": {"type": "object"}}},
        }]},
        {"type": "web_search"},
    ])
}

#[test]
fn patches_commands_and_namespaced_results_each_have_their_form() {
    let workspace = Workspace::new();
    let standin = standin(
        "  do:\n  - write: {path: a.txt, text: \"a\\n\"}\n  - run: make\n  - result: {payload: {verdict: done}}\n",
    );
    let mut history = Vec::new();
    let mut items = Vec::new();
    for _ in 0..4 {
        let turn = post(&standin, PATH, &request(&workspace, &tools(), &history)).json();
        let item = turn["output"][0].clone();
        let kind = format!("{}_output", item["type"].as_str().unwrap());
        history.extend([item.clone(), json!({"type": kind, "call_id": item["call_id"], "output": "ok"})]);
        items.push(item);
    }
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch\n";
    assert_eq!((&items[0]["type"], &items[0]["input"]), (&json!("custom_tool_call"), &json!(patch)));
    let arguments: Value = serde_json::from_str(items[1]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!((&items[1]["name"], &arguments["cmd"]), (&json!("exec_command"), &json!("make")));
    let arguments: Value = serde_json::from_str(items[2]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!((&items[2]["namespace"], &items[2]["name"]), (&json!("mcp__remand"), &json!("submit_result")));
    assert_eq!(arguments["result"]["completion"]["status"], "DONE");
    assert_eq!(items[3]["content"][0]["text"], "done");
}

#[test]
fn a_stream_has_numbered_events_and_ends_with_the_complete_response() {
    let workspace = Workspace::new();
    let standin =
        standin("  usage: {tokens: {input: 5, output: 3, cached: 2}}\n  do:\n  - answer: all done\n");
    let mut body = request(&workspace, &tools(), &[]);
    body["stream"] = json!(true);
    let events = post(&standin, PATH, &body).events();
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "response.created",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(names, expected);
    for (number, (name, data)) in events.iter().enumerate() {
        assert_eq!((&data["type"], &data["sequence_number"]), (&json!(name), &json!(number)));
    }
    let usage = &events[6].1["response"]["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(7), &json!(3)));
    assert_eq!(usage["input_tokens_details"]["cached_tokens"], 2);
}

#[test]
fn the_built_in_shell_takes_a_list_of_words() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - run: make\n");
    let turn = post(&standin, PATH, &request(&workspace, &json!([{"type": "local_shell"}]), &[])).json();
    assert_eq!(turn["output"][0]["type"], "local_shell_call");
    assert_eq!(turn["output"][0]["action"]["command"], json!(["bash", "-c", "make"]));
}
