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
    /// Keep everything of runs that ended in the last DAYS days
    #[arg(long, default_value_t = 0, value_name = "DAYS")]
    pub older_than: u32,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let known = runs(&workplace)?.into_iter().map(|row| row.run.0).collect();
    let found = remand_git::stale_runs(&workplace.repository, &workplace.home.trees(), &known)?;
    // The runs to keep are read after the folders, so a run that starts in between does not look abandoned.
    let kept = runs_to_keep(&workplace, args.older_than)?;
    let is_driven =
        |stale: &StaleRun| DriverLock::holder(&workplace.home.run(&RunId(stale.run.clone()))).is_some();
    let stale: Vec<StaleRun> =
        found.into_iter().filter(|stale| !kept.contains(&stale.run) && !is_driven(stale)).collect();
    let sizes: Vec<u64> = stale.iter().map(size).collect();
    if !args.dry_run {
        remand_git::clean(&workplace.repository, &stale)?;
    }
    if context.json {
        let rows: Vec<Value> = stale.iter().zip(&sizes).map(|(stale, size)| to_json(stale, *size)).collect();
        print_json(&json!({ "removed": !args.dry_run, "bytes": sizes.iter().sum::<u64>(), "runs": rows }))?;
    } else {
        print(&to_text(&stale, &sizes, args))?;
    }
    Ok(ExitCode::Done)
}

/// The runs that `clean` leaves alone: those in progress, and those that ended recently.
fn runs_to_keep(workplace: &Workplace, days: u32) -> Result<BTreeSet<String>, CommandFailure> {
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
fn size(stale: &StaleRun) -> u64 {
    let folder = stale.folder.as_deref();
    let is_inside = |tree: &Path| folder.is_some_and(|folder| tree.starts_with(folder));
    let others = stale.work_trees.iter().filter(|tree| !is_inside(tree));
    folder.map_or(0, disk_use) + others.map(|tree| disk_use(tree)).sum::<u64>()
}

/// The disk space below a path. Unreadable files count as empty, because the number only informs the user.
fn disk_use(path: &Path) -> u64 {
    let Ok(metadata) = std::fs::symlink_metadata(path) else {
        return 0;
    };
    let size = metadata.blocks().saturating_mul(512);
    if !metadata.is_dir() {
        return size;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.fold(size, |sum, entry| sum.saturating_add(disk_use(&entry.path())))
}

fn to_json(stale: &StaleRun, size: u64) -> Value {
    json!({
        "run": stale.run,
        "folder": stale.folder,
        "trees": stale.work_trees,
        "references": stale.references,
        "tag": stale.tag,
        "branch": stale.branch,
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
    for (run, size) in stale.iter().zip(sizes) {
        let names: Vec<&str> = run.branch.iter().chain(&run.tag).map(String::as_str).collect();
        table.row(vec![
            Cell::new(&run.run),
            Cell::new(run.work_trees.len().to_string()),
            Cell::new(run.references.len().to_string()),
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
