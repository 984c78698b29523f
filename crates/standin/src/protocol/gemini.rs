//! Gemini's protocol, as the Gemini CLI speaks it.

use super::{StreamEvent, items, string, text};
use crate::conversation::{Conversation, HistoryItem, OfferedTool, ToolKind};
use crate::reply::ModelReply;
use remand_agents::rehearsal::Outage;
use serde_json::{Value, json};

/// Reads a request. The path names the model.
pub fn read(path: &str, body: &Value) -> Conversation {
    let model = path.rsplit('/').next().and_then(|last| last.split(':').next()).unwrap_or_default();
    let mut conversation = Conversation {
        model: model.to_owned(),
        system: text(body.pointer("/systemInstruction/parts")),
        tools: items(body, "tools")
            .flat_map(|group| items(group, "functionDeclarations").map(tool))
            .collect(),
        response_schema: response_schema(body),
        ..Conversation::default()
    };
    for content in items(body, "contents") {
        let is_model = content.get("role").and_then(Value::as_str) == Some("model");
        conversation.history.extend(items(content, "parts").filter_map(|part| match part {
            part if part.get("functionCall").is_some() => Some(HistoryItem::Call),
            part if part.get("functionResponse").is_some() => Some(HistoryItem::Outcome),
            part if is_model => part.get("text").map(|_| HistoryItem::Text),
            part => part.get("text")?.as_str().map(|text| HistoryItem::Prompt(text.to_owned())),
        }));
    }
    conversation
}

fn tool(declared: &Value) -> OfferedTool {
    let schema = declared.get("parametersJsonSchema").or_else(|| declared.get("parameters"));
    let schema = schema.cloned().unwrap_or_default();
    OfferedTool { name: string(declared, "name"), namespace: None, kind: ToolKind::Function, schema }
}

fn response_schema(body: &Value) -> Option<Value> {
    let config = body.get("generationConfig")?;
    let schema = config.get("responseJsonSchema").or_else(|| config.get("responseSchema")).cloned();
    let is_json = string(config, "responseMimeType") == "application/json";
    schema.or_else(|| is_json.then(|| json!({"type": "object"})))
}

pub fn whole_reply(reply: &ModelReply) -> Value {
    let text = (!reply.text.is_empty()).then(|| json!({"text": reply.text}));
    let call = reply.call.as_ref().map(|call| {
        json!({"functionCall": {"id": reply.call_id(), "name": call.tool.name, "args": call.arguments}})
    });
    let parts: Vec<Value> = text.into_iter().chain(call).collect();
    json!({
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": reply.input_tokens(), "candidatesTokenCount": reply.usage.output,
            "cachedContentTokenCount": reply.usage.cached, "totalTokenCount": reply.input_tokens() + reply.usage.output,
        },
        "modelVersion": reply.model, "responseId": reply.id("response"),
    })
}

pub fn streamed_reply(reply: &ModelReply) -> Vec<StreamEvent> {
    vec![(None, whole_reply(reply))]
}

pub fn error(outage: &Outage, message: &str) -> Value {
    let status = match outage.status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    let details: Vec<Value> = (outage.retry_after.iter())
        .map(|seconds| json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")}))
        .collect();
    json!({"error": {"code": outage.status, "message": message, "status": status, "details": details}})
}
