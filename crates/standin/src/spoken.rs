//! A list of tool calls in a prompt, for programs that work for a person and not for a dispatch.
//!
//! A line `standin: [{"tool": "start", "arguments": {…}}, …]` makes the model call these tools in order. A tool matches
//! if its name ends with the given one, because programs add prefixes.

use crate::conversation::{Conversation, OfferedTool};
use serde::Deserialize;
use serde_json::Value;

const MARK: &str = "standin: ";

/// One call.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SpokenCall {
    pub tool: String,
    pub arguments: Value,
}

/// The next turn of a model that plays the calls of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum SpokenTurn {
    Call { tool: OfferedTool, arguments: Value },
    Text(String),
}

impl SpokenTurn {
    /// The next turn, if a prompt has a list.
    pub fn of(conversation: &Conversation) -> Option<SpokenTurn> {
        let (index, calls) = conversation.prompts().rev().find_map(|(index, text)| {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(MARK))?;
            // Some programs wrap the prompt in quotes or tags.
            let mut values = serde_json::Deserializer::from_str(line).into_iter::<Vec<SpokenCall>>();
            Some((index, values.next()?.ok()?))
        })?;
        let Some(call) = calls.get(conversation.calls_after(index)) else {
            return Some(SpokenTurn::Text("done".to_owned()));
        };
        let names = |tool: &&OfferedTool| {
            let inside = tool.namespace.as_deref().is_some_and(|space| space.contains("remand"));
            tool.name.ends_with(&format!("remand_{}", call.tool))
                || tool.name.ends_with(&format!("remand__{}", call.tool))
                || (inside && tool.name == call.tool)
        };
        Some(match conversation.tools.iter().find(names) {
            Some(tool) => SpokenTurn::Call { tool: tool.clone(), arguments: call.arguments.clone() },
            None => SpokenTurn::Text(format!("there is no tool {}", call.tool)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{HistoryItem, ToolKind};
    use serde_json::json;

    #[test]
    fn the_calls_of_a_prompt_are_played_in_order_and_then_the_model_is_done() {
        let tool = |name: &str, space: Option<&str>| OfferedTool {
            name: name.to_owned(),
            namespace: space.map(str::to_owned),
            kind: ToolKind::Function,
            schema: Value::Null,
        };
        let prompt =
            r#"standin: [{"tool": "start", "arguments": {"a": 1}}, {"tool": "wait", "arguments": {}}]"#;
        let mut conversation = Conversation {
            tools: vec![
                tool("start", None),
                tool("mcp__remand__start", None),
                tool("wait", Some("mcp__remand")),
            ],
            history: vec![HistoryItem::Prompt(format!("Hello.\n  {prompt}\n"))],
            ..Conversation::default()
        };
        let next = |conversation: &Conversation| match SpokenTurn::of(conversation) {
            Some(SpokenTurn::Call { tool, arguments }) => (tool.name, arguments),
            Some(SpokenTurn::Text(text)) => (text, Value::Null),
            None => (String::new(), Value::Null),
        };
        assert_eq!(next(&conversation), ("mcp__remand__start".to_owned(), json!({"a": 1})));
        conversation.history.extend([HistoryItem::Call, HistoryItem::Outcome]);
        assert_eq!(next(&conversation), ("wait".to_owned(), json!({})));
        conversation.history.push(HistoryItem::Call);
        assert_eq!(next(&conversation).0, "done");
        assert_eq!(SpokenTurn::of(&Conversation::default()), None);
    }
}
