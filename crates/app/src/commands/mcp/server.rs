//! Serves MCP on the standard streams until the client closes them.

use super::call::ToolCall;
use super::pages;
use super::reply::{ToolArguments, explain};
use super::site::McpSite;
use super::tools::{McpTool, TOOLS};
use remand_terminal::CommandFailure;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptMessage, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, Role, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use std::sync::Arc;

const ABOUT: &str = "Remand drives coding agents through a tested and reviewed workflow, and commits only what is proven. \
    Call `start`, then `wait` with the cursor of the last answer, then `evidence`. Questions are for the user: show them.";

/// Serves until the standard streams are closed. Runs that it started go on.
pub fn serve(site: McpSite) -> Result<(), CommandFailure> {
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        CommandFailure::user(
            what.to_string(),
            "`remand mcp` speaks the Model Context Protocol on its standard input and output",
        )
        .caused_by(error.to_string())
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| failed("the server cannot be started", &error))?;
    let server = McpServer { site: Arc::new(site) };
    let outcome = runtime.block_on(async {
        match server.serve(rmcp::transport::stdio()).await {
            Ok(running) => {
                // The connection is over, however it ended.
                let _ = running.waiting().await;
                Ok(())
            }
            // The client only probed whether the server starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(failed("the client does not speak a supported version of MCP", &error)),
        }
    });
    // A read of the standard input, or a call that waits, may not return soon.
    runtime.shutdown_background();
    outcome
}

struct McpServer {
    site: Arc<McpSite>,
}

impl McpServer {
    /// Runs something that blocks, with the site.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&McpSite) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let site = Arc::clone(&self.site);
        tokio::task::spawn_blocking(move || work(&site))
            .await
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("remand", env!("CARGO_PKG_VERSION")))
            .with_instructions(ABOUT)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(McpTool::described).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = McpTool::by_name(&request.name) else {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
        };
        let client = client_of(&context);
        let arguments = ToolArguments(request.arguments.unwrap_or_default());
        let answered = self
            .aside(move |site| (tool.answer)(&ToolCall { site, client: &client, arguments: &arguments }))
            .await?;
        let reply = match answered {
            Ok(value) => CallToolResult::success(vec![ContentBlock::text(format!("{value:#}"))]),
            Err(failure) => CallToolResult::error(vec![ContentBlock::text(explain(&failure))]),
        };
        Ok(reply.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = self.aside(pages::resources).await?.map_err(|failure| refusal(&failure))?;
        Ok(ListResourcesResult::with_all_items(all))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(pages::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let address = request.uri.clone();
        let (text, mime) = self
            .aside(move |site| pages::read(site, &address))
            .await?
            .map_err(|failure| refusal(&failure))?;
        let content = ResourceContents::TextResourceContents {
            uri: request.uri,
            mime_type: Some(mime.to_string()),
            text,
            meta: None,
        };
        Ok(ReadResourceResult::new(vec![content]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(self.aside(pages::prompts).await?))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = ToolArguments(request.arguments.unwrap_or_default());
        let wanted = arguments.required("request").map_err(|failure| refusal(&failure))?.to_string();
        let name = request.name.clone();
        let text = self.aside(move |site| pages::prompt(site, &name, &wanted)).await?;
        let text = text.ok_or_else(|| {
            ErrorData::invalid_params(format!("there is no prompt `{}`", request.name), None)
        })?;
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}

/// The client as it names itself. It is recorded, and decides nothing.
fn client_of(context: &RequestContext<RoleServer>) -> String {
    let info = context.peer.peer_info();
    info.map_or_else(
        || "an unknown client".to_string(),
        |info| format!("{} {}", info.client_info.name, info.client_info.version),
    )
}

fn refusal(failure: &CommandFailure) -> ErrorData {
    ErrorData::invalid_params(explain(failure), None)
}
