//! OpenAI's chat completions protocol, as opencode and Qwen Code speak it.

use super::{StreamEvent, items, string, text};
use crate::conversation::{Conversation, HistoryItem, OfferedTool, ToolKind};
use crate::reply::ModelReply;
use serde_json::{Value, json};

pub fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: string(body, "model"),
        tools: items(body, "tools").filter_map(tool).collect(),
        response_schema: response_schema(body),
        ..Conversation::default()
    };
    for message in items(body, "messages") {
        let content = text(message.get("content"));
        match message.get("role").and_then(Value::as_str) {
            Some("user") => conversation.history.push(HistoryItem::Prompt(content)),
            Some("assistant") => {
                conversation.history.extend((!content.is_empty()).then_some(HistoryItem::Text));
                conversation.history.extend(items(message, "tool_calls").map(|_| HistoryItem::Call));
            }
            Some("tool") => conversation.history.push(HistoryItem::Outcome),
            Some(_) | None => conversation.system += &format!("{content}\n"),
        }
    }
    conversation
}

fn tool(declared: &Value) -> Option<OfferedTool> {
    let function = declared.get("function")?;
    let schema = function.get("parameters").cloned().unwrap_or_default();
    Some(OfferedTool { name: string(function, "name"), namespace: None, kind: ToolKind::Function, schema })
}

fn response_schema(body: &Value) -> Option<Value> {
    let format = body.get("response_format").filter(|format| string(format, "type") != "text")?;
    Some(format.pointer("/json_schema/schema").cloned().unwrap_or_else(|| json!({"type": "object"})))
}

pub fn whole_reply(reply: &ModelReply) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if let Some(call) = tool_call(reply) {
        message["tool_calls"] = json!([call]);
    }
    json!({
        "id": reply.id("chatcmpl"), "object": "chat.completion", "created": 0, "model": reply.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(reply)}],
        "usage": usage(reply),
    })
}

pub fn streamed_reply(reply: &ModelReply) -> Vec<StreamEvent> {
    let chunk = |choices: Value| {
        json!({
            "id": reply.id("chatcmpl"), "object": "chat.completion.chunk", "created": 0, "model": reply.model,
            "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut chunks = vec![delta(json!({"role": "assistant", "content": ""}))];
    if !reply.text.is_empty() {
        chunks.push(delta(json!({"content": reply.text})));
    }
    if let Some(mut call) = tool_call(reply) {
        call["index"] = json!(0);
        chunks.push(delta(json!({"tool_calls": [call]})));
    }
    chunks.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(reply)}])));
    let mut last = chunk(json!([]));
    last["usage"] = usage(reply);
    chunks.push(last);
    chunks.into_iter().map(|chunk| (None, chunk)).collect()
}

fn tool_call(reply: &ModelReply) -> Option<Value> {
    let call = reply.call.as_ref()?;
    let function = json!({"name": call.tool.name, "arguments": call.arguments.to_string()});
    Some(json!({"id": reply.call_id(), "type": "function", "function": function}))
}

fn finish_reason(reply: &ModelReply) -> &'static str {
    if reply.call.is_some() { "tool_calls" } else { "stop" }
}

fn usage(reply: &ModelReply) -> Value {
    json!({
        "prompt_tokens": reply.input_tokens(), "completion_tokens": reply.usage.output,
        "total_tokens": reply.input_tokens() + reply.usage.output,
        "prompt_tokens_details": {"cached_tokens": reply.usage.cached},
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
