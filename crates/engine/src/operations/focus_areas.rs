//! `focus-areas`: the areas that a human names in a note, each of which gets a researcher.

use super::{Done, last_answer};
use crate::site::{Job, Trouble};
use remand_kernel::event::Item;
use remand_ledger::fact::NoteKind;

/// The list of the areas.
const AREAS: &str = "areas";

/// The artifact with the words of the human.
const FOCUS_AREAS: &str = "focus-areas";

/// Maximum number of areas that one answer adds.
const MAX_AREAS: usize = 4;

/// Maximum length of an area's name, in characters.
const MAX_NAME: usize = 60;

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let note = last_answer(job, &job.site.reader()?)?.and_then(|gate| gate.note).unwrap_or_default();
    let mut areas = names(&note);
    let problem = match areas.len() {
        0 => Some("your note names no area".to_string()),
        1..=MAX_AREAS => None,
        many => Some(format!("your note names {many} areas, and one answer adds at most {MAX_AREAS}")),
    };
    let mut done = Done::with_signal(if problem.is_some() { "none" } else { "named" });
    if let Some(problem) = problem {
        done.note(NoteKind::Concern, format!("{problem}, so nothing more was researched"));
        areas.clear();
    }
    let items = areas.into_iter().map(|id| Item { id, ..Item::default() }).collect();
    done.report.lists.push((AREAS.to_string(), items));
    done.add_artifact(job, FOCUS_AREAS, "md", &format!("{}\n", note.trim()));
    Ok(done)
}

/// The names in a note, separated by commas, semicolons or lines, as they can be part of a file name.
fn names(note: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for area in note.split([',', ';', '\n']) {
        let words: Vec<String> = area
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let name: String = words.join("-").chars().take(MAX_NAME).collect();
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::names;

    // EP-12
    #[test]
    fn areas_are_separated_by_commas_or_lines_and_named_once() {
        assert_eq!(names("Error handling, load;\n load \n"), ["error-handling", "load"]);
        assert!(names(" , ; ").is_empty());
    }
}
