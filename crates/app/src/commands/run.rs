//! `remand run`: turns a request into a verified commit.

use crate::beginning::{self, SubjectArg};
use crate::browsing;
use crate::context::CommandContext;
use crate::driving;
use crate::host;
use crate::outlook::Outlook;
use crate::proof::UnprovenWork;
use crate::recording;
use crate::request_text::RequestText;
use crate::workplace::{self, Workplace};
use remand_engine::config::Flag;
use remand_engine::host::NewRun;
use remand_terminal::output::{print_line, tell};
use remand_terminal::{CommandFailure, ExitCode, Ink, invocation};
use remand_views::RepositoryState;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// What you want, in your own words, or a file that says it; `-` reads standard input
    #[arg(value_name = "REQUEST", required_unless_present_any = ["from", "issue", "ticket", "spec"])]
    pub request: Option<String>,
    /// Resolve an issue of a forge: its address, `owner/repository#12`, or `#12`; also a file or `-` with the words of others
    #[arg(long, value_name = "ISSUE", conflicts_with_all = ["request", "issue", "ticket", "spec"])]
    pub from: Option<String>,
    /// Work on an issue of the tracker in `TODO/`
    #[arg(long, value_name = "ID", conflicts_with_all = ["request", "ticket", "spec"])]
    pub issue: Option<String>,
    /// Work on a ticket
    #[arg(long, value_name = "FILE", conflicts_with_all = ["request", "spec"])]
    pub ticket: Option<PathBuf>,
    /// Refine a specification
    #[arg(long, value_name = "FILE", conflicts_with = "request")]
    pub spec: Option<PathBuf>,
    /// The workflow: a name or a file [default: the configured one; else quick for a request of one line, feature for a
    /// longer request or a file, and issue, ticket or spec for such a subject]
    #[arg(long, short, value_name = "NAME|FILE")]
    pub workflow: Option<String>,
    /// The agent: one that `remand agents` lists, or `rehearsal:FILE` for a script
    #[arg(long, short, value_name = "AGENT")]
    pub agent: Option<String>,
    /// The model, by the name that the agent uses
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<String>,
    /// Stop and ask at every gate
    #[arg(long, conflicts_with = "autonomous")]
    pub interactive: bool,
    /// Choose the default at gates that have one, and record it
    #[arg(long)]
    pub autonomous: bool,
    /// Ask a human once this much money is spent, such as 2.50
    #[arg(long, value_name = "AMOUNT")]
    pub budget_money: Option<String>,
    /// Ask a human once this many tokens are used
    #[arg(long, value_name = "N")]
    pub budget_tokens: Option<String>,
    /// Ask a human once the run has taken this long, such as 2h
    #[arg(long, value_name = "TIME")]
    pub budget_time: Option<String>,
    /// Ask a human after this many dispatches
    #[arg(long, value_name = "N")]
    pub budget_dispatches: Option<String>,
    /// Run every check, even if its result is cached
    #[arg(long)]
    pub no_cache: bool,
    /// Continue although no build and no test can prove the work; the confidence is then low
    #[arg(long)]
    pub unproven: bool,
    /// Open the page of the run in the browser
    #[arg(long)]
    pub open: bool,
    /// Who asks, for programs that start a run in the user's name
    #[arg(long, hide = true, value_name = "WHO")]
    pub by: Option<String>,
    /// Write a rehearsal of the run when it is over; `remand record` writes one at any time
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

impl Args {
    fn subject(&self, context: &CommandContext<'_>) -> Result<SubjectArg, CommandFailure> {
        Ok(match (&self.issue, &self.ticket, &self.spec) {
            (Some(id), _, _) => SubjectArg::Issue(id.clone()),
            (None, Some(file), _) => SubjectArg::Ticket(file.clone()),
            (None, None, Some(file)) => SubjectArg::Spec(file.clone()),
            (None, None, None) => {
                let given = self.request.as_deref().unwrap_or_default();
                SubjectArg::Request(RequestText::read(given, &workplace::here(context))?)
            }
        })
    }

    /// The settings that the command line changes.
    fn flags(&self) -> Vec<Flag> {
        let mode = match (self.interactive, self.autonomous) {
            (true, _) => Some("interactive".to_string()),
            (false, true) => Some("autonomous".to_string()),
            (false, false) => None,
        };
        let no_cache = self.no_cache.then(|| "false".to_string());
        let flags = [
            ("--workflow", "workflow", &self.workflow),
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

/// Prepares the run that the command line describes.
pub fn prepare(context: &CommandContext<'_>, args: &Args) -> Result<(Workplace, NewRun), CommandFailure> {
    let open = || Workplace::open(context, args.flags());
    let (workplace, subject) = match &args.from {
        Some(name) => {
            let workplace = open()?;
            let request = RequestText::from_elsewhere(name, &workplace)?;
            (workplace, SubjectArg::Request(request))
        }
        None => {
            // A request that cannot be read must leave nothing behind.
            let subject = args.subject(context)?;
            (open()?, subject)
        }
    };
    let answer = if args.unproven { UnprovenWork::Accept } else { UnprovenWork::Ask };
    let mut beginning = beginning::prepare(context, &workplace, &subject, answer)?;
    if let (Some(opened), Some(by)) = (&mut beginning.facts.opened, &args.by) {
        opened.by = Some(by.clone());
    }
    Ok((workplace, beginning))
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let (workplace, beginning) = prepare(context, args)?;
    if let Some(file) = &args.record {
        recording::check_writable(file)?;
    }
    let run = beginning.run.clone();
    let outlook = Outlook::read(&workplace, &beginning)?;
    match context.json {
        true => print_line(&json!({ "run": run, "outlook": outlook.json() }))?,
        false => tell(outlook.text(Ink::of_stderr()).trim_end()),
    }
    let mut host = host::open(&workplace)?;
    host.begin(beginning)?;
    if args.open {
        let repository = RepositoryState::of(workplace.home.clone());
        // A run does not depend on a browser.
        match browsing::open_run(workplace.home.state_root(), &repository, &run) {
            Ok(done) => tell(&done),
            Err(why) => tell(&format!("the page of the run is not opened: {why}")),
        }
    }
    let exit = driving::drive(context, &workplace, host)?;
    match (&args.record, exit) {
        (Some(file), ExitCode::Waiting | ExitCode::Interrupted) => {
            let record = invocation::command(format!("record {run} {}", file.display()));
            tell(&format!("not recorded, because the run is not over; later: {record}"));
        }
        (Some(file), _) => {
            recording::write(&workplace, &run, file)?;
            tell(&format!("recorded in {}", file.display()));
        }
        (None, _) => {}
    }
    Ok(exit)
}
