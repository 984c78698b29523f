//! `remand clean`: removes work trees, references and branches of runs that are over; the ledger stays as it is.

use super::Context;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Cell, Fit, Ink, Table, amount};
use crate::workplace::{Workplace, of_git, of_ledger};
use remand_ledger::RunId;
use remand_ledger::query::RunRow;
use remand_runtime::clock;
use remand_runtime::git::{self, Stale};
use remand_runtime::lock::DriverLock;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const DAY: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only show what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// Leave what belongs to runs that ended in the last so many days
    #[arg(long, default_value_t = 0, value_name = "DAYS")]
    pub older_than: u32,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let known = runs(&workplace)?.into_iter().map(|row| row.run.0).collect();
    let found =
        git::stale(&workplace.repository, &workplace.home.trees(), &known).map_err(|error| of_git(&error))?;
    // Who is live is read after what is there, so that a run that begins meanwhile is not mistaken for a left-over.
    let live = live(&workplace, args.older_than)?;
    let driven = |left: &Stale| DriverLock::holder(&workplace.home.run(&RunId(left.run.clone()))).is_some();
    let stale: Vec<Stale> =
        found.into_iter().filter(|left| !live.contains(&left.run) && !driven(left)).collect();
    let sizes: Vec<u64> = stale.iter().map(size).collect();
    if !args.dry_run {
        git::clean(&workplace.repository, &stale).map_err(|error| of_git(&error))?;
    }
    if context.json {
        let rows: Vec<Value> = stale.iter().zip(&sizes).map(|(left, size)| to_json(left, *size)).collect();
        print_json(&json!({ "removed": !args.dry_run, "bytes": sizes.iter().sum::<u64>(), "runs": rows }))?;
    } else {
        print(&to_text(&stale, &sizes, args))?;
    }
    Ok(Exit::Done)
}

/// The runs of which nothing may be removed: those under way, and those that ended too lately.
fn live(workplace: &Workplace, days: u32) -> Result<BTreeSet<String>, Failure> {
    let rows = runs(workplace)?;
    let since = clock::now().0.saturating_sub(i64::from(days) * DAY);
    let kept = rows.into_iter().filter(|row| !row.stage.is_over() || row.updated_at.0 > since);
    Ok(kept.map(|row| row.run.0).collect())
}

/// All runs of the ledger, if there is one.
fn runs(workplace: &Workplace) -> Result<Vec<RunRow>, Failure> {
    if !workplace.home.ledger().exists() {
        return Ok(Vec::new());
    }
    workplace.reader()?.runs().map_err(|error| of_ledger(&error))
}

/// What the folders of a run take on the disk.
fn size(left: &Stale) -> u64 {
    let folder = left.folder.as_deref();
    let inside = |tree: &Path| folder.is_some_and(|folder| tree.starts_with(folder));
    let others = left.work_trees.iter().filter(|tree| !inside(tree));
    folder.map_or(0, disk_use) + others.map(|tree| disk_use(tree)).sum::<u64>()
}

/// What cannot be looked at counts as nothing: the number is for people.
fn disk_use(path: &Path) -> u64 {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return 0;
    };
    let own = found.blocks().saturating_mul(512);
    if !found.is_dir() {
        return own;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.fold(own, |sum, entry| sum.saturating_add(disk_use(&entry.path())))
}

fn to_json(left: &Stale, size: u64) -> Value {
    json!({
        "run": left.run,
        "folder": left.folder,
        "trees": left.work_trees,
        "references": left.references,
        "tag": left.tag,
        "branch": left.branch,
        "bytes": size,
    })
}

fn to_text(stale: &[Stale], sizes: &[u64], args: &Args) -> String {
    if stale.is_empty() {
        return "nothing is left over".to_string();
    }
    let mut table = Table::new(&[
        ("run", Fit::Whole),
        ("trees", Fit::Whole),
        ("references", Fit::Whole),
        ("branch and tag", Fit::Wrap),
        ("size", Fit::Whole),
    ]);
    for (left, size) in stale.iter().zip(sizes) {
        let names: Vec<&str> = left.branch.iter().chain(&left.tag).map(String::as_str).collect();
        table.row(vec![
            Cell::new(&left.run),
            Cell::new(left.work_trees.len().to_string()),
            Cell::new(left.references.len().to_string()),
            Cell::new(names.join(", ")),
            Cell::new(amount::bytes(*size)),
        ]);
    }
    let freed = amount::bytes(sizes.iter().sum());
    let last = if args.dry_run {
        format!("{freed} would be freed; nothing was removed")
    } else {
        format!("{freed} freed; branches with commits of their own and the ledger stay")
    };
    format!("{}\n{last}\n", table.render(Ink::of_stdout()))
}
