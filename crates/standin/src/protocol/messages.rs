//! Anthropic's messages protocol, as Claude Code speaks it.

use super::{StreamEvent, items, string, text};
use crate::conversation::{Conversation, HistoryItem, OfferedTool, ToolKind};
use crate::reply::ModelReply;
use serde_json::{Value, json};

pub fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: string(body, "model"),
        system: text(body.get("system")),
        tools: items(body, "tools").filter_map(tool).collect(),
        response_schema: ["/output_format/schema", "/output_config/format/schema"]
            .iter()
            .find_map(|pointer| body.pointer(pointer).cloned()),
        ..Conversation::default()
    };
    for message in items(body, "messages") {
        let is_user = message.get("role").and_then(Value::as_str) == Some("user");
        let text_item = |text: &Value| match (is_user, text.as_str()) {
            (true, Some(text)) => HistoryItem::Prompt(text.to_owned()),
            (true, None) | (false, _) => HistoryItem::Text,
        };
        if let Some(content @ Value::String(_)) = message.get("content") {
            conversation.history.push(text_item(content));
        }
        conversation.history.extend(items(message, "content").filter_map(|block| {
            match block.get("type").and_then(Value::as_str) {
                Some("text") => block.get("text").map(text_item),
                Some("tool_use") => Some(HistoryItem::Call),
                Some("tool_result") => Some(HistoryItem::Outcome),
                Some(_) | None => None,
            }
        }));
    }
    conversation
}

fn tool(declared: &Value) -> Option<OfferedTool> {
    let schema = declared.get("input_schema")?.clone();
    Some(OfferedTool { name: string(declared, "name"), namespace: None, kind: ToolKind::Function, schema })
}

pub fn whole_reply(reply: &ModelReply) -> Value {
    json!({
        "id": reply.id("msg"), "type": "message", "role": "assistant", "model": reply.model,
        "content": blocks(reply), "stop_reason": stop_reason(reply), "stop_sequence": null, "usage": usage(reply),
    })
}

pub fn streamed_reply(reply: &ModelReply) -> Vec<StreamEvent> {
    let mut started = whole_reply(reply);
    (started["content"], started["stop_reason"]) = (json!([]), Value::Null);
    started["usage"]["output_tokens"] = json!(0);
    let mut events = vec![("message_start", json!({"message": started}))];
    for (index, block) in blocks(reply).into_iter().enumerate() {
        let mut empty = block.clone();
        let delta = match block["type"].as_str() {
            Some("tool_use") => {
                empty["input"] = json!({});
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
            }
            Some(_) | None => {
                empty["text"] = json!("");
                json!({"type": "text_delta", "text": block["text"]})
            }
        };
        events.push(("content_block_start", json!({"index": index, "content_block": empty})));
        events.push(("content_block_delta", json!({"index": index, "delta": delta})));
        events.push(("content_block_stop", json!({"index": index})));
    }
    let end = json!({"stop_reason": stop_reason(reply), "stop_sequence": null});
    events.push(("message_delta", json!({"delta": end, "usage": {"output_tokens": reply.usage.output}})));
    events.push(("message_stop", json!({})));
    let named = events.into_iter().map(|(name, mut data)| {
        data["type"] = json!(name);
        (Some(name), data)
    });
    named.collect()
}

fn blocks(reply: &ModelReply) -> Vec<Value> {
    let text = (!reply.text.is_empty()).then(|| json!({"type": "text", "text": reply.text}));
    let call = reply.call.as_ref().map(|call| {
        let id = format!("toolu_{}", reply.call_id());
        json!({"type": "tool_use", "id": id, "name": call.tool.name, "input": call.arguments})
    });
    text.into_iter().chain(call).collect()
}

fn stop_reason(reply: &ModelReply) -> &'static str {
    if reply.call.is_some() { "tool_use" } else { "end_turn" }
}

fn usage(reply: &ModelReply) -> Value {
    json!({
        "input_tokens": reply.usage.input, "output_tokens": reply.usage.output,
        "cache_read_input_tokens": reply.usage.cached, "cache_creation_input_tokens": 0,
    })
}

pub fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}
