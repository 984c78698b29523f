//! OpenAI's responses protocol, as Codex speaks it.

use super::{StreamEvent, items, string, text};
use crate::conversation::{Conversation, HistoryItem, OfferedTool, ToolKind};
use crate::reply::ModelReply;
use serde_json::{Value, json};

pub fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: string(body, "model"),
        system: string(body, "instructions"),
        tools: items(body, "tools").flat_map(tools).collect(),
        // In this protocol, a schema does not mark a side request: the program's user can set one.
        response_schema: None,
        ..Conversation::default()
    };
    if let Some(Value::String(prompt)) = body.get("input") {
        conversation.history.push(HistoryItem::Prompt(prompt.clone()));
    }
    for item in items(body, "input") {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or("message");
        match (kind, item.get("role").and_then(Value::as_str)) {
            ("message", Some("user")) => {
                conversation.history.push(HistoryItem::Prompt(text(item.get("content"))));
            }
            ("message", Some("assistant")) => conversation.history.push(HistoryItem::Text),
            ("message", _) => conversation.system += &format!("\n{}", text(item.get("content"))),
            (kind, _) if kind.ends_with("_call_output") => conversation.history.push(HistoryItem::Outcome),
            (kind, _) if kind.ends_with("_call") => conversation.history.push(HistoryItem::Call),
            _ => {}
        }
    }
    conversation
}

fn tools(declared: &Value) -> Vec<OfferedTool> {
    let tool = |declared: &Value, namespace: Option<String>, kind: ToolKind| OfferedTool {
        name: string(declared, "name"),
        namespace,
        kind,
        schema: declared.get("parameters").cloned().unwrap_or_default(),
    };
    match declared.get("type").and_then(Value::as_str) {
        Some("function") => vec![tool(declared, None, ToolKind::Function)],
        Some("custom") => vec![tool(declared, None, ToolKind::Freeform)],
        Some("local_shell") => {
            vec![OfferedTool { name: "local_shell".to_owned(), ..tool(declared, None, ToolKind::LocalShell) }]
        }
        Some("namespace") => {
            let namespace = string(declared, "name");
            items(declared, "tools")
                .map(|declared| tool(declared, Some(namespace.clone()), ToolKind::Function))
                .collect()
        }
        Some(_) | None => Vec::new(),
    }
}

pub fn whole_reply(reply: &ModelReply) -> Value {
    json!({
        "id": reply.id("resp"), "object": "response", "created_at": 0, "status": "completed", "model": reply.model,
        "output": output(reply), "usage": usage(reply), "error": null,
    })
}

pub fn streamed_reply(reply: &ModelReply) -> Vec<StreamEvent> {
    let mut started = whole_reply(reply);
    (started["status"], started["output"], started["usage"]) = (json!("in_progress"), json!([]), Value::Null);
    let mut events = vec![("response.created", json!({"response": started}))];
    for (index, item) in output(reply).into_iter().enumerate() {
        let mut added = item.clone();
        if added["type"] == "message" {
            added["content"] = json!([]);
        }
        events.push(("response.output_item.added", json!({"output_index": index, "item": added})));
        if item["type"] == "message" {
            let content_event = |field: &str, value: Value| json!({"item_id": item["id"], "output_index": index, "content_index": 0, field: value});
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            events.push(("response.content_part.added", content_event("part", part)));
            events.push(("response.output_text.delta", content_event("delta", json!(reply.text))));
            events.push(("response.output_text.done", content_event("text", json!(reply.text))));
        }
        events.push(("response.output_item.done", json!({"output_index": index, "item": item})));
    }
    events.push(("response.completed", json!({"response": whole_reply(reply)})));
    let numbered = events.into_iter().enumerate().map(|(number, (name, mut data))| {
        (data["type"], data["sequence_number"]) = (json!(name), json!(number));
        (Some(name), data)
    });
    numbered.collect()
}

fn output(reply: &ModelReply) -> Vec<Value> {
    let message = (!reply.text.is_empty()).then(|| {
        let part = json!({"type": "output_text", "text": reply.text, "annotations": []});
        json!({
            "type": "message", "id": reply.id("msg"), "role": "assistant", "status": "completed", "content": [part],
        })
    });
    message.into_iter().chain(tool_call(reply)).collect()
}

fn tool_call(reply: &ModelReply) -> Option<Value> {
    let call = reply.call.as_ref()?;
    let mut item = match call.tool.kind {
        ToolKind::Function => json!({
            "type": "function_call", "id": reply.id("fc"), "name": call.tool.name,
            "arguments": call.arguments.to_string(),
        }),
        ToolKind::Freeform => json!({
            "type": "custom_tool_call", "id": reply.id("ctc"), "name": call.tool.name, "input": call.arguments,
        }),
        ToolKind::LocalShell => json!({
            "type": "local_shell_call", "id": reply.id("lsc"),
            "action": {"type": "exec", "command": call.arguments, "env": {}},
        }),
    };
    (item["call_id"], item["status"]) = (json!(reply.call_id()), json!("completed"));
    if let Some(namespace) = &call.tool.namespace {
        item["namespace"] = json!(namespace);
    }
    Some(item)
}

fn usage(reply: &ModelReply) -> Value {
    json!({
        "input_tokens": reply.input_tokens(), "input_tokens_details": {"cached_tokens": reply.usage.cached},
        "output_tokens": reply.usage.output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens() + reply.usage.output,
    })
}
