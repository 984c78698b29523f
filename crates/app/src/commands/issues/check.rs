//! `remand issues check`: what does not fit together in the tracker, and what of it is mended.

use super::{Context, tracker_of};
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::amount;
use crate::workplace::{Workplace, of_git};
use remand_documents::tracker::{FOLDER, Fault, IssueId, Mended, Tracker};
use remand_runtime::clock;
use remand_runtime::tracker::{Collision, Numbers, collisions, numbers, write_back};
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Mend what follows from the issues themselves: lists, ticks, and ids that are taken
    #[arg(long)]
    pub repair: bool,
}

/// What was found, and what was done about it.
#[derive(Default)]
struct Findings {
    mended: Vec<String>,
    left: Vec<(String, String)>,
    files: Vec<String>,
}

pub fn run(context: &Context<'_>, workplace: &Workplace, args: &Args) -> Result<Exit, Failure> {
    let before = tracker_of(workplace)?;
    let taken = collisions(&workplace.repository, &before).map_err(|error| of_git(&error))?;
    let found = if args.repair {
        repair(workplace, &before, &taken)?
    } else {
        let faults = before.faults();
        let left = faults.iter().map(|fault| (told(fault), fault.remedy().to_string()));
        Findings { left: taken.iter().map(collided).chain(left).collect(), ..Findings::default() }
    };
    if context.json {
        let left: Vec<Value> =
            found.left.iter().map(|(what, remedy)| json!({ "what": what, "remedy": remedy })).collect();
        print_json(&json!({ "mended": found.mended, "left": left, "files": found.files }))?;
    } else {
        print(&text(&found, before.issues().count()))?;
    }
    Ok(if found.left.is_empty() { Exit::Done } else { Exit::User })
}

fn told(fault: &Fault) -> String {
    format!("{FOLDER}/{}: {fault}", fault.file())
}

fn collided(taken: &Collision) -> (String, String) {
    let Collision { issue, title, other_title, branch } = taken;
    let what = format!("{FOLDER}/{issue}.md: it is \"{title}\" here, and \"{other_title}\" on {branch}");
    (what, "`remand issues check --repair` gives the one here another id".to_string())
}

/// Mends what can be mended, in the checkout; it is for the user to commit.
fn repair(workplace: &Workplace, before: &Tracker, taken: &[Collision]) -> Result<Findings, Failure> {
    let mut tracker = before.clone();
    let mut found = Findings::default();
    for collision in taken {
        let to = fresh(workplace, &tracker, &collision.issue)?;
        tracker.renumber(&collision.issue, &to);
        found.mended.push(format!(
            "{} is {to} now, since {} has another {}",
            collision.issue, collision.branch, collision.issue
        ));
    }
    let Mended { mended, left } = tracker.mend();
    found.mended.extend(mended.iter().map(told));
    found.left = left.iter().map(|fault| (told(fault), fault.remedy().to_string())).collect();
    let changed = tracker.changed_since(before);
    write_back(workplace.repository.root(), &changed).map_err(|error| {
        Failure::user(format!("{FOLDER}/ cannot be written"), "see to its permissions")
            .caused_by(error.to_string())
    })?;
    found.files = changed.keys().map(|name| format!("{FOLDER}/{name}")).collect();
    Ok(found)
}

fn fresh(workplace: &Workplace, tracker: &Tracker, old: &IssueId) -> Result<IssueId, Failure> {
    drop(workplace.ledger()?);
    let holder = format!("remand issues check {}", clock::new_run_id(&old.to_string()));
    let asked = Numbers { prefix: old.prefix(), holder: &holder, count: 1 };
    let ids =
        numbers(&workplace.repository, &workplace.home.ledger(), tracker, asked).map_err(|trouble| {
            Failure::user("no id can be reserved", "see `remand doctor`").caused_by(trouble.detail)
        })?;
    ids.into_iter().next().ok_or_else(|| Failure::user("no id was given", "this is a defect of remand"))
}

fn text(found: &Findings, issues: usize) -> String {
    let mut text = String::new();
    for mended in &found.mended {
        text.push_str(&format!("mended: {mended}\n"));
    }
    for (what, remedy) in &found.left {
        text.push_str(&format!("{what}\n    {remedy}\n"));
    }
    if !found.files.is_empty() {
        text.push_str(&format!("changed {}; look at `git diff`, then commit\n", found.files.join(", ")));
    }
    match found.left.len() {
        0 => text.push_str(&format!("{issues} issues, and all fits together\n")),
        left => {
            let left = amount::counted(left as u64, "thing");
            text.push_str(&format!("{issues} issues, and {left} for you to see to\n"));
        }
    }
    text
}
