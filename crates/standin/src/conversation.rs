//! A request, independent of the protocol: the model, the tools, and the history.

use serde_json::Value;

/// A request for the next turn of a model.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    pub model: String,
    pub system: String,
    pub tools: Vec<OfferedTool>,
    pub history: Vec<HistoryItem>,
    /// The JSON schema that the reply must match, if any.
    pub response_schema: Option<Value>,
}

/// One item of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryItem {
    /// Text from the user, or from the program on the user's behalf.
    Prompt(String),
    /// Text from the model.
    Text,
    /// A tool that the model called.
    Call,
    /// The result of a tool call.
    Outcome,
}

/// A tool that the program offers.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    pub name: String,
    /// The namespace of the tool, in protocols that have them.
    pub namespace: Option<String>,
    pub kind: ToolKind,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// How a tool is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// The arguments match a schema.
    Function,
    /// The argument is a string.
    Freeform,
    /// The shell that is built into the protocol.
    LocalShell,
}

impl Conversation {
    /// The prompts with their indexes.
    pub fn prompts(&self) -> impl DoubleEndedIterator<Item = (usize, &str)> {
        self.history.iter().enumerate().filter_map(|(index, item)| match item {
            HistoryItem::Prompt(text) => Some((index, text.as_str())),
            HistoryItem::Text | HistoryItem::Call | HistoryItem::Outcome => None,
        })
    }

    /// The text of all prompts.
    pub fn prompt_text(&self) -> String {
        self.prompts().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    }

    /// The number of tool calls after an index.
    pub fn calls_after(&self, index: usize) -> usize {
        self.history.iter().skip(index + 1).filter(|item| **item == HistoryItem::Call).count()
    }

    /// Whether the program asks for a title, a summary or a judgement instead of the work.
    pub fn is_side_request(&self) -> bool {
        const SIGNS: [&str; 3] = ["title", "summar", "next speaker"];
        let system = self.system.to_lowercase();
        self.tools.is_empty()
            && (self.response_schema.is_some() || SIGNS.iter().any(|sign| system.contains(sign)))
    }
}
