//! The server: MCP on the standard streams, until the agent closes them.

use super::{Judged, SERVER, TOOL, Terms, TermsError};
use crate::contract;
use crate::rehearsal::{DispatchInfo, InfoError};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Why the server does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Dispatch(#[from] InfoError),
    #[error(transparent)]
    Terms(#[from] TermsError),
    #[error("the runtime of the server cannot be started")]
    Runtime(#[source] io::Error),
    #[error("the agent does not speak MCP as it is known here")]
    Initialize(#[source] Box<ServerInitializeError>),
}

/// Serves the tool for one dispatch on the standard streams until they are closed.
pub fn serve(dispatch: &Path) -> Result<(), ServeError> {
    let info = DispatchInfo::read(dispatch)?;
    let desk = Desk { terms: Terms::of(dispatch)?, result: info.result, accepted: AtomicBool::new(false) };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Runtime)?;
    let served = runtime.block_on(async {
        match desk.serve(rmcp::transport::stdio()).await {
            Ok(running) => {
                // It ends with the connection, whoever closes it.
                let _ = running.waiting().await;
                Ok(())
            }
            // An agent that looked whether the server can be started, and no more.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError::Initialize(Box::new(error))),
        }
    });
    // A read of the standard input may never come back.
    runtime.shutdown_background();
    served
}

/// Where results of one dispatch are handed in.
struct Desk {
    terms: Terms,
    /// The result file.
    result: PathBuf,
    accepted: AtomicBool,
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        let about = format!("Hand in your result by `{TOOL}`; what is wrong with it is said at once.");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(SERVER, env!("CARGO_PKG_VERSION")))
            .with_instructions(about)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![tool(&self.terms)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != TOOL {
            let message = format!("there is no tool `{}`; there is `{TOOL}`", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let result = arguments.get("result").unwrap_or(&Value::Null);
        let said = match self.take(result) {
            Ok(said) => CallToolResult::success(vec![ContentBlock::text(said)]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        };
        Ok(said.into())
    }
}

impl Desk {
    /// Takes a result in, or says why not. A later good one takes the place of an earlier one.
    fn take(&self, result: &Value) -> Result<String, String> {
        let (text, said) = match self.terms.judge(result) {
            Judged::Accepted { text } => {
                self.accepted.store(true, Ordering::Relaxed);
                (Some(text), Ok("accepted".to_string()))
            }
            // A retry must not make a security blocker vanish.
            Judged::Refused { why, counts } => {
                (counts.filter(|_| !self.accepted.load(Ordering::Relaxed)), Err(why))
            }
        };
        match text.map(|text| replace(&self.result, &text)) {
            Some(Err(error)) => Err(format!("the result could not be written: {error}")),
            Some(Ok(())) | None => said,
        }
    }
}

fn tool(terms: &Terms) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"result": contract::schema_for(&terms.expected)},
        "required": ["result"],
    });
    let about = "Hands in the result of this dispatch. It is held against its contract: either it is accepted, or every \
                 problem is listed and you can correct it and hand it in again. The last accepted one counts.";
    let Value::Object(schema) = schema else { return Tool::new(TOOL, about, serde_json::Map::new()) };
    Tool::new(TOOL, about, schema)
}

/// Puts the text in the place of a file at once, so that nobody ever reads half of it.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    let mut file = std::fs::File::create(&draft)?;
    file.write_all(text)?;
    file.sync_all()?;
    std::fs::rename(&draft, path)
}
