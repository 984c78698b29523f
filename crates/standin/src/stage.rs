//! What the stand-in does with a request: finds the dispatch, the turn that comes next, and the outages before it.

use crate::answer::{Answer, Call};
use crate::conversation::Conversation;
use crate::errand::Errand;
use crate::plan::{Deed, Plan};
use crate::schema;
use crate::toolbox::Toolbox;
use crate::usage::share;
use remand_runtime::rehearsal::{Entry, Kinds, Outage, Script, missing};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A script being played, with what cannot be told from requests alone.
#[derive(Debug)]
pub struct Stage {
    script: Script,
    /// Files that are there decide on tools, so a plan is made when a conversation begins, and kept.
    plans: BTreeMap<(PathBuf, Vec<String>), Arc<Plan>>,
    /// How many requests of a dispatch met an outage, by its action.
    met: BTreeMap<(PathBuf, usize), u32>,
    serial: u64,
}

/// What comes of a request.
#[derive(Clone, Debug)]
pub enum Move {
    Answer { after: Duration, answer: Box<Answer> },
    Fail { outage: Outage, message: String },
    Hang,
}

impl Stage {
    pub fn new(script: Script) -> Stage {
        Stage { script, plans: BTreeMap::new(), met: BTreeMap::new(), serial: 0 }
    }

    /// Decides what comes of a request for the next turn.
    pub fn next(&mut self, conversation: &Conversation, errand: Option<&Errand>) -> Move {
        let Some(errand) = errand.filter(|_| !conversation.is_aside()) else {
            return self.aside(conversation);
        };
        let Some(entry) = self.script.entry(&errand.info).cloned() else {
            let message = format!(
                "the rehearsal has no entry for this dispatch; add this one:\n{}",
                missing(&errand.info, None)
            );
            return Move::Fail { outage: Outage { status: 400, retry_after: None, times: None }, message };
        };
        let plan = self.plan(&entry, conversation, errand);
        // What is asked after the last turn gets the last one again.
        let turn = errand.played.min(plan.turns.len() - 1);
        let next = &plan.turns[turn];
        for (action, outage) in &next.outages {
            let met = self.met.entry((errand.about.clone(), *action)).or_default();
            if outage.times.is_none_or(|times| *met < times) {
                *met += 1;
                return Move::Fail { outage: *outage, message: format!("scripted {}", outage.status) };
            }
        }
        let call = match &next.deed {
            Deed::Hang => return Move::Hang,
            Deed::End => None,
            Deed::Call(gesture) => Some(Call { tool: gesture.tool.clone(), arguments: gesture.arguments() }),
        };
        let tokens = entry.usage.and_then(|usage| usage.tokens);
        let usage = share(tokens, errand.played.min(plan.turns.len()), plan.turns.len());
        let answer = Answer {
            serial: self.serial(),
            model: entry.model.unwrap_or_else(|| conversation.model.clone()),
            text: next.text.clone(),
            call,
            usage,
        };
        Move::Answer { after: next.pause, answer: Box::new(answer) }
    }

    fn plan(&mut self, entry: &Entry, conversation: &Conversation, errand: &Errand) -> Arc<Plan> {
        let tools = &conversation.tools;
        let names = tools.iter().map(|tool| tool.name.clone()).collect();
        let make = || Arc::new(Plan::of(entry, Toolbox { tools, info: &errand.info }));
        let key = (errand.about.clone(), names);
        if errand.played == 0 {
            // The same dispatch may be issued again, on another tree.
            self.plans.remove(&key);
        }
        self.plans.entry(key).or_insert_with(make).clone()
    }

    fn aside(&mut self, conversation: &Conversation) -> Move {
        let text = match &conversation.form {
            Some(form) => schema::plain(form).to_string(),
            None => "as rehearsed".to_owned(),
        };
        let (model, usage) = (conversation.model.clone(), Kinds { input: 10, output: 2, cached: 0 });
        let answer = Answer { serial: self.serial(), model, text, call: None, usage };
        Move::Answer { after: Duration::ZERO, answer: Box::new(answer) }
    }

    fn serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }
}
