//! The command line.

use crate::commands::{
    agents, answer, audit, bench, cancel, clean, completions, config, converse, costs, defects, demo, diff,
    doctor, estimate, evidence, export, findings, gaps, gates, gauntlet, import, init, issues, log, man,
    record, rehearse, resume, rollback, rounds, run, runs, show, stats, status, submit, ticket,
};
use crate::exit::Exit;
use clap::{Parser, Subcommand, ValueEnum};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Drives coding agents through a gated workflow, keeps the evidence itself, and sends every defect back to the
/// phase that caused it.
#[derive(Debug, Parser)]
#[command(name = "remand", version, after_help = Exit::HELP, arg_required_else_help = true)]
pub struct Cli {
    /// Print JSON, and nothing else, on standard output
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,

    /// Folder with role files that come on top of the shipped ones [default: .remand/roles, if it is there]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub roles: Option<PathBuf>,

    /// Work in this folder instead of the current one
    #[arg(long, short = 'C', global = true, value_name = "DIR", help_heading = "Global options")]
    pub directory: Option<PathBuf>,

    /// Keep ledger and work trees below this folder [default: $XDG_STATE_HOME/remand]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub state: Option<PathBuf>,

    #[command(subcommand)]
    pub command: Command,
}

/// A command for the user to go on with. It works where this one did: the folders that the command line names are in it,
/// too.
pub fn command(words: impl Display) -> String {
    static PLACE: LazyLock<String> =
        LazyLock::new(|| Cli::try_parse().map(|cli| cli.place()).unwrap_or_default());
    format!("remand{} {words}", *PLACE)
}

impl Cli {
    /// The options that say where to work, as they are typed.
    fn place(&self) -> String {
        let options = [("-C", &self.directory), ("--state", &self.state)];
        let given = options.into_iter().filter_map(|(name, folder)| Some((name, folder.as_ref()?)));
        given.map(|(name, folder)| format!(" {name} {}", typed(folder))).collect()
    }
}

/// A path as a shell reads it back.
fn typed(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Prove that workflows end, are complete and keep their guarantees
    ///
    /// A workflow that can loop for ever, leaves a signal without a route, has a phase that nothing reaches or breaks
    /// a guarantee that it states is refused, with the place, the shortest path that shows it, and a remedy.
    Check {
        /// Workflow files, or names of shipped workflows
        #[arg(required = true, value_name = "FILE|NAME")]
        workflows: Vec<String>,
    },

    /// List the shipped workflows, or print one
    Workflows {
        /// Print this workflow's file
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

    /// Draw a workflow
    Graph {
        #[arg(value_name = "FILE|NAME")]
        workflow: String,
        /// What to draw for
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// Write to this file instead of standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },

    /// Count the dispatches of a run: on the happy path and at the very most
    Bound {
        #[arg(value_name = "FILE|NAME")]
        workflow: String,
        /// Number of tasks that the plan has
        #[arg(long, default_value_t = 6, value_name = "N")]
        tasks: u16,
        /// Number of gaps in the first inventory
        #[arg(long, default_value_t = 0, value_name = "N")]
        gaps: u16,
    },

    /// Walk through a workflow on paper: feed a written list of signals and see each ruling
    ///
    /// The file names a workflow and lists what happens, such as `- design-review: approved`. Nothing is run and
    /// nobody is paid. `remand reference` describes the format.
    Walk {
        #[arg(value_name = "FILE")]
        walk: PathBuf,
    },

    /// Print the reference of the workflow language
    Reference,

    /// Write, show and correct tickets, and the approaches that failed for them
    Ticket(ticket::Args),

    /// Show what a role file of Claude Code, Copilot or opencode gives here, and what of it is not used
    ///
    /// The file gives the text that the agent is told, its model, and which tools it wants. Verdicts, result and the most
    /// that may be done stay those of our role: the file narrows permissions and never widens them. Nothing is changed
    /// unless `--write` says so: `[roles.NAME] file = "FILE"` in remand.toml uses the file as it is.
    Import(import::Args),

    /// Write a workflow and its roles as agent files of Claude Code, Copilot or opencode
    ///
    /// Agent definitions, an orchestrator, the references that they name, an entry prompt and a page with the picture of
    /// the workflow are made from the same sources as everything else. There, all of it is advice to a model; here, the
    /// engine holds agents to it.
    Export(export::Args),

    /// Write a configuration file with every setting explained
    Init(init::Args),

    /// Take a request to a verified commit
    Run(run::Args),

    /// Go on with runs that were interrupted or whose gates were answered
    Resume(resume::Args),

    /// Show where a run stands
    Status(status::Args),

    /// List the runs of this repository
    Runs(runs::Args),

    /// Show why a run went the way it went: the chain of rulings from request to commit
    Log(log::Args),

    /// Show what reviewers and checks found, and where each finding was sent
    Findings(findings::Args),

    /// Show the gaps of a specification, and how far each has come
    Gaps(gaps::Args),

    /// Show how the rounds of a run converge, or take rounds back
    Rounds(rounds::Args),

    /// Show where defects came from, where they were found, and what their correction took
    Defects(defects::Args),

    /// Show what phases are worth over all runs: yield, density, correction rates and costs
    ///
    /// Yield is the part of the defects present in a phase that the phase found. Density counts defects for each
    /// thousand changed lines. The correction rate is how many entries of a phase were remands. A rate above the mean
    /// and two standard deviations of the twenty runs before is told.
    Stats(stats::Args),

    /// Estimate what a plan will take, by the runs of the past
    ///
    /// A straight line is laid through size and effort of earlier runs of the same workflow. The size of a plan is the
    /// number of its tasks, and of the files of each, counted 1, 2 or 3 by their risk: green, yellow, red. With fewer
    /// than three runs, or where size explains less than half of the effort, there is nothing to go by.
    Estimate(estimate::Args),

    /// Show what runs took: dispatches, time, tokens by kind, and money
    ///
    /// What agents say of their cost counts. Where one says nothing, the cost is reckoned by the tokens of each kind and the
    /// price of the model (`[prices]` in remand.toml, and list prices), if all of these are known. Else it is unknown.
    Costs(costs::Args),

    /// Print an artifact: `plan`, or an earlier version of it as `plan@1`
    Show(show::Args),

    /// Print what a run changed
    Diff(diff::Args),

    /// Print the evidence bundle of a run, or export it
    Evidence(evidence::Args),

    /// Write what every agent of a run did into a rehearsal, to be played again
    ///
    /// It is made from the ledger, so any run can be recorded: one that is over, that waits, or that was killed. What people
    /// answered is not in it.
    Record(record::Args),

    /// List the issues of the tracker in `TODO/`, show, add and check them
    Issues(issues::Args),

    /// List the questions that wait for a human
    Gates(gates::Args),

    /// Answer a question
    Answer(answer::Args),

    /// End a run: its agents are killed and its trees restored
    Cancel(cancel::Args),

    /// Undo the commit of a run
    Rollback(rollback::Args),

    /// Verify the ledger: the chain, the blobs and everything made from them
    Audit(audit::Args),

    /// Remove work trees and branches that no run needs any more
    Clean(clean::Args),

    /// List the agents that can be driven: installed or not, signed in, tried, and whose account they spend
    Agents(agents::Args),

    /// See what is there to work with: git, toolchains, sandbox, state directory
    Doctor(doctor::Args),

    /// Show the settings in effect and where each comes from
    Config(config::Args),

    /// See it work: a small project, scripted agents, real edits, tests and commits
    Demo(demo::Args),

    /// See what is let through: agents that misbehave, on small real projects
    ///
    /// Each case states what must come of it. The exit code is 4 if bad work was committed, good work was stopped, or
    /// anything else was not as stated.
    Gauntlet(gauntlet::Args),

    /// Measure the journal and the evidence against their goals
    Bench(bench::Args),

    /// Print a completion script for a shell
    Completions(completions::Args),

    /// Write the manual pages
    Man(man::Args),

    /// Play one dispatch of a rehearsal; the engine calls this
    #[command(hide = true)]
    Rehearse(rehearse::Args),

    /// Take the result of a dispatch in by MCP; agents call this
    #[command(hide = true)]
    Submit(submit::Args),

    /// Talk with an agent by the Agent Client Protocol; the engine calls this
    #[command(hide = true)]
    Converse(converse::Args),

    /// Run a command inside the sandbox; the engine calls this
    #[command(hide = true)]
    Confine(rehearse::Confine),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Mermaid,
    Dot,
    Svg,
    Text,
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // CORE-09
    #[test]
    fn a_command_to_go_on_with_names_the_folders_that_this_one_names() {
        let place = |words: &[&str]| Cli::try_parse_from(words).expect("a command line").place();
        assert_eq!(place(&["remand", "runs"]), "");
        assert_eq!(place(&["remand", "runs", "--state", "/a/b-c"]), " --state /a/b-c");
        assert_eq!(
            place(&["remand", "-C", "it's here", "--state=s", "runs"]),
            r" -C 'it'\''s here' --state s"
        );
    }
}
