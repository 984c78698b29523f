//! `remand findings`: what reviewers and checks found, worst first, and the status of each.

use super::runs::{find_run, heading};
use crate::context::CommandContext;
use crate::finding_counts::{count_findings, is_open};
use crate::workplace::Workplace;
use remand_engine::pinned::Pinned;
use remand_kernel::Program;
use remand_kernel::finding::{Category, FindingKind, Severity};
use remand_kernel::state::FiledStatus;
use remand_ledger::query::{DefectResolution, FindingRow};
use remand_ledger::{LedgerError, Reader, RunId};
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{indented, page_width};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, line};
use serde_json::json;

/// All severities, worst first.
const SEVERITIES: [Severity; 4] = [Severity::Blocker, Severity::Critical, Severity::Major, Severity::Minor];

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run: its id, a part of it, or `latest`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only open findings
    #[arg(long)]
    pub open: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = find_run(&reader, args.run.as_deref())?;
    let mut all = reader.findings(&row.run)?;
    settle_corrected(&reader, &row.run, &mut all)?;
    let counts = count_findings(&all);
    let mut shown: Vec<FindingRow> =
        all.into_iter().filter(|finding| !args.open || is_open(finding.status)).collect();
    shown.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.position));
    if let Some(pinned) = Pinned::of(&reader, &row.run)? {
        shown.iter_mut().for_each(|finding| name_recipient(&pinned.program, finding));
    }
    if context.json {
        print_json(&json!({ "run": row.run, "tally": counts, "findings": shown }))?;
        return Ok(ExitCode::Done);
    }
    let ink = Ink::of_stdout();
    let mut text = format!("{}\nfindings: {}\n", heading(&row), counts.describe());
    for severity in SEVERITIES {
        let group: Vec<&FindingRow> = shown.iter().filter(|finding| finding.severity == severity).collect();
        if !group.is_empty() {
            let title = format!("{} ({})", severity.name(), group.len());
            text.push_str(&format!("\n{}\n", ink.paint(severity_tone(severity), &title)));
            text.extend(group.iter().map(|finding| block(finding, ink)));
        }
    }
    print(&text)?;
    Ok(ExitCode::Done)
}

/// Settles the findings that a later round no longer reports, although no ruling closed them: as in the defect log and in
/// the evidence bundle.
fn settle_corrected(reader: &Reader, run: &RunId, findings: &mut [FindingRow]) -> Result<(), LedgerError> {
    for defect in reader.defects(run)? {
        if let DefectResolution::Corrected | DefectResolution::Withdrawn = defect.resolution
            && let Some(finding) = findings.iter_mut().find(|finding| finding.position == defect.position)
        {
            finding.status = FiledStatus::Settled;
        }
    }
    Ok(())
}

/// Names the phase that a finding was for. Work goes back to the earliest origin of all findings; each finding waits for
/// the phase that injected its defect.
fn name_recipient(program: &Program, finding: &mut FindingRow) {
    let Some(target) = finding.sent_to.as_deref().and_then(|name| program.phase_named(name)) else { return };
    let origins = finding.injected_by.iter().filter_map(|name| program.phase_named(name));
    let recipient = origins.filter(|phase| *phase >= target && program.injects.contains(phase)).min();
    if let Some(recipient) = recipient {
        finding.sent_to = Some(program.phase(recipient).name.clone());
    }
}

/// Describes one finding: phase, status, location and claim.
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
    let (id, about) = (line::cut(&line::one(&finding.id), page_width().saturating_sub(2)), about.join(", "));
    let painted = ink.paint(Tone::Strong, &id);
    let head = if line::width(&id) + line::width(&about) + 4 <= page_width() {
        format!("  {painted}  {about}\n")
    } else {
        format!("  {painted}\n{}", indented(&about, 6))
    };
    let location = location(finding);
    let location = if location.is_empty() { location } else { format!("{location}: ") };
    let claim = format!("{location}{}", finding.claim);
    head + &indented(&claim, 6)
}

/// The location as `file:line symbol`, as far as it is known.
fn location(finding: &FindingRow) -> String {
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
