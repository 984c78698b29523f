//! The documents about the rounds: Markdown files in the run's folder.
//!
//! All of them are rendered from the history each time. A rolled-back round moves to a separate folder, so nothing is
//! lost.

mod engineer;
mod reviewer;
mod round;
mod status;
mod summary;

pub use engineer::page as engineer_page;
pub use status::{decisions, status};
pub use summary::{RefinementStatus, known_limits, summary};

use super::history::RoundHistory;
use super::sheet::RoundSheet;
use crate::site::{Site, Trouble};
use remand_kernel::gaps::archive_name;
use remand_ledger::fact::Delivery;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Separates branch and path in the note about a committed document.
pub const COMMITTED_AS: &str = ", as ";

/// The review of a closed round.
pub fn reviewer_page(sheet: &RoundSheet) -> String {
    sheet.board.as_ref().map_or_else(String::new, |board| reviewer::page(sheet, board))
}

/// Writes all documents about the rounds so far, and the specification itself.
pub fn write_documents(history: &RoundHistory, document: &str, site: &Site) -> Result<(), Trouble> {
    let Some(board) = &history.board else { return Ok(()) };
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (round, sheet) in &history.closed {
        add_round(&mut files, &format!("round_{round:03}"), sheet);
    }
    for (number, sheet) in &history.rolled_back {
        add_round(&mut files, &archive_name(sheet.round, *number), sheet);
    }
    files.insert("status.md".to_string(), status(history, board));
    files.insert("decisions.md".to_string(), decisions(board));
    files.insert(format!("{}.md", site.pinned.program.subject), document.to_string());
    let folder = site.folder();
    remove_old_rounds(&folder, &files)?;
    for (name, text) in &files {
        write(&folder.join(name), &site.redact(text))?;
    }
    Ok(())
}

/// Writes all documents before a question is asked: a round without results has no operation that writes them.
pub fn update(site: &Site) -> Result<(), Trouble> {
    let reader = site.reader()?;
    let history = RoundHistory::read(&reader, &site.run, &site.pinned)?;
    if history.board.is_none() {
        return Ok(());
    }
    write_documents(&history, &history.document(&reader)?, site)
}

/// Writes all documents and the summary when the run has ended.
pub fn finish(site: &Site) -> Result<(), Trouble> {
    let reader = site.reader()?;
    let history = RoundHistory::read(&reader, &site.run, &site.pinned)?;
    if history.board.is_none() {
        return Ok(());
    }
    write_documents(&history, &history.document(&reader)?, site)?;
    let row = reader.run(&site.run.0)?;
    let status = RefinementStatus::of(&row, &history);
    let deliveries = reader.deliveries(&site.run)?.into_iter().rev();
    let path = deliveries.into_iter().find_map(|row| match row.delivery {
        Delivery::Committed { file, .. } => file,
        Delivery::Refused { .. } | Delivery::HandedOver { .. } | Delivery::Nothing => None,
    });
    write_summary(site, &summary(&history, status, &path.unwrap_or_default()))
}

pub fn write_summary(site: &Site, text: &str) -> Result<(), Trouble> {
    write(&site.folder().join("summary.md"), &site.redact(text))
}

fn add_round(files: &mut BTreeMap<String, String>, folder: &str, sheet: &RoundSheet) {
    let Some(board) = &sheet.board else { return };
    files.insert(format!("{folder}/engineer.md"), engineer::page(sheet, board));
    files.insert(format!("{folder}/reviewer.md"), reviewer::page(sheet, board));
    let summary = match sheet.closed_at {
        Some(_) => round::page(sheet, board),
        None => round::unfinished_page(sheet),
    };
    files.insert(format!("{folder}/summary.md"), summary);
}

/// Removes the folders of rolled-back rounds: their documents are now in the folders of the rollback.
fn remove_old_rounds(folder: &Path, files: &BTreeMap<String, String>) -> Result<(), Trouble> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_current = files.keys().any(|file| file.split('/').next() == Some(name.as_str()));
        if name.starts_with("round_") && !is_current {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Writes a file atomically, because someone may be reading it.
fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    if let Some(folder) = path.parent() {
        remand_git::private_folder(folder)?;
    }
    let new = path.with_extension("md.new");
    fs::write(&new, text)?;
    fs::rename(&new, path)?;
    Ok(())
}

/// A table with aligned columns, readable as plain text.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..head.len())
        .map(|at| rows.iter().map(|row| width(&row[at])).chain([width(head[at]), 3]).max().unwrap_or(3))
        // A long cell must not pad all other rows.
        .map(|width| width.min(60))
        .collect();
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, column)| format!("{cell}{}", " ".repeat(column.saturating_sub(width(cell)))))
            .collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let mut text = line(&head.iter().map(ToString::to_string).collect::<Vec<_>>());
    let rules: Vec<String> = widths.iter().map(|column| "-".repeat(*column)).collect();
    text.push_str(&format!("| {} |\n", rules.join(" | ")));
    rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

fn bullets(items: impl IntoIterator<Item = String>) -> String {
    let text: String = items.into_iter().map(|item| format!("- {item}\n")).collect();
    if text.is_empty() { "None.\n".to_string() } else { text }
}
