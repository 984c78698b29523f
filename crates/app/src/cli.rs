//! The command line.

use crate::commands::graph::GraphFormat;
use crate::commands::{
    agents, answer, audit, bench, bound, brief, cancel, check, clean, completions, config, converse, costs,
    defects, deliver, demo, diff, doctor, estimate, evidence, export, findings, gaps, gates, gauntlet,
    glance, graph, import, init, issues, land, log, man, matrix, mcp, notify, output, publish, record,
    reference, rehearse, resume, retry, rollback, rounds, run, runs, serve, show, simulate, stats, status,
    submit, ticket, top, vet, walk, workflows,
};
use crate::context::CommandContext;
use crate::groups;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use remand_engine::dispatch;
use remand_terminal::{ColourChoice, CommandFailure, ExitCode, ink, invocation};
use std::path::PathBuf;

/// Drives coding agents through a gated workflow, gathers the evidence itself, and sends every defect back to the
/// phase that caused it.
#[derive(Debug, Parser)]
#[command(name = "remand", version, after_help = ExitCode::HELP)]
pub struct RemandCli {
    /// Print JSON, and nothing else, on standard output
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,

    /// Folder with role files that add to or replace the shipped ones [default: .remand/roles, if it exists]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub roles: Option<PathBuf>,

    /// Work in this folder instead of the current one
    #[arg(long, short = 'C', global = true, value_name = "DIR", help_heading = "Global options")]
    pub directory: Option<PathBuf>,

    /// Keep the ledger and work trees in this folder [default: $XDG_STATE_HOME/remand]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub state: Option<PathBuf>,

    /// Show the engine's log on standard error; twice for details. REMAND_LOG selects by level or target
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = "Global options")]
    pub verbose: u8,

    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        value_parser = ColourChoice::NAMES,
        help_heading = "Global options"
    )]
    pub color: String,

    #[command(subcommand)]
    pub command: Option<RemandCommand>,
}

impl RemandCli {
    /// The command line of this process; ends the process if it is invalid or asks for help.
    pub fn read() -> RemandCli {
        let matches = groups::arrange(RemandCli::command()).get_matches();
        RemandCli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Runs the subcommand.
    pub fn run(&self) -> Result<ExitCode, CommandFailure> {
        ink::set_choice(ColourChoice::by_name(&self.color));
        invocation::set_folders(&[("-C", self.directory.as_deref()), ("--state", self.state.as_deref())]);
        // An agent may run these commands: they can do nothing that the agent could not do itself.
        let is_for_agents = matches!(
            self.command,
            Some(
                RemandCommand::Rehearse(_)
                    | RemandCommand::Confine(_)
                    | RemandCommand::Converse(_)
                    | RemandCommand::Submit(_)
            )
        );
        if !is_for_agents && std::env::var_os(dispatch::AGENT).is_some() {
            // Output readers recognize a denial by the words "permission denied".
            let hint = "return your findings in the result of the dispatch; people and the engine run remand";
            return Err(CommandFailure::user("agents cannot run remand: Permission denied", hint));
        }
        let context = CommandContext {
            json: self.json,
            roles: self.roles.as_deref(),
            directory: self.directory.as_deref(),
            state: self.state.as_deref(),
        };
        let Some(command) = &self.command else { return glance::run(&context) };
        match command {
            RemandCommand::Check { workflows } => check::run(&context, workflows),
            RemandCommand::Workflows { name } => workflows::run(&context, name.as_deref()),
            RemandCommand::Matrix { workflow, markdown } => matrix::run(&context, workflow, *markdown),
            RemandCommand::Graph { workflow, format, output } => {
                graph::run(&context, workflow, *format, output.as_deref())
            }
            RemandCommand::Bound { workflow, tasks, gaps } => bound::run(&context, workflow, *tasks, *gaps),
            RemandCommand::Brief(args) => brief::run(&context, args),
            RemandCommand::Walk { walk } => walk::run(&context, walk),
            RemandCommand::Reference(args) => reference::run(&context, args),
            RemandCommand::Agents(args) => agents::run(&context, args),
            RemandCommand::Answer(args) => answer::run(&context, args),
            RemandCommand::Audit(args) => audit::run(&context, args),
            RemandCommand::Bench(args) => bench::run(&context, args),
            RemandCommand::Cancel(args) => cancel::run(&context, args),
            RemandCommand::Clean(args) => clean::run(&context, args),
            RemandCommand::Completions(args) => completions::run(&context, args, RemandCli::command()),
            RemandCommand::Config(args) => config::run(&context, args),
            RemandCommand::Costs(args) => costs::run(&context, args),
            RemandCommand::Defects(args) => defects::run(&context, args),
            RemandCommand::Demo(args) => demo::run(&context, args),
            RemandCommand::Diff(args) => diff::run(&context, args),
            RemandCommand::Doctor(args) => doctor::run(&context, args),
            RemandCommand::Estimate(args) => estimate::run(&context, args),
            RemandCommand::Evidence(args) => evidence::run(&context, args),
            RemandCommand::Export(args) => export::run(&context, args),
            RemandCommand::Findings(args) => findings::run(&context, args),
            RemandCommand::Gaps(args) => gaps::run(&context, args),
            RemandCommand::Gates(args) => gates::run(&context, args),
            RemandCommand::Gauntlet(args) => gauntlet::run(&context, args),
            RemandCommand::Import(args) => import::run(&context, args),
            RemandCommand::Init(args) => init::run(&context, args),
            RemandCommand::Issues(args) => issues::run(&context, args),
            RemandCommand::Land(args) => land::run(&context, args),
            RemandCommand::Log(args) => log::run(&context, args),
            RemandCommand::Man(args) => man::run(&context, args, RemandCli::command()),
            RemandCommand::Mcp(args) => mcp::run(&context, args),
            RemandCommand::Notify(args) => notify::run(&context, args),
            RemandCommand::Output(args) => output::run(&context, args),
            RemandCommand::Publish(args) => publish::run(&context, args),
            RemandCommand::Record(args) => record::run(&context, args),
            RemandCommand::Resume(args) => resume::run(&context, args),
            RemandCommand::Retry(args) => retry::run(&context, args),
            RemandCommand::Rollback(args) => rollback::run(&context, args),
            RemandCommand::Rounds(args) => rounds::run(&context, args),
            RemandCommand::Run(args) => run::run(&context, args),
            RemandCommand::Runs(args) => runs::run(&context, args),
            RemandCommand::Serve(args) => serve::run(&context, args),
            RemandCommand::Show(args) => show::run(&context, args),
            RemandCommand::Simulate(args) => simulate::run(&context, args),
            RemandCommand::Stats(args) => stats::run(&context, args),
            RemandCommand::Status(args) => status::run(&context, args),
            RemandCommand::Top(args) => top::run(&context, args),
            RemandCommand::Ticket(args) => ticket::run(&context, args),
            RemandCommand::Vet(args) => vet::run(&context, args),
            RemandCommand::Deliver(args) => deliver::run(&context, args),
            RemandCommand::Rehearse(args) => rehearse::run(args),
            RemandCommand::Converse(args) => converse::run(args),
            RemandCommand::Submit(args) => submit::run(args),
            RemandCommand::Confine(args) => rehearse::confine(args),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum RemandCommand {
    /// Prove that workflows end, are complete and keep their guarantees
    ///
    /// Refuses a workflow that can loop forever, has a signal without a route, has an unreachable phase, or breaks one
    /// of its own guarantees. Each error names the line, the shortest path that shows the problem, and a fix.
    Check {
        /// Workflow files or names [default: those in .remand/workflows, or else the shipped ones]
        #[arg(value_name = "FILE|NAME")]
        workflows: Vec<String>,
    },

    /// List the shipped workflows, or print one
    Workflows {
        /// Print the file of this workflow
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },

    /// Show the routing table of a workflow
    Matrix {
        #[arg(value_name = "FILE|NAME")]
        workflow: String,
        /// Print a Markdown table
        #[arg(long)]
        markdown: bool,
    },

    /// Show what each role is given, by which route
    Brief(brief::Args),

    /// Draw a workflow
    Graph {
        #[arg(value_name = "FILE|NAME")]
        workflow: String,
        /// Output format
        #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
        format: GraphFormat,
        /// Write to this file instead of standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },

    /// Count the dispatches of a run: on the happy path and in the worst case
    Bound {
        #[arg(value_name = "FILE|NAME")]
        workflow: String,
        /// Number of tasks in the plan
        #[arg(long, default_value_t = 6, value_name = "N")]
        tasks: u16,
        /// Number of gaps in the first inventory
        #[arg(long, default_value_t = 0, value_name = "N")]
        gaps: u16,
    },

    /// Simulate a workflow with random agents: cost, time, escaped defects, and what a change of the workflow buys
    ///
    /// The real kernel decides; agents, reviewers and checks find, miss and repair defects at random. Where this repository
    /// has enough finished runs of the workflow, their costs, failures and rejections are used, else defaults;
    /// `--print-parameters` shows each with its source. `--vary` compares variants with the same random numbers, each proven
    /// by the checker first.
    Simulate(simulate::Args),

    /// Walk through a workflow on paper: give a list of signals and see each ruling
    ///
    /// The file names a workflow and lists what happens, such as `- design-review: approved`. No agent runs, so it
    /// costs nothing. `remand reference walks` describes the format.
    Walk {
        #[arg(value_name = "FILE")]
        walk: PathBuf,
    },

    /// Print a page of the reference, such as `configuration`
    Reference(reference::Args),

    /// Write, show and correct tickets and their failed approaches
    Ticket(ticket::Args),

    /// Show how a role file of Claude Code, Copilot or opencode would be used here
    ///
    /// The file provides the prompt, the model, and the tools that the agent asks for. Verdicts, the result and the upper
    /// limit of permissions come from our role: the file can narrow permissions but never widen them. Nothing is
    /// changed without `--write`. To use the file as it is, set `[roles.NAME] file = "FILE"` in remand.toml.
    Import(import::Args),

    /// Write a workflow as agent files of another tool, the set-up of the MCP server, or a run as OpenTelemetry
    ///
    /// With `--to`, writes agent definitions, an orchestrator, the references that they name, an entry prompt and a page with a
    /// drawing of the workflow. In the other tool all of this is advice to a model; here the engine enforces it.
    ///
    /// With `--mcp`, writes a plugin for Claude Code, and snippets for Codex, opencode, Gemini CLI and Qwen Code, that
    /// start `remand mcp`. With `--otlp`, writes or sends the traces and metrics of a run.
    Export(export::Args),

    /// Write a short configuration file that names your agent
    Init(init::Args),

    /// Turn a request into a verified commit
    #[command(after_help = ExitCode::HELP)]
    Run(run::Args),

    /// Judge a change that anybody made: is it worse than its base?
    ///
    /// Runs the checks of the base on the change, compares test by test, and looks for weakened tests, changed test
    /// settings and secrets. The change cannot narrow its own checks. It needs no agent and no model.
    #[command(after_help = ExitCode::HELP)]
    Vet(vet::Args),

    /// Land branches in order, each only if it passes after the others
    ///
    /// The local branch is moved forward only to content that `remand vet` passed. A branch that conflicts or fails comes
    /// back with a report, and the others land. Nothing is pushed.
    #[command(after_help = ExitCode::HELP)]
    Land(land::Args),

    /// Continue runs that were interrupted or whose gates were answered
    Resume(resume::Args),

    /// Retry a run that failed, or a commit that a hook refused
    Retry(retry::Args),

    /// Show the status of a run
    Status(status::Args),

    /// List the runs of this repository
    Runs(runs::Args),

    /// Serve the live page: all runs of all your repositories in the browser
    ///
    /// Shows where each run is, why, and what it costs, and answers gates. It listens on 127.0.0.1 only. The printed link
    /// opens the page once; run the command again for another window. Stopping it stops no run.
    Serve(serve::Args),

    /// Watch all your runs in the terminal, answer their gates, cancel and continue them
    ///
    /// Lists what needs you first; Enter shows one run. It drives nothing, so leaving it stops no run.
    Top(top::Args),

    /// Show why a run went the way it did: every ruling from request to commit
    Log(log::Args),

    /// Show what reviewers and checks found, and where each finding was sent
    Findings(findings::Args),

    /// Show the gaps of a specification and the progress on each
    Gaps(gaps::Args),

    /// Show how the rounds of a run converge, or roll rounds back
    Rounds(rounds::Args),

    /// Show where defects came from, where they were found, and what correcting them cost
    Defects(defects::Args),

    /// Show how well phases work over all runs: yield, density, correction rates and costs
    ///
    /// Yield is the share of the defects present in a phase that the phase found. Density is defects per thousand changed
    /// lines. The correction rate is the share of entries into a phase that were remands. A rate more than two standard
    /// deviations above the mean of the previous twenty runs is reported.
    Stats(stats::Args),

    /// Estimate the effort of a plan from past runs
    ///
    /// Fits a straight line through size and effort of earlier runs of the same workflow. The size of a plan is the number
    /// of its tasks plus their files, each counted 1, 2 or 3 by risk: green, yellow, red. With fewer than three runs, or
    /// if size explains less than half of the effort, there is no estimate.
    Estimate(estimate::Args),

    /// Show what runs cost: dispatches, time, tokens by kind, and money
    ///
    /// The cost that an agent reports counts. If it reports none, the cost is computed from its tokens of each kind and the
    /// price of the model (`[prices]` in remand.toml, then list prices). If any of these is missing, the cost is unknown.
    Costs(costs::Args),

    /// Print the whole output of a check, or the transcript of a dispatch
    Output(output::Args),

    /// Print an artifact: `plan`, or an earlier version of it as `plan@1`
    Show(show::Args),

    /// Print what a run changed
    Diff(diff::Args),

    /// Print the evidence bundle of a run, or export it
    Evidence(evidence::Args),

    /// Push a run's branch and open a pull request with its evidence
    Publish(publish::Args),

    /// Write a rehearsal that replays what every agent of a run did
    ///
    /// The rehearsal is made from the ledger, so any run can be recorded, whether it is over, waiting or was killed.
    /// Answers of humans are not included.
    Record(record::Args),

    /// List the issues of the tracker in `TODO/`, show, add and check them
    Issues(issues::Args),

    /// List the gates that wait for an answer
    Gates(gates::Args),

    /// Answer a gate
    Answer(answer::Args),

    /// End a run: kill its agents and restore its work trees
    Cancel(cancel::Args),

    /// Undo the commit of a run
    Rollback(rollback::Args),

    /// Verify the ledger: the hash chain, the blobs and all tables derived from them
    Audit(audit::Args),

    /// Remove work trees and branches that no run needs anymore
    Clean(clean::Args),

    /// List agents: which are installed, signed in and tested, and whose account they use
    Agents(agents::Args),

    /// Check what a run needs: git, checks, hooks, sandbox, agents
    Doctor(doctor::Args),

    /// Show the settings in effect and where each comes from
    Config(config::Args),

    /// Watch a whole run on a small project, with scripted agents
    Demo(demo::Args),

    /// Test the engine against misbehaving agents on small real projects
    ///
    /// Each case states its expected outcome. The exit code is 4 if bad work was committed, good work was stopped, or
    /// anything else differs from what the case states.
    Gauntlet(gauntlet::Args),

    /// Let an agent program start runs and watch them, over MCP on the standard streams
    ///
    /// The program can start a run, wait for it, and read its status, findings and evidence. It cannot answer a gate unless
    /// you name that gate, here or as `mcp.may-answer` in your own settings; gates that are asked in every mode it can never
    /// answer. Runs are driven by processes of their own, so they outlive the program.
    Mcp(mcp::Args),

    /// Show how you are told about runs, and try it
    Notify(notify::Args),

    /// Measure the journal and the evidence against their goals
    Bench(bench::Args),

    /// Print a completion script for a shell
    Completions(completions::Args),

    /// Write the manual pages
    Man(man::Args),

    /// Send the notices and traces of a run; the driving process starts this
    #[command(hide = true)]
    Deliver(deliver::Args),

    /// Play one dispatch of a rehearsal; the engine calls this
    #[command(hide = true)]
    Rehearse(rehearse::Args),

    /// Receive the result of a dispatch over MCP; agents call this
    #[command(hide = true)]
    Submit(submit::Args),

    /// Talk to an agent over the Agent Client Protocol; the engine calls this
    #[command(hide = true)]
    Converse(converse::Args),

    /// Run a command inside the sandbox; the engine calls this
    #[command(hide = true)]
    Confine(rehearse::Confine),
}
