//! The service on the loopback interface.

use crate::admission::{UnplayableScript, admit};
use crate::dispatch::DispatchProgress;
use crate::player::{PlayedResponse, ScriptPlayer};
use crate::protocol::{Inquiry, Protocol, ReplyMode, StreamEvent};
use crate::record::Request;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request as Incoming, State};
use axum::http::{HeaderMap, Method, Response, header};
use remand_agents::rehearsal::{Outage, Script};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// A model that plays a script until it is dropped.
#[derive(Debug)]
pub struct Standin {
    port: u16,
    shared: Shared,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Where the service listens, and where it logs requests.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// 0 for any free port.
    pub port: u16,
    /// A file for one line of JSON per answered request.
    pub log: Option<PathBuf>,
}

/// Why a stand-in cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Unplayable(#[from] UnplayableScript),
    #[error("the stand-in cannot listen on port {port} of the loopback interface")]
    Port { port: u16, source: io::Error },
    #[error("the log {} cannot be written", path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("the stand-in's thread cannot be started")]
    Thread { source: io::Error },
}

impl Standin {
    /// Plays a script on a free port.
    pub fn start(script: Script) -> Result<Standin, StartError> {
        Standin::start_with(script, Options::default())
    }

    pub fn start_with(script: Script, options: Options) -> Result<Standin, StartError> {
        admit(&script)?;
        let unavailable = |source| StartError::Port { port: options.port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(unavailable)?;
        listener.set_nonblocking(true).map_err(unavailable)?;
        let port = listener.local_addr().map_err(unavailable)?.port();
        let log =
            options.log.map(|path| File::create(&path).map_err(|source| StartError::Log { path, source }));
        let state = Inner { player: ScriptPlayer::new(script), requests: Vec::new(), log: log.transpose()? };
        let shared = Shared(Arc::new(Mutex::new(state)));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| StartError::Thread { source })?;
        let router = Router::new().fallback(serve).with_state(shared.clone());
        let thread = std::thread::Builder::new()
            .name("standin".to_owned())
            // Dropping the runtime disconnects clients that still wait for a reply.
            .spawn(move || runtime.block_on(listen(listener, router, stopped)))
            .map_err(|source| StartError::Thread { source })?;
        Ok(Standin { port, shared, stop: Some(stop), thread: Some(thread) })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address without a path; OpenAI's protocols are below `/v1`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// Waits until the service ends, which happens only on an error.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Clone, Debug)]
struct Shared(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    player: ScriptPlayer,
    requests: Vec<Request>,
    log: Option<File>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record_request(&self, request: Request) -> usize {
        let mut inner = self.lock();
        inner.requests.push(request);
        inner.requests.len() - 1
    }

    fn record_reply(&self, number: usize, status: u16, summary: &str) {
        let mut inner = self.lock();
        let Inner { requests, log, .. } = &mut *inner;
        let Some(request) = requests.get_mut(number) else { return };
        (request.status, request.answered) = (Some(status), summary.to_owned());
        if let (Some(log), Ok(line)) = (log, serde_json::to_string(request)) {
            // If the log cannot be written, the program still gets its reply.
            let _ = writeln!(log, "{line}");
        }
    }
}

async fn listen(listener: TcpListener, router: Router, stopped: oneshot::Receiver<()>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let serving = std::pin::pin!(axum::serve(listener, router).into_future());
    let stopped = std::pin::pin!(stopped);
    tokio::select! {
        _ = serving => {}
        _ = stopped => {}
    }
}

async fn serve(State(shared): State<Shared>, incoming: Incoming) -> Response<Body> {
    let (parts, body) = incoming.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let path = parts.uri.path().to_owned();
    let inquiry = (parts.method == Method::POST).then(|| Inquiry::parse(&path, &body)).flatten();
    let number = shared.record_request(Request {
        protocol: inquiry.map(Inquiry::protocol),
        method: parts.method.to_string(),
        path: path.clone(),
        model: String::new(),
        key: api_key(&parts.headers),
        dispatch: None,
        status: None,
        answered: String::new(),
        usage: None,
        body: body.clone(),
    });
    match (inquiry, &parts.method) {
        (Some(Inquiry::Turn(protocol, mode)), _) => {
            respond_with_turn(&shared, number, protocol, mode, &path, &body).await
        }
        (Some(Inquiry::Count(protocol)), _) => {
            shared.record_reply(number, 200, "token count");
            json_response(200, &protocol.token_count(bytes.len() as u64 / 4))
        }
        (None, &Method::HEAD) => {
            shared.record_reply(number, 200, "");
            json_response(200, &Value::Null)
        }
        (None, &Method::GET) if path.ends_with("/models") => {
            shared.record_reply(number, 200, "list of models");
            json_response(200, &models())
        }
        (None, _) => {
            shared.record_reply(number, 404, "not found");
            json_response(404, &json!({"error": {"message": format!("the stand-in has nothing at {path}")}}))
        }
    }
}

/// The API key, from any vendor's header.
fn api_key(headers: &HeaderMap) -> Option<String> {
    let names = ["authorization", "x-api-key", "x-goog-api-key"];
    let value = names.iter().find_map(|name| headers.get(*name)?.to_str().ok())?;
    Some(value.trim_start_matches("Bearer ").to_owned())
}

async fn respond_with_turn(
    shared: &Shared,
    number: usize,
    protocol: Protocol,
    mode: ReplyMode,
    path: &str,
    body: &Value,
) -> Response<Body> {
    let conversation = protocol.read(path, body);
    let dispatch = DispatchProgress::find(&conversation);
    let response = {
        let mut inner = shared.lock();
        let response = inner.player.respond(&conversation, dispatch.as_ref());
        let request = &mut inner.requests[number];
        request.model.clone_from(&conversation.model);
        request.dispatch = dispatch.map(|dispatch| dispatch.title());
        if let PlayedResponse::Reply { reply, .. } = &response {
            request.usage = Some(reply.usage);
        }
        response
    };
    match response {
        PlayedResponse::Hang => std::future::pending().await,
        PlayedResponse::Fail { outage, message } => {
            shared.record_reply(number, outage.status, &message);
            error_response(protocol, &outage, &message)
        }
        PlayedResponse::Reply { after, reply } => {
            tokio::time::sleep(after).await;
            shared.record_reply(number, 200, &reply.summary());
            match mode {
                ReplyMode::Whole => json_response(200, &protocol.whole_reply(&reply)),
                ReplyMode::Stream => {
                    stream_response(&protocol.streamed_reply(&reply), protocol.end_of_stream())
                }
            }
        }
    }
}

fn error_response(protocol: Protocol, outage: &Outage, message: &str) -> Response<Body> {
    let mut response = json_response(outage.status, &protocol.error(outage, message));
    if let Some(seconds) = outage.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn stream_response(events: &[StreamEvent], end: &str) -> Response<Body> {
    let lines = events.iter().map(|(name, data)| match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    });
    response(200, "text/event-stream", lines.collect::<String>() + end)
}

fn json_response(status: u16, body: &Value) -> Response<Body> {
    response(status, "application/json", body.to_string())
}

fn response(status: u16, kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = axum::http::StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}

/// The list of models in every vendor's format.
fn models() -> Value {
    let id = "stand-in";
    json!({
        "object": "list", "has_more": false,
        "data": [{"id": id, "object": "model", "type": "model", "display_name": id, "created_at": "2025-01-01T00:00:00Z"}],
        "models": [],
    })
}
