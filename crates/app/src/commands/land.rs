//! `remand land`: lands branches on a local branch, in order, each only if it passes merged with those before.

use super::vet::painted;
use crate::context::CommandContext;
use crate::environment;
use crate::given::{self, Declared};
use crate::landing::{Landed, Landing, Stopped};
use crate::vetting::flag;
use crate::workplace;
use remand_reports::ReportForm;
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Branches, in the order in which they should land
    #[arg(value_name = "BRANCH", required = true)]
    pub branches: Vec<String>,
    /// The local branch that moves forward [default: the default branch]
    #[arg(long, value_name = "BRANCH")]
    pub onto: Option<String>,
    /// Judge all branches together, and look for the culprit only if they fail
    #[arg(long)]
    pub batch: bool,
    /// A test or file that may change, by name
    #[arg(long, value_name = "TEST|FILE")]
    pub release: Vec<String>,
    /// Run every check, even if its result is cached
    #[arg(long)]
    pub no_cache: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let repository = workplace::repository(context)?;
    let target = match &args.onto {
        Some(name) => name.clone(),
        None => given::default_tip(&repository)?.0,
    };
    if !repository.branch_exists(&target)? {
        let what = format!("`{target}` is not a local branch");
        return Err(CommandFailure::user(
            what,
            "name one with `--onto BRANCH`, or create it: `git branch NAME`",
        ));
    }
    // A name that does not exist must not stop the landing half way.
    for branch in &args.branches {
        repository.commit(branch)?;
    }
    let landing = Landing {
        context,
        repository: &repository,
        target: target.clone(),
        together: if args.batch { args.branches.len() } else { 1 },
        declared: Declared { releases: args.release.clone(), by: environment::user(), ..Declared::default() },
        flags: args.no_cache.then(|| flag("--no-cache", "checks.cache", "false")).into_iter().collect(),
    };
    let landed = landing.land(&args.branches)?;
    match context.json {
        true => print_json(&to_json(&target, &landed))?,
        false => show(&target, args.branches.len(), &landed)?,
    }
    Ok(match &landed.stopped {
        Some(Stopped::Interrupted) => ExitCode::Interrupted,
        Some(Stopped::Blocked(_)) => ExitCode::Blocked,
        Some(Stopped::Refused { .. }) => ExitCode::User,
        None if landed.returned.is_empty() => ExitCode::Done,
        None => ExitCode::VetFailed,
    })
}

fn show(target: &str, count: usize, landed: &Landed) -> Result<(), CommandFailure> {
    for returned in &landed.returned {
        print(&painted(&returned.report, &ReportForm::Text.render(&returned.report)))?;
        print("\n")?;
    }
    for branch in &landed.landed {
        let how = match branch.was_there {
            true => ", which was there already".to_string(),
            false => format!(" as {}", &branch.commit.as_str()[..12]),
        };
        print(&format!("landed    {}{how}\n", branch.name))?;
    }
    for returned in &landed.returned {
        let sent = returned.sent_to.as_ref();
        let sent =
            sent.map_or_else(String::new, |file| format!(", reported to its run in {}", file.display()));
        print(&format!("returned  {}: {}{sent}\n", returned.name, returned.report.reason))?;
    }
    match &landed.stopped {
        Some(Stopped::Blocked(why)) => tell(&format!("stopped: the engine could not judge: {why}")),
        Some(Stopped::Interrupted) => tell("stopped by a signal; land the rest again"),
        Some(refused @ Stopped::Refused { .. }) => tell(&format!("stopped: {}", refused.why())),
        None => {}
    }
    tell(&format!("{target} has {} of {count} branches; nothing was pushed", landed.landed.len(),));
    Ok(())
}

fn to_json(target: &str, landed: &Landed) -> Value {
    let branches: Vec<Value> = landed
        .landed
        .iter()
        .map(|branch| {
            json!({ "branch": branch.name, "commit": branch.commit.as_str(), "was-there": branch.was_there })
        })
        .collect();
    let returned: Vec<Value> = landed
        .returned
        .iter()
        .map(|returned| {
            json!({ "branch": returned.name, "report": returned.report, "sent-to": returned.sent_to })
        })
        .collect();
    let stopped = landed.stopped.as_ref().map(Stopped::why);
    json!({
        "target": target, "landed": branches, "returned": returned, "stopped": stopped, "vets": landed.vets,
    })
}
