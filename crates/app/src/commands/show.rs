//! `remand show`: an artifact, its latest version or an earlier one.

use super::Context;
use super::runs::chosen;
use crate::exit::{Exit, Failure, print, print_json};
use crate::table::{Cell, Fit, Ink, Table, line, stored};
use crate::workplace::{Workplace, internal, of_ledger};
use remand_ledger::Reader;
use remand_ledger::query::{ArtifactRow, RunRow};
use remand_runtime::clock;
use remand_runtime::contract::{self, RawResult, SchemaId};
use remand_runtime::pinned::Pinned;
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name, with a part or an earlier version: `plan`, `plan@1`, `code[task-1]`
    #[arg(value_name = "ARTIFACT[@VERSION]", required_unless_present = "list")]
    pub artifact: Option<String>,
    /// The run: its id, a part of it, or `latest`
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// One part of it: a task, a focus
    #[arg(long, value_name = "PART")]
    pub part: Option<String>,
    /// As Markdown
    #[arg(long, conflicts_with = "list")]
    pub markdown: bool,
    /// List the artifacts instead, with their versions
    #[arg(long)]
    pub list: bool,
}

pub fn run(context: &Context<'_>, args: &Args) -> Result<Exit, Failure> {
    let workplace = Workplace::open(context, Vec::new())?;
    let reader = workplace.reader()?;
    let row = chosen(&reader, args.run.as_deref())?;
    let Some(wanted) = args.artifact.as_deref().filter(|_| !args.list) else {
        return list(context, &reader, &row);
    };
    let Wanted { name, part, version } = named(wanted)?;
    let found = find(&reader, &row, name, version, args.part.as_deref().or(part))?;
    let bytes = reader.blob(found.blob).map_err(|error| of_ledger(&error))?;
    let text = if args.markdown { Some(markdown(&reader, &row, &found, &bytes)?) } else { None };
    match (context.json, text) {
        (true, text) => {
            let text = text.unwrap_or_else(|| String::from_utf8_lossy(&bytes).into_owned());
            print_json(&json!({ "run": row.run, "artifact": found, "text": text }))?;
        }
        (false, Some(text)) => stored::print_stored(text.as_bytes(), str::to_string)?,
        (false, None) => stored::print_stored(&bytes, str::to_string)?,
    }
    Ok(Exit::Done)
}

/// What `code[task-1]@2` asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted<'t> {
    name: &'t str,
    part: Option<&'t str>,
    version: Option<u32>,
}

/// Takes a full name apart.
fn named(text: &str) -> Result<Wanted<'_>, Failure> {
    let (name, version) = match text.rsplit_once('@').filter(|_| !text.ends_with(']')) {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let version = match version.map(|version| (version, version.parse())) {
        None => None,
        Some((_, Ok(version))) if version > 0 => Some(version),
        Some((version, _)) => {
            return Err(Failure::user(
                format!("`{version}` is no version"),
                format!("versions count from 1, as in `{name}@1`"),
            ));
        }
    };
    let split = name.strip_suffix(']').and_then(|name| name.split_once('['));
    Ok(match split {
        Some((name, part)) => Wanted { name, part: Some(part), version },
        None => Wanted { name, part: None, version },
    })
}

/// The version that is meant, or an error that lists what there is.
fn find(
    reader: &Reader,
    row: &RunRow,
    name: &str,
    version: Option<u32>,
    part: Option<&str>,
) -> Result<ArtifactRow, Failure> {
    let versions = reader.artifact_versions(&row.run, name).map_err(|error| of_ledger(&error))?;
    if versions.is_empty() {
        let all = reader.artifacts(&row.run).map_err(|error| of_ledger(&error))?;
        return Err(Failure::user(format!("run {} has no artifact `{name}`", row.run), hint(&all)));
    }
    let mut parts: Vec<&str> = versions.iter().map(|row| row.part.as_str()).collect();
    parts.dedup();
    let part = match part {
        Some(part) => part,
        None if parts.contains(&"") => "",
        None if parts.len() == 1 => parts[0],
        None => {
            let what = format!("`{name}` of run {} has several parts", row.run);
            return Err(Failure::user(
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
        let named: Vec<&str> =
            parts.iter().map(|part| if part.is_empty() { "(the whole)" } else { part }).collect();
        let what = format!("`{name}` of run {} has no part `{part}`", row.run);
        return Err(Failure::user(what, format!("there are: {}", line::one(&named.join(", ")))));
    };
    let found = match version {
        None => Some(latest),
        Some(version) => of_part.iter().find(|row| row.version == version),
    };
    found.map(|row| (*row).clone()).ok_or_else(|| {
        let what = format!("`{name}` of run {} has no version {}", row.run, version.unwrap_or(0));
        Failure::user(what, format!("it has versions 1 to {}", latest.version))
    })
}

fn hint(all: &[ArtifactRow]) -> String {
    if all.is_empty() {
        return "nothing was written yet".to_string();
    }
    let names: Vec<String> = all.iter().map(|row| format!("{}@{}", full_name(row), row.version)).collect();
    format!("there are, with their latest versions: {}", line::one(&names.join(", ")))
}

fn full_name(row: &ArtifactRow) -> String {
    if row.part.is_empty() { row.name.clone() } else { format!("{}[{}]", row.name, row.part) }
}

fn list(context: &Context<'_>, reader: &Reader, row: &RunRow) -> Result<Exit, Failure> {
    let all = reader.artifacts(&row.run).map_err(|error| of_ledger(&error))?;
    if context.json {
        print_json(&json!({ "run": row.run, "artifacts": all }))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&[
        ("artifact", Fit::Cut),
        ("part", Fit::Cut),
        ("version", Fit::Whole),
        ("format", Fit::Whole),
        ("written", Fit::Whole),
        ("by", Fit::Cut),
    ]);
    for row in &all {
        let version = row.version.to_string();
        let cells = [&row.name, &row.part, &version, &row.format, &clock::iso(row.at), &row.by];
        table.row(cells.into_iter().map(Cell::new).collect());
    }
    if table.is_empty() {
        print(&format!("run {} has written nothing yet", row.run))?;
    } else {
        print(&table.render(Ink::of_stdout()))?;
    }
    Ok(Exit::Done)
}

/// The engine's rendering; only results of roles have one.
fn markdown(reader: &Reader, row: &RunRow, found: &ArtifactRow, bytes: &[u8]) -> Result<String, Failure> {
    if found.format == "md" {
        return Ok(String::from_utf8_lossy(bytes).into_owned());
    }
    let none = |why: &str| {
        Failure::user(
            format!("`{}` has no rendering as Markdown: {why}", full_name(found)),
            "leave `--markdown` out",
        )
    };
    if found.format != "yaml" {
        return Err(none(&format!("it is kept as {}", found.format)));
    }
    let schema =
        schema(reader, row, &found.by)?.ok_or_else(|| none("its role has no schema that is known"))?;
    let value = value(bytes).ok_or_else(|| none("it cannot be read as a result"))?;
    Ok(contract::render(&value, schema))
}

fn value(bytes: &[u8]) -> Option<Value> {
    let raw = RawResult { file: Some(bytes.to_vec()), answer: String::new() };
    contract::find(&raw, &contract::Limits::default()).ok().map(|found| found.value)
}

/// The schema by which a role of the run reports, as it was pinned.
fn schema(reader: &Reader, row: &RunRow, title: &str) -> Result<Option<SchemaId>, Failure> {
    let bytes = reader.blob(row.pinned).map_err(|error| of_ledger(&error))?;
    let pinned: Pinned = serde_json::from_slice(&bytes)
        .map_err(|error| internal(format!("what run {} is pinned to cannot be read", row.run), &error))?;
    Ok(pinned.roles.get(title).and_then(|role| role.result.parse().ok()))
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_version_follows_an_at_sign_and_counts_from_one() {
        let wanted = |name, part, version| Wanted { name, part, version };
        assert_eq!(named("plan").expect("name"), wanted("plan", None, None));
        assert_eq!(named("plan@3").expect("version"), wanted("plan", None, Some(3)));
        assert_eq!(named("code[task-1]").expect("part"), wanted("code", Some("task-1"), None));
        assert_eq!(named("code[a@b]@2").expect("both"), wanted("code", Some("a@b"), Some(2)));
        for wrong in ["plan@0", "plan@x", "plan@"] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }
}
