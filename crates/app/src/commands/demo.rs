//! `remand demo`: a whole run on a small project, with everything real but the agents' wits.

use super::Context;
use crate::beginning::About;
use crate::demo::{Project, REQUEST, Story};
use crate::exit::{Exit, Failure, print, print_json};
use crate::progress::Stop;
use crate::workplace::{Workplace, of_ledger};
use crate::{beginning, driving};
use remand_runtime::bundle;
use remand_runtime::config::Flag;
use remand_runtime::host::{Standing, Unwatched, Watch};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Make the project in this new folder [default: one below the temporary folder]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let project = Project::make(args.into.as_deref())?;
    let checkout = project.checkout();
    let inside = Context { directory: Some(&checkout), state: None, ..*context };
    let agent = Flag {
        name: "--agent".to_string(),
        key: "agent".to_string(),
        value: format!("rehearsal:{}", project.rehearsal().display()),
    };
    let workplace = Workplace::open(&inside, vec![agent])?;
    let beginning = beginning::prepare(&inside, &workplace, &About::Request(REQUEST.to_string()))?;
    let run = beginning.run.clone();
    let mut host = driving::host(&workplace)?;
    if !context.json {
        print(&format!(
            "A small shop in {}, and a request:\n\n  {REQUEST}\n\nThe agents are scripted and make mistakes. The edits, \
             the checks, the rulings and the commit are real.\n\n",
            checkout.display()
        ))?;
    }
    host.begin(beginning).map_err(|error| driving::of_host(&error))?;
    let mut story = Story::new(Stop::listen());
    let mut unwatched = Unwatched;
    let watch: &mut dyn Watch = if context.json { &mut unwatched } else { &mut story };
    let standings = host.drive(watch).map_err(|error| driving::of_host(&error))?;
    let standing = standings.get(&run).cloned().unwrap_or(Standing::Left);
    let reader = workplace.reader()?;
    let row = reader.run(&run.0).map_err(|error| of_ledger(&error))?;
    let done = row.ended.as_deref() == Some("done");
    if context.json {
        print_json(&json!({
            "folder": project.root, "run": run, "ended": row.ended, "confidence": row.confidence, "branch": row.branch,
        }))?;
    } else {
        let text = bundle::text(&reader, &run).map_err(|error| of_ledger(&error))?;
        print(&format!(
            "\n{}\n\n{text}\n{}\n\n{} defects were caught on the way. Look closer:\n\n  cd {}\n  remand log           \
             # every ruling, from the request to the commit\n  remand findings      # what was found, and where it \
             was sent\n  git show {}   # the commit\n",
            "─".repeat(80),
            "─".repeat(80),
            story.caught,
            checkout.display(),
            row.branch
        ))?;
    }
    Ok(match standing {
        Standing::Over(_) if done => Exit::Done,
        Standing::Over(_) => Exit::Failed,
        Standing::Waiting => Exit::Waiting,
        Standing::Left => Exit::Left,
    })
}
