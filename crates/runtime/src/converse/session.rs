//! A session as it is asked for and as it was opened: its modes and its models.

use super::plan::Plan;
use agent_client_protocol::JsonRpcMessage;
use agent_client_protocol::UntypedMessage;
use agent_client_protocol::v1::schema::{
    LoadSessionRequest, LoadSessionResponse, McpServer, McpServerStdio, Meta, NewSessionRequest,
    NewSessionResponse, SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigSelect, SessionConfigSelectOptions, SessionId, SessionModeState,
    SetSessionConfigOptionRequest,
};
use serde_json::{Value, json};

pub fn new(plan: &Plan) -> NewSessionRequest {
    NewSessionRequest::new(&plan.tree).mcp_servers(servers(plan)).meta(meta(plan))
}

pub fn load(plan: &Plan, session: String) -> LoadSessionRequest {
    LoadSessionRequest::new(session, &plan.tree).mcp_servers(servers(plan)).meta(meta(plan))
}

fn servers(plan: &Plan) -> Vec<McpServer> {
    let server = &plan.server;
    vec![McpServer::Stdio(McpServerStdio::new(&server.name, &server.command).args(server.args.clone()))]
}

fn meta(plan: &Plan) -> Option<Meta> {
    plan.meta.as_ref().and_then(Value::as_object).cloned()
}

/// A session that the agent opened.
pub struct Opened {
    pub id: SessionId,
    modes: Option<SessionModeState>,
    options: Vec<SessionConfigOption>,
    /// The list of models beside the protocol, in which agents had them before it had options.
    models: Value,
}

/// The model of a session.
pub struct Choice {
    /// The one that will be used, where it is known.
    pub model: Option<String>,
    /// What has to be said for that.
    pub change: Option<UntypedMessage>,
}

impl Opened {
    pub fn anew(answer: NewSessionResponse, told: Value) -> Opened {
        Opened {
            id: answer.session_id,
            modes: answer.modes,
            options: answer.config_options.unwrap_or_default(),
            models: told["models"].clone(),
        }
    }

    pub fn again(id: SessionId, answer: LoadSessionResponse, told: Value) -> Opened {
        Opened {
            id,
            modes: answer.modes,
            options: answer.config_options.unwrap_or_default(),
            models: told["models"].clone(),
        }
    }

    /// Tells whether the session has a mode of this name and is in another.
    pub fn lacks_mode(&self, mode: &str) -> bool {
        self.modes.as_ref().is_some_and(|modes| {
            let is_known = modes.available_modes.iter().any(|known| &*known.id.0 == mode);
            is_known && &*modes.current_mode_id.0 != mode
        })
    }

    /// Chooses a model where the protocol can. What is not on a list the agent may have been given by its arguments.
    pub fn model(&self, wanted: Option<&str>) -> Choice {
        let option = self.options.iter().find_map(models);
        let current = self.models["currentModelId"]
            .as_str()
            .or_else(|| option.map(|(_, select)| &*select.current_value.0));
        let Some(wanted) = wanted else {
            return Choice { model: current.map(str::to_string), change: None };
        };
        let change = match option.filter(|(_, select)| values(select).any(|value| value == wanted)) {
            _ if current == Some(wanted) => None,
            Some((option, _)) => {
                SetSessionConfigOptionRequest::new(self.id.clone(), option.id.clone(), wanted)
                    .to_untyped_message()
                    .ok()
            }
            None if self.listed(wanted) => {
                let params = json!({"sessionId": self.id, "modelId": wanted});
                UntypedMessage::new("session/set_model", params).ok()
            }
            None => None,
        };
        Choice { model: Some(wanted.to_string()), change }
    }

    fn listed(&self, model: &str) -> bool {
        let all = self.models["availableModels"].as_array().into_iter().flatten();
        all.into_iter().any(|known| known["modelId"] == model)
    }
}

/// The option that is a choice of models.
fn models(option: &SessionConfigOption) -> Option<(&SessionConfigOption, &SessionConfigSelect)> {
    let is_it = option.category == Some(SessionConfigOptionCategory::Model) || &*option.id.0 == "model";
    match &option.kind {
        SessionConfigKind::Select(select) if is_it => Some((option, select)),
        _ => None,
    }
}

fn values(select: &SessionConfigSelect) -> Box<dyn Iterator<Item = &str> + '_> {
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(all) => Box::new(all.iter().map(|one| &*one.value.0)),
        SessionConfigSelectOptions::Grouped(groups) => {
            Box::new(groups.iter().flat_map(|group| &group.options).map(|one| &*one.value.0))
        }
        _ => Box::new(std::iter::empty()),
    }
}
