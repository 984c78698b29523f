//! `remand run`: takes a request to a verified commit.

use super::Context;
use crate::beginning::{self, About};
use crate::cli;
use crate::driving;
use crate::exit::{Exit, Failure, tell};
use crate::recording;
use crate::workplace::Workplace;
use remand_runtime::config::Flag;
use remand_runtime::host::Beginning;
use remand_runtime::subject::Kind;
use std::path::PathBuf;

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// What you want, in your own words; `-` reads it from standard input
    #[arg(value_name = "REQUEST", required_unless_present_any = ["issue", "ticket", "spec"])]
    pub request: Option<String>,
    /// Take an issue of the tracker in `TODO/`, by its id
    #[arg(long, value_name = "ID", conflicts_with_all = ["request", "ticket", "spec"])]
    pub issue: Option<String>,
    /// Take a ticket
    #[arg(long, value_name = "FILE", conflicts_with_all = ["request", "spec"])]
    pub ticket: Option<PathBuf>,
    /// Refine a specification
    #[arg(long, value_name = "FILE", conflicts_with = "request")]
    pub spec: Option<PathBuf>,
    /// Which workflow, a shipped one or a file [default: feature for a request, else the one named like its subject]
    #[arg(long, short, value_name = "NAME|FILE")]
    pub workflow: Option<String>,
    /// Who does the work: an agent that `remand agents` lists, or `rehearsal:FILE` for scripted ones
    #[arg(long, short, value_name = "AGENT")]
    pub agent: Option<String>,
    /// The model, as the agent names it
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<String>,
    /// Ask at gates
    #[arg(long, conflicts_with = "autonomous")]
    pub interactive: bool,
    /// Take the default at gates that have one, and record it
    #[arg(long)]
    pub autonomous: bool,
    /// Ask a human once this much money is spent, such as 2.50
    #[arg(long, value_name = "AMOUNT")]
    pub budget_money: Option<String>,
    /// Ask a human once this many tokens are used
    #[arg(long, value_name = "N")]
    pub budget_tokens: Option<String>,
    /// Ask a human once the run was under way for this long, such as 2h
    #[arg(long, value_name = "TIME")]
    pub budget_time: Option<String>,
    /// Ask a human after this many dispatches
    #[arg(long, value_name = "N")]
    pub budget_dispatches: Option<String>,
    /// Run every check, even where its result is known already
    #[arg(long)]
    pub no_cache: bool,
    /// When the run is over, write what every agent did into a rehearsal; `remand record` does so at any time
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

impl Args {
    fn about(&self) -> Result<About, Failure> {
        Ok(match (&self.issue, &self.ticket, &self.spec) {
            (Some(id), _, _) => About::Issue(id.clone()),
            (None, Some(file), _) => About::Ticket(file.clone()),
            (None, None, Some(file)) => About::Spec(file.clone()),
            (None, None, None) => {
                About::Request(beginning::request(self.request.as_deref().unwrap_or_default())?)
            }
        })
    }

    /// The settings that the command line changes.
    fn flags(&self, kind: Kind) -> Vec<Flag> {
        let mode = match (self.interactive, self.autonomous) {
            (true, _) => Some("interactive".to_string()),
            (false, true) => Some("autonomous".to_string()),
            (false, false) => None,
        };
        // Workflows for files are named like what they take.
        let usual = (kind != Kind::Request).then(|| kind.name().to_string());
        let workflow = self.workflow.clone().or(usual);
        let no_cache = self.no_cache.then(|| "false".to_string());
        let flags = [
            ("--workflow", "workflow", &workflow),
            ("--agent", "agent", &self.agent),
            ("--model", "model", &self.model),
            ("--interactive", "mode", &mode),
            ("--budget-money", "limits.money", &self.budget_money),
            ("--budget-tokens", "limits.tokens", &self.budget_tokens),
            ("--budget-time", "limits.time", &self.budget_time),
            ("--budget-dispatches", "limits.dispatches", &self.budget_dispatches),
            ("--no-cache", "checks.cache", &no_cache),
        ];
        flags
            .into_iter()
            .filter_map(|(name, key, value)| {
                Some(Flag { name: name.to_string(), key: key.to_string(), value: value.clone()? })
            })
            .collect()
    }
}

/// Everything that the command line says of a new run.
pub fn prepare(context: &Context<'_>, args: &Args) -> Result<(Workplace, Beginning), Failure> {
    let about = args.about()?;
    let workplace = Workplace::open(context, args.flags(about.kind()))?;
    let beginning = beginning::prepare(context, &workplace, &about)?;
    Ok((workplace, beginning))
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let (workplace, beginning) = prepare(context, args)?;
    if let Some(file) = &args.record {
        recording::refuse_unfit(file)?;
    }
    let run = beginning.run.clone();
    if !context.json {
        let bound = beginning::bound(&beginning.program, beginning.start.mode);
        tell(&format!("run {run}: {}, {}, {bound}", beginning.program.name, beginning.start.mode.name()));
    }
    let mut host = driving::host(&workplace)?;
    host.begin(beginning).map_err(|error| driving::of_host(&error))?;
    let exit = driving::drive(context, &workplace, host)?;
    match (&args.record, exit) {
        (Some(file), Exit::Waiting | Exit::Left) => {
            let record = cli::command(format!("record {run} {}", file.display()));
            tell(&format!("not over, so not recorded; then: {record}"));
        }
        (Some(file), _) => {
            recording::write(&workplace, &run, file)?;
            tell(&format!("recorded in {}", file.display()));
        }
        (None, _) => {}
    }
    Ok(exit)
}
