//! `remand findings`: what reviewers and checks found, the worst first, and what became of each.

use super::Context;
use super::runs::{chosen, heading};
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Ink, Tone, WIDTH, amount, indented, line};
use crate::workplace::{Workplace, of_ledger};
use remand_kernel::finding::{Category, FindingKind, Severity};
use remand_kernel::state::FiledStatus;
use remand_ledger::query::FindingRow;
use serde::Serialize;
use serde_json::json;

/// The worst first.
const SEVERITIES: [Severity; 4] = [Severity::Blocker, Severity::Critical, Severity::Major, Severity::Minor];

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only those that are not settled
    #[arg(long)]
    pub open: bool,
}

/// How many findings are open, by severity, and how many are kept for later.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub blocker: u64,
    pub critical: u64,
    pub major: u64,
    pub minor: u64,
    /// Open, and the run goes on with them.
    pub known: u64,
    #[serde(rename = "follow-ups")]
    pub follow_ups: u64,
    pub all: u64,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = chosen(&reader, args.run.as_deref())?;
    let all = reader.findings(&row.run).map_err(|error| of_ledger(&error))?;
    let tally = tally(&all);
    let mut shown: Vec<FindingRow> =
        all.into_iter().filter(|finding| !args.open || is_open(finding.status)).collect();
    shown.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.position));
    if context.json {
        print_json(&json!({ "run": row.run, "tally": tally, "findings": shown }))?;
        return Ok(Exit::Done);
    }
    let ink = Ink::of_stdout();
    let mut text = format!("{}\nfindings: {}\n", heading(&row), tally.words());
    for severity in SEVERITIES {
        let of: Vec<&FindingRow> = shown.iter().filter(|finding| finding.severity == severity).collect();
        if !of.is_empty() {
            let title = format!("{} ({})", severity_name(severity), of.len());
            text.push_str(&format!("\n{}\n", ink.paint(severity_tone(severity), &title)));
            text.extend(of.iter().map(|finding| block(finding, ink)));
        }
    }
    print(&text)?;
    Ok(Exit::Done)
}

/// One finding: who found it and what became of it, where it is, what it claims.
fn block(finding: &FindingRow, ink: Ink) -> String {
    let mut about = vec![category_name(finding.category).to_string()];
    about.extend(finding.kind.map(|kind| kind_name(kind).to_string()));
    let task = finding.task.as_deref().map_or_else(String::new, |task| format!("[{}]", line::one(task)));
    about.push(format!("found by {}{task}", line::one(&finding.phase)));
    about.extend(finding.sent_to.as_deref().map(|phase| format!("sent to {}", line::one(phase))));
    if finding.count > 1 {
        about.push(format!("reported {} times", finding.count));
    }
    about.push(if finding.known {
        "a known issue".to_string()
    } else {
        status_name(finding.status).to_string()
    });
    let (id, about) = (line::cut(&line::one(&finding.id), WIDTH - 2), about.join(", "));
    let painted = ink.paint(Tone::Strong, &id);
    let head = if line::width(&id) + line::width(&about) + 4 <= WIDTH {
        format!("  {painted}  {about}\n")
    } else {
        format!("  {painted}\n{}", indented(&about, 6))
    };
    let place = place(finding);
    let claim =
        format!("{}{}", if place.is_empty() { String::new() } else { format!("{place}: ") }, finding.claim);
    head + &indented(&claim, 6)
}

/// `file:line symbol`, as far as it is known.
fn place(finding: &FindingRow) -> String {
    let mut text = line::one(&finding.place.file);
    if finding.place.line > 0 && !text.is_empty() {
        text.push_str(&format!(":{}", finding.place.line));
    }
    let symbol = line::one(&finding.place.symbol);
    if !symbol.is_empty() {
        text = if text.is_empty() { symbol } else { format!("{text} {symbol}") };
    }
    text
}

/// Counts the findings of a run.
pub fn tally(findings: &[FindingRow]) -> Tally {
    let mut tally = Tally { all: findings.len() as u64, ..Tally::default() };
    for finding in findings {
        if is_open(finding.status) {
            match finding.severity {
                Severity::Blocker => tally.blocker += 1,
                Severity::Critical => tally.critical += 1,
                Severity::Major => tally.major += 1,
                Severity::Minor => tally.minor += 1,
            }
        }
        tally.known += u64::from(finding.known);
        tally.follow_ups += u64::from(finding.status == FiledStatus::FollowUp);
    }
    tally
}

impl Tally {
    pub fn words(&self) -> String {
        let by = [
            ("blocker", self.blocker),
            ("critical", self.critical),
            ("major", self.major),
            ("minor", self.minor),
        ];
        let open: Vec<String> = by
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        if self.all == 0 {
            return "none".to_string();
        }
        let mut parts =
            vec![format!("{} open", if open.is_empty() { "none".to_string() } else { open.join(", ") })];
        if self.known > 0 {
            parts.push(amount::counted(self.known, "known issue"));
        }
        if self.follow_ups > 0 {
            parts.push(amount::counted(self.follow_ups, "follow-up"));
        }
        parts.push(format!("{} in all", self.all));
        parts.join("; ")
    }
}

/// Whether somebody still has to do something about it; advice and follow-ups wait for nobody.
fn is_open(status: FiledStatus) -> bool {
    match status {
        FiledStatus::Open | FiledStatus::PassedOn => true,
        FiledStatus::FollowUp | FiledStatus::Advice | FiledStatus::Superseded | FiledStatus::Settled => false,
    }
}

fn status_name(status: FiledStatus) -> &'static str {
    match status {
        FiledStatus::Open => "open",
        FiledStatus::FollowUp => "for later",
        FiledStatus::Advice => "advice",
        FiledStatus::Superseded => "reported again",
        FiledStatus::PassedOn => "sent further back",
        FiledStatus::Settled => "settled",
    }
}

pub fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Blocker => "blocker",
        Severity::Critical => "critical",
        Severity::Major => "major",
        Severity::Minor => "minor",
    }
}

pub fn severity_tone(severity: Severity) -> Tone {
    match severity {
        Severity::Blocker | Severity::Critical => Tone::Bad,
        Severity::Major => Tone::Doubtful,
        Severity::Minor => Tone::Faint,
    }
}

pub fn category_name(category: Category) -> &'static str {
    match category {
        Category::Security => "security",
        Category::Correctness => "correctness",
        Category::Performance => "performance",
        Category::Maintainability => "maintainability",
        Category::Design => "design",
    }
}

fn kind_name(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Plan => "plan",
        FindingKind::Test => "test",
        FindingKind::Production => "production",
        FindingKind::Cosmetic => "cosmetic",
    }
}
