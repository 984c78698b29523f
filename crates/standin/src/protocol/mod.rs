//! The protocols of the vendors, each translated to and from the common conversation.

mod chat;
mod gemini;
mod messages;
mod responses;

use crate::conversation::Conversation;
use crate::reply::ModelReply;
use remand_agents::rehearsal::Outage;
use serde::Serialize;
use serde_json::{Value, json};

/// A vendor protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
    /// Gemini's contents.
    Gemini,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inquiry {
    /// The next turn, whole or as a stream.
    PlannedTurn(Protocol, ReplyMode),
    /// The token count of a conversation.
    Count(Protocol),
}

/// How a reply is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyMode {
    Whole,
    Stream,
}

/// One event of a stream: its name, if the protocol has one, and its data.
pub type StreamEvent = (Option<&'static str>, Value);

impl Inquiry {
    /// What a request asks for, by path and body; none if this service does not answer it.
    pub fn of(path: &str, body: &Value) -> Option<Inquiry> {
        let asked = match body.get("stream").and_then(Value::as_bool) {
            Some(true) => ReplyMode::Stream,
            Some(false) | None => ReplyMode::Whole,
        };
        let ends: [(&str, Inquiry); 7] = [
            ("/chat/completions", Inquiry::PlannedTurn(Protocol::Chat, asked)),
            ("/responses", Inquiry::PlannedTurn(Protocol::Responses, asked)),
            ("/messages", Inquiry::PlannedTurn(Protocol::Messages, asked)),
            ("/messages/count_tokens", Inquiry::Count(Protocol::Messages)),
            (":generateContent", Inquiry::PlannedTurn(Protocol::Gemini, ReplyMode::Whole)),
            (":streamGenerateContent", Inquiry::PlannedTurn(Protocol::Gemini, ReplyMode::Stream)),
            (":countTokens", Inquiry::Count(Protocol::Gemini)),
        ];
        ends.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, question)| question)
    }

    pub fn protocol(self) -> Protocol {
        match self {
            Inquiry::PlannedTurn(protocol, _) | Inquiry::Count(protocol) => protocol,
        }
    }
}

impl Protocol {
    pub fn read(self, path: &str, body: &Value) -> Conversation {
        match self {
            Protocol::Chat => chat::read(body),
            Protocol::Responses => responses::read(body),
            Protocol::Messages => messages::read(body),
            Protocol::Gemini => gemini::read(path, body),
        }
    }

    pub fn whole(self, reply: &ModelReply) -> Value {
        match self {
            Protocol::Chat => chat::whole(reply),
            Protocol::Responses => responses::whole(reply),
            Protocol::Messages => messages::whole(reply),
            Protocol::Gemini => gemini::whole(reply),
        }
    }

    pub fn stream(self, reply: &ModelReply) -> Vec<StreamEvent> {
        match self {
            Protocol::Chat => chat::stream(reply),
            Protocol::Responses => responses::stream(reply),
            Protocol::Messages => messages::stream(reply),
            Protocol::Gemini => gemini::stream(reply),
        }
    }

    /// The text after the last event of a stream.
    pub fn end_of_stream(self) -> &'static str {
        match self {
            Protocol::Chat => "data: [DONE]\n\n",
            Protocol::Responses | Protocol::Messages | Protocol::Gemini => "",
        }
    }

    pub fn count(self, tokens: u64) -> Value {
        match self {
            Protocol::Gemini => json!({"totalTokens": tokens}),
            Protocol::Chat | Protocol::Responses | Protocol::Messages => json!({"input_tokens": tokens}),
        }
    }

    pub fn error(self, outage: &Outage, message: &str) -> Value {
        match self {
            Protocol::Chat | Protocol::Responses => chat::error(outage.status, message),
            Protocol::Messages => messages::error(outage.status, message),
            Protocol::Gemini => gemini::error(outage, message),
        }
    }
}

/// The strings of a list of parts, or a plain string.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(_) | None => String::new(),
    }
}

/// The items of a list; empty without a list.
fn items<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn string(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
