//! The turns of a model for one dispatch, from the script's entry and the tools that the program offers.

use crate::gesture::Gesture;
use crate::toolbox::Toolbox;
use remand_runtime::rehearsal::{Action, Entry, Outage, completed};
use serde_json::Value;
use std::time::Duration;

/// All turns in order; the last one ends the conversation, or never comes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub turns: Vec<Turn>,
}

/// One turn of the model, and what comes before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// Errors of the service that requests meet first, with the number of their action.
    pub outages: Vec<(usize, Outage)>,
    pub pause: Duration,
    pub text: String,
    pub deed: Deed,
}

/// What a turn comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Deed {
    Call(Box<Gesture>),
    /// Nothing more than the text.
    #[default]
    End,
    Hang,
}

impl Plan {
    pub fn of(entry: &Entry, tools: Toolbox<'_>) -> Plan {
        let mut draft = Draft { entry, tools, turns: Vec::new(), next: Turn::default(), last: Vec::new() };
        for (number, action) in entry.actions.iter().enumerate() {
            draft.take(number, action);
        }
        draft.finish()
    }
}

struct Draft<'a> {
    entry: &'a Entry,
    tools: Toolbox<'a>,
    turns: Vec<Turn>,
    next: Turn,
    /// What the final text says.
    last: Vec<String>,
}

impl Draft<'_> {
    fn take(&mut self, number: usize, action: &Action) {
        match action {
            Action::Print(text) => self.say(text),
            Action::Sleep(pause) => self.next.pause += pause.0,
            Action::Service(outage) => self.next.outages.push((number, *outage)),
            Action::Answer(text) => self.last.push(text.clone()),
            Action::Result(value) => self.submit(value),
            Action::Hang(_) => self.turn(Deed::Hang),
            Action::Silent(_) => self.turn(Deed::End),
            // Refused when the script was admitted.
            Action::Error(_) | Action::Exit(_) | Action::Crash(_) => {}
            Action::ResultText(text) => match self.tools.gestures(action) {
                Some(gestures) => self.call(gestures),
                None => self.last.push(fenced(text)),
            },
            Action::Write(_)
            | Action::Append(_)
            | Action::Patch(_)
            | Action::Delete(_)
            | Action::Mkdir(_)
            | Action::Symlink(_)
            | Action::Chmod(_)
            | Action::Run(_)
            | Action::ResultBase64(_)
            | Action::Spawn(_)
            | Action::Connect(_)
            | Action::Read(_) => match self.tools.gestures(action) {
                Some(gestures) => self.call(gestures),
                None => self.say(&format!("I have no tool for action {}.", number + 1)),
            },
        }
    }

    fn submit(&mut self, value: &Value) {
        let result = if self.entry.raw_result { value.clone() } else { completed(value, self.tools.info) };
        match self.tools.submit(&result) {
            Some(gestures) => self.call(gestures),
            None => self.last.push(fenced(&format!("{result:#}"))),
        }
    }

    fn say(&mut self, text: &str) {
        if !self.next.text.is_empty() {
            self.next.text.push('\n');
        }
        self.next.text.push_str(text);
    }

    fn call(&mut self, gestures: Vec<Gesture>) {
        for gesture in gestures {
            self.turn(Deed::Call(Box::new(gesture)));
        }
    }

    fn turn(&mut self, deed: Deed) {
        let turn = std::mem::take(&mut self.next);
        self.turns.push(Turn { deed, ..turn });
    }

    fn finish(mut self) -> Plan {
        let ended = self.turns.last().is_some_and(|turn| !matches!(turn.deed, Deed::Call(_)));
        if !ended {
            let last = if self.last.is_empty() { "done".to_owned() } else { self.last.join("\n\n") };
            self.say(&last);
            self.turn(Deed::End);
        }
        Plan { turns: self.turns }
    }
}

fn fenced(text: &str) -> String {
    format!("```yaml\n{}\n```", text.trim_end_matches('\n'))
}
