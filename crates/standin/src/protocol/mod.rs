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
    /// Gemini's protocol.
    Gemini,
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inquiry {
    /// The next turn, whole or as a stream.
    Turn(Protocol, ReplyMode),
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
    /// The kind of a request, by its path and body; `None` if this service does not answer it.
    pub fn parse(path: &str, body: &Value) -> Option<Inquiry> {
        let mode = match body.get("stream").and_then(Value::as_bool) {
            Some(true) => ReplyMode::Stream,
            Some(false) | None => ReplyMode::Whole,
        };
        let by_suffix: [(&str, Inquiry); 7] = [
            ("/chat/completions", Inquiry::Turn(Protocol::Chat, mode)),
            ("/responses", Inquiry::Turn(Protocol::Responses, mode)),
            ("/messages", Inquiry::Turn(Protocol::Messages, mode)),
            ("/messages/count_tokens", Inquiry::Count(Protocol::Messages)),
            (":generateContent", Inquiry::Turn(Protocol::Gemini, ReplyMode::Whole)),
            (":streamGenerateContent", Inquiry::Turn(Protocol::Gemini, ReplyMode::Stream)),
            (":countTokens", Inquiry::Count(Protocol::Gemini)),
        ];
        by_suffix.into_iter().find(|(suffix, _)| path.ends_with(suffix)).map(|(_, inquiry)| inquiry)
    }

    pub fn protocol(self) -> Protocol {
        match self {
            Inquiry::Turn(protocol, _) | Inquiry::Count(protocol) => protocol,
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

    pub fn whole_reply(self, reply: &ModelReply) -> Value {
        match self {
            Protocol::Chat => chat::whole_reply(reply),
            Protocol::Responses => responses::whole_reply(reply),
            Protocol::Messages => messages::whole_reply(reply),
            Protocol::Gemini => gemini::whole_reply(reply),
        }
    }

    pub fn streamed_reply(self, reply: &ModelReply) -> Vec<StreamEvent> {
        match self {
            Protocol::Chat => chat::streamed_reply(reply),
            Protocol::Responses => responses::streamed_reply(reply),
            Protocol::Messages => messages::streamed_reply(reply),
            Protocol::Gemini => gemini::streamed_reply(reply),
        }
    }

    /// The text after the last event of a stream.
    pub fn end_of_stream(self) -> &'static str {
        match self {
            Protocol::Chat => "data: [DONE]\n\n",
            Protocol::Responses | Protocol::Messages | Protocol::Gemini => "",
        }
    }

    pub fn token_count(self, tokens: u64) -> Value {
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

/// The items of a list; empty if there is no list.
fn items<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn string(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
