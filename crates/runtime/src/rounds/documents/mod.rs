//! What people read of the rounds: Markdown in the run's folder, rendered by the engine from typed outputs (SR-15).
//!
//! Everything is rendered from the history each time, so a round that was rolled back moves to its own folder and
//! nothing is lost: what is on disk can be made again from the ledger.

mod engineer;
mod reviewer;
mod round;
mod status;
mod summary;

pub use engineer::page as engineer_page;
pub use status::{decisions, status};
pub use summary::{Standing, known_limits, summary};

use super::history::History;
use super::sheet::Sheet;
use crate::workshop::{Site, Trouble};
use remand_kernel::gaps::archive_name;
use remand_ledger::fact::NoteKind;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What stands between commit and path where the engine says what it committed.
pub const AS: &str = ", as ";

/// The review of a round that was closed.
pub fn reviewer_page(sheet: &Sheet) -> String {
    sheet.board.as_ref().map_or_else(String::new, |board| reviewer::page(sheet, board))
}

/// Writes all documents of the rounds so far, and what they are about as it is.
pub fn lay_out(history: &History, document: &str, site: &Site) -> Result<(), Trouble> {
    let Some(board) = &history.board else { return Ok(()) };
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (round, sheet) in &history.closed {
        add(&mut files, &format!("round_{round:03}"), sheet);
    }
    for (number, sheet) in &history.rolled_back {
        add(&mut files, &archive_name(sheet.round, *number), sheet);
    }
    files.insert("status.md".to_string(), status(history, board));
    files.insert("decisions.md".to_string(), decisions(board));
    files.insert(format!("{}.md", site.pinned.program.subject), document.to_string());
    let folder = site.folder();
    forget_others(&folder, &files)?;
    for (name, text) in &files {
        write(&folder.join(name), &site.redact(text))?;
    }
    Ok(())
}

/// Writes everything when the run is over; the summary says how it ended.
pub fn finish(site: &Site) -> Result<(), Trouble> {
    let reader = site.reader()?;
    let history = History::read(&reader, &site.run, &site.pinned)?;
    if history.board.is_none() {
        return Ok(());
    }
    lay_out(&history, &history.document(&reader)?, site)?;
    let row = reader.run(&site.run.0)?;
    let notes = reader.notes(&site.run)?;
    let standing = Standing::of(&row, &history);
    let decided = notes.iter().rev().filter(|note| note.kind == NoteKind::Decision);
    let mut committed = decided.filter(|note| note.text.starts_with("committed "));
    let path = committed.find_map(|note| note.text.split_once(AS));
    write_summary(site, &summary(&history, standing, path.map_or("", |(_, path)| path)))
}

pub fn write_summary(site: &Site, text: &str) -> Result<(), Trouble> {
    write(&site.folder().join("summary.md"), &site.redact(text))
}

fn add(files: &mut BTreeMap<String, String>, folder: &str, sheet: &Sheet) {
    let Some(board) = &sheet.board else { return };
    files.insert(format!("{folder}/engineer.md"), engineer::page(sheet, board));
    files.insert(format!("{folder}/reviewer.md"), reviewer::page(sheet, board));
    let summary = match sheet.closed_at {
        Some(_) => round::page(sheet, board),
        None => round::unfinished(sheet),
    };
    files.insert(format!("{folder}/summary.md"), summary);
}

/// A folder of a round that is on the present line no more has moved: its sheet are in the folder of the rollback.
fn forget_others(folder: &Path, files: &BTreeMap<String, String>) -> Result<(), Trouble> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let wanted = files.keys().any(|file| file.split('/').next() == Some(name.as_str()));
        if name.starts_with("round_") && !wanted {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Whole or not at all: somebody may be reading.
fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    if let Some(folder) = path.parent() {
        crate::home::private_folder(folder)?;
    }
    let new = path.with_extension("md.new");
    fs::write(&new, text)?;
    fs::rename(&new, path)?;
    Ok(())
}

/// A table with its columns aligned, so that it reads well as text too.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..head.len())
        .map(|at| rows.iter().map(|row| width(&row[at])).chain([width(head[at]), 3]).max().unwrap_or(3))
        // A long cell is not worth a page of blanks in all the others.
        .map(|most| most.min(60))
        .collect();
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, most)| format!("{cell}{}", " ".repeat(most.saturating_sub(width(cell)))))
            .collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let mut text = line(&head.iter().map(ToString::to_string).collect::<Vec<_>>());
    let rules: Vec<String> = widths.iter().map(|most| "-".repeat(*most)).collect();
    text.push_str(&format!("| {} |\n", rules.join(" | ")));
    rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

fn bullets(items: impl IntoIterator<Item = String>) -> String {
    let text: String = items.into_iter().map(|item| format!("- {item}\n")).collect();
    if text.is_empty() { "None.\n".to_string() } else { text }
}
