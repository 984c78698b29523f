//! Requests for sessions, and the modes and models of an open session.

use super::plan::ConversationPlan;
use agent_client_protocol::JsonRpcMessage;
use agent_client_protocol::UntypedMessage;
use agent_client_protocol::v1::schema::{
    LoadSessionRequest, LoadSessionResponse, McpServer, McpServerStdio, Meta, NewSessionRequest,
    NewSessionResponse, SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigSelect, SessionConfigSelectOptions, SessionId, SessionModeState,
    SetSessionConfigOptionRequest,
};
use serde_json::{Value, json};

pub fn new_request(plan: &ConversationPlan) -> NewSessionRequest {
    NewSessionRequest::new(&plan.tree).mcp_servers(mcp_servers(plan)).meta(meta(plan))
}

pub fn load_request(plan: &ConversationPlan, session: String) -> LoadSessionRequest {
    LoadSessionRequest::new(session, &plan.tree).mcp_servers(mcp_servers(plan)).meta(meta(plan))
}

fn mcp_servers(plan: &ConversationPlan) -> Vec<McpServer> {
    let server = &plan.server;
    vec![McpServer::Stdio(McpServerStdio::new(&server.name, &server.command).args(server.args.clone()))]
}

fn meta(plan: &ConversationPlan) -> Option<Meta> {
    plan.meta.as_ref().and_then(Value::as_object).cloned()
}

/// A session that the agent opened.
pub struct OpenedSession {
    pub id: SessionId,
    modes: Option<SessionModeState>,
    options: Vec<SessionConfigOption>,
    /// The list of models of an agent that predates the protocol's options.
    models: Value,
}

/// The model that a session will use.
pub struct ModelChoice {
    /// `None` if unknown.
    pub model: Option<String>,
    /// The request that selects the model, if one is needed.
    pub change: Option<UntypedMessage>,
}

impl OpenedSession {
    pub fn new(answer: NewSessionResponse, raw: Value) -> OpenedSession {
        OpenedSession {
            id: answer.session_id,
            modes: answer.modes,
            options: answer.config_options.unwrap_or_default(),
            models: raw["models"].clone(),
        }
    }

    pub fn resumed(id: SessionId, answer: LoadSessionResponse, raw: Value) -> OpenedSession {
        OpenedSession {
            id,
            modes: answer.modes,
            options: answer.config_options.unwrap_or_default(),
            models: raw["models"].clone(),
        }
    }

    /// Whether the session has this mode but is in another.
    pub fn must_switch_to(&self, mode: &str) -> bool {
        self.modes.as_ref().is_some_and(|modes| {
            let is_known = modes.available_modes.iter().any(|known| &*known.id.0 == mode);
            is_known && &*modes.current_mode_id.0 != mode
        })
    }

    /// Selects a model that the agent lists. An agent may have received any other model as an argument.
    pub fn choose_model(&self, requested: Option<&str>) -> ModelChoice {
        let option = self.options.iter().find_map(model_option);
        let current = self.models["currentModelId"]
            .as_str()
            .or_else(|| option.map(|(_, select)| &*select.current_value.0));
        let Some(requested) = requested else {
            return ModelChoice { model: current.map(str::to_string), change: None };
        };
        let change = match option.filter(|(_, select)| values(select).any(|value| value == requested)) {
            _ if current == Some(requested) => None,
            Some((option, _)) => {
                SetSessionConfigOptionRequest::new(self.id.clone(), option.id.clone(), requested)
                    .to_untyped_message()
                    .ok()
            }
            None if self.is_listed(requested) => {
                let params = json!({"sessionId": self.id, "modelId": requested});
                UntypedMessage::new("session/set_model", params).ok()
            }
            None => None,
        };
        ModelChoice { model: Some(requested.to_string()), change }
    }

    fn is_listed(&self, model: &str) -> bool {
        let all = self.models["availableModels"].as_array().into_iter().flatten();
        all.into_iter().any(|known| known["modelId"] == model)
    }
}

/// The option with its choices, if it selects the model.
fn model_option(option: &SessionConfigOption) -> Option<(&SessionConfigOption, &SessionConfigSelect)> {
    let is_model = option.category == Some(SessionConfigOptionCategory::Model) || &*option.id.0 == "model";
    match &option.kind {
        SessionConfigKind::Select(select) if is_model => Some((option, select)),
        _ => None,
    }
}

fn values(select: &SessionConfigSelect) -> Box<dyn Iterator<Item = &str> + '_> {
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(all) => Box::new(all.iter().map(|choice| &*choice.value.0)),
        SessionConfigSelectOptions::Grouped(groups) => {
            Box::new(groups.iter().flat_map(|group| &group.options).map(|choice| &*choice.value.0))
        }
        _ => Box::new(std::iter::empty()),
    }
}
