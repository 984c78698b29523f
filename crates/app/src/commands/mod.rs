//! The subcommands, one a file.

mod bound;
mod check;
mod graph;
mod matrix;
mod reference;
mod walk;
mod workflows;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};

/// What every subcommand is given.
pub struct Context<'c> {
    pub json: bool,
    pub roles: Option<&'c std::path::Path>,
}

/// Runs the subcommand of a command line.
pub fn run(cli: &Cli) -> Result<Exit, Failure> {
    let context = Context { json: cli.json, roles: cli.roles.as_deref() };
    match &cli.command {
        Command::Check { workflows } => check::run(&context, workflows),
        Command::Workflows { name } => workflows::run(&context, name.as_deref()),
        Command::Matrix { workflow, markdown } => matrix::run(&context, workflow, *markdown),
        Command::Graph { workflow, format, output } => {
            graph::run(&context, workflow, *format, output.as_deref())
        }
        Command::Bound { workflow, tasks, gaps } => bound::run(&context, workflow, *tasks, *gaps),
        Command::Walk { walk } => walk::run(&context, walk),
        Command::Reference => reference::run(&context),
    }
}
