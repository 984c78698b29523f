//! `remand clean`: removes work trees, references and branches of runs that are over; the ledger stays.

use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_engine::clock;
use remand_engine::lock::DriverLock;
use remand_git::StaleRun;
use remand_ledger::RunId;
use remand_ledger::query::RunRow;
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, amount};
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
    /// Keep everything of runs that ended within this many days
    #[arg(long, default_value_t = 0, value_name = "DAYS")]
    pub older_than: u32,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let known = runs(&workplace)?.into_iter().map(|row| row.run.0).collect();
    let found = remand_git::stale_runs(&workplace.repository, &workplace.home.trees(), &known)?;
    // Live runs are read after the folders, so that a run that starts meanwhile does not look abandoned.
    let live = live(&workplace, args.older_than)?;
    let driven =
        |left: &StaleRun| DriverLock::holder(&workplace.home.run(&RunId(left.run.clone()))).is_some();
    let stale: Vec<StaleRun> =
        found.into_iter().filter(|left| !live.contains(&left.run) && !driven(left)).collect();
    let sizes: Vec<u64> = stale.iter().map(size).collect();
    if !args.dry_run {
        remand_git::clean(&workplace.repository, &stale)?;
    }
    if context.json {
        let rows: Vec<Value> = stale.iter().zip(&sizes).map(|(left, size)| to_json(left, *size)).collect();
        print_json(&json!({ "removed": !args.dry_run, "bytes": sizes.iter().sum::<u64>(), "runs": rows }))?;
    } else {
        print(&to_text(&stale, &sizes, args))?;
    }
    Ok(ExitCode::Done)
}

/// The runs that keep everything: those in progress, and those that ended recently.
fn live(workplace: &Workplace, days: u32) -> Result<BTreeSet<String>, CommandFailure> {
    let rows = runs(workplace)?;
    let since = clock::now().0.saturating_sub(i64::from(days) * DAY);
    let kept = rows.into_iter().filter(|row| !row.stage.is_over() || row.updated_at.0 > since);
    Ok(kept.map(|row| row.run.0).collect())
}

/// All runs of the ledger, if there is one.
fn runs(workplace: &Workplace) -> Result<Vec<RunRow>, CommandFailure> {
    if !workplace.home.ledger().exists() {
        return Ok(Vec::new());
    }
    workplace.reader()?.runs().map_err(CommandFailure::from)
}

/// The disk space of a run's folders.
fn size(left: &StaleRun) -> u64 {
    let folder = left.folder.as_deref();
    let inside = |tree: &Path| folder.is_some_and(|folder| tree.starts_with(folder));
    let others = left.work_trees.iter().filter(|tree| !inside(tree));
    folder.map_or(0, disk_use) + others.map(|tree| disk_use(tree)).sum::<u64>()
}

/// Unreadable files count as empty: the number is for people.
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

fn to_json(left: &StaleRun, size: u64) -> Value {
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

fn to_text(stale: &[StaleRun], sizes: &[u64], args: &Args) -> String {
    if stale.is_empty() {
        return "nothing to remove".to_string();
    }
    let mut table = TextTable::new(&[
        ("run", ColumnFit::Whole),
        ("trees", ColumnFit::Whole),
        ("references", ColumnFit::Whole),
        ("branch and tag", ColumnFit::Wrap),
        ("size", ColumnFit::Whole),
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
        format!("{freed} freed; the ledger and branches with commits stay")
    };
    format!("{}\n{last}\n", table.render(Ink::of_stdout()))
}
