//! Markdown as a terminal shows it: headings, wrapped paragraphs and lists, and tables in columns.

use crate::ink::{Ink, Tone};
use crate::line::hanging;
use crate::table::{Cell, ColumnFit, TextTable};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The indentation of one level of a list.
const INDENT: usize = 2;

/// Renders a document in lines of at most `width` columns.
pub fn render(text: &str, ink: Ink, width: usize) -> String {
    let mut page = MarkdownPage::new(ink, width);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        page.add(event);
    }
    page.text
}

/// A document up to the current event.
struct MarkdownPage {
    ink: Ink,
    width: usize,
    text: String,
    /// The words of the current block.
    words: String,
    /// For each list around the block, the number of its next item; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The bullet or number of an item whose first block is still open.
    bullet: Option<String>,
    /// The rows of the current table, the header first.
    rows: Vec<Vec<String>>,
}

impl MarkdownPage {
    fn new(ink: Ink, width: usize) -> MarkdownPage {
        let (text, words) = (String::new(), String::new());
        MarkdownPage { ink, width, text, words, lists: Vec::new(), bullet: None, rows: Vec::new() }
    }

    fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Table(_) | Tag::CodeBlock(_)) => self.gap(),
            Event::Start(Tag::Paragraph) if self.lists.is_empty() => self.gap(),
            Event::Start(Tag::List(first)) => {
                self.block(Tone::Plain);
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Event::Start(Tag::Item) => {
                let bullet = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    Some(None) | None => "- ".to_string(),
                };
                self.bullet = Some(bullet);
            }
            Event::Start(Tag::TableHead | Tag::TableRow) => self.rows.push(Vec::new()),
            Event::End(TagEnd::Heading(_)) => self.block(Tone::Strong),
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::HtmlBlock) => self.block(Tone::Plain),
            Event::End(TagEnd::List(_)) => drop(self.lists.pop()),
            Event::End(TagEnd::CodeBlock) => self.code(),
            Event::End(TagEnd::TableCell) => {
                let cell = std::mem::take(&mut self.words);
                self.rows.last_mut().into_iter().for_each(|row| row.push(cell.clone()));
            }
            Event::End(TagEnd::Table) => self.table(),
            Event::Code(code) => self.words.push_str(&format!("`{code}`")),
            Event::Text(text) => self.words.push_str(&text),
            Event::SoftBreak => self.words.push(' '),
            Event::HardBreak => self.words.push('\n'),
            Event::Rule => {
                self.gap();
                self.text.push_str(&format!("{}\n", "─".repeat(self.width.min(40))));
            }
            // Comments and other HTML are for browsers.
            Event::Html(_) | Event::InlineHtml(_) => {}
            Event::Start(_)
            | Event::End(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }

    /// An empty line, except at the start.
    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Ends a block of words.
    fn block(&mut self, tone: Tone) {
        let words = std::mem::take(&mut self.words);
        if words.trim().is_empty() {
            return;
        }
        let depth = self.lists.len().saturating_sub(1) * INDENT;
        let bullet = self.bullet.take();
        let (lead, hang) = match (&bullet, self.lists.is_empty()) {
            (Some(bullet), _) => (format!("{}{bullet}", " ".repeat(depth)), bullet.chars().count()),
            (None, false) => (" ".repeat(depth + INDENT), 0),
            (None, true) => (String::new(), 0),
        };
        for line in words.lines().flat_map(|line| hanging(&format!("{lead}{line}"), hang, self.width)) {
            self.text.push_str(&format!("{}\n", self.ink.paint(tone, &line)));
        }
    }

    /// Ends a block of code, whose lines are not wrapped.
    fn code(&mut self) {
        for line in std::mem::take(&mut self.words).lines() {
            self.text.push_str(&format!("{}{line}\n", " ".repeat(INDENT)));
        }
    }

    fn table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut table = TextTable::list(&vec![ColumnFit::Wrap; columns], 0);
        for (at, row) in rows.iter().enumerate() {
            let tone = if at == 0 { Tone::Faint } else { Tone::Plain };
            table.row(row.iter().map(|cell| Cell::new(cell).toned(tone)).collect());
        }
        self.text.push_str(&table.render(self.ink));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // UP-11
    #[test]
    fn a_page_of_evidence_shows_columns_and_wrapped_lists_instead_of_marks() {
        let text = "# Evidence: Add\n\n- run `r1`, workflow `quick`, autonomous and much more\n- committed\n\n\
                    ## Checks\n\n| when | check | exit |\n| --- | --- | --- |\n| after | `test -d sums` | 0 |\n\n\
                    One **strong**\nword.\n\n1. first\n2. second\n   - inner\n\n```\nkept   as is\n```\n";
        let expected = "Evidence: Add\n\n- run `r1`, workflow `quick`,\n  autonomous and much more\n- committed\n\n\
                        Checks\n\nwhen   check           exit\nafter  `test -d sums`  0\n\n\
                        One strong word.\n\n1. first\n2. second\n  - inner\n\n  kept   as is\n";
        assert_eq!(render(text, Ink::Plain, 32), expected);
    }
}
