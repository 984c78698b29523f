//! `remand costs --briefs`: how much the agents were given, by section of the brief.

use super::By;
use crate::commands::runs::heading;
use crate::context::CommandContext;
use remand_engine::dispatch::{BriefSection, INSTRUCTIONS};
use remand_kernel::Event;
use remand_ledger::query::{DispatchRow, RunRow};
use remand_ledger::{LedgerError, Reader, RunId};
use remand_terminal::output::{print, print_json};
use remand_terminal::table::{Cell, ColumnFit, TextTable};
use remand_terminal::{CommandFailure, ExitCode, Ink, amount};
use serde_json::json;
use std::collections::BTreeMap;

/// The briefs of one group.
#[derive(Default)]
struct BriefRow {
    dispatches: u64,
    sections: BTreeMap<String, u64>,
}

pub fn run(
    context: &CommandContext<'_>,
    reader: &Reader,
    run: Option<&RunRow>,
    by: By,
) -> Result<ExitCode, CommandFailure> {
    let runs: Vec<RunId> = match run {
        Some(row) => vec![row.run.clone()],
        None => reader.runs()?.into_iter().map(|row| row.run).collect(),
    };
    let mut rows: BTreeMap<String, BriefRow> = BTreeMap::new();
    for run in &runs {
        add(reader, run, by, &mut rows)?;
    }
    if context.json {
        let groups: Vec<_> = rows
            .iter()
            .map(|(name, row)| json!({ "name": name, "dispatches": row.dispatches, "bytes": row.sections }))
            .collect();
        print_json(&json!({ "run": run.map(|row| &row.run), "by": by.name(), "rows": groups }))?;
        return Ok(ExitCode::Done);
    }
    let head = run.map_or_else(|| "all runs".to_string(), heading);
    let table = table(by, &rows);
    print(&format!(
        "{head}\n\nBytes given to the agents, by section:\n\n{}",
        table.render(Ink::of_stdout())
    ))?;
    Ok(ExitCode::Done)
}

fn add(
    reader: &Reader,
    run: &RunId,
    by: By,
    rows: &mut BTreeMap<String, BriefRow>,
) -> Result<(), LedgerError> {
    let dispatches: BTreeMap<String, DispatchRow> =
        reader.dispatches(run)?.into_iter().map(|row| (row.command.clone(), row)).collect();
    reader.each_event(run, 0, |event| {
        let (Event::Ended { id, .. }, Some(telemetry)) = (&event.event, &event.facts.telemetry) else {
            return;
        };
        let Some(dispatch) = dispatches.get(&id.to_string()).filter(|_| !telemetry.brief.is_empty()) else {
            return;
        };
        let row = rows.entry(group(by, dispatch)).or_default();
        row.dispatches += 1;
        for (section, bytes) in &telemetry.brief {
            *row.sections.entry(section.clone()).or_default() += bytes;
        }
    })
}

fn group(by: By, dispatch: &DispatchRow) -> String {
    let unknown = || "unknown".to_string();
    match by {
        By::Role => dispatch.role.clone(),
        By::Agent => dispatch.driver.clone().unwrap_or_else(unknown),
        By::Model => dispatch.model.clone().unwrap_or_else(unknown),
        By::Phase => dispatch.phase.clone(),
        By::Run => dispatch.run.0.clone(),
    }
}

/// The sections in the order of the prompt, each with the head of its column.
fn columns() -> Vec<(&'static str, &'static str)> {
    let head = |section: BriefSection| match section {
        BriefSection::WhatHappened => "happened",
        BriefSection::ToAnswer => "to answer",
        BriefSection::Conventions => "conventions",
        BriefSection::OwnWork => "own work",
        BriefSection::Material => "material",
        BriefSection::Evidence => "evidence",
        BriefSection::Background => "background",
    };
    let sections = BriefSection::ALL.map(|section| (section.title(), head(section)));
    [(INSTRUCTIONS, "instructions")].into_iter().chain(sections).collect()
}

fn table(by: By, rows: &BTreeMap<String, BriefRow>) -> TextTable {
    let sections = columns();
    let mut heads = vec![(by.name(), ColumnFit::Whole), ("dispatches", ColumnFit::Whole)];
    heads.extend(sections.iter().map(|(_, head)| (*head, ColumnFit::Whole)));
    heads.push(("all", ColumnFit::Whole));
    let mut table = TextTable::new(&heads);
    for (name, row) in rows {
        let bytes = |title: &str| row.sections.get(title).copied().unwrap_or(0);
        let mut cells = vec![Cell::new(name), Cell::new(amount::grouped(row.dispatches))];
        cells.extend(sections.iter().map(|(title, _)| Cell::new(amount::grouped(bytes(title)))));
        cells.push(Cell::new(amount::grouped(row.sections.values().sum::<u64>())));
        table.row(cells);
    }
    table
}
