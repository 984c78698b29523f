//! `remand issues new`: writes a file to `TODO/`, with a reserved id.

use super::{invalid_id, tracker_of};
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_documents::tracker::{FOLDER, IssueDraft, IssueKey, NewCriterion, Tracker};
use remand_engine::clock;
use remand_engine::tracker::{IdRequest, reserve_ids, write_back};
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode};
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The title
    #[arg(value_name = "TITLE")]
    pub title: String,
    /// The description
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub about: String,
    /// An acceptance criterion; can be repeated
    #[arg(long = "criterion", value_name = "TEXT")]
    pub criteria: Vec<String>,
    /// The parent issue
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,
    /// An issue that must be Done first; can be repeated
    #[arg(long = "depends-on", value_name = "ID")]
    pub depends_on: Vec<String>,
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
    /// The category in the README, for an issue without a parent
    #[arg(long, value_name = "TITLE", default_value = "Other", conflicts_with = "parent")]
    pub category: String,
    /// The prefix of the id [default: as in the other issues]
    #[arg(long, value_name = "ABC")]
    pub prefix: Option<String>,
}

pub fn run(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    args: &Args,
) -> Result<ExitCode, CommandFailure> {
    let before = tracker_of(workplace)?;
    let existing = |text: &String| -> Result<IssueKey, CommandFailure> {
        let id: IssueKey = text.parse().map_err(|error| invalid_id(&error))?;
        let missing =
            || CommandFailure::user(format!("{FOLDER}/{id}.md does not exist"), "`remand issues` lists them");
        before.issue(&id).map(|issue| issue.id().clone()).ok_or_else(missing)
    };
    let parent = args.parent.as_ref().map(existing).transpose()?;
    let depends_on = args.depends_on.iter().map(existing).collect::<Result<Vec<_>, _>>()?;
    let prefix = prefix(args, &before, parent.as_ref())?;
    // The ledger hands out the numbers, so it is created if needed.
    let store = workplace.store()?;
    let holder = format!("remand issues new {}", clock::new_run_id(&args.title));
    let request = IdRequest { prefix: &prefix, holder: &holder, count: 1 };
    let ids = reserve_ids(&workplace.repository, &store, &before, request).map_err(|trouble| {
        CommandFailure::user("no id can be reserved", "see `remand doctor`").caused_by(trouble.detail)
    })?;
    let id = ids
        .into_iter()
        .next()
        .ok_or_else(|| CommandFailure::user("no id was reserved", "this is a bug in Remand"))?;
    let draft = IssueDraft {
        id: id.clone(),
        title: args.title.clone(),
        parent,
        labels: args.labels.clone(),
        depends_on,
        covers: Vec::new(),
        needs_run: None,
        about: args.about.clone(),
        criteria: args
            .criteria
            .iter()
            .enumerate()
            .map(|(index, text)| NewCriterion {
                id: format!("AC-{}", index + 1),
                text: text.clone(),
                test: String::new(),
            })
            .collect(),
        sections: Vec::new(),
    };
    let mut tracker = before.clone();
    match draft.parent {
        Some(_) => tracker.file(std::slice::from_ref(&draft)),
        None => tracker.file_below(&draft, &args.category),
    }
    let changed = tracker.changed_since(&before);
    write_back(workplace.repository.root(), &changed).map_err(|error| {
        CommandFailure::user(format!("{FOLDER}/ cannot be written"), "check its permissions")
            .caused_by(error.to_string())
    })?;
    let files: Vec<String> = changed.keys().map(|name| format!("{FOLDER}/{name}")).collect();
    if context.json {
        print_json(&json!({ "id": id, "files": files }))?;
    } else {
        print(&format!("{id}: wrote {}; commit it, then `remand run --issue {id}`\n", files.join(", ")))?;
    }
    Ok(ExitCode::Done)
}

/// The prefix from the command line, else that of the parent, else the most common one.
fn prefix(args: &Args, tracker: &Tracker, parent: Option<&IssueKey>) -> Result<String, CommandFailure> {
    if let Some(prefix) = &args.prefix {
        let invalid = || {
            CommandFailure::user(
                format!("`{prefix}` is not a valid prefix for issue ids"),
                "use capital letters and digits, such as `ABC`",
            )
        };
        return IssueKey::new(prefix, 1).map(|_| prefix.clone()).ok_or_else(invalid);
    }
    if let Some(parent) = parent {
        return Ok(parent.prefix().to_string());
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for issue in tracker.issues() {
        *counts.entry(issue.id().prefix()).or_default() += 1;
    }
    let most_common =
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(prefix, _)| prefix.to_string());
    most_common.ok_or_else(|| {
        CommandFailure::user("there is no issue yet to take the prefix from", "use `--prefix ABC`")
    })
}
