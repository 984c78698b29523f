//! OpenAI's chat completions, as opencode and Qwen Code speak them.

use super::{Event, items, string, text};
use crate::answer::Answer;
use crate::conversation::{Conversation, Kind, Passage, Tool};
use serde_json::{Value, json};

pub fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: string(body, "model"),
        tools: items(body, "tools").filter_map(tool).collect(),
        form: form(body),
        ..Conversation::default()
    };
    for message in items(body, "messages") {
        let content = text(message.get("content"));
        match message.get("role").and_then(Value::as_str) {
            Some("user") => conversation.passages.push(Passage::Prompt(content)),
            Some("assistant") => {
                conversation.passages.extend((!content.is_empty()).then_some(Passage::Text));
                conversation.passages.extend(items(message, "tool_calls").map(|_| Passage::Call));
            }
            Some("tool") => conversation.passages.push(Passage::Outcome),
            Some(_) | None => conversation.system += &format!("{content}\n"),
        }
    }
    conversation
}

fn tool(declared: &Value) -> Option<Tool> {
    let function = declared.get("function")?;
    let schema = function.get("parameters").cloned().unwrap_or_default();
    Some(Tool { name: string(function, "name"), namespace: None, kind: Kind::Function, schema })
}

fn form(body: &Value) -> Option<Value> {
    let format = body.get("response_format").filter(|format| string(format, "type") != "text")?;
    Some(format.pointer("/json_schema/schema").cloned().unwrap_or_else(|| json!({"type": "object"})))
}

pub fn whole(answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.text});
    if let Some(call) = called(answer) {
        message["tool_calls"] = json!([call]);
    }
    json!({
        "id": answer.id("chatcmpl"), "object": "chat.completion", "created": 0, "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason(answer)}],
        "usage": usage(answer),
    })
}

pub fn stream(answer: &Answer) -> Vec<Event> {
    let chunk = |choices: Value| {
        json!({
            "id": answer.id("chatcmpl"), "object": "chat.completion.chunk", "created": 0, "model": answer.model,
            "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut chunks = vec![delta(json!({"role": "assistant", "content": ""}))];
    if !answer.text.is_empty() {
        chunks.push(delta(json!({"content": answer.text})));
    }
    if let Some(mut call) = called(answer) {
        call["index"] = json!(0);
        chunks.push(delta(json!({"tool_calls": [call]})));
    }
    chunks.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason(answer)}])));
    let mut last = chunk(json!([]));
    last["usage"] = usage(answer);
    chunks.push(last);
    chunks.into_iter().map(|chunk| (None, chunk)).collect()
}

fn called(answer: &Answer) -> Option<Value> {
    let call = answer.call.as_ref()?;
    let function = json!({"name": call.tool.name, "arguments": call.arguments.to_string()});
    Some(json!({"id": answer.call_id(), "type": "function", "function": function}))
}

fn reason(answer: &Answer) -> &'static str {
    if answer.call.is_some() { "tool_calls" } else { "stop" }
}

fn usage(answer: &Answer) -> Value {
    json!({
        "prompt_tokens": answer.read(), "completion_tokens": answer.usage.output,
        "total_tokens": answer.read() + answer.usage.output,
        "prompt_tokens_details": {"cached_tokens": answer.usage.cached},
        "completion_tokens_details": {"reasoning_tokens": 0},
    })
}

pub fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", "invalid_api_key"),
        403 => ("invalid_request_error", "permission_denied"),
        429 => ("requests", "rate_limit_exceeded"),
        400..=499 => ("invalid_request_error", "invalid_request"),
        _ => ("server_error", "server_error"),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}
