//! The conversation, from the first greeting to the last line, over the connection of the protocol's own crate.

use super::account;
use super::cancel::{Cancel, Wished};
use super::listener::Listener;
use super::plan::Plan;
use super::said::{Said, word};
use super::session::{self, Opened};
use super::wire::Wire;
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

/// How long an agent has to end its turn after a cancel, and then to go.
const GRACE: Duration = Duration::from_millis(800);

/// How long an agent has to go by itself when all is said.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long an agent has to tell what it spent, where it has to be started for that.
const ASKING: Duration = Duration::from_secs(30);

/// Talks with the agent that these words start, to the end of one prompt; gives the exit code.
pub fn converse(plan: &Path, argv: &[OsString]) -> Result<i32, ConverseError> {
    let plan = Arc::new(Plan::read(plan)?);
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).map_err(ConverseError::Prompt)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(ConverseError::Runtime)?;
    let cancel = Cancel::listen(GRACE).map_err(ConverseError::Runtime)?;
    let (wire, lines) = Wire::start(argv).map_err(|source| {
        let program = argv.first().map(|word| word.display().to_string()).unwrap_or_default();
        ConverseError::Start { program, source }
    })?;
    let listener = Arc::new(Mutex::new(Listener::new(Arc::clone(&plan))));
    let ended = runtime.block_on(connected(lines, Arc::clone(&plan), Arc::clone(&listener), cancel, &prompt));
    let (session, cancelled) = {
        let listener = lock(&listener);
        (listener.session.clone(), listener.cancelled)
    };
    let (patience, asking) = if cancelled { (GRACE / 2, GRACE / 4) } else { (FAREWELL, ASKING) };
    // What it spent is written down once it is gone.
    wire.end(patience);
    let spent = plan.books.as_ref().zip(session).and_then(|(kept, session)| kept.count(&session, asking));
    if let Some(spent) = spent {
        spent.print();
    }
    let code = match ended {
        Ok(reason) => {
            Said::End { reason: word(reason) }.print();
            i32::from(reason != StopReason::EndTurn)
        }
        Err(Stop::Fault(error)) => {
            Said::Error { message: fault::text(&error) }.print();
            1
        }
        Err(Stop::Closed) => {
            Said::Error { message: "the agent ended in the middle of the conversation".to_string() }.print();
            1
        }
        Err(Stop::Cancelled) => {
            Said::End { reason: word(StopReason::Cancelled) }.print();
            1
        }
    };
    Ok(code)
}

/// Why a conversation stops before its end.
enum Stop {
    Fault(Error),
    Closed,
    Cancelled,
}

/// Holds the conversation over these lines.
async fn connected(
    lines: impl ConnectTo<Client> + 'static,
    plan: Arc<Plan>,
    listener: Arc<Mutex<Listener>>,
    cancel: Cancel,
    prompt: &str,
) -> Result<StopReason, Stop> {
    let (asked, told) = (Arc::clone(&listener), Arc::clone(&listener));
    let connection = Client
        .v1()
        .on_receive_request(
            async move |request: AgentRequest, responder, _| {
                let answer = lock(&asked).asked(request);
                responder.respond_with_result(answer)
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: AgentNotification, _| {
                lock(&told).told(notification);
                Ok(())
            },
            on_receive_notification!(),
        );
    let talked = connection
        .connect_with(lines, async |link| Ok(Talk { link, plan, listener, cancel }.talk(prompt).await))
        .await;
    talked.unwrap_or_else(|error| Err(Stop::Fault(error)))
}

fn lock(listener: &Mutex<Listener>) -> MutexGuard<'_, Listener> {
    listener.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Talk {
    link: ConnectionTo<Agent>,
    plan: Arc<Plan>,
    listener: Arc<Mutex<Listener>>,
    cancel: Cancel,
}

impl Talk {
    /// Gives the reason why the agent stopped.
    async fn talk(&mut self, prompt: &str) -> Result<StopReason, Stop> {
        let files = FileSystemCapabilities::new().read_text_file(self.plan.reads).write_text_file(true);
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::new().fs(files))
            .client_info(Implementation::new("remand", env!("CARGO_PKG_VERSION")));
        let told = self.ask(&hello).await?;
        let about = understood(&hello, told.clone())?;
        if about.protocol_version != ProtocolVersion::V1 {
            let (theirs, ours) = (&told["protocolVersion"], word(ProtocolVersion::V1));
            let message = format!("it speaks version {theirs} of the protocol, and not version {ours}");
            return Err(Stop::Fault(fault::refused(message)));
        }
        let session = self.begin(about.agent_capabilities.load_session, &told["authMethods"]).await?;
        let block = ContentBlock::Text(TextContent::new(prompt));
        let answer = self.call(&PromptRequest::new(session, vec![block])).await?;
        let listener = lock(&self.listener);
        if let Some(usage) = answer.usage.filter(|_| self.plan.tokens && self.plan.books.is_none()) {
            Said::usage(&usage).print();
        }
        if answer.stop_reason != StopReason::EndTurn && !listener.cancelled {
            Said::Error { message: stopped(answer.stop_reason) }.print();
        }
        Ok(answer.stop_reason)
    }

    /// Begins a session, or takes one up again, with its model and mode.
    async fn begin(&mut self, loads: bool, methods: &Value) -> Result<SessionId, Stop> {
        let opened = match self.plan.session.clone() {
            Some(_) if !loads => {
                return Err(Stop::Fault(fault::refused("it takes up no session again".to_string())));
            }
            Some(id) => {
                let request = session::load(&self.plan, id.clone());
                lock(&self.listener).hear_a_replay();
                let told = self.open(&request, methods).await;
                lock(&self.listener).hear_news();
                let told = told?;
                Opened::again(SessionId::new(id), understood(&request, told.clone())?, told)
            }
            None => {
                let request = session::new(&self.plan);
                let told = self.open(&request, methods).await?;
                Opened::anew(understood(&request, told.clone())?, told)
            }
        };
        let id = opened.id.clone();
        lock(&self.listener).session = Some(id.to_string());
        if let Some(mode) = self.plan.mode.clone().filter(|mode| opened.lacks_mode(mode)) {
            self.call(&SetSessionModeRequest::new(id.clone(), mode)).await?;
        }
        let choice = opened.model(self.plan.model.as_deref());
        if let Some(change) = choice.change {
            self.ask(&change).await?;
        }
        Said::Session { session: id.to_string(), model: choice.model }.print();
        Ok(id)
    }

    /// Asks for a session; of an agent that wants to be signed in first, once more after that.
    async fn open(&mut self, request: &impl JsonRpcRequest, methods: &Value) -> Result<Value, Stop> {
        let error = match self.ask(request).await {
            Err(Stop::Fault(error)) if error.code == ErrorCode::AUTH_REQUIRED => error,
            answered => return answered,
        };
        let Some(way) = account::way_in(methods, account::is_set) else {
            let message = format!("authentication required: {}", fault::text(&error));
            return Err(Stop::Fault(fault::refused(message)));
        };
        self.call(&AuthenticateRequest::new(way)).await?;
        self.ask(request).await
    }

    /// Asks the agent, and reads its answer as the protocol has it.
    async fn call<R: JsonRpcRequest>(&mut self, request: &R) -> Result<R::Response, Stop> {
        let told = self.ask(request).await?;
        understood(request, told)
    }

    /// Asks the agent and waits for its answer, with all that the protocol does not know of.
    async fn ask(&mut self, request: &impl JsonRpcMessage) -> Result<Value, Stop> {
        if lock(&self.listener).cancelled {
            return Err(Stop::Cancelled);
        }
        let message = request.to_untyped_message().map_err(Stop::Fault)?;
        let session = message.params().get("sessionId").and_then(Value::as_str).map(SessionId::new);
        let mut answer = pin!(self.link.send_request::<UntypedMessage>(message).block_task());
        loop {
            match select(answer.as_mut(), pin!(self.cancel.wished())).await {
                Either::Left((Ok(told), _)) => return Ok(told),
                Either::Left((Err(_), _)) if lock(&self.listener).cancelled => return Err(Stop::Cancelled),
                Either::Left((Err(error), _)) if is_incoming_transport_closed(&error) => {
                    return Err(Stop::Closed);
                }
                Either::Left((Err(error), _)) => return Err(Stop::Fault(error)),
                Either::Right((Wished::TooLate, _)) => return Err(Stop::Cancelled),
                Either::Right((Wished::Asked, _)) => {
                    lock(&self.listener).cancelled = true;
                    let Some(session) = session.clone() else { return Err(Stop::Cancelled) };
                    self.link.send_notification(CancelNotification::new(session)).map_err(Stop::Fault)?;
                }
            }
        }
    }
}

fn understood<R: JsonRpcRequest>(request: &R, told: Value) -> Result<R::Response, Stop> {
    let told = if told.is_null() { Value::Object(serde_json::Map::new()) } else { told };
    R::Response::from_json(request.method(), told).map_err(|error| {
        let why = error.data.as_ref().and_then(|data| data["error"].as_str()).unwrap_or(&error.message);
        let message = format!("its answer to `{}` is not understood: {why}", request.method());
        Stop::Fault(fault::refused(message))
    })
}

/// Why a turn that stopped is no result.
fn stopped(reason: StopReason) -> String {
    match reason {
        StopReason::Refusal => "the model refused to go on".to_string(),
        StopReason::MaxTokens => "the answer reached the maximum number of tokens".to_string(),
        StopReason::MaxTurnRequests => "it reached the maximum number of requests in one turn".to_string(),
        StopReason::Cancelled => "it broke its turn off".to_string(),
        other => format!("it stopped for another reason: {}", word(other)),
    }
}
