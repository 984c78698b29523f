//! `remand stats`: how well the phases of workflows work, over all runs.

mod chart;
mod csv;

use crate::context::CommandContext;
use crate::workplace::Workplace;
use chart::{bar, percent, sparkline};
use remand_engine::quality::{PhaseReport, QualityReport, RunFigures, reports};
use remand_ledger::Reader;
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, amount, line, output};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only runs of this workflow
    #[arg(long, short, value_name = "NAME")]
    workflow: Option<String>,
    /// All repositories with state on this machine
    #[arg(long)]
    all: bool,
    /// Only the latest N runs of each workflow
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Print CSV, one line per phase
    #[arg(long)]
    csv: bool,
}

/// The reports of one repository.
struct RepositoryStats {
    repository: String,
    reports: Vec<QualityReport>,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let mut repositories = Vec::new();
    if args.all {
        for ledger in ledgers(workplace.home.state_root()) {
            // A ledger of another version is reported and skipped.
            match Reader::open(&ledger) {
                Ok(reader) => repositories.push(repository_stats(&repository_of(&ledger), &reader, args)?),
                Err(error) => tell(&format!("{}: {error}; {}", ledger.display(), error.hint())),
            }
        }
    } else if let Some(reader) = workplace.reader_if_any()? {
        repositories.push(repository_stats(
            &workplace.repository.root().display().to_string(),
            &reader,
            args,
        )?);
    }
    if context.json {
        print_json(&to_json(&repositories))?;
    } else if args.csv {
        let text = csv::text(
            repositories.iter().map(|stats| (stats.repository.as_str(), stats.reports.as_slice())),
        )?;
        // Lines of CSV end with CRLF.
        output::print_bytes(Ink::of_stdout().sanitize(&text).replace('\n', "\r\n").as_bytes())?;
    } else {
        print(&to_text(&repositories, args.all, Ink::of_stdout()))?;
    }
    Ok(ExitCode::Done)
}

/// Reports on the runs of a repository that are over.
fn repository_stats(
    repository: &str,
    reader: &Reader,
    args: &Args,
) -> Result<RepositoryStats, CommandFailure> {
    let mut runs = Vec::new();
    for row in reader.runs()? {
        let is_wanted = args.workflow.as_ref().is_none_or(|workflow| *workflow == row.workflow);
        let newer = runs.iter().filter(|run: &&RunFigures| run.workflow == row.workflow).count();
        if row.stage.is_over() && is_wanted && args.last.is_none_or(|last| newer < last) {
            runs.push(RunFigures::of(reader, &row)?);
        }
    }
    runs.reverse();
    Ok(RepositoryStats { repository: repository.to_string(), reports: reports(&runs) })
}

fn ledgers(state: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state).into_iter().flatten().flatten();
    let mut ledgers: Vec<PathBuf> =
        entries.map(|entry| entry.path().join("ledger.db")).filter(|path| path.is_file()).collect();
    ledgers.sort();
    ledgers
}

/// The last known path of a ledger's repository.
fn repository_of(ledger: &Path) -> String {
    let folder = ledger.parent().unwrap_or(ledger);
    let path = fs::read_to_string(folder.join("repository")).unwrap_or_default();
    match path.lines().next().unwrap_or_default().trim() {
        "" => folder.display().to_string(),
        path => path.to_string(),
    }
}

fn to_json(repositories: &[RepositoryStats]) -> Value {
    let repositories: Vec<Value> = repositories
        .iter()
        .map(|stats| json!({ "repository": stats.repository, "workflows": stats.reports }))
        .collect();
    json!({ "repositories": repositories })
}

fn to_text(repositories: &[RepositoryStats], with_names: bool, ink: Ink) -> String {
    let mut text = String::new();
    for stats in repositories.iter().filter(|stats| !stats.reports.is_empty()) {
        if with_names {
            text.push_str(&format!("{}\n\n", ink.paint(Tone::Strong, &line::one(&stats.repository))));
        }
        for report in &stats.reports {
            text.push_str(&format!("{}\n", workflow_text(report, ink)));
        }
    }
    match text.is_empty() {
        true => "no run is over yet, so there are no figures\n".to_string(),
        false => format!("{}\n", text.trim_end()),
    }
}

fn workflow_text(report: &QualityReport, ink: Ink) -> String {
    let density = report.density.map_or_else(String::new, |density| {
        format!(", {density:.1} per 1,000 of {}", amount::counted(report.changed_lines, "changed line"))
    });
    let mut text = format!(
        "{}: {}, {}{density}\n",
        ink.paint(Tone::Strong, &line::one(&report.workflow)),
        amount::counted(report.runs as u64, "run"),
        amount::counted(report.defects, "defect"),
    );
    let mut table = TextTable::new(&[
        ("phase", ColumnFit::Cut),
        ("injected", ColumnFit::Whole),
        ("found", ColumnFit::Whole),
        ("yield", ColumnFit::Whole),
        ("", ColumnFit::Whole),
        ("density", ColumnFit::Whole),
        ("rate", ColumnFit::Whole),
        ("trend", ColumnFit::Whole),
        ("per correction", ColumnFit::Whole),
    ]);
    for phase in report.phases.iter().filter(|phase| has_figures(phase)) {
        let has_alert = report.alerts.iter().any(|alert| alert.phase == phase.figures.phase);
        table.row(row(phase, if has_alert { Tone::Bad } else { Tone::Plain }));
    }
    text.push_str(&table.render(ink));
    for alert in &report.alerts {
        let message = format!(
            "! {}: {} of its entries in the newest run were remands; over {} it was {}, and anything above {} is unusual",
            alert.phase,
            percent(alert.rate),
            amount::counted(alert.runs as u64, "earlier run"),
            percent(alert.mean),
            percent(alert.limit)
        );
        text.push_str(&format!("{}\n", ink.paint(Tone::Bad, &message)));
    }
    text
}

/// Whether a phase has any defects or remands.
fn has_figures(phase: &PhaseReport) -> bool {
    let figures = &phase.figures;
    figures.injected + figures.entering + figures.removed + figures.remands > 0
}

fn row(phase: &PhaseReport, tone: Tone) -> Vec<Cell> {
    let figures = &phase.figures;
    let each = figures.correction.per_defect();
    let per_correction = each.map_or_else(String::new, |each| {
        format!(
            "{}, {}, {}",
            amount::tokens(each.tokens, u64::from(each.unmetered > 0.0)),
            amount::cost(each.money, u64::from(each.unpriced > 0.0)),
            amount::time(each.time)
        )
    });
    vec![
        Cell::new(&figures.phase),
        Cell::new(count(figures.injected)),
        Cell::new(count(figures.removed)),
        Cell::new(phase.share.map_or_else(String::new, percent)),
        Cell::new(phase.share.map_or_else(String::new, bar)),
        Cell::new(
            phase
                .density
                .filter(|_| figures.injected > 0)
                .map_or_else(String::new, |density| format!("{density:.1}")),
        ),
        Cell::new(phase.rate.filter(|_| figures.remands > 0).map_or_else(String::new, percent)).toned(tone),
        Cell::new(if figures.remands > 0 { sparkline(&phase.rates) } else { String::new() }),
        Cell::new(per_correction),
    ]
}

/// An empty cell for zero, so that the other numbers stand out.
fn count(number: u64) -> String {
    if number == 0 { String::new() } else { amount::grouped(number) }
}
