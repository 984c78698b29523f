//! Requests from programs and the replies to them, for tests to inspect.

use crate::protocol::Protocol;
use remand_agents::rehearsal::ScriptedTokenKinds;
use serde::Serialize;
use serde_json::Value;

/// One request.
#[derive(Clone, Debug, Serialize)]
pub struct Request {
    pub protocol: Option<Protocol>,
    pub method: String,
    pub path: String,
    pub model: String,
    /// The API key of the request.
    pub key: Option<String>,
    /// The dispatch that the request belongs to, in one line.
    pub dispatch: Option<String>,
    /// The HTTP status; `None` until the request is answered.
    pub status: Option<u16>,
    /// The reply in one line.
    pub answered: String,
    pub usage: Option<ScriptedTokenKinds>,
    pub body: Value,
}
