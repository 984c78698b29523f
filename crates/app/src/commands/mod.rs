//! The subcommands, one a file.

pub mod agents;
pub mod answer;
pub mod audit;
pub mod bench;
pub mod cancel;
pub mod clean;
pub mod completions;
pub mod config;
pub mod converse;
pub mod costs;
pub mod defects;
pub mod demo;
pub mod diff;
pub mod doctor;
pub mod estimate;
pub mod evidence;
pub mod export;
pub mod findings;
pub mod gaps;
pub mod gates;
pub mod gauntlet;
pub mod import;
pub mod init;
pub mod issues;
pub mod log;
pub mod man;
pub mod record;
pub mod rehearse;
pub mod resume;
pub mod rollback;
pub mod rounds;
pub mod run;
pub mod runs;
pub mod show;
pub mod stats;
pub mod status;
pub mod submit;
pub mod ticket;

mod bound;
mod check;
mod graph;
mod matrix;
mod reference;
mod walk;
mod workflows;

use crate::cli::{Cli, Command};
use crate::exit::{Exit, Failure};
use remand_runtime::dispatch;

/// What every subcommand is given.
pub struct Context<'c> {
    pub json: bool,
    pub roles: Option<&'c std::path::Path>,
    /// The folder to work in, if not the current one.
    pub directory: Option<&'c std::path::Path>,
    /// The state directory, if not the usual one.
    pub state: Option<&'c std::path::Path>,
}

/// Runs the subcommand of a command line.
pub fn run(cli: &Cli) -> Result<Exit, Failure> {
    // Each does nothing that the process which starts it could not do itself.
    let is_for_agents = matches!(
        cli.command,
        Command::Rehearse(_) | Command::Confine(_) | Command::Converse(_) | Command::Submit(_)
    );
    if !is_for_agents && std::env::var_os(dispatch::AGENT).is_some() {
        let hint = "an agent's result is all that it has to say; the engine and people do the rest";
        return Err(Failure::user("remand is not for agents: Permission denied", hint));
    }
    let context = Context {
        json: cli.json,
        roles: cli.roles.as_deref(),
        directory: cli.directory.as_deref(),
        state: cli.state.as_deref(),
    };
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
        Command::Agents(args) => agents::run(&context, args),
        Command::Answer(args) => answer::run(&context, args),
        Command::Audit(args) => audit::run(&context, args),
        Command::Bench(args) => bench::run(&context, args),
        Command::Cancel(args) => cancel::run(&context, args),
        Command::Clean(args) => clean::run(&context, args),
        Command::Completions(args) => completions::run(&context, args),
        Command::Config(args) => config::run(&context, args),
        Command::Costs(args) => costs::run(&context, args),
        Command::Defects(args) => defects::run(&context, args),
        Command::Demo(args) => demo::run(&context, args),
        Command::Diff(args) => diff::run(&context, args),
        Command::Doctor(args) => doctor::run(&context, args),
        Command::Estimate(args) => estimate::run(&context, args),
        Command::Evidence(args) => evidence::run(&context, args),
        Command::Export(args) => export::run(&context, args),
        Command::Findings(args) => findings::run(&context, args),
        Command::Gaps(args) => gaps::run(&context, args),
        Command::Gates(args) => gates::run(&context, args),
        Command::Gauntlet(args) => gauntlet::run(&context, args),
        Command::Import(args) => import::run(&context, args),
        Command::Init(args) => init::run(&context, args),
        Command::Issues(args) => issues::run(&context, args),
        Command::Log(args) => log::run(&context, args),
        Command::Man(args) => man::run(&context, args),
        Command::Record(args) => record::run(&context, args),
        Command::Resume(args) => resume::run(&context, args),
        Command::Rollback(args) => rollback::run(&context, args),
        Command::Rounds(args) => rounds::run(&context, args),
        Command::Run(args) => run::run(&context, args),
        Command::Runs(args) => runs::run(&context, args),
        Command::Show(args) => show::run(&context, args),
        Command::Stats(args) => stats::run(&context, args),
        Command::Status(args) => status::run(&context, args),
        Command::Ticket(args) => ticket::run(&context, args),
        Command::Rehearse(args) => rehearse::run(args),
        Command::Converse(args) => converse::run(args),
        Command::Submit(args) => submit::run(args),
        Command::Confine(args) => rehearse::confine(args),
    }
}
