//! Inserts accepted text into its section of the document. Every other byte stays unchanged.

use remand_documents::{Heading, Markdown, Section};
use remand_kernel::gaps::{Placement, SectionPaths, WITHIN, section_name, section_path};
use std::ops::Range;
use thiserror::Error;

/// Why text cannot be inserted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    #[error("section `{section}` does not contain the passage to replace: quote it exactly")]
    NoPassage { section: String },
    #[error("section `{section}` contains the passage to replace {times} times: quote more of it")]
    Ambiguous { section: String, times: usize },
    #[error("{count} sections are called `{section}`: include the parent section, as in `A > B`")]
    ManySections { section: String, count: usize },
    #[error("the document has no section `{section}` with a passage to replace: name an existing section")]
    NoSection { section: String },
    #[error(
        "the text for section `{section}` has a heading of level {level}: its headings must be deeper than the section's heading"
    )]
    HeadingTooHigh { section: String, level: u8 },
    #[error(
        "the text for section `{section}` would absorb the text after it: close its fences, and put headings last"
    )]
    AbsorbsText { section: String },
}

/// Inserts text in place of a passage that it replaces, before the section's first subsection, or as a new section.
pub fn place_text(document: &str, placement: &Placement) -> Result<String, PlacementError> {
    let mut markdown = Markdown::read(document);
    let absorbs_text = || PlacementError::AbsorbsText { section: placement.section.clone() };
    let section = find(&markdown, &placement.section)?;
    let Some(section) = section else {
        if !placement.replaces.trim().is_empty() {
            return Err(PlacementError::NoSection { section: placement.section.clone() });
        }
        return add_section(markdown, placement);
    };
    let text = text_without_title(placement, section.heading.level)?;
    let added = Markdown::read(text.clone()).headings().len();
    let (before, replaced) = (markdown.headings().len(), placement.replaces.trim());
    let mut removed = 0;
    if replaced.is_empty() {
        append(&mut markdown, &section, &text);
    } else {
        let range = find_passage(markdown.text(), section.body.clone(), replaced, &placement.section)?;
        let is_inside = |heading: &&Heading| range.contains(&heading.lines.start);
        removed = markdown.headings().iter().filter(is_inside).count();
        let next =
            markdown.headings().iter().map(|heading| heading.lines.start).find(|start| *start >= range.end);
        // Text after a new heading would become part of the new section.
        if added > 0 && !markdown.text()[range.end..next.unwrap_or(document.len())].trim().is_empty() {
            return Err(absorbs_text());
        }
        markdown.splice(range, text.trim_end_matches('\n'));
    }
    if markdown.headings().len() != before - removed + added {
        return Err(absorbs_text());
    }
    Ok(markdown.into_text())
}

/// Resolves section names to paths of the document. Unknown and ambiguous names are left out.
pub fn resolve_sections<'n>(document: &str, names: impl Iterator<Item = &'n str>) -> SectionPaths {
    let markdown = Markdown::read(document);
    let mut paths = SectionPaths::default();
    for name in names {
        if let [(path, _)] = candidates(&markdown, name).as_slice() {
            paths.learn(name, path.clone());
        }
    }
    paths
}

/// The section with this name or path.
fn find(markdown: &Markdown, name: &str) -> Result<Option<Section>, PlacementError> {
    let mut found = candidates(markdown, name);
    match found.len() {
        0 => Ok(None),
        1 => Ok(found.pop().map(|(_, section)| section)),
        count => Err(PlacementError::ManySections { section: name.to_string(), count }),
    }
}

/// Every section that matches a name, with its path.
fn candidates(markdown: &Markdown, name: &str) -> Vec<(Vec<String>, Section)> {
    let searched = section_path(name);
    let mut path: Vec<(u8, String)> = Vec::new();
    let mut found = Vec::new();
    for section in markdown.sections() {
        let level = section.heading.level;
        path.retain(|(above, _)| *above < level);
        path.push((level, section_name(&section.heading.title)));
        let titles: Vec<String> = path.iter().map(|(_, title)| title.clone()).collect();
        if titles.ends_with(&searched) {
            found.push((titles, section));
        }
    }
    found
}

/// The text without a first heading that repeats the section's name.
fn text_without_title(placement: &Placement, level: u8) -> Result<String, PlacementError> {
    let text = format!("{}\n", placement.text.trim_matches(['\n', '\r']));
    let read = Markdown::read(text.clone());
    let first = read.headings().first();
    let repeated = first.filter(|heading| {
        let last = placement.section.rsplit(WITHIN).next().unwrap_or_default();
        heading.lines.start == 0 && section_name(&heading.title) == section_name(last)
    });
    let rest = repeated.map_or(0, |heading| heading.lines.end);
    let text = text[rest..].trim_start_matches(['\n', '\r']).to_string();
    let read = Markdown::read(text.clone());
    // An appended heading is recognized only if the text leaves no fence open.
    if Markdown::read(format!("{text}\n\n# x\n")).headings().len() != read.headings().len() + 1 {
        return Err(PlacementError::AbsorbsText { section: placement.section.clone() });
    }
    match read.headings().iter().find(|heading| heading.level <= level) {
        Some(heading) => {
            Err(PlacementError::HeadingTooHigh { section: placement.section.clone(), level: heading.level })
        }
        None => Ok(text),
    }
}

/// Appends text to a section, before its first subsection.
fn append(markdown: &mut Markdown, section: &Section, text: &str) {
    let subsection = markdown.headings().iter().find(|heading| section.body.contains(&heading.lines.start));
    let direct = section.body.start..subsection.map_or(section.body.end, |heading| heading.lines.start);
    let at = markdown.end_of_writing(direct.clone());
    let before = if markdown.text()[..at].ends_with('\n') { "\n" } else { "\n\n" };
    // Keeps a blank line before the text that follows.
    let after = if at == direct.end && at < markdown.text().len() { "\n" } else { "" };
    markdown.splice(at..at, &format!("{before}{text}{after}"));
}

/// Adds a section at the end of the deepest existing section on its path, or else at the end of the document.
fn add_section(mut markdown: Markdown, placement: &Placement) -> Result<String, PlacementError> {
    let names: Vec<&str> = placement.section.split(WITHIN).collect();
    let mut parent = None;
    for existing in (1..names.len()).rev() {
        parent = find(&markdown, &names[..existing].join(WITHIN))?.map(|section| (existing, section));
        if parent.is_some() {
            break;
        }
    }
    let (existing, within, level) = match parent {
        Some((existing, section)) => (existing, section.body, section.heading.level + 1),
        // No section of the path exists: use the last name only.
        None => (names.len() - 1, 0..markdown.text().len(), main_level(&markdown)),
    };
    let mut headings = String::new();
    let mut heading_level = level;
    for name in &names[existing..] {
        let hashes = "#".repeat(usize::from(heading_level.min(6)));
        headings.push_str(&format!("{hashes} {}\n\n", name.trim_start_matches(['#', ' '])));
        heading_level += 1;
    }
    let text = text_without_title(placement, heading_level - 1)?;
    let added = names.len() - existing + Markdown::read(text.clone()).headings().len();
    let (expected, end) = (markdown.headings().len() + added, within.end);
    let at = markdown.end_of_writing(within);
    let before = match &markdown.text()[..at] {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let after = if at == end && at < markdown.text().len() { "\n" } else { "" };
    markdown.splice(at..at, &format!("{before}{headings}{text}{after}"));
    if markdown.headings().len() == expected {
        Ok(markdown.into_text())
    } else {
        Err(PlacementError::AbsorbsText { section: placement.section.clone() })
    }
}

/// The level of the main sections: 2, or 1 if the document has several headings of level 1.
fn main_level(markdown: &Markdown) -> u8 {
    let count = markdown.headings().iter().filter(|heading| heading.level == 1).count();
    if count > 1 { 1 } else { 2 }
}

/// Finds the only occurrence of a passage. The whitespace between its words may differ.
fn find_passage(
    document: &str,
    within: Range<usize>,
    passage: &str,
    section: &str,
) -> Result<Range<usize>, PlacementError> {
    let words: Vec<&str> = passage.split_whitespace().collect();
    let body = &document[within.clone()];
    let mut found = Vec::new();
    let first = words.first().copied().unwrap_or_default();
    for (at, _) in body.match_indices(first) {
        if let Some(length) = match_length(&body[at..], &words) {
            found.push(within.start + at..within.start + at + length);
        }
    }
    match found.len() {
        0 => Err(PlacementError::NoPassage { section: section.to_string() }),
        1 => Ok(found.remove(0)),
        times => Err(PlacementError::Ambiguous { section: section.to_string(), times }),
    }
}

/// The length of the words at the start of the text; `None` if it does not start with them.
fn match_length(text: &str, words: &[&str]) -> Option<usize> {
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
#[path = "placement_tests.rs"]
mod tests;
