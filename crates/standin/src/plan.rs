//! The turns of a model for one dispatch, from the script's entry and the tools that the program offers.

use crate::tool_use::ToolUse;
use crate::toolbox::Toolbox;
use remand_agents::rehearsal::{Outage, ScriptAction, ScriptEntry, fill_in_header};
use serde_json::Value;
use std::time::Duration;

/// All turns in order. The last one ends the conversation or hangs.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnPlan {
    pub turns: Vec<PlannedTurn>,
}

/// One turn of the model, with the outages and the pause before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedTurn {
    /// Service errors before the turn, each with the index of its action.
    pub outages: Vec<(usize, Outage)>,
    pub pause: Duration,
    pub text: String,
    pub end: TurnEnd,
}

/// How a turn ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum TurnEnd {
    Call(Box<ToolUse>),
    /// The turn has no tool call and is the last one.
    #[default]
    End,
    Hang,
}

impl TurnPlan {
    pub fn new(entry: &ScriptEntry, tools: Toolbox<'_>) -> TurnPlan {
        let mut draft =
            Draft { entry, tools, turns: Vec::new(), next: PlannedTurn::default(), final_text: Vec::new() };
        for (index, action) in entry.actions.iter().enumerate() {
            draft.add_action(index, action);
        }
        draft.finish()
    }
}

struct Draft<'a> {
    entry: &'a ScriptEntry,
    tools: Toolbox<'a>,
    turns: Vec<PlannedTurn>,
    next: PlannedTurn,
    /// The parts of the final text.
    final_text: Vec<String>,
}

impl Draft<'_> {
    fn add_action(&mut self, index: usize, action: &ScriptAction) {
        match action {
            ScriptAction::Print(text) => self.add_text(text),
            ScriptAction::Sleep(pause) => self.next.pause += pause.0,
            ScriptAction::Service(outage) => self.next.outages.push((index, outage.clone())),
            ScriptAction::Answer(text) => self.final_text.push(text.clone()),
            ScriptAction::Result(value) => self.submit(value),
            ScriptAction::Hang(_) => self.end_turn(TurnEnd::Hang),
            ScriptAction::Silent(_) => self.end_turn(TurnEnd::End),
            // `admit` refuses scripts with these actions.
            ScriptAction::Error(_) | ScriptAction::Exit(_) | ScriptAction::Crash(_) => {}
            ScriptAction::ResultText(text) => match self.tools.tool_uses(action) {
                Some(tool_uses) => self.add_calls(tool_uses),
                None => self.final_text.push(code_block(text)),
            },
            ScriptAction::Write(_)
            | ScriptAction::Append(_)
            | ScriptAction::Patch(_)
            | ScriptAction::Delete(_)
            | ScriptAction::Mkdir(_)
            | ScriptAction::Symlink(_)
            | ScriptAction::Chmod(_)
            | ScriptAction::Run(_)
            | ScriptAction::ResultBase64(_)
            | ScriptAction::Spawn(_)
            | ScriptAction::Connect(_)
            | ScriptAction::Read(_) => match self.tools.tool_uses(action) {
                Some(tool_uses) => self.add_calls(tool_uses),
                None => self.add_text(&format!("I have no tool for action {}.", index + 1)),
            },
        }
    }

    fn submit(&mut self, value: &Value) {
        let result =
            if self.entry.raw_result { value.clone() } else { fill_in_header(value, self.tools.info) };
        match self.tools.submit(&result) {
            Some(tool_uses) => self.add_calls(tool_uses),
            None => self.final_text.push(code_block(&format!("{result:#}"))),
        }
    }

    fn add_text(&mut self, text: &str) {
        if !self.next.text.is_empty() {
            self.next.text.push('\n');
        }
        self.next.text.push_str(text);
    }

    fn add_calls(&mut self, tool_uses: Vec<ToolUse>) {
        for tool_use in tool_uses {
            self.end_turn(TurnEnd::Call(Box::new(tool_use)));
        }
    }

    fn end_turn(&mut self, end: TurnEnd) {
        let turn = std::mem::take(&mut self.next);
        self.turns.push(PlannedTurn { end, ..turn });
    }

    fn finish(mut self) -> TurnPlan {
        let has_ended = self.turns.last().is_some_and(|turn| !matches!(turn.end, TurnEnd::Call(_)));
        if !has_ended {
            let text =
                if self.final_text.is_empty() { "done".to_owned() } else { self.final_text.join("\n\n") };
            self.add_text(&text);
            self.end_turn(TurnEnd::End);
        }
        TurnPlan { turns: self.turns }
    }
}

fn code_block(text: &str) -> String {
    format!("```yaml\n{}\n```", text.trim_end_matches('\n'))
}
