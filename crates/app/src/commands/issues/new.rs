//! `remand issues new`: a file in `TODO/`, with an id that nobody else will give.

use super::{Context, tracker_of, wrong_id};
use crate::exit::{Exit, Failure, print, print_json};
use crate::workplace::Workplace;
use remand_documents::tracker::{Draft, FOLDER, IssueId, NewCriterion, Tracker};
use remand_runtime::clock;
use remand_runtime::tracker::{Numbers, numbers, write_back};
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// What it is called
    #[arg(value_name = "TITLE")]
    pub title: String,
    /// What it is about
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub about: String,
    /// An acceptance criterion; give as many as there are
    #[arg(long = "criterion", value_name = "TEXT")]
    pub criteria: Vec<String>,
    /// The issue that it is a part of
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,
    /// An issue that must be Done before
    #[arg(long = "depends-on", value_name = "ID")]
    pub depends_on: Vec<String>,
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
    /// Where the README lists it, if it has no parent
    #[arg(long, value_name = "TITLE", default_value = "Other", conflicts_with = "parent")]
    pub category: String,
    /// What its id begins with [default: as the others here]
    #[arg(long, value_name = "ABC")]
    pub prefix: Option<String>,
}

pub fn run(context: &Context<'_>, workplace: &Workplace, args: &Args) -> Result<Exit, Failure> {
    let before = tracker_of(workplace)?;
    let known = |text: &String| -> Result<IssueId, Failure> {
        let id: IssueId = text.parse().map_err(|error| wrong_id(&error))?;
        let missing = || Failure::user(format!("there is no {FOLDER}/{id}.md"), "`remand issues` lists them");
        before.issue(&id).map(|issue| issue.id().clone()).ok_or_else(missing)
    };
    let parent = args.parent.as_ref().map(known).transpose()?;
    let depends_on = args.depends_on.iter().map(known).collect::<Result<Vec<_>, _>>()?;
    let prefix = prefix(args, &before, parent.as_ref())?;
    // The ledger is made if need be: it is where numbers are given out.
    drop(workplace.ledger()?);
    let holder = format!("remand issues new {}", clock::new_run_id(&args.title));
    let asked = Numbers { prefix: &prefix, holder: &holder, count: 1 };
    let ids =
        numbers(&workplace.repository, &workplace.home.ledger(), &before, asked).map_err(|trouble| {
            Failure::user("no id can be reserved", "see `remand doctor`").caused_by(trouble.detail)
        })?;
    let id = ids
        .into_iter()
        .next()
        .ok_or_else(|| Failure::user("no id was given", "this is a defect of remand"))?;
    let draft = Draft {
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
            .map(|(at, text)| NewCriterion {
                id: format!("AC-{}", at + 1),
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
        Failure::user(format!("{FOLDER}/ cannot be written"), "see to its permissions")
            .caused_by(error.to_string())
    })?;
    let files: Vec<String> = changed.keys().map(|name| format!("{FOLDER}/{name}")).collect();
    if context.json {
        print_json(&json!({ "id": id, "files": files }))?;
    } else {
        print(&format!("{id}: wrote {}; commit it, then `remand run --issue {id}`\n", files.join(", ")))?;
    }
    Ok(Exit::Done)
}

/// The prefix that was asked for, that of the parent, or the one that most issues have.
fn prefix(args: &Args, tracker: &Tracker, parent: Option<&IssueId>) -> Result<String, Failure> {
    if let Some(prefix) = &args.prefix {
        let unfit = || {
            Failure::user(format!("`{prefix}` cannot begin an id"), "use capitals and digits, such as `ABC`")
        };
        return IssueId::new(prefix, 1).map(|_| prefix.clone()).ok_or_else(unfit);
    }
    if let Some(parent) = parent {
        return Ok(parent.prefix().to_string());
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for issue in tracker.issues() {
        *counts.entry(issue.id().prefix()).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count).map(|(prefix, _)| prefix.to_string());
    most.ok_or_else(|| {
        Failure::user("there is no issue yet whose prefix could be taken", "name one: `--prefix ABC`")
    })
}
