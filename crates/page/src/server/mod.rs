//! The server: guards, the login, and one page for each address.

mod audience;
mod guard;
mod session;
mod stream;

use crate::address::{self, Query};
use crate::frame::{self, Shown};
use crate::problem::PageProblem;
use crate::reply::{page, plain, typed};
use crate::run::RunRequest;
use crate::{assets, home, run};
use audience::Audience;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, Response, StatusCode, header};
use axum::response::IntoResponse;
use guard::RequestRefusal;
use remand_ledger::RunId;
use remand_views::{Pulse, RunSite, Watched};
use session::Sessions;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The port if the user names none; the next free one is taken only on request.
pub const PORT: u16 = 7263;

/// How often the server looks whether it is to end.
const POLL: Duration = Duration::from_millis(50);

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_millis(200);

/// The greatest size of an answer with its note.
const MAX_ANSWER: usize = 64 * 1024;

/// Nothing but our own files is loaded, nobody can frame the page, and no script or style stands in a page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PageStartError {
    #[error("port {port} of the loopback interface cannot be used")]
    Port { port: u16, source: io::Error },
    #[error("the login link cannot be written to {path}")]
    Link { path: String, source: io::Error },
    #[error("the server cannot be started")]
    Runtime { source: io::Error },
}

/// A server that listens.
#[derive(Debug)]
pub struct PageServer {
    listener: TcpListener,
    shared: Arc<Shared>,
    end: watch::Sender<bool>,
}

#[derive(Debug)]
struct Shared {
    site: Arc<RunSite>,
    sessions: Sessions,
    port: u16,
    audience: Arc<Audience>,
    ended: watch::Receiver<bool>,
}

impl PageServer {
    /// Listens on a port of the loopback interface; 0 takes any free one.
    pub fn bind(site: RunSite, port: u16) -> Result<PageServer, PageStartError> {
        let unavailable = |source| PageStartError::Port { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(unavailable)?;
        listener.set_nonblocking(true).map_err(unavailable)?;
        let port = listener.local_addr().map_err(unavailable)?.port();
        let path = session::link_file(&site.state, port).display().to_string();
        let sessions =
            Sessions::new(&site.state, port).map_err(|source| PageStartError::Link { path, source })?;
        let (end, ended) = watch::channel(false);
        let shared =
            Arc::new(Shared { site: Arc::new(site), sessions, port, audience: Arc::default(), ended });
        Ok(PageServer { listener, shared, end })
    }

    /// The link that opens the page, once.
    pub fn link(&self) -> io::Result<String> {
        self.shared.sessions.link()
    }

    /// Serves until `is_over`, or until nobody has looked for `idle`.
    pub fn serve(
        self,
        idle: Option<Duration>,
        is_over: impl Fn() -> bool + Send + 'static,
    ) -> Result<(), PageStartError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| PageStartError::Runtime { source })?;
        let PageServer { listener, shared, end } = self;
        runtime
            .block_on(async move {
                let audience = Arc::clone(&shared);
                let is_idle = move || idle.is_some_and(|idle| audience.audience.is_gone_for(idle));
                let router = Router::new().fallback(answer).with_state(shared);
                let listener = tokio::net::TcpListener::from_std(listener)?;
                axum::serve(listener, router)
                    .with_graceful_shutdown(async move {
                        while !is_over() && !is_idle() {
                            tokio::time::sleep(POLL).await;
                        }
                        // Streams would keep the server open.
                        let _ = end.send(true);
                    })
                    .await
            })
            .map_err(|source| PageStartError::Runtime { source })
    }
}

/// The login link of a server that already listens at a port.
pub fn link_of_running(state: &Path, port: u16) -> Option<String> {
    let link = std::fs::read_to_string(session::link_file(state, port)).ok()?;
    Some(link.trim().to_string())
}

/// The login link of any server of this state folder that listens.
pub fn any_link(state: &Path) -> Option<String> {
    session::ports(state).into_iter().find_map(|port| {
        // The file of a server that was killed is still there.
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        TcpStream::connect_timeout(&address, CONNECT).ok()?;
        link_of_running(state, port)
    })
}

/// A login link that leads on to a run.
pub fn link_to_run(link: &str, repository: &str, run: &RunId) -> String {
    let path = format!("/r/{}/{}", address::part(repository), address::part(&run.0));
    format!("{link}&to={}", address::part(&path))
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    shared.audience.looked();
    let mut response = respond(shared, request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for name in ["cross-origin-opener-policy", "cross-origin-resource-policy"] {
        headers.insert(name, HeaderValue::from_static("same-origin"));
    }
    response
}

async fn respond(shared: Arc<Shared>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    if let Err(refusal) = guard::check(&head.method, &head.headers, shared.port) {
        return refused(refusal);
    }
    let parts = address::parts(head.uri.path());
    let query = Query::parse(head.uri.query().unwrap_or_default());
    let words: Vec<&str> = parts.iter().map(String::as_str).collect();
    if let ["assets", name] = words.as_slice() {
        return match assets::asset(name) {
            Some((bytes, kind)) => typed(StatusCode::OK, kind, bytes),
            None => plain(StatusCode::NOT_FOUND, "there is no such file"),
        };
    }
    if let (&Method::GET, ["login"]) = (&head.method, words.as_slice()) {
        return login(&shared, &query);
    }
    let cookies: Vec<&str> =
        head.headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
    if !shared.sessions.knows(&cookies.join(";")) {
        return page(StatusCode::UNAUTHORIZED, frame::closed("This window is not signed in."));
    }
    match (&head.method, words.as_slice()) {
        (&Method::POST, ["r", repository, run, "gates", command]) => {
            let Ok(bytes) = to_bytes(body, MAX_ANSWER).await else {
                return plain(StatusCode::PAYLOAD_TOO_LARGE, "the note is too long");
            };
            let (repository, run, command) =
                (repository.to_string(), RunId(run.to_string()), command.to_string());
            blocking(move || run::submit(&shared.site, &repository, &run, &command, &bytes)).await
        }
        (&Method::POST, ["r", repository, run, request]) => {
            let Some(request) = RunRequest::by_name(request) else {
                return plain(StatusCode::NOT_FOUND, "nothing can be sent to this address");
            };
            let (repository, run) = (repository.to_string(), RunId(run.to_string()));
            blocking(move || run::ask(&shared.site, &repository, &run, request)).await
        }
        (&Method::POST, _) => plain(StatusCode::NOT_FOUND, "nothing can be sent to this address"),
        (_, ["events"]) => events(shared, Watched::Home),
        (_, ["events", repository, run, rest @ ..]) => events(
            shared.clone(),
            Watched::Run {
                repository: repository.to_string(),
                run: RunId(run.to_string()),
                command: rest.first().map(ToString::to_string),
            },
        ),
        _ => {
            let path = parts.clone();
            blocking(move || show(&shared.site, &path, &query)).await
        }
    }
}

fn events(shared: Arc<Shared>, watched: Watched) -> Response<Body> {
    stream::messages(Arc::clone(&shared.site), watched, shared.audience.watch(), shared.ended.clone())
        .into_response()
}

/// Draws a page away from the thread that serves streams.
async fn blocking(work: impl FnOnce() -> Response<Body> + Send + 'static) -> Response<Body> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "this page could not be drawn"))
}

fn login(shared: &Shared, query: &Query) -> Response<Body> {
    // Only to a page of ours: `//host` would lead elsewhere.
    let to = query.get("to").filter(|to| to.starts_with("/r/")).unwrap_or("/");
    match shared.sessions.open(query.get("key").unwrap_or_default()) {
        Ok(Some(cookie)) => {
            // A redirect would count as a part of the navigation from wherever the link was clicked, and a strict
            // cookie would not be sent with it.
            let mut response = page(StatusCode::OK, frame::opened(to));
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Ok(None) => {
            page(StatusCode::FORBIDDEN, frame::closed("This link was used before, or is not one of ours."))
        }
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("no session can be opened: {error}")),
    }
}

fn show(site: &RunSite, path: &[String], query: &Query) -> Response<Body> {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    // The state is read before the page: if something happens in between, the page is read once more.
    let watched = watched_by(&words, query);
    let state = watched.as_ref().and_then(|watched| Pulse::default().read(site, watched).ok());
    let shown = match words.as_slice() {
        [] => home::page(site, query).map(Shown::Page),
        ["r", repository, run, rest @ ..] => run::page(site, repository, run, rest, query),
        _ => Err(PageProblem::missing("there is no such page")),
    };
    match shown {
        Ok(Shown::Page(mut drawn)) => {
            if let (Some(watched), Some(state)) = (watched, state) {
                (drawn.stream, drawn.state) = (stream_of(&watched), state);
            }
            page(StatusCode::OK, drawn.html())
        }
        Ok(Shown::Text(text)) => typed(StatusCode::OK, "text/plain; charset=utf-8", text),
        Err(problem) => {
            let status =
                if problem.is_missing() { StatusCode::NOT_FOUND } else { StatusCode::INTERNAL_SERVER_ERROR };
            page(status, frame::problem(&problem))
        }
    }
}

/// What a page shows that may change; a run as it was earlier does not.
fn watched_by(words: &[&str], query: &Query) -> Option<Watched> {
    match words {
        [] => Some(Watched::Home),
        ["r", repository, run, rest @ ..] if query.get("at").is_none() => Some(Watched::Run {
            repository: repository.to_string(),
            run: RunId(run.to_string()),
            command: match rest {
                ["agents", command] => Some(command.to_string()),
                _ => None,
            },
        }),
        _ => None,
    }
}

/// The address of the stream for a window.
fn stream_of(watched: &Watched) -> String {
    match watched {
        Watched::Home => "/events".to_string(),
        Watched::Run { repository, run, command } => {
            let command = command.iter().map(|command| format!("/{}", address::part(command)));
            let command: String = command.collect();
            format!("/events/{}/{}{command}", address::part(repository), address::part(&run.0))
        }
    }
}

fn refused(refusal: RequestRefusal) -> Response<Body> {
    plain(refusal.status, refusal.why)
}
