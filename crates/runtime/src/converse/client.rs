//! The conversation, from the first greeting to the last line.

use super::permission::{self, Wish};
use super::plan::Plan;
use super::said::Said;
use super::wire::{Fault, Happened, Wire};
use super::{ConverseError, account, files};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long an agent has to end its turn after a cancel, and then to go.
const GRACE: Duration = Duration::from_millis(800);

/// How long an agent has to go by itself when all is said.
const FAREWELL: Duration = Duration::from_secs(2);

/// The version of the protocol that is spoken.
const VERSION: u64 = 1;

/// Talks with the agent that these words start, to the end of one prompt; gives the exit code.
pub fn converse(plan: &Path, argv: &[OsString]) -> Result<i32, ConverseError> {
    let plan = Plan::read(plan)?;
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).map_err(ConverseError::Prompt)?;
    let wire = Wire::start(argv).map_err(|source| {
        let program = argv.first().map(|word| word.display().to_string()).unwrap_or_default();
        ConverseError::Start { program, source }
    })?;
    let mut client = Client {
        plan,
        wire,
        tools: BTreeMap::new(),
        heard: Heard::Prompted,
        counted: false,
        cancelled: false,
    };
    let ended = client.talk(&prompt);
    let patience = if client.cancelled { GRACE / 2 } else { FAREWELL };
    let code = match ended {
        Ok(reason) => {
            Said::End { reason: reason.clone() }.print();
            i32::from(reason != "end_turn")
        }
        Err(Stop::Fault(fault)) => {
            Said::Error { message: fault.text() }.print();
            1
        }
        Err(Stop::Closed) => {
            Said::Error { message: "the agent ended in the middle of the conversation".to_string() }.print();
            1
        }
        Err(Stop::Cancelled) => {
            Said::End { reason: "cancelled".to_string() }.print();
            1
        }
    };
    client.wire.end(patience);
    Ok(code)
}

/// Why a conversation stops before its end.
enum Stop {
    Fault(Fault),
    Closed,
    Cancelled,
}

/// What updates are heard as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    /// The agent tells again what was said in an earlier session.
    Replayed,
    Prompted,
    /// A tool was at work since the last text, so that a new message begins.
    Apart,
}

struct Client {
    plan: Plan,
    wire: Wire,
    /// Tools that were heard of, by the agent's id; none once they ended.
    tools: BTreeMap<String, Option<Wish>>,
    heard: Heard,
    /// Whether tokens were told step by step.
    counted: bool,
    cancelled: bool,
}

impl Client {
    /// Gives the reason why the agent stopped.
    fn talk(&mut self, prompt: &str) -> Result<String, Stop> {
        let files = json!({"readTextFile": self.plan.reads, "writeTextFile": true});
        let hello = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {"fs": files, "terminal": false},
            "clientInfo": {"name": "remand", "version": env!("CARGO_PKG_VERSION")},
        });
        let about = self.call("initialize", &hello)?;
        if about["protocolVersion"] != json!(VERSION) {
            let theirs = &about["protocolVersion"];
            let message = format!("it speaks version {theirs} of the protocol, and not version {VERSION}");
            return Err(Stop::Fault(Fault::refused(message)));
        }
        let session = self.begin(&about)?;
        let blocks = json!([{"type": "text", "text": prompt}]);
        let answer = self.call("session/prompt", &json!({"sessionId": session, "prompt": blocks}))?;
        let told = usage(&answer["usage"]).or_else(|| usage(&answer["_meta"]["quota"]["token_count"]));
        if let Some(usage) = told.filter(|_| self.plan.tokens && !self.counted) {
            usage.print();
        }
        let reason = answer["stopReason"].as_str().unwrap_or("nothing").to_string();
        if reason != "end_turn" && !self.cancelled {
            Said::Error { message: stopped(&reason) }.print();
        }
        Ok(reason)
    }

    /// Begins a session, or takes one up again, with its model and mode.
    fn begin(&mut self, about: &Value) -> Result<String, Stop> {
        let server = &self.plan.server;
        let servers =
            json!([{"name": server.name, "command": server.command, "args": server.args, "env": []}]);
        let mut params = json!({"cwd": self.plan.tree, "mcpServers": servers});
        if let Some(meta) = &self.plan.meta {
            params["_meta"] = meta.clone();
        }
        let loads = about["agentCapabilities"]["loadSession"] == json!(true);
        let (session, answer) = match self.plan.session.clone() {
            Some(_) if !loads => {
                return Err(Stop::Fault(Fault::refused("it takes up no session again".to_string())));
            }
            Some(session) => {
                let answer = self.load(&session, &params, about)?;
                (session, answer)
            }
            None => {
                let answer = self.open("session/new", &params, about)?;
                (answer["sessionId"].as_str().unwrap_or_default().to_string(), answer)
            }
        };
        self.choose_mode(&session, &answer)?;
        let model = self.choose_model(&session, &answer)?;
        Said::Session { session: session.clone(), model }.print();
        Ok(session)
    }

    /// Takes a session up again. What was said in it is not said again.
    fn load(&mut self, session: &str, params: &Value, about: &Value) -> Result<Value, Stop> {
        let mut params = params.clone();
        params["sessionId"] = json!(session);
        self.heard = Heard::Replayed;
        let loaded = self.open("session/load", &params, about);
        (self.heard, self.tools) = (Heard::Prompted, BTreeMap::new());
        loaded
    }

    /// Asks for a session; of an agent that wants to be signed in first, once more after that.
    fn open(&mut self, method: &str, params: &Value, about: &Value) -> Result<Value, Stop> {
        let fault = match self.call(method, params) {
            Err(Stop::Fault(fault)) if fault.code == account::REQUIRED => fault,
            answered => return answered,
        };
        let Some(way) = account::way_in(&about["authMethods"], account::is_set) else {
            let message = format!("authentication required: {}", fault.text());
            return Err(Stop::Fault(Fault::refused(message)));
        };
        self.call("authenticate", &json!({"methodId": way}))?;
        self.call(method, params)
    }

    fn choose_mode(&mut self, session: &str, answer: &Value) -> Result<(), Stop> {
        let Some(mode) = self.plan.mode.clone() else { return Ok(()) };
        let modes = &answer["modes"];
        let all = modes["availableModes"].as_array().into_iter().flatten();
        let known = all.into_iter().any(|known| known["id"] == json!(mode));
        if known && modes["currentModeId"] != json!(mode) {
            self.call("session/set_mode", &json!({"sessionId": session, "modeId": mode}))?;
        }
        Ok(())
    }

    /// Chooses the model where the protocol can, and gives the one that will be used, where it is known.
    fn choose_model(&mut self, session: &str, answer: &Value) -> Result<Option<String>, Stop> {
        let models = &answer["models"];
        let options = answer["configOptions"].as_array().into_iter().flatten();
        let option =
            options.into_iter().find(|option| option["category"] == "model" || option["id"] == "model");
        let current = models["currentModelId"].as_str().or_else(|| option?["currentValue"].as_str());
        let Some(model) = self.plan.model.clone() else { return Ok(current.map(str::to_string)) };
        let has = |list: &Value, key: &str| {
            list.as_array().is_some_and(|all| all.iter().any(|one| one[key] == json!(model)))
        };
        // What is not on its list it may have been given by its arguments.
        let option = option.filter(|option| has(&option["options"], "value"));
        let change = match option {
            _ if current == Some(model.as_str()) => None,
            Some(option) => {
                let params = json!({"sessionId": session, "configId": option["id"], "value": model});
                Some(("session/set_config_option", params))
            }
            None => has(&models["availableModels"], "modelId")
                .then(|| ("session/set_model", json!({"sessionId": session, "modelId": model}))),
        };
        if let Some((method, params)) = change {
            self.call(method, &params)?;
        }
        Ok(Some(model))
    }

    /// Asks the agent and waits for its answer; all else that happens meanwhile is seen to.
    fn call(&mut self, method: &str, params: &Value) -> Result<Value, Stop> {
        let asked = json!(self.wire.ask(method, params));
        let mut deadline = None;
        loop {
            match self.wire.next(deadline) {
                Happened::Answered { id, answer } if id == asked => {
                    return answer
                        .map_err(|fault| if self.cancelled { Stop::Cancelled } else { Stop::Fault(fault) });
                }
                Happened::Answered { .. } => {}
                Happened::Asked { id, method, params } => {
                    let answer = self.asked(&method, &params);
                    self.wire.answer(&id, answer);
                }
                Happened::Told { method, params } if method == "session/update" => {
                    self.update(&params["update"])
                }
                Happened::Told { .. } => {}
                Happened::Closed if self.cancelled => return Err(Stop::Cancelled),
                Happened::Closed => return Err(Stop::Closed),
                Happened::Cancelled if self.cancelled => {}
                Happened::Cancelled => {
                    self.cancelled = true;
                    deadline = Some(Instant::now() + GRACE);
                    match params.get("sessionId") {
                        Some(session) => self.wire.tell("session/cancel", &json!({"sessionId": session})),
                        None => return Err(Stop::Cancelled),
                    }
                }
                Happened::Nothing => return Err(Stop::Cancelled),
            }
        }
    }

    /// What the agent asks its client for.
    fn asked(&mut self, method: &str, params: &Value) -> Result<Value, Fault> {
        match method {
            "session/request_permission" if self.cancelled => Ok(permission::cancelled()),
            "session/request_permission" => {
                let call = &params["toolCall"];
                let known = self.tools.get(&id_of(call)).cloned().flatten();
                let mut wish = known.unwrap_or_default();
                wish.learn(call);
                let permitted = wish.is_permitted(&self.plan);
                if !permitted {
                    Said::denied(&wish.kind, &wish.title).print();
                }
                Ok(permission::answer(&params["options"], permitted))
            }
            "fs/read_text_file" => files::read(&self.plan, params),
            "fs/write_text_file" => {
                let path = self.plan.tree.join(params["path"].as_str().unwrap_or_default());
                if !files::may_write(&self.plan, &path) {
                    Said::denied("edit", &path.display().to_string()).print();
                    return Err(Fault::refused(format!("{}: permission denied", path.display())));
                }
                files::write(&path, params["content"].as_str().unwrap_or_default())
            }
            other => Err(Fault::unknown(other)),
        }
    }

    /// Says what the agent told.
    fn update(&mut self, update: &Value) {
        if self.heard == Heard::Replayed {
            return;
        }
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_message_chunk" => {
                if let Some(usage) = usage(&update["_meta"]["usage"]) {
                    self.counted = true;
                    usage.print();
                }
                let text = update["content"]["text"].as_str().unwrap_or_default();
                if text.is_empty() {
                    return;
                }
                let gap = if self.heard == Heard::Apart { "\n\n" } else { "" };
                self.heard = Heard::Prompted;
                Said::Text { text: format!("{gap}{text}") }.print();
            }
            "agent_thought_chunk" => Said::Thought.print(),
            "tool_call" | "tool_call_update" => self.tool(update),
            "usage_update" => {
                if let Some(amount) = update["cost"]["amount"].as_f64() {
                    Said::Cost { amount }.print();
                }
            }
            _ => {}
        }
    }

    fn tool(&mut self, update: &Value) {
        let tool = id_of(update);
        let is_new = !self.tools.contains_key(&tool);
        let Some(wish) = self.tools.entry(tool.clone()).or_insert_with(|| Some(Wish::default())) else {
            return;
        };
        wish.learn(update);
        let (title, kind) = (wish.title.clone(), wish.kind.clone());
        if is_new {
            self.heard = Heard::Apart;
            Said::ToolBegan { tool: tool.clone(), title, kind: kind.clone() }.print();
        }
        let status = update["status"].as_str().unwrap_or_default();
        if matches!(status, "completed" | "failed") {
            self.tools.insert(tool.clone(), None);
            let text = (status == "failed").then(|| told(update));
            Said::ToolEnded { tool, kind, status: status.to_string(), text }.print();
        }
    }
}

fn id_of(call: &Value) -> String {
    call["toolCallId"].as_str().unwrap_or_default().to_string()
}

/// What a tool said.
fn told(update: &Value) -> String {
    let blocks = update["content"].as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block.pointer("/content/text")?.as_str()).collect();
    match texts.is_empty() {
        false => texts.join("\n"),
        true => update.get("rawOutput").map(Value::to_string).unwrap_or_default(),
    }
}

/// The tokens of a turn or of a step of it, however the agent names them.
fn usage(told: &Value) -> Option<Said> {
    let count = |names: &[&str]| names.iter().find_map(|name| told.get(name)?.as_u64());
    let input = count(&["inputTokens", "input_tokens"])?;
    let output = count(&["outputTokens", "output_tokens"])?;
    Some(Said::Usage {
        input,
        output,
        cached: count(&["cachedReadTokens"]).unwrap_or(0),
        stored: count(&["cachedWriteTokens"]).unwrap_or(0),
    })
}

/// Why a turn that stopped is no result.
fn stopped(reason: &str) -> String {
    match reason {
        "refusal" => "the model refused to go on".to_string(),
        "max_tokens" => "the answer reached the maximum number of tokens".to_string(),
        "max_turn_requests" => "it reached the maximum number of requests in one turn".to_string(),
        "cancelled" => "it broke its turn off".to_string(),
        other => format!("it stopped for another reason: {other}"),
    }
}
