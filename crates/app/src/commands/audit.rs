//! `remand audit`: whether the ledger is what was written (CORE-08).

use super::Context;
use crate::exit::{Exit, Failure, print, print_json, tell};
use crate::table::{Cell, Fit, Ink, Table, Tone, amount, indented};
use crate::workplace::{Workplace, of_ledger, with_causes};
use remand_ledger::audit::{AuditPart, AuditProgress, AuditReport, Problem, audit};
use remand_ledger::{ChainHash, Head, Reader};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// Every part, in the order in which it is checked, with what it is.
const PARTS: [(AuditPart, &str, &str); 5] = [
    (AuditPart::File, "file", "the database is whole"),
    (AuditPart::Schema, "schema", "tables and triggers are those of the format"),
    (AuditPart::Chain, "chain", "every row of the journal fits the hash of the one before"),
    (AuditPart::Blobs, "blobs", "all contents are there and fit their names"),
    (AuditPart::Projections, "projections", "all that is shown follows from the journal"),
];

/// Somebody who waits longer than this is told how far it is.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Compare with a head that an evidence bundle quotes: a tail that was cut off leaves no other trace
    #[arg(long, value_name = "COUNT:HASH", value_parser = head)]
    pub head: Option<Head>,

    /// Make everything that follows from the journal again, where nothing but that is wrong
    #[arg(long)]
    pub rebuild: bool,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let mut report = look(&reader, args.head)?;
    if args.rebuild && !report.is_sound() && report.problems.iter().all(Problem::is_of_projections) {
        let made = workplace
            .ledger()?
            .rebuild()
            .map_err(|error| with_causes(Failure::user(error.to_string(), error.hint()), &error))?;
        tell(&format!(
            "everything that follows from the journal was made again, from {}",
            amount::counted(made, "row")
        ));
        report = look(&reader, args.head)?;
    }
    if context.json {
        print_json(&to_json(&report, args.head))?;
    } else {
        print(&to_text(&report, args.head, Ink::of_stdout()))?;
    }
    if report.is_sound() {
        return Ok(Exit::Done);
    }
    if !context.json {
        tell(&hint(&report, reader.path()));
    }
    Ok(Exit::User)
}

fn look(reader: &Reader, expected: Option<Head>) -> Result<AuditReport, Failure> {
    let mut told = Instant::now();
    let report = audit(reader, expected, |progress| {
        if told.elapsed() > PATIENCE {
            tell(&words(progress));
            told = Instant::now();
        }
    });
    report.map_err(|error| of_ledger(&error))
}

fn hint(report: &AuditReport, path: &Path) -> String {
    let keep = format!("hint: keep a copy of {} as it is, since it is evidence; then", path.display());
    if report.problems.iter().all(Problem::is_of_projections) {
        format!("{keep} `remand audit --rebuild` makes what is wrong again from the journal")
    } else {
        format!("{keep} restore a sound one")
    }
}

/// Reads `COUNT:HASH`.
fn head(text: &str) -> Result<Head, String> {
    let expected = "a head is written as COUNT:HASH, as `remand audit` prints it";
    let (count, hash) = text.split_once(':').ok_or(expected)?;
    let count = count.parse().map_err(|_| format!("`{count}` is no count; {expected}"))?;
    let hash: ChainHash =
        hash.parse().map_err(|_| format!("`{hash}` is no hash of 64 digits; {expected}"))?;
    Ok(Head { count, hash })
}

fn quoted(head: &Head) -> String {
    format!("{}:{}", head.count, head.hash)
}

fn words(progress: AuditProgress) -> String {
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

/// The part that a problem belongs to.
fn part(problem: &Problem) -> AuditPart {
    match problem {
        Problem::File { .. } => AuditPart::File,
        Problem::SchemaMissing { .. } | Problem::SchemaChanged { .. } | Problem::SchemaAdded { .. } => {
            AuditPart::Schema
        }
        Problem::Row { .. } | Problem::CutOff { .. } | Problem::OtherHistory { .. } => AuditPart::Chain,
        Problem::BlobChanged { .. } | Problem::BlobMissing { .. } => AuditPart::Blobs,
        Problem::Unreadable { part, .. } => *part,
        // Whatever else an audit finds, it finds where it makes everything again.
        _ => AuditPart::Projections,
    }
}

fn to_json(report: &AuditReport, expected: Option<Head>) -> Value {
    let parts: serde_json::Map<String, Value> = PARTS
        .iter()
        .map(|(part, name, _)| {
            (name.to_string(), json!(!report.problems.iter().any(|it| self::part(it) == *part)))
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
        "head": quoted(&report.head),
        "compared": expected.as_ref().map(quoted),
        "parts": parts,
        "problems": problems,
    })
}

fn to_text(report: &AuditReport, expected: Option<Head>, ink: Ink) -> String {
    let mut table = Table::list(&[Fit::Whole, Fit::Whole, Fit::Wrap], 0);
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
    text.push_str(&indented(&quoted(&report.head), 2));
    if let Some(expected) = expected.filter(|_| report.is_sound()) {
        text.push_str(&format!("what was quoted holds: {}\n", amount::counted(expected.count, "row")));
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
        assert_eq!(quoted(&head(&text).expect("head")), text);
        for wrong in ["12", "x:00", "12:zz", "12:0f"] {
            assert!(head(wrong).is_err(), "{wrong}");
        }
    }
}
