//! Creates and describes errors of the protocol.

use agent_client_protocol::Error;
use serde_json::Value;

/// An error that this client raises.
pub fn client_error(message: String) -> Error {
    Error::new(agent_client_protocol::ErrorCode::INTERNAL_ERROR, message)
}

/// The message of an error, with its details.
pub fn describe(error: &Error) -> String {
    let data = error.data.as_ref().unwrap_or(&Value::Null);
    let detail = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_string);
    let more = match data {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        data => detail("message").or_else(|| detail("details")).or_else(|| Some(data.to_string())),
    };
    match more {
        Some(more) if !error.message.contains(&more) => format!("{}: {more}", error.message),
        Some(_) | None => error.message.clone(),
    }
}
