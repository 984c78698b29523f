//! What programs sent, and what they were answered, for tests to look at.

use crate::protocol::Protocol;
use remand_runtime::rehearsal::Kinds;
use serde::Serialize;
use serde_json::Value;

/// One request.
#[derive(Clone, Debug, Serialize)]
pub struct Request {
    pub protocol: Option<Protocol>,
    pub method: String,
    pub path: String,
    pub model: String,
    /// The key that it came with.
    pub key: Option<String>,
    /// The dispatch that it is for, in a line.
    pub dispatch: Option<String>,
    /// The HTTP status; none while it is not answered.
    pub status: Option<u16>,
    /// What was answered, in a line.
    pub answered: String,
    pub usage: Option<Kinds>,
    pub body: Value,
}
