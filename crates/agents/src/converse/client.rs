//! Runs a conversation: initialize, open a session, send the prompt, end.

use super::agent_process::AgentProcess;
use super::cancel::{CancelSignals, CancelStage};
use super::event::{ConversationEvent, protocol_word};
use super::listener::Listener;
use super::plan::ConversationPlan;
use super::session::{self, OpenedSession};
use super::sign_in;
use super::{ConverseError, fault};
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentNotification, AgentRequest, AuthenticateRequest, CancelNotification, ClientCapabilities,
    ContentBlock, FileSystemCapabilities, Implementation, InitializeRequest, PromptRequest, SessionId,
    SetSessionModeRequest, StopReason, TextContent,
};
use agent_client_protocol::{
    Agent, Client, ConnectTo, Error, ErrorCode, JsonRpcMessage, JsonRpcRequest, JsonRpcResponse,
    UntypedMessage, is_incoming_transport_closed, on_receive_notification, on_receive_request,
};
use futures::future::{Either, select};
use serde_json::Value;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long an agent may take to end its turn after a cancellation.
const GRACE: Duration = Duration::from_millis(800);

/// How long an agent may take to exit after the conversation.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the command for the session log may take.
const LOG_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts an agent, sends it one prompt and waits for the end of its turn. Returns the exit code.
pub fn converse(plan: &Path, argv: &[OsString]) -> Result<i32, ConverseError> {
    let plan = Arc::new(ConversationPlan::read(plan)?);
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).map_err(ConverseError::Prompt)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(ConverseError::Runtime)?;
    let cancel = CancelSignals::listen(GRACE).map_err(ConverseError::Runtime)?;
    let (agent, lines) = AgentProcess::start(argv).map_err(|source| {
        let program = argv.first().map(|word| word.display().to_string()).unwrap_or_default();
        ConverseError::Start { program, source }
    })?;
    let listener = Arc::new(Mutex::new(Listener::new(Arc::clone(&plan))));
    let outcome = runtime.block_on(connect(lines, Arc::clone(&plan), Arc::clone(&listener), cancel, &prompt));
    let (session, cancelled) = {
        let listener = lock(&listener);
        (listener.session.clone(), listener.cancelled)
    };
    let (exit_timeout, log_timeout) =
        if cancelled { (GRACE / 2, GRACE / 4) } else { (EXIT_TIMEOUT, LOG_TIMEOUT) };
    // The session log is complete only after the agent has exited.
    agent.end(exit_timeout);
    let usage =
        plan.session_log.as_ref().zip(session).and_then(|(log, session)| log.count(&session, log_timeout));
    if let Some(usage) = usage {
        usage.print();
    }
    let code = match outcome {
        Ok(reason) => {
            ConversationEvent::End { reason: protocol_word(reason) }.print();
            i32::from(reason != StopReason::EndTurn)
        }
        Err(Stop::Fault(error)) => {
            ConversationEvent::Error { message: fault::describe(&error) }.print();
            1
        }
        Err(Stop::Closed) => {
            ConversationEvent::Error {
                message: "the agent exited in the middle of the conversation".to_string(),
            }
            .print();
            1
        }
        Err(Stop::Cancelled) => {
            ConversationEvent::End { reason: protocol_word(StopReason::Cancelled) }.print();
            1
        }
    };
    Ok(code)
}

/// Why a conversation stopped early.
enum Stop {
    Fault(Error),
    Closed,
    Cancelled,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Fault(error)
    }
}

/// Connects to the agent over these lines and runs the conversation.
async fn connect(
    lines: impl ConnectTo<Client> + 'static,
    plan: Arc<ConversationPlan>,
    listener: Arc<Mutex<Listener>>,
    cancel: CancelSignals,
    prompt: &str,
) -> Result<StopReason, Stop> {
    let (request_listener, notification_listener) = (Arc::clone(&listener), Arc::clone(&listener));
    let connection = Client
        .v1()
        .on_receive_request(
            async move |request: AgentRequest, responder, _| {
                let answer = lock(&request_listener).answer(request);
                responder.respond_with_result(answer)
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: AgentNotification, _| {
                lock(&notification_listener).handle_notification(notification);
                Ok(())
            },
            on_receive_notification!(),
        );
    let outcome = connection
        .connect_with(lines, async |link| Ok(Conversation { link, plan, listener, cancel }.run(prompt).await))
        .await;
    outcome.unwrap_or_else(|error| Err(Stop::Fault(error)))
}

fn lock(listener: &Mutex<Listener>) -> MutexGuard<'_, Listener> {
    listener.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Conversation {
    link: ConnectionTo<Agent>,
    plan: Arc<ConversationPlan>,
    listener: Arc<Mutex<Listener>>,
    cancel: CancelSignals,
}

impl Conversation {
    /// Returns the reason why the agent stopped.
    async fn run(&mut self, prompt: &str) -> Result<StopReason, Stop> {
        let files = FileSystemCapabilities::new().read_text_file(self.plan.reads).write_text_file(true);
        let initialize = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::new().fs(files))
            .client_info(Implementation::new("remand", env!("CARGO_PKG_VERSION")));
        let raw = self.ask(&initialize).await?;
        let agent = parse_response(&initialize, raw.clone())?;
        if agent.protocol_version != ProtocolVersion::V1 {
            let (theirs, ours) = (&raw["protocolVersion"], protocol_word(ProtocolVersion::V1));
            let message =
                format!("the agent speaks version {theirs} of the protocol, but version {ours} is required");
            return Err(Stop::Fault(fault::client_error(message)));
        }
        let session = self.open_session(agent.agent_capabilities.load_session, &raw["authMethods"]).await?;
        let block = ContentBlock::Text(TextContent::new(prompt));
        let answer = self.call(&PromptRequest::new(session, vec![block])).await?;
        let listener = lock(&self.listener);
        if let Some(usage) = answer.usage.filter(|_| self.plan.tokens && self.plan.session_log.is_none()) {
            ConversationEvent::usage(&usage).print();
        }
        if answer.stop_reason != StopReason::EndTurn && !listener.cancelled {
            ConversationEvent::Error { message: describe_stop(answer.stop_reason) }.print();
        }
        Ok(answer.stop_reason)
    }

    /// Opens or resumes a session and sets its mode and model.
    async fn open_session(&mut self, can_load: bool, methods: &Value) -> Result<SessionId, Stop> {
        let opened = match self.plan.session.clone() {
            Some(_) if !can_load => {
                return Err(Stop::Fault(fault::client_error("the agent cannot resume sessions".to_string())));
            }
            Some(id) => {
                let request = session::load_request(&self.plan, id.clone());
                lock(&self.listener).begin_replay();
                let raw = self.open(&request, methods).await;
                lock(&self.listener).end_replay();
                let raw = raw?;
                OpenedSession::resumed(SessionId::new(id), parse_response(&request, raw.clone())?, raw)
            }
            None => {
                let request = session::new_request(&self.plan);
                let raw = self.open(&request, methods).await?;
                OpenedSession::new(parse_response(&request, raw.clone())?, raw)
            }
        };
        let id = opened.id.clone();
        lock(&self.listener).session = Some(id.to_string());
        if let Some(mode) = self.plan.mode.clone().filter(|mode| opened.must_switch_to(mode)) {
            self.call(&SetSessionModeRequest::new(id.clone(), mode)).await?;
        }
        let choice = opened.choose_model(self.plan.model.as_deref());
        if let Some(change) = choice.change {
            self.ask(&change).await?;
        }
        ConversationEvent::Session { session: id.to_string(), model: choice.model }.print();
        Ok(id)
    }

    /// Requests a session. If the agent requires a sign-in first, signs in and repeats the request.
    async fn open(&mut self, request: &impl JsonRpcRequest, methods: &Value) -> Result<Value, Stop> {
        let error = match self.ask(request).await {
            Err(Stop::Fault(error)) if error.code == ErrorCode::AUTH_REQUIRED => error,
            other => return other,
        };
        let Some(method) = sign_in::sign_in_method(methods, sign_in::is_set) else {
            let message = format!("authentication required: {}", fault::describe(&error));
            return Err(Stop::Fault(fault::client_error(message)));
        };
        self.call(&AuthenticateRequest::new(method)).await?;
        self.ask(request).await
    }

    /// Sends a request and parses the response.
    async fn call<R: JsonRpcRequest>(&mut self, request: &R) -> Result<R::Response, Stop> {
        let raw = self.ask(request).await?;
        parse_response(request, raw)
    }

    /// Sends a request and returns the raw response, including fields that the protocol does not define.
    async fn ask(&mut self, request: &impl JsonRpcMessage) -> Result<Value, Stop> {
        if lock(&self.listener).cancelled {
            return Err(Stop::Cancelled);
        }
        let message = request.to_untyped_message()?;
        let session = message.params().get("sessionId").and_then(Value::as_str).map(SessionId::new);
        let mut answer = pin!(self.link.send_request::<UntypedMessage>(message).block_task());
        loop {
            match select(answer.as_mut(), pin!(self.cancel.next_stage())).await {
                Either::Left((Ok(raw), _)) => return Ok(raw),
                Either::Left((Err(_), _)) if lock(&self.listener).cancelled => return Err(Stop::Cancelled),
                Either::Left((Err(error), _)) if is_incoming_transport_closed(&error) => {
                    return Err(Stop::Closed);
                }
                Either::Left((Err(error), _)) => return Err(Stop::Fault(error)),
                Either::Right((CancelStage::Expired, _)) => return Err(Stop::Cancelled),
                Either::Right((CancelStage::Requested, _)) => {
                    lock(&self.listener).cancelled = true;
                    let Some(session) = session.clone() else { return Err(Stop::Cancelled) };
                    self.link.send_notification(CancelNotification::new(session))?;
                }
            }
        }
    }
}

fn parse_response<R: JsonRpcRequest>(request: &R, raw: Value) -> Result<R::Response, Stop> {
    let raw = if raw.is_null() { Value::Object(serde_json::Map::new()) } else { raw };
    R::Response::from_json(request.method(), raw).map_err(|error| {
        let why = error.data.as_ref().and_then(|data| data["error"].as_str()).unwrap_or(&error.message);
        let message = format!("the agent's response to `{}` is invalid: {why}", request.method());
        Stop::Fault(fault::client_error(message))
    })
}

/// Describes why a turn stopped without a result.
fn describe_stop(reason: StopReason) -> String {
    match reason {
        StopReason::Refusal => "the model refused to continue".to_string(),
        StopReason::MaxTokens => "the answer reached the maximum number of tokens".to_string(),
        StopReason::MaxTurnRequests => {
            "the agent reached the maximum number of requests in one turn".to_string()
        }
        StopReason::Cancelled => "the agent cancelled its turn".to_string(),
        other => format!("the agent stopped for another reason: {}", protocol_word(other)),
    }
}
