//! OpenAI's responses, as Codex speaks them.

use super::{Event, items, string, text};
use crate::answer::Answer;
use crate::conversation::{Conversation, Kind, Passage, Tool};
use serde_json::{Value, json};

pub fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: string(body, "model"),
        system: string(body, "instructions"),
        tools: items(body, "tools").flat_map(tools).collect(),
        // A form for the final text is no sign of an aside here: the program's user may ask for one.
        form: None,
        ..Conversation::default()
    };
    if let Some(Value::String(prompt)) = body.get("input") {
        conversation.passages.push(Passage::Prompt(prompt.clone()));
    }
    for item in items(body, "input") {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or("message");
        match (kind, item.get("role").and_then(Value::as_str)) {
            ("message", Some("user")) => {
                conversation.passages.push(Passage::Prompt(text(item.get("content"))));
            }
            ("message", Some("assistant")) => conversation.passages.push(Passage::Text),
            ("message", _) => conversation.system += &format!("\n{}", text(item.get("content"))),
            (kind, _) if kind.ends_with("_call_output") => conversation.passages.push(Passage::Outcome),
            (kind, _) if kind.ends_with("_call") => conversation.passages.push(Passage::Call),
            _ => {}
        }
    }
    conversation
}

fn tools(declared: &Value) -> Vec<Tool> {
    let tool = |declared: &Value, namespace: Option<String>, kind: Kind| Tool {
        name: string(declared, "name"),
        namespace,
        kind,
        schema: declared.get("parameters").cloned().unwrap_or_default(),
    };
    match declared.get("type").and_then(Value::as_str) {
        Some("function") => vec![tool(declared, None, Kind::Function)],
        Some("custom") => vec![tool(declared, None, Kind::Freeform)],
        Some("local_shell") => {
            vec![Tool { name: "local_shell".to_owned(), ..tool(declared, None, Kind::LocalShell) }]
        }
        Some("namespace") => {
            let namespace = string(declared, "name");
            items(declared, "tools").map(|one| tool(one, Some(namespace.clone()), Kind::Function)).collect()
        }
        Some(_) | None => Vec::new(),
    }
}

pub fn whole(answer: &Answer) -> Value {
    json!({
        "id": answer.id("resp"), "object": "response", "created_at": 0, "status": "completed", "model": answer.model,
        "output": output(answer), "usage": usage(answer), "error": null,
    })
}

pub fn stream(answer: &Answer) -> Vec<Event> {
    let mut begun = whole(answer);
    (begun["status"], begun["output"], begun["usage"]) = (json!("in_progress"), json!([]), Value::Null);
    let mut events = vec![("response.created", json!({"response": begun}))];
    for (index, item) in output(answer).into_iter().enumerate() {
        let mut added = item.clone();
        if added["type"] == "message" {
            added["content"] = json!([]);
        }
        events.push(("response.output_item.added", json!({"output_index": index, "item": added})));
        if item["type"] == "message" {
            let place = |field: &str, value: Value| json!({"item_id": item["id"], "output_index": index, "content_index": 0, field: value});
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            events.push(("response.content_part.added", place("part", part)));
            events.push(("response.output_text.delta", place("delta", json!(answer.text))));
            events.push(("response.output_text.done", place("text", json!(answer.text))));
        }
        events.push(("response.output_item.done", json!({"output_index": index, "item": item})));
    }
    events.push(("response.completed", json!({"response": whole(answer)})));
    let numbered = events.into_iter().enumerate().map(|(number, (name, mut data))| {
        (data["type"], data["sequence_number"]) = (json!(name), json!(number));
        (Some(name), data)
    });
    numbered.collect()
}

fn output(answer: &Answer) -> Vec<Value> {
    let message = (!answer.text.is_empty()).then(|| {
        let part = json!({"type": "output_text", "text": answer.text, "annotations": []});
        json!({
            "type": "message", "id": answer.id("msg"), "role": "assistant", "status": "completed", "content": [part],
        })
    });
    message.into_iter().chain(called(answer)).collect()
}

fn called(answer: &Answer) -> Option<Value> {
    let call = answer.call.as_ref()?;
    let mut item = match call.tool.kind {
        Kind::Function => json!({
            "type": "function_call", "id": answer.id("fc"), "name": call.tool.name,
            "arguments": call.arguments.to_string(),
        }),
        Kind::Freeform => json!({
            "type": "custom_tool_call", "id": answer.id("ctc"), "name": call.tool.name, "input": call.arguments,
        }),
        Kind::LocalShell => json!({
            "type": "local_shell_call", "id": answer.id("lsc"),
            "action": {"type": "exec", "command": call.arguments, "env": {}},
        }),
    };
    (item["call_id"], item["status"]) = (json!(answer.call_id()), json!("completed"));
    if let Some(namespace) = &call.tool.namespace {
        item["namespace"] = json!(namespace);
    }
    Some(item)
}

fn usage(answer: &Answer) -> Value {
    json!({
        "input_tokens": answer.read(), "input_tokens_details": {"cached_tokens": answer.usage.cached},
        "output_tokens": answer.usage.output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.read() + answer.usage.output,
    })
}
