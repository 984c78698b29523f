//! Handles the notifications and requests of an agent during a conversation.

use super::event::{ConversationEvent, protocol_word};
use super::files;
use super::permission::{self, ToolCallRequest};
use super::plan::ConversationPlan;
use agent_client_protocol::v1::schema::{
    AgentNotification, AgentRequest, ContentBlock, ContentChunk, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SessionUpdate, ToolCallContent, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use agent_client_protocol::{Error, JsonRpcResponse};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How the next update is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UpdateState {
    /// The agent replays an earlier session.
    Replay,
    Live,
    /// A tool started after the last text, so the next text starts a new message.
    AfterTool,
}

/// Prints the agent's notifications and answers its requests as the role's permissions allow.
pub struct Listener {
    plan: Arc<ConversationPlan>,
    /// The tool calls by id; `None` once a call has ended.
    tools: BTreeMap<String, Option<ToolCallRequest>>,
    state: UpdateState,
    pub session: Option<String>,
    pub cancelled: bool,
}

impl Listener {
    pub fn new(plan: Arc<ConversationPlan>) -> Listener {
        Listener { plan, tools: BTreeMap::new(), state: UpdateState::Live, session: None, cancelled: false }
    }

    /// Ignores updates from now on, because the agent replays an earlier session.
    pub fn begin_replay(&mut self) {
        self.state = UpdateState::Replay;
    }

    pub fn end_replay(&mut self) {
        (self.state, self.tools) = (UpdateState::Live, BTreeMap::new());
    }

    /// Answers a request from the agent.
    pub fn answer(&mut self, request: AgentRequest) -> Result<Value, Error> {
        let method = request.method().to_string();
        match request {
            AgentRequest::RequestPermissionRequest(request) => {
                self.answer_permission(request).into_json(&method)
            }
            AgentRequest::ReadTextFileRequest(request) => {
                files::read(&self.plan, &request)?.into_json(&method)
            }
            AgentRequest::WriteTextFileRequest(request) => {
                let path = self.plan.tree.join(&request.path);
                if !files::may_write(&self.plan, &path) {
                    ConversationEvent::denied(ToolKind::Edit, &path.display().to_string()).print();
                    return Err(files::write_error(&path, "permission denied"));
                }
                files::write(&path, &request.content)?.into_json(&method)
            }
            _ => Err(Error::method_not_found().data(Value::from(method))),
        }
    }

    fn answer_permission(&mut self, request: RequestPermissionRequest) -> RequestPermissionResponse {
        if self.cancelled {
            return RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
        }
        let reported = self.tools.get(&*request.tool_call.tool_call_id.0).cloned().flatten();
        let mut call = reported.unwrap_or_default();
        call.update(&request.tool_call.fields);
        let permitted = call.is_permitted(&self.plan);
        if !permitted {
            ConversationEvent::denied(call.kind, &call.title).print();
        }
        permission::answer(&request.options, permitted)
    }

    /// Prints a notification as an event.
    pub fn handle_notification(&mut self, notification: AgentNotification) {
        let AgentNotification::SessionNotification(notification) = notification else { return };
        if self.state == UpdateState::Replay {
            return;
        }
        match notification.update {
            SessionUpdate::AgentMessageChunk(chunk) => self.print_text(&chunk),
            SessionUpdate::AgentThoughtChunk(_) => ConversationEvent::Thought.print(),
            SessionUpdate::ToolCall(call) => self.update_tool(call.into()),
            SessionUpdate::ToolCallUpdate(update) => self.update_tool(update),
            SessionUpdate::UsageUpdate(usage) => {
                if let Some(cost) = usage.cost {
                    ConversationEvent::Cost { amount: cost.amount }.print();
                }
            }
            _ => {}
        }
    }

    fn print_text(&mut self, chunk: &ContentChunk) {
        let ContentBlock::Text(block) = &chunk.content else { return };
        if block.text.is_empty() {
            return;
        }
        let separator = if self.state == UpdateState::AfterTool { "\n\n" } else { "" };
        self.state = UpdateState::Live;
        ConversationEvent::Text { text: format!("{separator}{}", block.text) }.print();
    }

    fn update_tool(&mut self, update: ToolCallUpdate) {
        let tool = update.tool_call_id.0.to_string();
        let is_new = !self.tools.contains_key(&tool);
        let Some(call) = self.tools.entry(tool.clone()).or_insert_with(|| Some(ToolCallRequest::default()))
        else {
            return;
        };
        call.update(&update.fields);
        let (title, kind) = (call.title.clone(), protocol_word(call.kind));
        if is_new {
            self.state = UpdateState::AfterTool;
            ConversationEvent::ToolBegan { tool: tool.clone(), title, kind: kind.clone() }.print();
        }
        let Some(status @ (ToolCallStatus::Completed | ToolCallStatus::Failed)) = update.fields.status else {
            return;
        };
        self.tools.insert(tool.clone(), None);
        let text = (status == ToolCallStatus::Failed).then(|| tool_output(&update.fields));
        ConversationEvent::ToolEnded { tool, kind, status: protocol_word(status), text }.print();
    }
}

fn tool_output(fields: &ToolCallUpdateFields) -> String {
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
