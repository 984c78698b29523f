//! Gemini's protocol: calls and texts, whole and as a stream, and side requests.

use crate::wire::post;
use crate::workspace::{Workspace, standin};
use serde_json::{Value, json};

const WHOLE: &str = "/v1beta/models/gemini-x:generateContent";
const STREAM: &str = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse";

fn request(workspace: &Workspace, turns: &[Value]) -> Value {
    let mut contents = vec![
        json!({"role": "user", "parts": [{"text": "here is the context"}, {"text": workspace.prompt()}]}),
    ];
    contents.extend_from_slice(turns);
    let schema = json!({"type": "object", "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}}});
    let tools = json!([{"functionDeclarations": [{"name": "write_file", "parametersJsonSchema": schema}]}]);
    json!({"systemInstruction": {"parts": [{"text": "you code"}]}, "contents": contents, "tools": tools})
}

#[test]
fn calls_and_texts_are_sent_whole_and_as_a_stream() {
    let workspace = Workspace::new();
    let standin = standin(
        "  usage: {tokens: {input: 9, output: 4, cached: 5}}\n  do:\n  - write: {path: a, text: b}\n",
    );
    let first = post(&standin, WHOLE, &request(&workspace, &[])).json();
    let content = first["candidates"][0]["content"].clone();
    let call = &content["parts"][0]["functionCall"];
    assert_eq!((&call["name"], &call["args"]["content"]), (&json!("write_file"), &json!("b")));
    let outcome =
        json!({"functionResponse": {"id": call["id"], "name": "write_file", "response": {"output": "ok"}}});
    let turns = [content.clone(), json!({"role": "user", "parts": [outcome]})];
    let events = post(&standin, STREAM, &request(&workspace, &turns)).events();
    let last = &events[0].1;
    assert_eq!(last["candidates"][0]["content"]["parts"][0]["text"], "done");
    let sum = |kind: &str| {
        [&first, last].map(|turn| turn["usageMetadata"][kind].as_u64().unwrap()).iter().sum::<u64>()
    };
    assert_eq!(sum("promptTokenCount"), 14);
    assert_eq!(sum("cachedContentTokenCount"), 5);
    assert_eq!(sum("candidatesTokenCount"), 4);
    assert_eq!(standin.requests()[0].model, "gemini-x");
}

#[test]
fn a_request_with_a_response_schema_is_a_side_request_and_its_reply_matches_the_schema() {
    let workspace = Workspace::new();
    let standin = standin("  do:\n  - hang: true\n");
    let mut body = request(&workspace, &[]);
    body["tools"] = json!([]);
    body["generationConfig"] = json!({
        "responseMimeType": "application/json",
        "responseJsonSchema": {
            "type": "object", "required": ["next_speaker"], "properties": {"next_speaker": {"enum": ["user", "model"]}},
        },
    });
    let answer = post(&standin, WHOLE, &body).json();
    assert_eq!(answer["candidates"][0]["content"]["parts"][0]["text"], "{\"next_speaker\":\"user\"}");
    assert!(post(&standin, "/v1beta/models/x:countTokens", &body).json()["totalTokens"].is_u64());
}
