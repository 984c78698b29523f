//! Accepted text goes into the document, section by section; every other byte stays (SR-17).

use remand_documents::{Markdown, Section};
use remand_kernel::gaps::Placement;
use std::ops::Range;
use thiserror::Error;

/// Why a text cannot be put into the document as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Misplaced {
    #[error("section `{section}` does not hold the passage that the text replaces: quote it exactly")]
    NoPassage { section: String },
    #[error("section `{section}` holds the passage that the text replaces {times} times: quote more of it")]
    Ambiguous { section: String, times: usize },
    #[error("{count} sections are called `{section}`: name the sections above it too, as in `A > B`")]
    ManySections { section: String, count: usize },
    #[error(
        "there is no section `{section}` whose passage could be replaced: name a section of the document"
    )]
    NoSection { section: String },
    #[error(
        "the text for section `{section}` begins a section of level {level}, as high as the section itself"
    )]
    TooHigh { section: String, level: u8 },
}

/// Puts a text into its section: in the place of the passage that it replaces, behind what the section says itself,
/// or as a new section at the end.
pub fn put(document: &str, placement: &Placement) -> Result<String, Misplaced> {
    let mut markdown = Markdown::read(document);
    let section = find(&markdown, &placement.section)?;
    let text = own_text(placement, section.as_ref())?;
    match (section, placement.replaces.trim()) {
        (Some(section), "") => append(&mut markdown, &section, &text),
        (Some(section), passage) => {
            let range = passage_in(markdown.text(), section.body.clone(), passage, &placement.section)?;
            markdown.splice(range, text.trim_end_matches('\n'));
        }
        (None, "") => add_section(&mut markdown, &placement.section, &text),
        (None, _) => return Err(Misplaced::NoSection { section: placement.section.clone() }),
    }
    Ok(markdown.into_text())
}

/// The section of this name, or of this path of names.
fn find(markdown: &Markdown, name: &str) -> Result<Option<Section>, Misplaced> {
    let wanted: Vec<String> = name.split(" > ").map(key).collect();
    let mut path: Vec<(u8, String)> = Vec::new();
    let mut found = Vec::new();
    for section in markdown.sections() {
        let level = section.heading.level;
        path.retain(|(above, _)| *above < level);
        path.push((level, key(&section.heading.title)));
        let titles: Vec<&String> = path.iter().map(|(_, title)| title).collect();
        if titles.len() >= wanted.len() && titles[titles.len() - wanted.len()..].iter().copied().eq(&wanted) {
            found.push(section);
        }
    }
    match found.len() {
        0 => Ok(None),
        1 => Ok(found.pop()),
        count => Err(Misplaced::ManySections { section: name.to_string(), count }),
    }
}

/// As the gap board compares sections: without marks, case and doubled blanks.
fn key(title: &str) -> String {
    let plain = title.trim_start_matches(['#', ' ', '\t']).replace(['`', '*', '_'], "");
    plain.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The text without a heading of its own that only says the section again.
fn own_text(placement: &Placement, section: Option<&Section>) -> Result<String, Misplaced> {
    let text = format!("{}\n", placement.text.trim_matches(['\n', '\r']));
    let read = Markdown::read(text.clone());
    let first = read.headings().first();
    let again = first.filter(|heading| {
        let last = placement.section.rsplit(" > ").next().unwrap_or_default();
        heading.lines.start == 0 && key(&heading.title) == key(last)
    });
    let rest = again.map_or(0, |heading| heading.lines.end);
    let text = text[rest..].trim_start_matches(['\n', '\r']).to_string();
    let level = section.map_or(2, |section| section.heading.level);
    let read = Markdown::read(text.clone());
    match read.headings().iter().find(|heading| heading.level <= level) {
        Some(heading) => Err(Misplaced::TooHigh { section: placement.section.clone(), level: heading.level }),
        None => Ok(text),
    }
}

/// Behind what the section says itself, before the first section inside it.
fn append(markdown: &mut Markdown, section: &Section, text: &str) {
    let inner = markdown.headings().iter().find(|heading| section.body.contains(&heading.lines.start));
    let own = section.body.start..inner.map_or(section.body.end, |heading| heading.lines.start);
    let at = markdown.end_of_writing(own.clone());
    let before = if markdown.text()[..at].ends_with('\n') { "\n" } else { "\n\n" };
    // What follows keeps its distance: a blank line is there already, unless the document ends here.
    let after = if at == own.end && at < markdown.text().len() { "\n" } else { "" };
    markdown.splice(at..at, &format!("{before}{text}{after}"));
}

fn add_section(markdown: &mut Markdown, name: &str, text: &str) {
    let whole = 0..markdown.text().len();
    let at = markdown.end_of_writing(whole);
    let before = match &markdown.text()[..at] {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let name = name.rsplit(" > ").next().unwrap_or_default().trim_start_matches(['#', ' ']);
    markdown.splice(at..at, &format!("{before}## {name}\n\n{text}"));
}

/// The one place of a passage, whatever blanks and line ends part its words.
fn passage_in(
    document: &str,
    within: Range<usize>,
    passage: &str,
    section: &str,
) -> Result<Range<usize>, Misplaced> {
    let words: Vec<&str> = passage.split_whitespace().collect();
    let body = &document[within.clone()];
    let mut places = Vec::new();
    let first = words.first().copied().unwrap_or_default();
    for (at, _) in body.match_indices(first) {
        if let Some(length) = matched(&body[at..], &words) {
            places.push(within.start + at..within.start + at + length);
        }
    }
    match places.len() {
        0 => Err(Misplaced::NoPassage { section: section.to_string() }),
        1 => Ok(places.remove(0)),
        times => Err(Misplaced::Ambiguous { section: section.to_string(), times }),
    }
}

/// How much of a text these words take, if it begins with them.
fn matched(text: &str, words: &[&str]) -> Option<usize> {
    let mut rest = text;
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            let trimmed = rest.trim_start();
            if trimmed.len() == rest.len() {
                return None;
            }
            rest = trimmed;
        }
        rest = rest.strip_prefix(word)?;
    }
    Some(text.len() - rest.len())
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
