//! The protocols of the vendors, each a translation to and from one conversation.

mod chat;
mod gemini;
mod messages;
mod responses;

use crate::answer::Answer;
use crate::conversation::Conversation;
use remand_runtime::rehearsal::Outage;
use serde::Serialize;
use serde_json::{Value, json};

/// A way to talk to a model.
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

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The next turn, whole or as a stream.
    Turn(Protocol, Delivery),
    /// How many tokens a conversation has.
    Count(Protocol),
}

/// How an answer is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    Whole,
    Stream,
}

/// One event of a stream: its name, where the protocol gives it one, and its data.
pub type Event = (Option<&'static str>, Value);

impl Question {
    /// Tells by path and body what is asked for; none where nothing here answers it.
    pub fn of(path: &str, body: &Value) -> Option<Question> {
        let asked = match body.get("stream").and_then(Value::as_bool) {
            Some(true) => Delivery::Stream,
            Some(false) | None => Delivery::Whole,
        };
        let ends: [(&str, Question); 7] = [
            ("/chat/completions", Question::Turn(Protocol::Chat, asked)),
            ("/responses", Question::Turn(Protocol::Responses, asked)),
            ("/messages", Question::Turn(Protocol::Messages, asked)),
            ("/messages/count_tokens", Question::Count(Protocol::Messages)),
            (":generateContent", Question::Turn(Protocol::Gemini, Delivery::Whole)),
            (":streamGenerateContent", Question::Turn(Protocol::Gemini, Delivery::Stream)),
            (":countTokens", Question::Count(Protocol::Gemini)),
        ];
        ends.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, question)| question)
    }

    pub fn protocol(self) -> Protocol {
        match self {
            Question::Turn(protocol, _) | Question::Count(protocol) => protocol,
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

    pub fn whole(self, answer: &Answer) -> Value {
        match self {
            Protocol::Chat => chat::whole(answer),
            Protocol::Responses => responses::whole(answer),
            Protocol::Messages => messages::whole(answer),
            Protocol::Gemini => gemini::whole(answer),
        }
    }

    pub fn stream(self, answer: &Answer) -> Vec<Event> {
        match self {
            Protocol::Chat => chat::stream(answer),
            Protocol::Responses => responses::stream(answer),
            Protocol::Messages => messages::stream(answer),
            Protocol::Gemini => gemini::stream(answer),
        }
    }

    /// The words after the last event of a stream.
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

/// The texts of a list of parts, or a plain text.
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

/// The items of a list; none where there is no list.
fn items<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn string(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
