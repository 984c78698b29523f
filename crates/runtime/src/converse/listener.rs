//! What an agent tells and asks for while it is talked with.

use super::files;
use super::permission::{self, Wish};
use super::plan::Plan;
use super::said::{Said, word};
use agent_client_protocol::v1::schema::{
    AgentNotification, AgentRequest, ContentBlock, ContentChunk, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SessionUpdate, ToolCallContent, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use agent_client_protocol::{Error, JsonRpcResponse};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What updates are heard as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    /// The agent tells again what was said in an earlier session.
    Replayed,
    Prompted,
    /// A tool was at work since the last text, so that a new message begins.
    Apart,
}

/// Says what it hears, and answers by the role's permissions.
pub struct Listener {
    plan: Arc<Plan>,
    /// Tools that were heard of, by the agent's id; none once they ended.
    tools: BTreeMap<String, Option<Wish>>,
    heard: Heard,
    pub session: Option<String>,
    pub cancelled: bool,
}

impl Listener {
    pub fn new(plan: Arc<Plan>) -> Listener {
        Listener { plan, tools: BTreeMap::new(), heard: Heard::Prompted, session: None, cancelled: false }
    }

    /// What is told from here on was said in an earlier session, and is not said again.
    pub fn hear_a_replay(&mut self) {
        self.heard = Heard::Replayed;
    }

    pub fn hear_news(&mut self) {
        (self.heard, self.tools) = (Heard::Prompted, BTreeMap::new());
    }

    /// What the agent asks its client for.
    pub fn asked(&mut self, request: AgentRequest) -> Result<Value, Error> {
        let method = request.method().to_string();
        match request {
            AgentRequest::RequestPermissionRequest(request) => self.permission(request).into_json(&method),
            AgentRequest::ReadTextFileRequest(request) => {
                files::read(&self.plan, &request)?.into_json(&method)
            }
            AgentRequest::WriteTextFileRequest(request) => {
                let path = self.plan.tree.join(&request.path);
                if !files::may_write(&self.plan, &path) {
                    Said::denied(ToolKind::Edit, &path.display().to_string()).print();
                    return Err(files::failed(&path, "permission denied"));
                }
                files::write(&path, &request.content)?.into_json(&method)
            }
            _ => Err(Error::method_not_found().data(Value::from(method))),
        }
    }

    fn permission(&mut self, request: RequestPermissionRequest) -> RequestPermissionResponse {
        if self.cancelled {
            return RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
        }
        let known = self.tools.get(&*request.tool_call.tool_call_id.0).cloned().flatten();
        let mut wish = known.unwrap_or_default();
        wish.learn(&request.tool_call.fields);
        let permitted = wish.is_permitted(&self.plan);
        if !permitted {
            Said::denied(wish.kind, &wish.title).print();
        }
        permission::answer(&request.options, permitted)
    }

    /// Says what the agent told.
    pub fn told(&mut self, notification: AgentNotification) {
        let AgentNotification::SessionNotification(told) = notification else { return };
        if self.heard == Heard::Replayed {
            return;
        }
        match told.update {
            SessionUpdate::AgentMessageChunk(chunk) => self.text(&chunk),
            SessionUpdate::AgentThoughtChunk(_) => Said::Thought.print(),
            SessionUpdate::ToolCall(call) => self.tool(call.into()),
            SessionUpdate::ToolCallUpdate(update) => self.tool(update),
            SessionUpdate::UsageUpdate(usage) => {
                if let Some(cost) = usage.cost {
                    Said::Cost { amount: cost.amount }.print();
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, chunk: &ContentChunk) {
        let ContentBlock::Text(block) = &chunk.content else { return };
        if block.text.is_empty() {
            return;
        }
        let gap = if self.heard == Heard::Apart { "\n\n" } else { "" };
        self.heard = Heard::Prompted;
        Said::Text { text: format!("{gap}{}", block.text) }.print();
    }

    fn tool(&mut self, update: ToolCallUpdate) {
        let tool = update.tool_call_id.0.to_string();
        let is_new = !self.tools.contains_key(&tool);
        let Some(wish) = self.tools.entry(tool.clone()).or_insert_with(|| Some(Wish::default())) else {
            return;
        };
        wish.learn(&update.fields);
        let (title, kind) = (wish.title.clone(), word(wish.kind));
        if is_new {
            self.heard = Heard::Apart;
            Said::ToolBegan { tool: tool.clone(), title, kind: kind.clone() }.print();
        }
        let Some(status @ (ToolCallStatus::Completed | ToolCallStatus::Failed)) = update.fields.status else {
            return;
        };
        self.tools.insert(tool.clone(), None);
        let text = (status == ToolCallStatus::Failed).then(|| output(&update.fields));
        Said::ToolEnded { tool, kind, status: word(status), text }.print();
    }
}

/// What a tool said.
fn output(fields: &ToolCallUpdateFields) -> String {
    let texts: Vec<&str> = fields.content.iter().flatten().filter_map(text_of).collect();
    match texts.is_empty() {
        false => texts.join("\n"),
        true => fields.raw_output.as_ref().map(Value::to_string).unwrap_or_default(),
    }
}

fn text_of(part: &ToolCallContent) -> Option<&str> {
    match part {
        ToolCallContent::Content(content) => match &content.content {
            ContentBlock::Text(block) => Some(&block.text),
            _ => None,
        },
        _ => None,
    }
}
