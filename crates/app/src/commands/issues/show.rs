//! `remand issues show`: one issue as it is written, and where it stands.

use super::list::{next, value};
use super::{Context, tracker_of, under_way, wrong_id};
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::line;
use crate::workplace::Workplace;
use remand_documents::tracker::{FOLDER, IssueId};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The issue, such as `ABC-12`
    #[arg(value_name = "ID")]
    pub id: String,
}

pub fn run(context: &Context<'_>, workplace: &Workplace, args: &Args) -> Result<Exit, Failure> {
    let id: IssueId = args.id.parse().map_err(|error| wrong_id(&error))?;
    let tracker = tracker_of(workplace)?;
    let issue = tracker.issue(&id).ok_or_else(|| {
        Failure::user(format!("there is no {FOLDER}/{id}.md"), "`remand issues` lists them")
    })?;
    let runs = under_way(workplace)?;
    if context.json {
        print_json(&value(issue, &tracker, &runs))?;
        return Ok(Exit::Done);
    }
    let head = match next(issue, &tracker, &runs) {
        next if next == "ready" => format!("{id} is ready: `remand run --issue {id}`\n\n"),
        next if next.is_empty() => format!("{id} is Done\n\n"),
        next => format!("{id}: {next}\n\n"),
    };
    // The file is a person's own; what a terminal would act on is taken out all the same.
    let text: Vec<String> = issue.text().lines().map(line::one).collect();
    print(&format!("{head}{}\n", text.join("\n")))?;
    Ok(Exit::Done)
}
