//! `remand defects`: where the defects of a run came from, where they were found, and what correcting them cost.

mod reattribute;

use super::findings::{category_name, severity_tone};
use super::runs::{find_run, heading};
use crate::context::CommandContext;
use crate::workplace::Workplace;
use clap::ValueEnum;
use remand_engine::quality::{PhaseDefects, by_phase};
use remand_kernel::finding::Severity;
use remand_ledger::query::{DefectResolution, DefectRow};
use remand_terminal::output::{print, print_json};
use remand_terminal::table::indented;
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, amount, line};
use serde_json::json;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<DefectsCommand>,
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Only those that this phase injected
    #[arg(long, value_name = "PHASE")]
    injected: Option<String>,
    /// Only those that this phase found
    #[arg(long, value_name = "PHASE")]
    detected: Option<String>,
    /// Only those of this severity or worse
    #[arg(long, value_name = "SEVERITY")]
    severity: Option<MinSeverity>,
    /// Only open defects
    #[arg(long)]
    open: bool,
}

#[derive(Debug, clap::Subcommand)]
enum DefectsCommand {
    /// Set the phases that injected a defect, overriding the report
    ///
    /// An open defect is sent to the new phase from now on; for any other defect only the reports change. The log keeps
    /// the original attribution.
    Reattribute(reattribute::Args),
}

/// The lowest severity to show.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum MinSeverity {
    Minor,
    Major,
    Critical,
    Blocker,
}

impl MinSeverity {
    fn severity(self) -> Severity {
        match self {
            MinSeverity::Minor => Severity::Minor,
            MinSeverity::Major => Severity::Major,
            MinSeverity::Critical => Severity::Critical,
            MinSeverity::Blocker => Severity::Blocker,
        }
    }
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    if let Some(DefectsCommand::Reattribute(args)) = &args.command {
        return reattribute::run(context, args);
    }
    let reader = Workplace::open(context, Vec::new())?.reader()?;
    let row = find_run(&reader, args.run.as_deref())?;
    let mut defects = reader.defects(&row.run)?;
    defects.retain(|defect| args.accepts(defect));
    let groups = by_phase(&reader, &row, &defects)?;
    if context.json {
        let by_phase = json!(groups);
        print_json(&json!({
            "run": row.run, "workflow": row.workflow, "by_phase": by_phase, "defects": defects,
        }))?;
        return Ok(ExitCode::Done);
    }
    let ink = Ink::of_stdout();
    let mut text = format!("{}\n{}\n", heading(&row), summary(&defects));
    for group in &groups {
        text.push_str(&format!("\n{}\n", ink.paint(Tone::Strong, &title(group))));
        text.extend(group.defects.iter().map(|defect| format!("\n{}", block(defect, ink))));
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

impl Args {
    fn accepts(&self, defect: &DefectRow) -> bool {
        let matches = |wanted: &Option<String>, names: &[String]| {
            wanted.as_ref().is_none_or(|wanted| names.contains(wanted))
        };
        matches(&self.injected, &defect.injected)
            && matches(&self.detected, std::slice::from_ref(&defect.detected))
            && self.severity.is_none_or(|min| defect.severity >= min.severity())
            && (!self.open || is_open(defect.resolution))
    }
}

fn is_open(resolution: DefectResolution) -> bool {
    match resolution {
        DefectResolution::Open | DefectResolution::PassedOn => true,
        DefectResolution::Corrected
        | DefectResolution::Withdrawn
        | DefectResolution::ReportedAgain
        | DefectResolution::FollowUp
        | DefectResolution::KnownIssue => false,
    }
}

/// The number of defects by resolution, and the cost of correcting them.
fn summary(defects: &[DefectRow]) -> String {
    if defects.is_empty() {
        return "no defects".to_string();
    }
    let mut by_resolution: Vec<(DefectResolution, u64)> = Vec::new();
    for defect in defects {
        match by_resolution.iter_mut().find(|(resolution, _)| *resolution == defect.resolution) {
            Some((_, count)) => *count += 1,
            None => by_resolution.push((defect.resolution, 1)),
        }
    }
    by_resolution.sort();
    let by_resolution: Vec<String> = by_resolution
        .iter()
        .map(|(resolution, count)| format!("{count} {}", describe(*resolution)))
        .collect();
    let sum = |of: fn(&DefectRow) -> u64| defects.iter().map(of).sum::<u64>();
    format!(
        "{}: {}\ncorrecting them took {}, {} in money and {} of work",
        amount::counted(defects.len() as u64, "defect"),
        by_resolution.join(", "),
        amount::tokens(sum(|defect| defect.tokens), sum(|defect| u64::from(defect.unmetered))),
        amount::cost(sum(|defect| defect.money), sum(|defect| u64::from(defect.unpriced))),
        amount::time(sum(|defect| defect.time)),
    )
}

fn title(group: &PhaseDefects<'_>) -> String {
    let count = amount::counted(group.defects.len() as u64, "defect");
    match group.phase {
        Some(phase) => format!("{}: {count}", line::one(phase)),
        None => format!("of unknown origin: {count}"),
    }
}

fn block(defect: &DefectRow, ink: Ink) -> String {
    let injected = match (defect.injected.as_slice(), defect.assumed) {
        ([], _) => "by an unknown phase".to_string(),
        (phases, false) => format!("by {}", phases.join(", ")),
        (phases, true) => format!("by {} (assumed)", phases.join(", ")),
    };
    let severity = ink.paint(severity_tone(defect.severity), defect.severity.name());
    let mut text = format!(
        "{}  {severity}, {}: {}\n",
        ink.paint(Tone::Strong, &line::one(&defect.id)),
        category_name(defect.category),
        describe(defect.resolution)
    );
    text.push_str(&indented(&defect.claim, 4));
    text.push_str(&indented(&format!("injected {injected}; found by {}", defect.detected), 4));
    for change in &defect.reattributions {
        let note = if change.note.is_empty() { String::new() } else { format!(": {}", change.note) };
        let from = if change.from.is_empty() { "no phase".to_string() } else { change.from.join(", ") };
        let attributed =
            format!("{} attributed it to {} instead of {from}{note}", change.by, change.to.join(", "));
        text.push_str(&indented(&attributed, 4));
    }
    if !defect.attempts.is_empty() {
        let attempts: Vec<String> = defect
            .attempts
            .iter()
            .map(|attempts| match attempts.dispatches {
                1 => attempts.phase.clone(),
                more => format!("{} {more} times", attempts.phase),
            })
            .collect();
        let correction = format!(
            "correction: {}; {}, {}, {}",
            attempts.join(", "),
            amount::tokens(defect.tokens, u64::from(defect.unmetered)),
            amount::cost(defect.money, u64::from(defect.unpriced)),
            amount::time(defect.time)
        );
        text.push_str(&indented(&correction, 4));
    }
    text
}

fn describe(resolution: DefectResolution) -> &'static str {
    match resolution {
        DefectResolution::Corrected => "corrected",
        DefectResolution::Withdrawn => "withdrawn",
        DefectResolution::ReportedAgain => "reported again",
        DefectResolution::PassedOn => "sent further back",
        DefectResolution::FollowUp => "for later",
        DefectResolution::KnownIssue => "a known issue",
        DefectResolution::Open => "open",
    }
}
