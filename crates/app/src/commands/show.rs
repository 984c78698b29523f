//! `remand show`: prints a version of an artifact.

use super::runs::find_run;
use crate::context::CommandContext;
use crate::workplace::Workplace;
use remand_contract::{RawResult, SchemaId};
use remand_engine::clock;
use remand_engine::outputs;
use remand_engine::pinned::Pinned;
use remand_ledger::Reader;
use remand_ledger::query::{ArtifactRow, RunRow};
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, line, output};
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The artifact, with a part or a version: `plan`, `plan@1`, `code[task-1]`
    #[arg(value_name = "ARTIFACT[@VERSION]", required_unless_present = "list")]
    pub artifact: Option<String>,
    /// The run: its id, a part of it, or `latest`
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// One part of it, such as a task
    #[arg(long, value_name = "PART")]
    pub part: Option<String>,
    /// Print a result as the role returned it, instead of as Markdown
    #[arg(long, conflicts_with = "list")]
    pub yaml: bool,
    /// List the artifacts instead, with their versions
    #[arg(long)]
    pub list: bool,
}

pub fn run(context: &CommandContext<'_>, args: &Args) -> Result<ExitCode, CommandFailure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = find_run(&reader, args.run.as_deref())?;
    let Some(given) = args.artifact.as_deref().filter(|_| !args.list) else {
        return list(context, &reader, &row);
    };
    let ArtifactName { name, part, version } = parse_name(given)?;
    if let Some(text) = decisions(&reader, &row, name)? {
        return print_document(context, &row, outputs::DECISIONS, &text);
    }
    let found = find(&reader, &row, name, version, args.part.as_deref().or(part))?;
    let bytes = reader.blob(found.blob)?;
    if context.json {
        let text = String::from_utf8_lossy(&bytes);
        print_json(&json!({ "run": row.run, "artifact": found, "text": text }))?;
        return Ok(ExitCode::Done);
    }
    let rendering = if args.yaml { None } else { markdown(&reader, &row, &found, &bytes)? };
    let shown = rendering.map_or(bytes, String::into_bytes);
    output::print_stored(&shown, str::to_string)?;
    Ok(ExitCode::Done)
}

/// The decisions log, if the name is its name and no artifact of the run has this name.
fn decisions(reader: &Reader, row: &RunRow, name: &str) -> Result<Option<String>, CommandFailure> {
    let is_log = name == outputs::DECISIONS
        || (outputs::DECISIONS.strip_suffix(".yaml") == Some(name)
            && reader.artifact_versions(&row.run, name)?.is_empty());
    Ok(if is_log { outputs::decisions(reader, &row.run)? } else { None })
}

fn print_document(
    context: &CommandContext<'_>,
    row: &RunRow,
    name: &str,
    text: &str,
) -> Result<ExitCode, CommandFailure> {
    if context.json {
        print_json(&json!({ "run": row.run, "document": name, "text": text }))?;
    } else {
        output::print_stored(text.as_bytes(), str::to_string)?;
    }
    Ok(ExitCode::Done)
}

/// The parts of a name such as `code[task-1]@2`.
#[derive(Debug, PartialEq, Eq)]
struct ArtifactName<'t> {
    name: &'t str,
    part: Option<&'t str>,
    version: Option<u32>,
}

/// Parses a full name.
fn parse_name(text: &str) -> Result<ArtifactName<'_>, CommandFailure> {
    let (name, version) = match text.rsplit_once('@').filter(|_| !text.ends_with(']')) {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let version = match version.map(|version| (version, version.parse())) {
        None => None,
        Some((_, Ok(version))) if version > 0 => Some(version),
        Some((version, _)) => {
            return Err(CommandFailure::user(
                format!("`{version}` is not a version"),
                format!("versions count from 1, as in `{name}@1`"),
            ));
        }
    };
    let split = name.strip_suffix(']').and_then(|name| name.split_once('['));
    Ok(match split {
        Some((name, part)) => ArtifactName { name, part: Some(part), version },
        None => ArtifactName { name, part: None, version },
    })
}

/// Finds the version, or returns an error that lists the available ones.
fn find(
    reader: &Reader,
    row: &RunRow,
    name: &str,
    version: Option<u32>,
    part: Option<&str>,
) -> Result<ArtifactRow, CommandFailure> {
    let versions = reader.artifact_versions(&row.run, name)?;
    if versions.is_empty() {
        let all = reader.artifacts(&row.run)?;
        return Err(CommandFailure::user(format!("run {} has no artifact `{name}`", row.run), hint(&all)));
    }
    let mut parts: Vec<&str> = versions.iter().map(|row| row.part.as_str()).collect();
    parts.dedup();
    let part = match part {
        Some(part) => part,
        None if parts.contains(&"") => "",
        None if parts.len() == 1 => parts[0],
        None => {
            let what = format!("`{name}` of run {} has several parts", row.run);
            return Err(CommandFailure::user(
                what,
                format!(
                    "name one, as in `{name}[{}]`: {}",
                    line::one(parts[0]),
                    line::one(&parts.join(", "))
                ),
            ));
        }
    };
    let of_part: Vec<&ArtifactRow> = versions.iter().filter(|row| row.part == part).collect();
    let Some(latest) = of_part.last() else {
        let names: Vec<&str> =
            parts.iter().map(|part| if part.is_empty() { "(whole)" } else { part }).collect();
        let what = format!("`{name}` of run {} has no part `{part}`", row.run);
        return Err(CommandFailure::user(what, format!("available: {}", line::one(&names.join(", ")))));
    };
    let found = match version {
        None => Some(latest),
        Some(version) => of_part.iter().find(|row| row.version == version),
    };
    found.map(|row| (*row).clone()).ok_or_else(|| {
        let what = format!("`{name}` of run {} has no version {}", row.run, version.unwrap_or(0));
        CommandFailure::user(what, format!("it has versions 1 to {}", latest.version))
    })
}

fn hint(all: &[ArtifactRow]) -> String {
    if all.is_empty() {
        return "the run has no artifacts yet".to_string();
    }
    let names: Vec<String> = all.iter().map(|row| format!("{}@{}", full_name(row), row.version)).collect();
    format!("available, with their latest versions: {}", line::one(&names.join(", ")))
}

fn full_name(row: &ArtifactRow) -> String {
    if row.part.is_empty() { row.name.clone() } else { format!("{}[{}]", row.name, row.part) }
}

fn list(context: &CommandContext<'_>, reader: &Reader, row: &RunRow) -> Result<ExitCode, CommandFailure> {
    let all = reader.artifacts(&row.run)?;
    let decided = outputs::decisions(reader, &row.run)?.is_some();
    if context.json {
        let documents: &[&str] = if decided { &[outputs::DECISIONS] } else { &[] };
        print_json(&json!({ "run": row.run, "artifacts": all, "documents": documents }))?;
        return Ok(ExitCode::Done);
    }
    let mut table = TextTable::new(&[
        ("artifact", ColumnFit::Cut),
        ("part", ColumnFit::Cut),
        ("version", ColumnFit::Whole),
        ("format", ColumnFit::Whole),
        ("written", ColumnFit::Whole),
        ("by", ColumnFit::Cut),
    ]);
    for row in &all {
        let version = row.version.to_string();
        let cells = [&row.name, &row.part, &version, &row.format, &clock::iso(row.at), &row.by];
        table.row(cells.into_iter().map(Cell::new).collect());
    }
    if decided {
        let cells = [outputs::DECISIONS, "", "", "yaml", "", "engine"];
        table.row(cells.into_iter().map(Cell::new).collect());
    }
    if table.is_empty() {
        print(&format!("run {} has no artifacts yet", row.run))?;
    } else {
        print(&table.render(Ink::of_stdout()))?;
    }
    Ok(ExitCode::Done)
}

/// The Markdown of a role's result; `None` for any other artifact.
fn markdown(
    reader: &Reader,
    row: &RunRow,
    found: &ArtifactRow,
    bytes: &[u8],
) -> Result<Option<String>, CommandFailure> {
    if found.format != "yaml" {
        return Ok(None);
    }
    let schema = schema(reader, row, &found.by)?;
    let result = parse_result(bytes).filter(|result| result.get("payload").is_some());
    Ok(schema.zip(result).map(|(schema, result)| remand_contract::rendered(schema, &result)))
}

fn parse_result(bytes: &[u8]) -> Option<Value> {
    let raw = RawResult { file: Some(bytes.to_vec()), answer: String::new() };
    remand_contract::find(&raw, &remand_contract::ResultLimits::default()).ok().map(|found| found.value)
}

/// The pinned schema of a role's result.
fn schema(reader: &Reader, row: &RunRow, title: &str) -> Result<Option<SchemaId>, CommandFailure> {
    let bytes = reader.blob(row.pinned)?;
    let pinned: Pinned = serde_json::from_slice(&bytes).map_err(|error| {
        CommandFailure::internal_error(format!("the pinned files of run {} cannot be read", row.run), &error)
    })?;
    Ok(pinned.roles.get(title).and_then(|role| role.result.parse().ok()))
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_version_follows_an_at_sign_and_counts_from_one() {
        let expected = |name, part, version| ArtifactName { name, part, version };
        assert_eq!(parse_name("plan").expect("name"), expected("plan", None, None));
        assert_eq!(parse_name("plan@3").expect("version"), expected("plan", None, Some(3)));
        assert_eq!(parse_name("code[task-1]").expect("part"), expected("code", Some("task-1"), None));
        assert_eq!(parse_name("code[a@b]@2").expect("both"), expected("code", Some("a@b"), Some(2)));
        for wrong in ["plan@0", "plan@x", "plan@"] {
            assert!(parse_name(wrong).is_err(), "{wrong}");
        }
    }
}
