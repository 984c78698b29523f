//! `remand ticket`: writes new tickets, shows where one stands, and corrects what only a human may correct.

mod approaches;
mod merged;
mod new;
mod place;
mod show;

use super::Context;
use crate::exit::{Exit, Failure};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Write a new ticket
    New(new::Args),
    /// Show where a ticket stands: status, revisions of its design, and the runs on it
    Show(show::Args),
    /// List the approaches that failed, or take one off the list
    Approaches(approaches::Args),
    /// Tick `Merged / Complete` if the current branch contains the work of a run
    Merged(merged::Args),
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    match &args.action {
        Action::New(args) => new::run(context, args),
        Action::Show(args) => show::run(context, args),
        Action::Approaches(args) => approaches::run(context, args),
        Action::Merged(args) => merged::run(context, args),
    }
}
