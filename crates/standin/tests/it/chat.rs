//! OpenAI's chat completions, whole and as a stream.

use crate::wire::post;
use crate::workspace::{Workspace, standin};
use serde_json::{Value, json};

const PATH: &str = "/v1/chat/completions";

fn tool(name: &str, properties: Value) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}})
}

fn request(workspace: &Workspace, tools: &[Value], turns: &[Value]) -> Value {
    let text = json!({"type": "text", "text": workspace.prompt()});
    let mut messages =
        vec![json!({"role": "system", "content": "you code"}), json!({"role": "user", "content": [text]})];
    messages.extend_from_slice(turns);
    json!({"model": "m", "messages": messages, "tools": tools})
}

/// The items that a program adds to the history after a turn.
fn history_after(turn: &Value) -> [Value; 2] {
    let message = turn["choices"][0]["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    [message, json!({"role": "tool", "tool_call_id": id, "content": "ok"})]
}

fn tool_call(turn: &Value) -> (String, Value) {
    let function = &turn["choices"][0]["message"]["tool_calls"][0]["function"];
    let arguments = function["arguments"].as_str().unwrap_or_else(|| panic!("{turn}"));
    (function["name"].as_str().unwrap().to_owned(), serde_json::from_str(arguments).unwrap())
}

// CORE-11
#[test]
fn actions_become_calls_of_the_programs_tools_and_tokens_add_up() {
    let workspace = Workspace::new();
    std::fs::write(workspace.tree().join("main.rs"), "fn main() {}\n").unwrap();
    let standin = standin(
        "  usage: {tokens: {input: 1000, output: 101, cached: 7}}\n  do:\n\
         \x20 - print: now then\n  - write: {path: a.txt, text: \"a\\n\"}\n\
         \x20 - patch: {path: main.rs, find: '{}', replace: '{ a() }'}\n  - run: make\n\
         \x20 - result: {payload: {verdict: done}}\n  - answer: all done\n",
    );
    let tools = [
        tool("write", json!({"filePath": {"type": "string"}, "content": {"type": "string"}})),
        tool("edit", json!({"filePath": {}, "oldString": {}, "newString": {}})),
        tool("read", json!({"filePath": {"type": "string"}})),
        tool("bash", json!({"command": {"type": "string"}})),
    ];
    let (mut history, mut calls, mut texts, mut used) = (Vec::new(), Vec::new(), Vec::new(), [0, 0, 0]);
    loop {
        let turn = post(&standin, PATH, &request(&workspace, &tools, &history)).json();
        texts.push(turn["choices"][0]["message"]["content"].as_str().unwrap().to_owned());
        let figures = [
            "/usage/prompt_tokens",
            "/usage/completion_tokens",
            "/usage/prompt_tokens_details/cached_tokens",
        ];
        for (sum, figure) in used.iter_mut().zip(figures) {
            *sum += turn.pointer(figure).and_then(Value::as_u64).unwrap();
        }
        if turn["choices"][0]["finish_reason"] == "stop" {
            break;
        }
        calls.push(tool_call(&turn));
        history.extend(history_after(&turn));
    }
    let tree = workspace.tree();
    let file = tree.join("main.rs");
    let result = calls.pop().unwrap();
    let expected = [
        ("write".to_owned(), json!({"filePath": tree.join("a.txt"), "content": "a\n"})),
        ("read".to_owned(), json!({"filePath": file})),
        ("edit".to_owned(), json!({"filePath": file, "oldString": "{}", "newString": "{ a() }"})),
        ("bash".to_owned(), json!({"command": "make"})),
    ];
    assert_eq!(calls, expected);
    assert_eq!((result.0.as_str(), &result.1["filePath"]), ("write", &json!(workspace.result())));
    let written: Value = serde_json::from_str(result.1["content"].as_str().unwrap()).unwrap();
    assert_eq!((&written["agent"], &written["payload"]["verdict"]), (&json!("maker"), &json!("done")));
    assert_eq!(texts, ["now then", "", "", "", "", "all done"]);
    assert_eq!(used, [1007, 101, 7]);
}

#[test]
fn a_dispatch_that_is_issued_again_is_planned_for_the_current_tree() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - write: {path: a.txt, text: b}\n");
    let tools = [
        tool("write", json!({"filePath": {}, "content": {}})),
        tool("read", json!({"filePath": {"type": "string"}})),
    ];
    let first = || tool_call(&post(&standin, PATH, &request(&workspace, &tools, &[])).json()).0;
    assert_eq!(first(), "write");
    std::fs::write(workspace.tree().join("a.txt"), "a").unwrap();
    assert_eq!(first(), "read", "programs allow a replacement only after reading the file");
}

#[test]
fn a_stream_has_the_same_content_in_pieces() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - print: now then\n  - run: make\n");
    let mut body = request(&workspace, &[tool("bash", json!({"command": {"type": "string"}}))], &[]);
    body["stream"] = json!(true);
    let reply = post(&standin, PATH, &body);
    assert!(reply.body.ends_with("data: [DONE]\n\n"));
    let events = reply.events();
    let delta = |at: usize| &events[at].1["choices"][0]["delta"];
    assert_eq!(delta(1)["content"], "now then");
    let function = &delta(2)["tool_calls"][0]["function"];
    assert_eq!(
        (&function["name"], &function["arguments"]),
        (&json!("bash"), &json!("{\"command\":\"make\"}"))
    );
    assert_eq!(events[3].1["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(events[4].1["usage"]["total_tokens"], 1050);
}

#[test]
fn a_title_and_a_request_without_a_dispatch_get_a_short_text_and_use_no_turn() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - service: {status: 500, times: 1}\n");
    let mut title = request(&workspace, &[], &[]);
    title["messages"][0]["content"] = json!("You are a title generator.");
    let nothing = json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]});
    for body in [title, nothing] {
        let reply = post(&standin, PATH, &body);
        assert_eq!(
            (reply.status, &reply.json()["choices"][0]["message"]["content"]),
            (200, &json!("as rehearsed"))
        );
    }
    assert_eq!(
        post(&standin, PATH, &request(&workspace, &[], &[])).status,
        500,
        "only the dispatch gets the outage"
    );
}

#[test]
fn an_action_without_a_tool_is_mentioned_and_the_result_ends_the_final_text() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - write: {path: a, text: b}\n  - result: {payload: {verdict: done}}\n");
    let turn = post(&standin, PATH, &request(&workspace, &[], &[])).json();
    let text = turn["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.starts_with("I have no tool for action 1."), "{text}");
    let block = text.split("```yaml\n").nth(1).and_then(|rest| rest.strip_suffix("\n```")).unwrap();
    let result: Value = serde_json::from_str(block).unwrap();
    assert_eq!(result["payload"]["verdict"], "done");
}
