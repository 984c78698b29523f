//! `remand gauntlet`: tests the engine against misbehaving agents.

use crate::context::CommandContext;
use crate::environment;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use remand_terminal::amount::time;
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, Stop};
use remand_trials::gauntlet::{
    self, ChosenCase, ComparisonRecord, GauntletReport, Lineup, TestRunners, TrialResult, Watcher,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Families or cases [default: all]
    #[arg(value_name = "FAMILY|CASE")]
    wanted: Vec<String>,
    /// List the cases
    #[arg(long)]
    list: bool,
    /// Keep the folder of each case, below this new folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// A folder with test runners: pytest in `venv`, vitest and jest in `npm/node_modules`. Cases whose runner is missing
    /// are left out
    #[arg(long, value_name = "DIR")]
    tools: Option<PathBuf>,
    /// Of each kind, play one honest case and a bad one on every other project
    #[arg(long)]
    sample: bool,
    /// Compare what plain tests and each guard alone let through, on the cases of kinds
    #[arg(long)]
    compare: bool,
    /// Record the results of `--compare` in this file, and continue with what it has
    #[arg(long, value_name = "FILE", requires = "compare")]
    record: Option<PathBuf>,
    /// The number of cases that run in parallel
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let mut choices = gauntlet::select(&args.wanted)?;
    if args.sample {
        choices = gauntlet::sample(choices);
    }
    if args.list {
        return list(context, &choices);
    }
    let runners = TestRunners::new(args.tools.as_deref());
    let (choices, left_out) = runners.divide(choices);
    let lineup = Lineup::new(args.keep.as_deref(), args.jobs, environment::inherited(), runners)?;
    let started = Instant::now();
    let stop = Stop::listen();
    let live = Live::default();
    let watcher: &dyn Watcher = match (context.json, std::io::stderr().is_terminal()) {
        (true, _) => &Silent,
        (false, true) => &live,
        (false, false) => &Plain,
    };
    let interrupted = || {
        tell("stopped without a result");
        Ok(ExitCode::Interrupted)
    };
    if args.compare {
        let record = args.record.as_deref().map(ComparisonRecord::open).transpose()?.unwrap_or_default();
        let compared = gauntlet::compare(&lineup, &choices, &record, &stop, watcher);
        live.clear();
        let Some(compared) = compared? else { return interrupted() };
        if context.json {
            print_json(&compared.json())?;
        } else {
            print(&compared.text(Ink::of_stdout()))?;
        }
        return Ok(ExitCode::Done);
    }
    let played = lineup.play(&choices, &stop, watcher);
    live.clear();
    let Some(tried) = played else { return interrupted() };
    let report = GauntletReport { tried, left_out, took: started.elapsed() };
    if context.json {
        print_json(&report.json())?;
    } else {
        print(&report.text(Ink::of_stdout()))?;
    }
    Ok(if report.is_as_stated() { ExitCode::Done } else { ExitCode::Failed })
}

fn list(context: &CommandContext<'_>, choices: &[ChosenCase]) -> Result<ExitCode, CommandFailure> {
    if context.json {
        let cases: Vec<Value> = choices
            .iter()
            .map(|choice| {
                json!({
                    "family": choice.family().name(), "case": choice.short(), "tries": choice.case.title,
                    "about": choice.case.about, "project": choice.case.project.name(),
                    "workflow": choice.case.workflow, "measured": choice.is_measured_lie(),
                    "kind": choice.kind(), "honest": choice.is_honest(),
                })
            })
            .collect();
        print_json(&json!({ "cases": cases }))?;
        return Ok(ExitCode::Done);
    }
    let columns = [ColumnFit::Whole, ColumnFit::Whole, ColumnFit::Whole, ColumnFit::Wrap];
    let names = ["family", "case", "project", "what it tries"];
    let head: Vec<(&'static str, ColumnFit)> = names.into_iter().zip(columns).collect();
    let mut table = TextTable::new(&head);
    for choice in choices {
        table.row(vec![
            Cell::new(choice.family().name()),
            Cell::new(choice.short()),
            Cell::new(choice.case.project.name()),
            Cell::new(&choice.case.title),
        ]);
    }
    print(&table.render(Ink::of_stdout()))?;
    Ok(ExitCode::Done)
}

fn line(tried: &TrialResult) -> String {
    let took = time(u64::try_from(tried.took.as_millis()).unwrap_or(u64::MAX));
    format!("{}: {}: {} ({took})", tried.choice.name, tried.verdict.name(), tried.happened)
}

struct Silent;

impl Watcher for Silent {
    fn started(&self, _: &ChosenCase) {}

    fn ended(&self, _: &TrialResult) {}
}

struct Plain;

impl Watcher for Plain {
    fn started(&self, _: &ChosenCase) {}

    fn ended(&self, tried: &TrialResult) {
        tell(&line(tried));
    }
}

/// Shows results as they arrive, and the running cases below them.
#[derive(Default)]
struct Live {
    bars: MultiProgress,
    playing: Mutex<BTreeMap<String, ProgressBar>>,
}

impl Live {
    fn clear(&self) {
        let _ = self.bars.clear();
    }
}

impl Watcher for Live {
    fn started(&self, choice: &ChosenCase) {
        let bar = self.bars.add(ProgressBar::new_spinner());
        let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message(format!("{}: {}", choice.name, choice.case.title));
        bar.enable_steady_tick(Duration::from_millis(250));
        self.playing.lock().unwrap_or_else(PoisonError::into_inner).insert(choice.name.clone(), bar);
    }

    fn ended(&self, tried: &TrialResult) {
        if let Some(bar) =
            self.playing.lock().unwrap_or_else(PoisonError::into_inner).remove(&tried.choice.name)
        {
            bar.finish_and_clear();
        }
        let _ = self.bars.println(line(tried));
    }
}
