//! Plays a script: finds the next turn of a dispatch, and the outages before it.

use crate::conversation::Conversation;
use crate::dispatch::DispatchProgress;
use crate::plan::{TurnEnd, TurnPlan};
use crate::reply::{Call, ModelReply};
use crate::schema;
use crate::spoken::SpokenTurn;
use crate::toolbox::Toolbox;
use crate::usage::turn_share;
use remand_agents::rehearsal::{Outage, Script, ScriptEntry, ScriptedTokenKinds, missing_entry};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Plays a script, and keeps the state that requests do not contain.
#[derive(Debug)]
pub struct ScriptPlayer {
    script: Script,
    /// The plans, by dispatch file and tool names. Each conversation gets a new plan, because plans depend on files.
    plans: BTreeMap<(PathBuf, Vec<String>), Arc<TurnPlan>>,
    /// How often each outage was served, by dispatch file and index of the action.
    served_outages: BTreeMap<(PathBuf, usize), u32>,
    /// The number of the last reply.
    serial: u64,
}

/// The response to a request.
#[derive(Clone, Debug)]
pub enum PlayedResponse {
    Reply { after: Duration, reply: Box<ModelReply> },
    Fail { outage: Outage, message: String },
    Hang,
}

impl ScriptPlayer {
    pub fn new(script: Script) -> ScriptPlayer {
        ScriptPlayer { script, plans: BTreeMap::new(), served_outages: BTreeMap::new(), serial: 0 }
    }

    /// The response to a request for the next turn.
    pub fn respond(
        &mut self,
        conversation: &Conversation,
        dispatch: Option<&DispatchProgress>,
    ) -> PlayedResponse {
        let Some(dispatch) = dispatch.filter(|_| !conversation.is_side_request()) else {
            return self.side_reply(conversation);
        };
        let Some(entry) = self.script.entry(&dispatch.info).cloned() else {
            let message = format!(
                "the rehearsal has no entry for this dispatch; add this one:\n{}",
                missing_entry(&dispatch.info, None)
            );
            return PlayedResponse::Fail {
                outage: Outage { status: 400, retry_after: None, times: None, message: None },
                message,
            };
        };
        if let Some(message) = entry.missing(&conversation.prompt_text()) {
            let outage = Outage { status: 400, retry_after: None, times: None, message: None };
            return PlayedResponse::Fail { outage, message };
        }
        let plan = self.plan(&entry, conversation, dispatch);
        // Requests after the last turn get the last turn again.
        let turn = &plan.turns[dispatch.played.min(plan.turns.len() - 1)];
        for (action, outage) in &turn.outages {
            let served = self.served_outages.entry((dispatch.about.clone(), *action)).or_default();
            if outage.times.is_none_or(|times| *served < times) {
                *served += 1;
                return PlayedResponse::Fail {
                    message: outage.message.clone().unwrap_or_else(|| format!("scripted {}", outage.status)),
                    outage: outage.clone(),
                };
            }
        }
        let call = match &turn.end {
            TurnEnd::Hang => return PlayedResponse::Hang,
            TurnEnd::End => None,
            TurnEnd::Call(tool_use) => {
                Some(Call { tool: tool_use.tool.clone(), arguments: tool_use.arguments() })
            }
        };
        let tokens = entry.usage.and_then(|usage| usage.tokens);
        let usage = turn_share(tokens, dispatch.played.min(plan.turns.len()), plan.turns.len());
        let reply = ModelReply {
            serial: self.next_serial(),
            model: entry.model.unwrap_or_else(|| conversation.model.clone()),
            text: turn.text.clone(),
            call,
            usage,
        };
        PlayedResponse::Reply { after: turn.pause, reply: Box::new(reply) }
    }

    fn plan(
        &mut self,
        entry: &ScriptEntry,
        conversation: &Conversation,
        dispatch: &DispatchProgress,
    ) -> Arc<TurnPlan> {
        let tools = &conversation.tools;
        let names = tools.iter().map(|tool| tool.name.clone()).collect();
        let make = || Arc::new(TurnPlan::new(entry, Toolbox { tools, info: &dispatch.info }));
        let key = (dispatch.about.clone(), names);
        if dispatch.played == 0 {
            // The same dispatch may be issued again on another tree.
            self.plans.remove(&key);
        }
        self.plans.entry(key).or_insert_with(make).clone()
    }

    /// The reply to a program that works for a person and not for a dispatch.
    fn spoken_reply(&mut self, conversation: &Conversation, turn: SpokenTurn) -> PlayedResponse {
        let (text, call) = match turn {
            SpokenTurn::Call { tool, arguments } => (String::new(), Some(Call { tool, arguments })),
            SpokenTurn::Text(text) => (text, None),
        };
        let usage = ScriptedTokenKinds { input: 10, output: 2, cached: 0 };
        let reply =
            ModelReply { serial: self.next_serial(), model: conversation.model.clone(), text, call, usage };
        PlayedResponse::Reply { after: Duration::ZERO, reply: Box::new(reply) }
    }

    fn side_reply(&mut self, conversation: &Conversation) -> PlayedResponse {
        if let Some(turn) = SpokenTurn::of(conversation).filter(|_| !conversation.is_side_request()) {
            return self.spoken_reply(conversation, turn);
        }
        let text = match &conversation.response_schema {
            Some(schema) => schema::simple_value(schema).to_string(),
            None => "as rehearsed".to_owned(),
        };
        let (model, usage) =
            (conversation.model.clone(), ScriptedTokenKinds { input: 10, output: 2, cached: 0 });
        let reply = ModelReply { serial: self.next_serial(), model, text, call: None, usage };
        PlayedResponse::Reply { after: Duration::ZERO, reply: Box::new(reply) }
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }
}
