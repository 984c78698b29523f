//! The turns of a model for one dispatch, from the script's entry and the tools that the program offers.

use crate::tool_use::ToolUse;
use crate::toolbox::Toolbox;
use remand_agents::rehearsal::{Outage, ScriptAction, ScriptEntry, fill_in_header};
use serde_json::Value;
use std::time::Duration;

/// All turns in order; the last one ends the conversation or hangs.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnPlan {
    pub turns: Vec<PlannedTurn>,
}

/// One turn of the model, with the outages and the pause before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedTurn {
    /// Service errors before the turn, each with the number of its action.
    pub outages: Vec<(usize, Outage)>,
    pub pause: Duration,
    pub text: String,
    pub end: TurnEnd,
}

/// What a turn ends with.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum TurnEnd {
    Call(Box<ToolUse>),
    /// Only the text.
    #[default]
    End,
    Hang,
}

impl TurnPlan {
    pub fn of(entry: &ScriptEntry, tools: Toolbox<'_>) -> TurnPlan {
        let mut draft =
            Draft { entry, tools, turns: Vec::new(), next: PlannedTurn::default(), last: Vec::new() };
        for (number, action) in entry.actions.iter().enumerate() {
            draft.take(number, action);
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
    last: Vec<String>,
}

impl Draft<'_> {
    fn take(&mut self, number: usize, action: &ScriptAction) {
        match action {
            ScriptAction::Print(text) => self.say(text),
            ScriptAction::Sleep(pause) => self.next.pause += pause.0,
            ScriptAction::Service(outage) => self.next.outages.push((number, *outage)),
            ScriptAction::Answer(text) => self.last.push(text.clone()),
            ScriptAction::Result(value) => self.submit(value),
            ScriptAction::Hang(_) => self.turn(TurnEnd::Hang),
            ScriptAction::Silent(_) => self.turn(TurnEnd::End),
            // `admit` has refused a script with these.
            ScriptAction::Error(_) | ScriptAction::Exit(_) | ScriptAction::Crash(_) => {}
            ScriptAction::ResultText(text) => match self.tools.tool_uses(action) {
                Some(tool_uses) => self.call(tool_uses),
                None => self.last.push(fenced(text)),
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
                Some(tool_uses) => self.call(tool_uses),
                None => self.say(&format!("I have no tool for action {}.", number + 1)),
            },
        }
    }

    fn submit(&mut self, value: &Value) {
        let result =
            if self.entry.raw_result { value.clone() } else { fill_in_header(value, self.tools.info) };
        match self.tools.submit(&result) {
            Some(tool_uses) => self.call(tool_uses),
            None => self.last.push(fenced(&format!("{result:#}"))),
        }
    }

    fn say(&mut self, text: &str) {
        if !self.next.text.is_empty() {
            self.next.text.push('\n');
        }
        self.next.text.push_str(text);
    }

    fn call(&mut self, tool_uses: Vec<ToolUse>) {
        for tool_use in tool_uses {
            self.turn(TurnEnd::Call(Box::new(tool_use)));
        }
    }

    fn turn(&mut self, end: TurnEnd) {
        let turn = std::mem::take(&mut self.next);
        self.turns.push(PlannedTurn { end, ..turn });
    }

    fn finish(mut self) -> TurnPlan {
        let ended = self.turns.last().is_some_and(|turn| !matches!(turn.end, TurnEnd::Call(_)));
        if !ended {
            let last = if self.last.is_empty() { "done".to_owned() } else { self.last.join("\n\n") };
            self.say(&last);
            self.turn(TurnEnd::End);
        }
        TurnPlan { turns: self.turns }
    }
}

fn fenced(text: &str) -> String {
    format!("```yaml\n{}\n```", text.trim_end_matches('\n'))
}
