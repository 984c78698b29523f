//! Serves MCP on the standard streams until the agent closes them.

use super::{SERVER, SubmissionOutcome, TOOL, Terms, TermsError};
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

/// Why the server could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Dispatch(#[from] InfoError),
    #[error(transparent)]
    Terms(#[from] TermsError),
    #[error("the server's runtime cannot be started")]
    Runtime(#[source] io::Error),
    #[error("the agent does not speak a supported version of MCP")]
    Initialize(#[source] Box<ServerInitializeError>),
}

/// Serves the tool for one dispatch until the standard streams are closed.
pub fn serve(dispatch: &Path) -> Result<(), ServeError> {
    let info = DispatchInfo::read(dispatch)?;
    let server = SubmissionServer {
        terms: Terms::read(dispatch)?,
        result: info.result,
        accepted: AtomicBool::new(false),
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Runtime)?;
    let outcome = runtime.block_on(async {
        match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => {
                // A broken connection needs no report: accepted results are already stored.
                let _ = running.waiting().await;
                Ok(())
            }
            // The agent only probed whether the server starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError::Initialize(Box::new(error))),
        }
    });
    // A read of the standard input may never return.
    runtime.shutdown_background();
    outcome
}

/// Receives the results of one dispatch.
struct SubmissionServer {
    terms: Terms,
    /// The result file.
    result: PathBuf,
    accepted: AtomicBool,
}

impl ServerHandler for SubmissionServer {
    fn get_info(&self) -> ServerConfig {
        let about = format!("Submit your result with `{TOOL}`. It is validated immediately.");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(SERVER, env!("CARGO_PKG_VERSION")))
            .with_instructions(about)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![submit_tool(&self.terms)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != TOOL {
            let message = format!("there is no tool `{}`; use `{TOOL}`", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        // Some agents pass the document itself.
        let result = arguments.get("result").unwrap_or(&arguments);
        let reply = match self.submit(result) {
            Ok(reply) => CallToolResult::success(vec![ContentBlock::text(reply)]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        };
        Ok(reply.into())
    }
}

impl SubmissionServer {
    /// Stores a valid result, or returns the problems of an invalid one. A later valid result replaces an earlier one.
    fn submit(&self, result: &Value) -> Result<String, String> {
        let store = |text: Vec<u8>| {
            replace_file(&self.result, &text)
                .map_err(|error| format!("the result could not be written: {error}"))
        };
        match self.terms.validate(result) {
            SubmissionOutcome::Accepted { text } => {
                store(text)?;
                self.accepted.store(true, Ordering::Relaxed);
                Ok("accepted".to_string())
            }
            // A security blocker counts even in a malformed result, which is stored until a valid one is accepted.
            SubmissionOutcome::Refused { why, blocking } => {
                blocking.filter(|_| !self.accepted.load(Ordering::Relaxed)).map_or(Ok(()), store)?;
                Err(why)
            }
        }
    }
}

fn submit_tool(terms: &Terms) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"result": remand_contract::schema_for(&terms.expected)},
        "required": ["result"],
    });
    let about = "Submits the result of this dispatch. The result is validated against its contract: either it is accepted, \
or every problem is listed, and you can correct it and submit it again. The last accepted result counts.";
    let Value::Object(schema) = schema else { return Tool::new(TOOL, about, serde_json::Map::new()) };
    Tool::new(TOOL, about, schema)
}

/// Replaces a file atomically.
fn replace_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    let mut file = std::fs::File::create(&draft)?;
    file.write_all(text)?;
    file.sync_all()?;
    std::fs::rename(&draft, path)
}
