//! `remand defects`: where the defects of a run came from, where they were found, and what their correction took.

mod reattribute;

use super::Context;
use super::findings::{category_name, severity_name, severity_tone};
use super::runs::{chosen, heading};
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Ink, Tone, amount, indented, line};
use crate::workplace::{Workplace, of_ledger};
use clap::ValueEnum;
use remand_kernel::finding::Severity;
use remand_ledger::query::{DefectRow, Resolution};
use remand_runtime::quality::{PhaseDefects, by_phase};
use serde_json::json;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    act: Option<Act>,
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
    severity: Option<Least>,
    /// Only those that are not dealt with
    #[arg(long)]
    open: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Say which phases injected a defect, against the word of whoever reported it
    ///
    /// A defect that is not dealt with goes to the new phase from now on; of any other only reports change. What was
    /// said before stays in the log.
    Reattribute(reattribute::Args),
}

/// Severities by name.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Least {
    Minor,
    Major,
    Critical,
    Blocker,
}

impl Least {
    fn severity(self) -> Severity {
        match self {
            Least::Minor => Severity::Minor,
            Least::Major => Severity::Major,
            Least::Critical => Severity::Critical,
            Least::Blocker => Severity::Blocker,
        }
    }
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    if let Some(Act::Reattribute(args)) = &args.act {
        return reattribute::run(context, args);
    }
    let reader = Workplace::open(context, Vec::new())?.reader()?;
    let row = chosen(&reader, args.run.as_deref())?;
    let mut defects = reader.defects(&row.run).map_err(|error| of_ledger(&error))?;
    defects.retain(|defect| args.wants(defect));
    let groups = by_phase(&reader, &row, &defects).map_err(|error| of_ledger(&error))?;
    if context.json {
        let by_phase = json!(groups);
        print_json(&json!({
            "run": row.run, "workflow": row.workflow, "by_phase": by_phase, "defects": defects,
        }))?;
        return Ok(Exit::Done);
    }
    let ink = Ink::of_stdout();
    let mut text = format!("{}\n{}\n", heading(&row), summary(&defects));
    for group in &groups {
        text.push_str(&format!("\n{}\n", ink.paint(Tone::Strong, &title(group))));
        text.extend(group.defects.iter().map(|defect| format!("\n{}", block(defect, ink))));
    }
    print(&text)?;
    Ok(Exit::Done)
}

impl Args {
    fn wants(&self, defect: &DefectRow) -> bool {
        let is = |wanted: &Option<String>, names: &[String]| {
            wanted.as_ref().is_none_or(|wanted| names.contains(wanted))
        };
        is(&self.injected, &defect.injected)
            && is(&self.detected, std::slice::from_ref(&defect.detected))
            && self.severity.is_none_or(|least| defect.severity >= least.severity())
            && (!self.open || is_open(defect.resolution))
    }
}

fn is_open(resolution: Resolution) -> bool {
    match resolution {
        Resolution::Open | Resolution::PassedOn => true,
        Resolution::Corrected
        | Resolution::Withdrawn
        | Resolution::ReportedAgain
        | Resolution::FollowUp
        | Resolution::KnownIssue => false,
    }
}

/// How many there are, what became of them, and what their corrections took together.
fn summary(defects: &[DefectRow]) -> String {
    if defects.is_empty() {
        return "no defects".to_string();
    }
    let mut became: Vec<(Resolution, u64)> = Vec::new();
    for defect in defects {
        match became.iter_mut().find(|(resolution, _)| *resolution == defect.resolution) {
            Some((_, count)) => *count += 1,
            None => became.push((defect.resolution, 1)),
        }
    }
    became.sort();
    let became: Vec<String> =
        became.iter().map(|(resolution, count)| format!("{count} {}", words(*resolution))).collect();
    let sum = |of: fn(&DefectRow) -> u64| defects.iter().map(of).sum::<u64>();
    format!(
        "{}: {}\ntheir corrections took {}, {} in money and {} of work",
        amount::counted(defects.len() as u64, "defect"),
        became.join(", "),
        amount::tokens(sum(|defect| defect.tokens), sum(|defect| u64::from(defect.untold))),
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
        ([], _) => "by nobody knows whom".to_string(),
        (phases, false) => format!("by {}", phases.join(", ")),
        (phases, true) => format!("by {}, it is assumed", phases.join(", ")),
    };
    let severity = ink.paint(severity_tone(defect.severity), severity_name(defect.severity));
    let mut text = format!(
        "{}  {severity}, {}: {}\n",
        ink.paint(Tone::Strong, &line::one(&defect.id)),
        category_name(defect.category),
        words(defect.resolution)
    );
    text.push_str(&indented(&defect.claim, 4));
    text.push_str(&indented(&format!("injected {injected}; found by {}", defect.detected), 4));
    for said in &defect.reattributions {
        let note = if said.note.is_empty() { String::new() } else { format!(": {}", said.note) };
        let from = if said.from.is_empty() { "nobody".to_string() } else { said.from.join(", ") };
        let told = format!("{} attributed it to {} instead of {from}{note}", said.by, said.to.join(", "));
        text.push_str(&indented(&told, 4));
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
        let took = format!(
            "correction: {}; {}, {}, {}",
            attempts.join(", "),
            amount::tokens(defect.tokens, u64::from(defect.untold)),
            amount::cost(defect.money, u64::from(defect.unpriced)),
            amount::time(defect.time)
        );
        text.push_str(&indented(&took, 4));
    }
    text
}

fn words(resolution: Resolution) -> &'static str {
    match resolution {
        Resolution::Corrected => "corrected",
        Resolution::Withdrawn => "withdrawn",
        Resolution::ReportedAgain => "reported again",
        Resolution::PassedOn => "sent further back",
        Resolution::FollowUp => "for later",
        Resolution::KnownIssue => "a known issue",
        Resolution::Open => "open",
    }
}
