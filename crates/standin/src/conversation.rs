//! What a request says, whatever its protocol: who speaks, which tools there are, and what happened so far.

use serde_json::Value;

/// A request for the next turn of a model.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    pub model: String,
    pub system: String,
    pub tools: Vec<Tool>,
    pub passages: Vec<Passage>,
    /// The JSON schema that the answer is to have, where the program asks for one.
    pub form: Option<Value>,
}

/// One thing that was said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passage {
    /// By the user, or by the program in the user's name.
    Prompt(String),
    /// Text of the model.
    Text,
    /// A tool that the model called.
    Call,
    /// What a tool gave back.
    Outcome,
}

/// A tool that the program offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub name: String,
    /// The group that it is called in, where the protocol has such.
    pub namespace: Option<String>,
    pub kind: Kind,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// How a tool is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// With arguments by a schema.
    Function,
    /// With a text.
    Freeform,
    /// The shell that the protocol itself knows.
    LocalShell,
}

impl Conversation {
    /// The user's texts with their places.
    pub fn prompts(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> {
        self.passages.iter().enumerate().filter_map(|(at, passage)| match passage {
            Passage::Prompt(text) => Some((at, text.as_str())),
            Passage::Text | Passage::Call | Passage::Outcome => None,
        })
    }

    /// How many tools were called after a place.
    pub fn calls_after(&self, at: usize) -> usize {
        self.passages.iter().skip(at + 1).filter(|passage| **passage == Passage::Call).count()
    }

    /// Tells whether the program asks for something beside the work: a title, a summary, a judgement in a form of its own.
    pub fn is_aside(&self) -> bool {
        const SIGNS: [&str; 3] = ["title", "summar", "next speaker"];
        let system = self.system.to_lowercase();
        self.tools.is_empty() && (self.form.is_some() || SIGNS.iter().any(|sign| system.contains(sign)))
    }
}
