//! Markdown text in which a change leaves every other byte as it is.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// A text with the positions of its headings and checkboxes, except those inside code, quotations and comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Markdown {
    text: String,
    front_matter: Option<Range<usize>>,
    headings: Vec<Heading>,
    boxes: Vec<CheckBox>,
    /// Code, comments and the front matter.
    literal: Vec<Range<usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub level: u8,
    /// The title, without markup.
    pub title: String,
    /// The lines of the heading, including the last line break.
    pub lines: Range<usize>,
}

/// A checkbox in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckBox {
    pub ticked: bool,
    /// The character between the brackets.
    pub mark: Range<usize>,
    /// The rest of the line after the box.
    pub label: Range<usize>,
}

/// A heading with everything below it, including deeper sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub heading: Heading,
    pub body: Range<usize>,
}

impl Markdown {
    pub fn read(text: impl Into<String>) -> Markdown {
        let mut markdown = Markdown {
            text: text.into(),
            front_matter: None,
            headings: Vec::new(),
            boxes: Vec::new(),
            literal: Vec::new(),
        };
        markdown.parse();
        markdown
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    /// The line break of this document.
    pub fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            Some(_) | None => "\n",
        }
    }

    /// The text between the fences of the front matter.
    pub fn front_matter(&self) -> Option<Range<usize>> {
        self.front_matter.clone()
    }

    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    pub fn sections(&self) -> impl Iterator<Item = Section> + '_ {
        self.headings.iter().enumerate().map(|(at, heading)| {
            let next = self.headings[at + 1..].iter().find(|other| other.level <= heading.level);
            let end = next.map_or(self.text.len(), |next| next.lines.start);
            Section { heading: heading.clone(), body: heading.lines.end..end }
        })
    }

    /// The first section with one of these titles, ignoring case.
    pub fn section(&self, titles: &[&str]) -> Option<Section> {
        let matches =
            |title: &str| titles.iter().any(|known| known.to_lowercase() == title.trim().to_lowercase());
        self.sections().find(|section| matches(&section.heading.title))
    }

    /// The boxes within a range, in order.
    pub fn boxes(&self, within: Range<usize>) -> impl Iterator<Item = &CheckBox> {
        self.boxes.iter().filter(move |found| within.contains(&found.mark.start))
    }

    /// Whether a position is in code, in a comment or in the front matter, where markup has no meaning.
    pub fn is_literal(&self, at: usize) -> bool {
        self.literal.iter().any(|range| range.contains(&at))
    }

    /// The lines within a range, each with its line break.
    pub fn lines(&self, within: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut start = within.start;
        self.text[within].split_inclusive('\n').map(move |line| {
            let range = start..start + line.len();
            start = range.end;
            range
        })
    }

    /// The number of the line at this position, from 1.
    pub fn line_number(&self, at: usize) -> usize {
        self.text[..at].matches('\n').count() + 1
    }

    /// Replaces a range. The new text gets the line endings of the document.
    pub fn splice(&mut self, range: Range<usize>, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\n', self.newline());
        self.text.replace_range(range, &text);
        self.parse();
    }

    /// Ticks or unticks a box.
    pub fn tick(&mut self, found: &CheckBox, ticked: bool) {
        if found.ticked != ticked {
            self.splice(found.mark.clone(), if ticked { "x" } else { " " });
        }
    }

    /// The end of the last line in a range that is not blank; the start of the range if all are blank.
    pub fn end_of_writing(&self, within: Range<usize>) -> usize {
        let written = self.lines(within.clone()).filter(|line| !self.text[line.clone()].trim().is_empty());
        written.last().map_or(within.start, |line| line.end)
    }

    /// Inserts lines after the last line of a range that is not blank, continuing its last paragraph.
    pub fn append_lines(&mut self, within: Range<usize>, lines: &str) {
        let at = self.end_of_writing(within);
        let before = if at > 0 && !self.text[..at].ends_with('\n') { "\n" } else { "" };
        let after = if lines.ends_with('\n') { "" } else { "\n" };
        self.splice(at..at, &format!("{before}{lines}{after}"));
    }

    /// Parses the text again, because a change moves every position after it.
    fn parse(&mut self) {
        self.front_matter = None;
        self.headings.clear();
        self.boxes.clear();
        self.literal.clear();
        let options = Options::ENABLE_TASKLISTS
            | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
            | Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH;
        let mut quote_depth = 0_usize;
        let mut list_depth = 0_usize;
        let mut heading: Option<Heading> = None;
        for (event, range) in Parser::new_ext(&self.text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::MetadataBlock(_)) if self.front_matter.is_none() => {
                    self.literal.push(range.clone());
                    self.front_matter = Some(between_fences(&self.text, range));
                }
                Event::Start(Tag::CodeBlock(_)) => self.literal.push(range),
                Event::Start(Tag::HtmlBlock) if self.text[range.clone()].trim_start().starts_with("<!--") => {
                    self.literal.push(range);
                }
                Event::Start(Tag::BlockQuote(_)) => quote_depth += 1,
                Event::End(TagEnd::BlockQuote(_)) => quote_depth -= 1,
                Event::Start(Tag::List(_)) => list_depth += 1,
                Event::End(TagEnd::List(_)) => list_depth -= 1,
                Event::Start(Tag::Heading { level, .. }) if quote_depth == 0 && list_depth == 0 => {
                    let lines = range.start..end_of_line(&self.text, range.end);
                    heading = Some(Heading { level: level as u8, title: String::new(), lines });
                }
                Event::End(TagEnd::Heading(_)) => {
                    self.headings.extend(heading.take().map(|mut heading| {
                        heading.title = heading.title.trim().to_string();
                        heading
                    }));
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.title.push_str(&text);
                    }
                }
                Event::TaskListMarker(ticked) if quote_depth == 0 => {
                    let end = end_of_content(&self.text, range.end);
                    self.boxes.push(CheckBox {
                        ticked,
                        mark: range.start + 1..range.end - 1,
                        label: range.end..end,
                    });
                }
                _ => {}
            }
        }
    }
}

fn between_fences(text: &str, block: Range<usize>) -> Range<usize> {
    let start = text[block.clone()].find('\n').map_or(block.end, |at| block.start + at + 1);
    let body = text[start..block.end].trim_end();
    let end = body.rfind('\n').map_or(start, |at| start + at + 1);
    start..end
}

/// The position after the next line break; this position if it directly follows one. A lone carriage return is a line
/// break too.
fn end_of_line(text: &str, at: usize) -> usize {
    if text[..at].ends_with(['\n', '\r']) && !text[at..].starts_with('\n') {
        return at;
    }
    let end = end_of_content(text, at);
    let rest = &text[end..];
    end + if rest.starts_with("\r\n") { 2 } else { rest.len().min(1) }
}

/// The end of the line at this position, before its line break.
fn end_of_content(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TICKET: &str = "---\nid: 12\ntags: [a]\n---\n# A `cart`\n\nIntro\n\n## Status\n\n- [ ] Draft\n- [x] Ready (since Monday)\n\n\
        ```md\n## Status\n- [ ] no box\n```\n> ## Quoted\n> - [ ] said\n\n## Notes\nfree text\n### Deeper\nmore\n\n## Log";

    fn titles(markdown: &Markdown) -> Vec<&str> {
        markdown.headings().iter().map(|heading| heading.title.as_str()).collect()
    }

    #[test]
    fn headings_and_boxes_in_code_and_quotations_do_not_count() {
        let read = Markdown::read(TICKET);
        assert_eq!(titles(&read), ["A cart", "Status", "Notes", "Deeper", "Log"]);
        let labels: Vec<&str> =
            read.boxes(0..TICKET.len()).map(|found| &TICKET[found.label.clone()]).collect();
        assert_eq!(labels, [" Draft", " Ready (since Monday)"]);
        assert_eq!(read.front_matter().map(|range| &TICKET[range]), Some("id: 12\ntags: [a]\n"));
    }

    #[test]
    fn a_section_contains_deeper_ones_and_ends_at_the_next_of_its_level() {
        let read = Markdown::read(TICKET);
        let notes = read.section(&["remarks", "NOTES"]).map(|section| &TICKET[section.body]);
        assert_eq!(notes, Some("free text\n### Deeper\nmore\n\n"));
        assert_eq!(read.section(&["Log"]).map(|section| section.body.is_empty()), Some(true));
        assert!(read.section(&["Quoted"]).is_none());
    }

    #[test]
    fn a_tick_changes_one_character() {
        let mut read = Markdown::read(TICKET);
        let draft = read.boxes(0..TICKET.len()).next().cloned();
        if let Some(draft) = draft {
            read.tick(&draft, true);
        }
        assert_eq!(read.text(), TICKET.replacen("- [ ] Draft", "- [x] Draft", 1));
    }

    #[test]
    fn inserted_text_gets_the_line_endings_of_the_document() {
        let mut read = Markdown::read("# A\r\n\r\none\r\n\r\n## B\r\n");
        let body =
            read.section(&["A"]).map(|section| section.body.start..section.body.end - "## B\r\n".len());
        read.append_lines(body.unwrap_or_default(), "two\nthree");
        assert_eq!(read.text(), "# A\r\n\r\none\r\ntwo\r\nthree\r\n\r\n## B\r\n");
    }

    #[test]
    fn a_missing_final_line_break_is_added_only_before_new_text() {
        let mut read = Markdown::read(TICKET);
        read.append_lines(TICKET.len()..TICKET.len(), "- done");
        assert_eq!(read.text(), format!("{TICKET}\n- done\n"));
    }

    proptest! {
        #[test]
        fn positions_are_correct_in_any_text(text in "(?s)[-#>\\[\\]x \\r\\na-c`|~*=]{0,120}") {
            let read = Markdown::read(text.clone());
            prop_assert_eq!(read.text(), &text);
            for found in read.boxes(0..text.len()) {
                prop_assert_eq!(&text[found.mark.start - 1..=found.mark.start - 1], "[");
                prop_assert!(!text[found.label.clone()].contains('\n'));
            }
            for section in read.sections() {
                prop_assert!(section.heading.lines.end <= section.body.end);
            }
        }
    }
}
