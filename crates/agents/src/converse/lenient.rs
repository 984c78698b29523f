//! Fills in required fields that agents leave out, and removes what the protocol does not define, so that its types can
//! parse the messages.

use agent_client_protocol::ErrorCode;
use agent_client_protocol::v1::schema::PermissionOption;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Completes a message for the protocol's types. Returns `None` for a line that is not a message.
pub fn complete(mut message: Value) -> Option<Value> {
    let parts = message.as_object_mut()?;
    if parts.get("id").is_some_and(Value::is_null) {
        parts.remove("id");
    }
    match parts.get("method").and_then(Value::as_str).map(str::to_string) {
        Some(method) => complete_call(parts, &method),
        None if parts.contains_key("id") => complete_response(parts),
        None => return None,
    }
    parts.insert("jsonrpc".to_string(), json!("2.0"));
    Some(message)
}

fn complete_call(parts: &mut Map<String, Value>, method: &str) {
    parts.retain(|key, _| !matches!(key.as_str(), "result" | "error"));
    let Some(params) = nested_map(parts, "params") else { return };
    set_default(params, "sessionId", json!(""));
    match method {
        "session/update" => {
            if let Some(update) = nested_map(params, "update") {
                complete_update(update);
            }
        }
        "session/request_permission" => {
            if let Some(call) = nested_map(params, "toolCall") {
                set_default(call, "toolCallId", json!(""));
            }
            set_default(params, "options", json!([]));
            if let Some(options) = params.get_mut("options").and_then(Value::as_array_mut) {
                options
                    .iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(|option| set_default(option, "name", json!("")));
                options.retain(|option| PermissionOption::deserialize(option).is_ok());
            }
        }
        "fs/write_text_file" => set_default(params, "content", json!("")),
        _ => {}
    }
}

fn complete_update(update: &mut Map<String, Value>) {
    let kind = update.get("sessionUpdate").and_then(Value::as_str).unwrap_or_default();
    if kind.ends_with("_chunk") {
        set_default(update, "content", json!({"type": "text", "text": ""}));
    } else if kind.starts_with("tool_call") {
        set_default(update, "toolCallId", json!(""));
        set_default(update, "title", json!(""));
    } else if kind == "usage_update" {
        set_default(update, "used", json!(0));
        set_default(update, "size", json!(0));
        if let Some(cost) = update.get_mut("cost").and_then(Value::as_object_mut) {
            set_default(cost, "currency", json!(""));
        }
    }
}

fn complete_response(parts: &mut Map<String, Value>) {
    parts.remove("method");
    let error = parts.remove("error").unwrap_or_default();
    if error.is_null() {
        set_default(parts, "result", Value::Null);
        return;
    }
    let code = error["code"].as_i64().and_then(|code| i32::try_from(code).ok());
    let message = error["message"].as_str().or(error.as_str()).unwrap_or_default();
    let (code, data) = (code.unwrap_or(ErrorCode::INTERNAL_ERROR.value()), &error["data"]);
    parts.remove("result");
    parts.insert("error".to_string(), json!({"code": code, "message": message, "data": data}));
}

/// The map under this key, created if it is missing; `None` if the value is not a map.
fn nested_map<'p>(parts: &'p mut Map<String, Value>, key: &str) -> Option<&'p mut Map<String, Value>> {
    parts.entry(key).or_insert_with(|| json!({})).as_object_mut()
}

fn set_default(parts: &mut Map<String, Value>, key: &str, value: Value) {
    if parts.get(key).is_none_or(Value::is_null) {
        parts.insert(key.to_string(), value);
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use agent_client_protocol::JsonRpcMessage;
    use agent_client_protocol::v1::schema::{AgentNotification, AgentRequest};

    // CORE-15
    #[test]
    fn missing_fields_are_filled_in() {
        for params in [
            json!({"update": {"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "brand_new"}}),
            json!({"update": {"sessionUpdate": "tool_call_update", "status": "unheard_of"}}),
            json!({"update": {"sessionUpdate": "agent_message_chunk", "_meta": {"usage": {}}}}),
            json!({"update": {"sessionUpdate": "usage_update", "cost": {"amount": 1.0}}}),
        ] {
            let message = complete(json!({"method": "session/update", "params": params})).expect("a message");
            assert_eq!(message["jsonrpc"], "2.0");
            AgentNotification::parse_message("session/update", &message["params"]).expect("an update");
        }
        let options = json!([{"optionId": "a", "kind": "allow_once"}, {"optionId": "b", "kind": "perhaps"}]);
        let params = json!({"toolCall": {"title": "x"}, "options": options});
        let message = complete(json!({"id": 1, "method": "session/request_permission", "params": params}));
        let params = message.expect("a message")["params"].take();
        match AgentRequest::parse_message("session/request_permission", &params).expect("a request") {
            AgentRequest::RequestPermissionRequest(request) => assert_eq!(request.options.len(), 1),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_response_becomes_a_result_or_a_complete_error() {
        let response = |parts: Value| complete(parts).expect("a message");
        assert_eq!(
            response(json!({"id": 1, "error": null})),
            json!({"id": 1, "result": null, "jsonrpc": "2.0"})
        );
        let error = |parts: Value| response(json!({"id": 1, "error": parts}))["error"].take();
        assert_eq!(error(json!({"code": 7})), json!({"code": 7, "message": "", "data": null}));
        assert_eq!(error(json!("no")), json!({"code": -32603, "message": "no", "data": null}));
    }

    #[test]
    fn lines_that_are_not_messages_are_ignored() {
        for line in [json!("Starting"), json!({"level": "info"}), json!([1]), json!({"id": null})] {
            assert_eq!(complete(line.clone()), None, "{line}");
        }
    }
}
