//! `remand mcp`: the MCP server for agent programs that the user works with: tools, resources and prompts.
//!
//! It reads the one view of a run and submits through the one door for answers. It drives nothing: a run that it starts
//! belongs to a process of its own. Agents that Remand itself runs never get here: `cli.rs` refuses them.

mod site;

mod call;
mod reply;

mod looks;
mod runs;
mod vetting;

mod answers;
mod waiting;

mod pages;
mod tools;

mod server;

use crate::context::CommandContext;
use remand_terminal::{CommandFailure, ExitCode};
use site::McpSite;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Let the client answer the gates of this phase, in addition to `mcp.may-answer` in your settings
    #[arg(long, value_name = "GATE")]
    pub may_answer: Vec<String>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    server::serve(McpSite::new(context, args.may_answer.clone()))?;
    Ok(ExitCode::Done)
}
