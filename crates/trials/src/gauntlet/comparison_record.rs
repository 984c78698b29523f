//! What a comparison of guards has found so far, in a file with which it continues.

use super::catalogue::ChosenCase;
use remand_terminal::CommandFailure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// The results by guard and case.
#[derive(Debug, Default)]
pub struct ComparisonRecord {
    found: Mutex<BTreeMap<(String, String), bool>>,
    file: Option<Mutex<File>>,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// The first one: the build that plays the cases.
    Program(String),
    Found {
        guard: String,
        case: String,
        accepted: bool,
    },
}

impl ComparisonRecord {
    /// Opens the file of an earlier comparison with the same build, or creates it.
    pub fn open(path: &Path) -> Result<ComparisonRecord, CommandFailure> {
        let unusable = |error: std::io::Error| {
            CommandFailure::user(format!("{} cannot be used", path.display()), "name another file")
                .caused_by(error.to_string())
        };
        let program = this_build().map_err(unusable)?;
        let text = if path.exists() { fs::read_to_string(path).map_err(unusable)? } else { String::new() };
        let mut found = BTreeMap::new();
        // A line that was cut off is played again.
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match line {
                Line::Program(other) if other != program => {
                    let what = format!("{} is of another build of this program", path.display());
                    return Err(CommandFailure::user(what, "remove it, or name another file"));
                }
                Line::Program(_) => {}
                Line::Found { guard, case, accepted } => _ = found.insert((guard, case), accepted),
            }
        }
        let mut file = File::options().create(true).append(true).open(path).map_err(unusable)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n").map_err(unusable)?;
        }
        let record = ComparisonRecord { found: Mutex::new(found), file: Some(Mutex::new(file)) };
        if text.is_empty() {
            record.write(&Line::Program(program))?;
        }
        Ok(record)
    }

    /// Whether the work of a case was accepted with a guard, if it was played.
    pub fn accepted(&self, guard: &str, choice: &ChosenCase) -> Option<bool> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(&(guard.to_string(), choice.name.clone())).copied()
    }

    pub fn add(&self, guard: &str, choice: &ChosenCase, accepted: bool) -> Result<(), CommandFailure> {
        let key = (guard.to_string(), choice.name.clone());
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(key, accepted);
        self.write(&Line::Found { guard: guard.to_string(), case: choice.name.clone(), accepted })
    }

    fn write(&self, line: &Line) -> Result<(), CommandFailure> {
        let Some(file) = &self.file else { return Ok(()) };
        let text = serde_json::to_string(line).unwrap_or_default();
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(format!("{text}\n").as_bytes());
        written.map_err(|error| CommandFailure::internal_error("the record cannot be written", &error))
    }
}

/// The size and the time of this program.
fn this_build() -> std::io::Result<String> {
    let data = std::env::current_exe()?.metadata()?;
    let time = data.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(format!("{} bytes of {}", data.len(), time.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_continues_with_its_record_and_refuses_that_of_another_build() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record");
        let choices = super::super::select(&["green".to_string()]).unwrap_or_default();
        let (one, other) = (&choices[0], &choices[1]);
        let record = ComparisonRecord::open(&path).unwrap_or_default();
        record.add("proof", one, true).unwrap_or_default();
        drop(record);
        let text = fs::read_to_string(&path).expect("the record");
        fs::write(&path, format!("{text}{{\"found\":{{\"gua")).expect("the record");
        let record = ComparisonRecord::open(&path).unwrap_or_default();
        assert_eq!((record.accepted("proof", one), record.accepted("proof", other)), (Some(true), None));
        assert_eq!(record.accepted("syntax", one), None);
        fs::write(&path, "{\"program\":\"another\"}\n").expect("the record");
        assert!(ComparisonRecord::open(&path).is_err());
    }
}
