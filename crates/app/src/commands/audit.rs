//! `remand audit`: checks that the ledger is unchanged since it was written.

use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_ledger::audit::{AuditPart, AuditProblem, AuditProgress, AuditReport, audit};
use remand_ledger::{ChainHash, ChainHead, Reader};
use remand_terminal::output::{print, print_json, tell};
use remand_terminal::table::{Cell, ColumnFit, TextTable, indented};
use remand_terminal::{CommandFailure, ExitCode, Ink, Tone, amount};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// The parts in the order in which they are checked, each with its name and what a passed check shows.
const PARTS: [(AuditPart, &str, &str); 5] = [
    (AuditPart::File, "file", "the database is intact"),
    (AuditPart::Schema, "schema", "tables and triggers match the format"),
    (AuditPart::Chain, "chain", "every row of the journal matches the hash of the row before"),
    (AuditPart::Blobs, "blobs", "all blobs exist and match their names"),
    (AuditPart::Projections, "projections", "all tables follow from the journal"),
];

/// The interval at which progress is shown.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Compare with the head in an evidence bundle; only this detects a journal whose end was cut off
    #[arg(long, value_name = "COUNT:HASH", value_parser = parse_head)]
    pub head: Option<ChainHead>,

    /// Rebuild all tables from the journal, if only the tables are wrong
    #[arg(long)]
    pub rebuild: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let mut report = run_audit(&reader, args.head)?;
    if args.rebuild && !report.is_sound() && report.problems.iter().all(AuditProblem::is_in_projections) {
        let rows = workplace
            .ledger()?
            .rebuild()
            .map_err(|error| CommandFailure::user(error.to_string(), error.hint()).with_sources(&error))?;
        tell(&format!("all tables were rebuilt from {}", amount::counted(rows, "row")));
        report = run_audit(&reader, args.head)?;
    }
    if context.json {
        print_json(&to_json(&report, args.head))?;
    } else {
        print(&to_text(&report, args.head, Ink::of_stdout()))?;
    }
    if report.is_sound() {
        return Ok(ExitCode::Done);
    }
    if !context.json {
        tell(&hint(&report, reader.path()));
    }
    Ok(ExitCode::User)
}

fn run_audit(reader: &Reader, expected: Option<ChainHead>) -> Result<AuditReport, CommandFailure> {
    let mut last_shown = Instant::now();
    let report = audit(reader, expected, |progress| {
        if last_shown.elapsed() > PROGRESS_INTERVAL {
            tell(&describe(progress));
            last_shown = Instant::now();
        }
    });
    report.map_err(CommandFailure::from)
}

fn hint(report: &AuditReport, path: &Path) -> String {
    let keep = format!("hint: keep a copy of {} as evidence, then", path.display());
    if report.problems.iter().all(AuditProblem::is_in_projections) {
        format!("{keep} rebuild the tables with `remand audit --rebuild`")
    } else {
        format!("{keep} restore an intact backup")
    }
}

/// Reads `COUNT:HASH`.
fn parse_head(text: &str) -> Result<ChainHead, String> {
    let expected = "a head is written as COUNT:HASH, as `remand audit` prints it";
    let (count, hash) = text.split_once(':').ok_or(expected)?;
    let count = count.parse().map_err(|_| format!("`{count}` is not a number; {expected}"))?;
    let hash: ChainHash =
        hash.parse().map_err(|_| format!("`{hash}` is not a hash of 64 hex digits; {expected}"))?;
    Ok(ChainHead { count, hash })
}

fn format_head(head: &ChainHead) -> String {
    format!("{}:{}", head.count, head.hash)
}

fn describe(progress: AuditProgress) -> String {
    let name = name(progress.part);
    match progress.done {
        0 => format!("checking the {name} ..."),
        done => {
            format!("checking the {name}: {} of {} rows", amount::grouped(done), amount::grouped(progress.of))
        }
    }
}

fn name(part: AuditPart) -> &'static str {
    PARTS.iter().find(|(known, _, _)| *known == part).map_or("ledger", |(_, name, _)| name)
}

/// The part of the ledger that a problem is in.
fn part(problem: &AuditProblem) -> AuditPart {
    match problem {
        AuditProblem::File { .. } => AuditPart::File,
        AuditProblem::SchemaMissing { .. }
        | AuditProblem::SchemaChanged { .. }
        | AuditProblem::SchemaAdded { .. } => AuditPart::Schema,
        AuditProblem::Row { .. } | AuditProblem::CutOff { .. } | AuditProblem::OtherHistory { .. } => {
            AuditPart::Chain
        }
        AuditProblem::BlobChanged { .. } | AuditProblem::BlobMissing { .. } => AuditPart::Blobs,
        AuditProblem::Unreadable { part, .. } => *part,
        // All other problems come from the comparison with rebuilt tables.
        _ => AuditPart::Projections,
    }
}

fn to_json(report: &AuditReport, expected: Option<ChainHead>) -> Value {
    let parts: serde_json::Map<String, Value> = PARTS
        .iter()
        .map(|(part, name, _)| {
            (name.to_string(), json!(!report.problems.iter().any(|problem| self::part(problem) == *part)))
        })
        .collect();
    let problems: Vec<Value> = report
        .problems
        .iter()
        .map(
            |problem| json!({ "part": name(part(problem)), "says": problem.to_string(), "problem": problem }),
        )
        .collect();
    json!({
        "sound": report.is_sound(),
        "head": format_head(&report.head),
        "compared": expected.as_ref().map(format_head),
        "parts": parts,
        "problems": problems,
    })
}

fn to_text(report: &AuditReport, expected: Option<ChainHead>, ink: Ink) -> String {
    let mut table = TextTable::list(&[ColumnFit::Whole, ColumnFit::Whole, ColumnFit::Wrap], 0);
    for (part, name, about) in PARTS {
        let mut problems = report.problems.iter().filter(|problem| self::part(problem) == part);
        match problems.next() {
            None => table.row(vec![Cell::new("ok").toned(Tone::Good), Cell::new(name), Cell::new(about)]),
            Some(first) => {
                let text = Cell::new(first.to_string());
                table.row(vec![Cell::new("BAD").toned(Tone::Bad), Cell::new(name), text]);
                for more in problems {
                    table.row(vec![Cell::new(""), Cell::new(""), Cell::new(more.to_string())]);
                }
            }
        }
    }
    let mut text = table.render(ink);
    text.push_str(&format!(
        "\nthe journal has {} and ends with\n",
        amount::counted(report.head.count, "row")
    ));
    text.push_str(&indented(&format_head(&report.head), 2));
    if let Some(expected) = expected.filter(|_| report.is_sound()) {
        text.push_str(&format!(
            "the journal contains the given head: {}\n",
            amount::counted(expected.count, "row")
        ));
    }
    text
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    // CORE-08
    #[test]
    fn a_head_is_read_as_it_is_printed() {
        let text = format!("12:{}", "0f".repeat(32));
        assert_eq!(format_head(&parse_head(&text).expect("head")), text);
        for wrong in ["12", "x:00", "12:zz", "12:0f"] {
            assert!(parse_head(wrong).is_err(), "{wrong}");
        }
    }
}
