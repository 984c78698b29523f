//! Requests of programs and their replies, for tests to inspect.

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
    /// Its dispatch in one line.
    pub dispatch: Option<String>,
    /// The HTTP status; none until it is answered.
    pub status: Option<u16>,
    /// The reply in one line.
    pub answered: String,
    pub usage: Option<ScriptedTokenKinds>,
    pub body: Value,
}
