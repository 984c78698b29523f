//! `remand issues check`: finds inconsistencies in the tracker and repairs them.

use super::tracker_of;
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_documents::tracker::{FOLDER, Fault, IssueKey, RepairReport, Tracker};
use remand_engine::clock;
use remand_engine::tracker::{Collision, IdRequest, collisions, reserve_ids, write_back};
use remand_terminal::output::{print, print_json};
use remand_terminal::{CommandFailure, ExitCode, amount};
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Repair what can be derived from the issues: lists, ticks and duplicate ids
    #[arg(long)]
    pub repair: bool,
}

/// The problems found, and the repairs made.
#[derive(Default)]
struct CheckOutcome {
    repaired: Vec<String>,
    /// The problems that are left, each with its remedy.
    left: Vec<(String, String)>,
    /// The files that were changed.
    files: Vec<String>,
}

pub fn run(
    context: &CommandContext<'_>,
    workplace: &Workplace,
    args: &Args,
) -> Result<ExitCode, CommandFailure> {
    let before = tracker_of(workplace)?;
    let collisions = collisions(&workplace.repository, &before)?;
    let found = if args.repair {
        repair(workplace, &before, &collisions)?
    } else {
        let faults = before.faults();
        let left = faults.iter().map(|fault| (describe(fault), fault.remedy().to_string()));
        CheckOutcome {
            left: collisions.iter().map(describe_collision).chain(left).collect(),
            ..CheckOutcome::default()
        }
    };
    if context.json {
        let left: Vec<Value> =
            found.left.iter().map(|(what, remedy)| json!({ "what": what, "remedy": remedy })).collect();
        print_json(&json!({ "mended": found.repaired, "left": left, "files": found.files }))?;
    } else {
        print(&text(&found, before.issues().count()))?;
    }
    Ok(if found.left.is_empty() { ExitCode::Done } else { ExitCode::User })
}

fn describe(fault: &Fault) -> String {
    format!("{FOLDER}/{}: {fault}", fault.file())
}

fn describe_collision(collision: &Collision) -> (String, String) {
    let Collision { issue, title, other_title, branch } = collision;
    let what = format!("{FOLDER}/{issue}.md: it is \"{title}\" here, but \"{other_title}\" on {branch}");
    (what, "`remand issues check --repair` gives the issue here another id".to_string())
}

/// Repairs what it can in the checkout, and leaves the commit to the user.
fn repair(
    workplace: &Workplace,
    before: &Tracker,
    collisions: &[Collision],
) -> Result<CheckOutcome, CommandFailure> {
    let mut tracker = before.clone();
    let mut found = CheckOutcome::default();
    for collision in collisions {
        let to = reserve_id(workplace, &tracker, &collision.issue)?;
        tracker.renumber(&collision.issue, &to);
        found.repaired.push(format!(
            "{} is now {to}, because {} has another {}",
            collision.issue, collision.branch, collision.issue
        ));
    }
    let RepairReport { repaired, left } = tracker.repair();
    found.repaired.extend(repaired.iter().map(describe));
    found.left = left.iter().map(|fault| (describe(fault), fault.remedy().to_string())).collect();
    let changed = tracker.changed_since(before);
    write_back(workplace.repository.root(), &changed).map_err(|error| {
        CommandFailure::user(format!("{FOLDER}/ cannot be written"), "check its permissions")
            .caused_by(error.to_string())
    })?;
    found.files = changed.keys().map(|name| format!("{FOLDER}/{name}")).collect();
    Ok(found)
}

fn reserve_id(workplace: &Workplace, tracker: &Tracker, old: &IssueKey) -> Result<IssueKey, CommandFailure> {
    let store = workplace.store()?;
    let holder = format!("remand issues check {}", clock::new_run_id(&old.to_string()));
    let request = IdRequest { prefix: old.prefix(), holder: &holder, count: 1 };
    let ids = reserve_ids(&workplace.repository, &store, tracker, request).map_err(|trouble| {
        CommandFailure::user("no id can be reserved", "see `remand doctor`").caused_by(trouble.detail)
    })?;
    ids.into_iter()
        .next()
        .ok_or_else(|| CommandFailure::user("no id was reserved", "this is a bug in Remand"))
}

fn text(found: &CheckOutcome, issues: usize) -> String {
    let mut text = String::new();
    for repaired in &found.repaired {
        text.push_str(&format!("repaired: {repaired}\n"));
    }
    for (what, remedy) in &found.left {
        text.push_str(&format!("{what}\n    {remedy}\n"));
    }
    if !found.files.is_empty() {
        text.push_str(&format!("changed {}; check `git diff`, then commit\n", found.files.join(", ")));
    }
    let issues = amount::counted(issues as u64, "issue");
    match found.left.len() {
        0 => text.push_str(&format!("{issues}, no problems\n")),
        left => {
            let left = amount::counted(left as u64, "problem");
            text.push_str(&format!("{issues}, {left} to fix by hand\n"));
        }
    }
    text
}
