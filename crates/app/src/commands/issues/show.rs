//! `remand issues show`: one issue, and whether it is ready.

use super::list::{Readiness, readiness, to_json};
use super::{invalid_id, runs_by_issue, tracker_of};
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_documents::tracker::{FOLDER, IssueKey};
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, line};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The issue, such as `ABC-12`
    #[arg(value_name = "ID")]
    pub id: String,
}

pub fn run(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    args: &Args,
) -> Result<ExitCode, CommandFailure> {
    let id: IssueKey = args.id.parse().map_err(|error| invalid_id(&error))?;
    let tracker = tracker_of(workplace)?;
    let issue = tracker.issue(&id).ok_or_else(|| {
        CommandFailure::user(format!("{FOLDER}/{id}.md does not exist"), "`remand issues` lists them")
    })?;
    let runs = runs_by_issue(workplace)?;
    if context.json {
        print_json(&to_json(issue, &tracker, &runs))?;
        return Ok(ExitCode::Done);
    }
    let heading = match readiness(issue, &tracker, &runs) {
        Readiness::Ready => format!("{id} is ready: `remand run --issue {id}`\n\n"),
        Readiness::Done => format!("{id} is Done\n\n"),
        other => format!("{id}: {}\n\n", other.describe()),
    };
    // Terminal escapes are removed even from the user's own file.
    let text: Vec<String> = issue.text().lines().map(line::one).collect();
    print(&format!("{heading}{}\n", text.join("\n")))?;
    Ok(ExitCode::Done)
}
