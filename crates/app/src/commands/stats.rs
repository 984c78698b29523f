//! `remand stats`: what the phases of workflows are worth, over all runs.

mod chart;
mod csv;

use super::Context;
use super::runs::reader_if_any;
use crate::exit::{Exit, Failure, print, print_json, tell};
use crate::table::{Cell, Fit, Ink, Table, Tone, amount, line, stored};
use crate::workplace::{Workplace, of_ledger};
use chart::{bar, percent, sparkline};
use remand_ledger::Reader;
use remand_runtime::quality::{PhaseReport, Report, RunFigures, reports};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only runs of this workflow
    #[arg(long, short, value_name = "NAME")]
    workflow: Option<String>,
    /// Every repository that has state here, one after the other
    #[arg(long)]
    all: bool,
    /// Only the last so many runs of each workflow
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Print comma-separated values, one line for each phase
    #[arg(long)]
    csv: bool,
}

/// The reports of one repository.
struct Place {
    repository: String,
    reports: Vec<Report>,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let mut places = Vec::new();
    if args.all {
        for ledger in ledgers(workplace.home.above()) {
            // What another version wrote is told and passed over: the other repositories are worth seeing.
            match Reader::open(&ledger) {
                Ok(reader) => places.push(place(&repository_of(&ledger), &reader, args)?),
                Err(error) => tell(&format!("{}: {error}; {}", ledger.display(), error.hint())),
            }
        }
    } else if let Some(reader) = reader_if_any(&workplace)? {
        places.push(place(&workplace.repository.root().display().to_string(), &reader, args)?);
    }
    if context.json {
        print_json(&to_json(&places))?;
    } else if args.csv {
        let text =
            csv::text(places.iter().map(|place| (place.repository.as_str(), place.reports.as_slice())));
        // Lines of CSV have ends of their own.
        stored::print_bytes(Ink::of_stdout().harmless(&text).replace('\n', "\r\n").as_bytes())?;
    } else {
        print(&to_text(&places, args.all, Ink::of_stdout()))?;
    }
    Ok(Exit::Done)
}

/// Figures of all runs that are over, the oldest first.
fn place(repository: &str, reader: &Reader, args: &Args) -> Result<Place, Failure> {
    let mut runs = Vec::new();
    for row in reader.runs().map_err(|error| of_ledger(&error))? {
        let wanted = args.workflow.as_ref().is_none_or(|workflow| *workflow == row.workflow);
        let before = runs.iter().filter(|run: &&RunFigures| run.workflow == row.workflow).count();
        if row.stage.is_over() && wanted && args.last.is_none_or(|last| before < last) {
            runs.push(RunFigures::of(reader, &row).map_err(|error| of_ledger(&error))?);
        }
    }
    runs.reverse();
    Ok(Place { repository: repository.to_string(), reports: reports(&runs) })
}

fn ledgers(state: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state).into_iter().flatten().flatten();
    let mut ledgers: Vec<PathBuf> =
        entries.map(|entry| entry.path().join("ledger.db")).filter(|path| path.is_file()).collect();
    ledgers.sort();
    ledgers
}

/// Where the repository of a ledger was last seen.
fn repository_of(ledger: &Path) -> String {
    let folder = ledger.parent().unwrap_or(ledger);
    let seen = fs::read_to_string(folder.join("repository")).unwrap_or_default();
    match seen.lines().next().unwrap_or_default().trim() {
        "" => folder.display().to_string(),
        seen => seen.to_string(),
    }
}

fn to_json(places: &[Place]) -> Value {
    let places: Vec<Value> = places
        .iter()
        .map(|place| json!({ "repository": place.repository, "workflows": place.reports }))
        .collect();
    json!({ "repositories": places })
}

fn to_text(places: &[Place], named: bool, ink: Ink) -> String {
    let mut text = String::new();
    for place in places.iter().filter(|place| !place.reports.is_empty()) {
        if named {
            text.push_str(&format!("{}\n\n", ink.paint(Tone::Strong, &line::one(&place.repository))));
        }
        for report in &place.reports {
            text.push_str(&format!("{}\n", of_workflow(report, ink)));
        }
    }
    match text.is_empty() {
        true => "no run is over yet; figures come with runs\n".to_string(),
        false => format!("{}\n", text.trim_end()),
    }
}

fn of_workflow(report: &Report, ink: Ink) -> String {
    let density = report.density.map_or_else(String::new, |density| {
        format!(", {density:.1} for each 1,000 of {}", amount::counted(report.changed_lines, "changed line"))
    });
    let mut text = format!(
        "{}: {}, {}{density}\n",
        ink.paint(Tone::Strong, &line::one(&report.workflow)),
        amount::counted(report.runs as u64, "run"),
        amount::counted(report.defects, "defect"),
    );
    let mut table = Table::new(&[
        ("phase", Fit::Cut),
        ("injected", Fit::Whole),
        ("found", Fit::Whole),
        ("yield", Fit::Whole),
        ("", Fit::Whole),
        ("density", Fit::Whole),
        ("back", Fit::Whole),
        ("lately", Fit::Whole),
        ("a correction takes", Fit::Whole),
    ]);
    for phase in report.phases.iter().filter(|phase| is_telling(phase)) {
        let told = report.alerts.iter().any(|alert| alert.phase == phase.figures.phase);
        table.row(row(phase, if told { Tone::Bad } else { Tone::Plain }));
    }
    text.push_str(&table.render(ink));
    for alert in &report.alerts {
        let told = format!(
            "! {} was sent back to at {} of its entries in the newest run; over {} it was {}, and {} would be unusual",
            alert.phase,
            percent(alert.rate),
            amount::counted(alert.runs as u64, "earlier run"),
            percent(alert.mean),
            percent(alert.limit)
        );
        text.push_str(&format!("{}\n", ink.paint(Tone::Bad, &told)));
    }
    text
}

/// Phases that no defect ever passed, and that nothing was sent back to, are left out.
fn is_telling(phase: &PhaseReport) -> bool {
    let figures = &phase.figures;
    figures.injected + figures.entering + figures.removed + figures.remands > 0
}

fn row(phase: &PhaseReport, tone: Tone) -> Vec<Cell> {
    let figures = &phase.figures;
    let each = figures.correction.each();
    let takes = each.map_or_else(String::new, |each| {
        format!(
            "{}, {}, {}",
            amount::tokens(each.tokens, u64::from(each.untold > 0.0)),
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
            phase.density.filter(|_| figures.injected > 0).map_or_else(String::new, |it| format!("{it:.1}")),
        ),
        Cell::new(phase.rate.filter(|_| figures.remands > 0).map_or_else(String::new, percent)).toned(tone),
        Cell::new(if figures.remands > 0 { sparkline(&phase.rates) } else { String::new() }),
        Cell::new(takes),
    ]
}

/// Nothing for nothing, so that the eye finds the numbers.
fn count(number: u64) -> String {
    if number == 0 { String::new() } else { amount::grouped(number) }
}
