//! `remand ticket`: writes and shows tickets, and makes the corrections that only a human may make.

mod approaches;
mod found_ticket;
mod merged;
mod new;
mod show;

use crate::context::CommandContext;
use remand_terminal::{CommandFailure, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub action: TicketCommand,
}

#[derive(Debug, clap::Subcommand)]
pub enum TicketCommand {
    /// Write a new ticket
    New(new::Args),
    /// Show a ticket: its status, the revisions of its design, and its runs
    Show(show::Args),
    /// List the failed approaches, or remove one from the list
    Approaches(approaches::Args),
    /// Tick `Merged / Complete` if the current branch contains the work of a run
    Merged(merged::Args),
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    match &args.action {
        TicketCommand::New(args) => new::run(context, args),
        TicketCommand::Show(args) => show::run(context, args),
        TicketCommand::Approaches(args) => approaches::run(context, args),
        TicketCommand::Merged(args) => merged::run(context, args),
    }
}
