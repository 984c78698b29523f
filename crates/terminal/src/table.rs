//! Output for people: tables, labelled lines and paragraphs, as wide as the terminal and readable without colour.

use crate::ink::{Ink, Tone};
use crate::line::{self, cut, pad, width, wrap};
use console::Term;
use std::ops::RangeInclusive;

/// The width of output that no terminal shows, in columns.
const DEFAULT_WIDTH: usize = 100;
/// The range of widths for output on a terminal.
const WIDTHS: RangeInclusive<usize> = 40..=140;
/// Spaces between two columns.
const GAP: usize = 2;
/// Minimum width of a table column, in columns of the terminal.
const MIN_WIDTH: usize = 8;
/// A column that wraps is not narrower than its longest word, up to this width.
const MAX_WORD: usize = 24;

/// The width of output for people, in columns: that of the terminal within limits, or else `COLUMNS`.
pub fn page_width() -> usize {
    let stated = || std::env::var("COLUMNS").ok()?.parse().ok().map(within_limits);
    terminal_width().or_else(stated).unwrap_or(DEFAULT_WIDTH)
}

fn within_limits(columns: usize) -> usize {
    columns.clamp(*WIDTHS.start(), *WIDTHS.end())
}

/// The width of the terminal, within limits; `None` if neither standard output nor standard error is one.
pub fn terminal_width() -> Option<usize> {
    let columns = |terminal: Term| terminal.is_term().then(|| terminal.size_checked()).flatten();
    let (_, columns) = columns(Term::stdout()).or_else(|| columns(Term::stderr()))?;
    Some(within_limits(usize::from(columns)))
}

/// How a column handles text that is too wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnFit {
    /// The column is never narrowed.
    Whole,
    /// The end of the text is cut off.
    Cut,
    /// The text continues on the next line.
    Wrap,
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A cell with text from any source, cleaned for one line of a terminal.
    pub fn new(text: impl AsRef<str>) -> Cell {
        Cell { text: line::one(text.as_ref()), tone: Tone::Plain }
    }

    #[must_use]
    pub fn toned(self, tone: Tone) -> Cell {
        Cell { tone, ..self }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::new(text)
    }
}

/// A table, with or without a header.
#[derive(Clone, Debug)]
pub struct TextTable {
    head: Vec<(&'static str, ColumnFit)>,
    margin: usize,
    rows: Vec<Vec<Cell>>,
}

impl TextTable {
    pub fn new(head: &[(&'static str, ColumnFit)]) -> TextTable {
        TextTable { head: head.to_vec(), margin: 0, rows: Vec::new() }
    }

    /// An indented table without a header.
    pub fn list(columns: &[ColumnFit], margin: usize) -> TextTable {
        TextTable { head: columns.iter().map(|fit| ("", *fit)).collect(), margin, rows: Vec::new() }
    }

    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text, without empty columns.
    pub fn render(&self, ink: Ink) -> String {
        let filled: Vec<bool> = (0..self.head.len())
            .map(|at| self.rows.iter().any(|row| row.get(at).is_some_and(|cell| !cell.text.is_empty())))
            .collect();
        let widths = self.widths(&filled);
        let head: Vec<Cell> = self.head.iter().map(|(name, _)| Cell::new(name).toned(Tone::Faint)).collect();
        let has_header = self.head.iter().any(|(name, _)| !name.is_empty());
        let rows = has_header.then_some(&head).into_iter().chain(&self.rows);
        rows.map(|row| self.lines(row, &widths, ink)).collect()
    }

    /// The width of each column; `None` for an empty column, which is left out.
    fn widths(&self, filled: &[bool]) -> Vec<Option<usize>> {
        let natural = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(&cell.text));
            cells.chain([width(self.head[at].0)]).max().unwrap_or(0)
        };
        let mut widths: Vec<Option<usize>> =
            filled.iter().enumerate().map(|(at, filled)| filled.then(|| natural(at))).collect();
        loop {
            let shown = widths.iter().flatten();
            let total = self.margin + shown.clone().sum::<usize>() + shown.count().saturating_sub(1) * GAP;
            let Some(excess) = total.checked_sub(page_width()).filter(|excess| *excess > 0) else {
                return widths;
            };
            let flexible =
                self.head.iter().zip(&mut widths).enumerate().filter_map(|(at, ((_, fit), width))| {
                    let min = match fit {
                        ColumnFit::Whole => return None,
                        ColumnFit::Cut => MIN_WIDTH,
                        ColumnFit::Wrap => self.longest_word(at).clamp(MIN_WIDTH, MAX_WORD),
                    };
                    width.as_mut().filter(|width| **width > min).map(|width| (width, min))
                });
            let widest = flexible.max_by_key(|(width, _)| **width);
            match widest {
                // The widest column is narrowed by half of the excess, so that two wide columns end up equal.
                Some((width, min)) => *width -= excess.div_ceil(2).min(*width - min),
                None => return widths,
            }
        }
    }

    /// The width of the longest word of a column.
    fn longest_word(&self, at: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        cells.flat_map(|cell| cell.text.split_whitespace()).map(width).max().unwrap_or(0)
    }

    fn lines(&self, row: &[Cell], widths: &[Option<usize>], ink: Ink) -> String {
        let columns: Vec<(Vec<String>, usize, Tone)> = row
            .iter()
            .zip(&self.head)
            .zip(widths)
            .filter_map(|((cell, (_, fit)), width)| {
                let width = (*width)?;
                let lines = match fit {
                    ColumnFit::Whole => vec![cell.text.clone()],
                    ColumnFit::Cut => vec![cut(&cell.text, width)],
                    ColumnFit::Wrap => wrap(&cell.text, width),
                };
                Some((lines, width, cell.tone))
            })
            .collect();
        let height = columns.iter().map(|(lines, _, _)| lines.len()).max().unwrap_or(0);
        let mut text = String::new();
        for at in 0..height {
            text.push_str(&" ".repeat(self.margin));
            let last =
                columns.iter().rposition(|(lines, _, _)| lines.get(at).is_some_and(|line| !line.is_empty()));
            for (position, (lines, width, tone)) in columns.iter().enumerate() {
                let line = lines.get(at).map_or("", String::as_str);
                match last {
                    Some(last) if position < last => {
                        text.push_str(&ink.paint(*tone, &pad(line, *width)));
                        text.push_str(&" ".repeat(GAP));
                    }
                    Some(last) if position == last => text.push_str(&ink.paint(*tone, line)),
                    Some(_) | None => {}
                }
            }
            text.push('\n');
        }
        text
    }
}

/// Labelled lines, one below the other. A long value wraps within its column.
#[derive(Clone, Debug, Default)]
pub struct FieldList {
    rows: Vec<(String, Cell, ColumnFit)>,
}

impl FieldList {
    pub fn new() -> FieldList {
        FieldList::default()
    }

    pub fn add(&mut self, label: &str, value: impl Into<Cell>) {
        self.rows.push((label.to_string(), value.into(), ColumnFit::Wrap));
    }

    /// Adds a path or a command, which stays on one line so that it can be copied.
    pub fn add_whole(&mut self, label: &str, value: impl Into<Cell>) {
        self.rows.push((label.to_string(), value.into(), ColumnFit::Whole));
    }

    pub fn render(&self, ink: Ink) -> String {
        self.render_within(page_width(), ink)
    }

    /// The lines, each at most `page` columns wide.
    pub fn render_within(&self, page: usize, ink: Ink) -> String {
        let label_width = self.rows.iter().map(|(label, _, _)| width(label)).max().unwrap_or(0);
        let mut text = String::new();
        for (name, cell, fit) in &self.rows {
            let lines = match fit {
                ColumnFit::Whole | ColumnFit::Cut => vec![cell.text.clone()],
                ColumnFit::Wrap => wrap(&cell.text, page.saturating_sub(label_width + GAP)),
            };
            for (at, line) in lines.iter().enumerate() {
                let name = if at == 0 { name.as_str() } else { "" };
                let lead = format!("{}{}", ink.paint(Tone::Faint, &pad(name, label_width)), " ".repeat(GAP));
                text.push_str(&format!("{lead}{}\n", ink.paint(cell.tone, line)));
            }
        }
        text
    }
}

/// Indents text and wraps it at words, below the text of a list item. Its line breaks stay.
pub fn indented(text: &str, margin: usize) -> String {
    let mut shown = String::new();
    for paragraph in line::clean(text).lines() {
        let paragraph = line::one(paragraph);
        let hang = if paragraph.starts_with("- ") { 2 } else { 0 };
        for line in line::hanging(&format!("{}{paragraph}", " ".repeat(margin)), hang, page_width()) {
            shown.push_str(line.trim_end());
            shown.push('\n');
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_item_continues_below_its_text() {
        let text = indented(&format!("- {}\nlast", "word ".repeat(30)), 2);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  - word"), "{text}");
        assert!(lines[1].starts_with("    word"), "{text}");
        assert_eq!(lines.last(), Some(&"  last"));
    }

    fn two_columns(first: ColumnFit, second: ColumnFit, rows: &[(&str, &str)]) -> String {
        let mut table = TextTable::new(&[("run", first), ("request", second)]);
        for (one, other) in rows {
            table.row(vec![Cell::new(one), Cell::new(other)]);
        }
        table.render(Ink::Plain)
    }

    #[test]
    fn no_line_is_wider_than_the_page() {
        let long = "word ".repeat(60);
        for (first, second) in [
            (ColumnFit::Whole, ColumnFit::Cut),
            (ColumnFit::Wrap, ColumnFit::Wrap),
            (ColumnFit::Cut, ColumnFit::Wrap),
        ] {
            let one = if first == ColumnFit::Whole { "20260131-235959-abcd" } else { long.as_str() };
            let text = two_columns(first, second, &[(one, &long), ("b", "short")]);
            assert!(text.lines().all(|line| width(line) <= page_width()), "{text}");
        }
    }

    #[test]
    fn a_column_that_wraps_breaks_no_word_of_usual_length() {
        let long = "word ".repeat(60);
        let text = two_columns(ColumnFit::Wrap, ColumnFit::Wrap, &[("notwithstanding", &long)]);
        assert!(text.contains("notwithstanding  word"), "{text}");
    }

    #[test]
    fn a_column_without_text_is_left_out_and_lines_do_not_end_in_spaces() {
        assert_eq!(two_columns(ColumnFit::Whole, ColumnFit::Cut, &[("a", ""), ("b", "")]), "run\na\nb\n");
        assert_eq!(
            two_columns(ColumnFit::Whole, ColumnFit::Cut, &[("a", ""), ("b", "c")]),
            "run  request\na\nb    c\n"
        );
    }

    #[test]
    fn escapes_in_cells_do_not_reach_the_terminal() {
        let text = two_columns(
            ColumnFit::Whole,
            ColumnFit::Cut,
            &[("a", "\u{1b}[31mred\u{1b}[0m\nsecond \u{9b}2Jline")],
        );
        assert_eq!(text, "run  request\na    red second line\n");
    }

    #[test]
    fn colours_do_not_change_the_width() {
        let mut table = TextTable::new(&[("a", ColumnFit::Whole), ("b", ColumnFit::Whole)]);
        table.row(vec![Cell::new("x").toned(Tone::Bad), Cell::new("y")]);
        assert!(table.render(Ink::Coloured).contains("\u{1b}[31mx\u{1b}[0m  y"));
    }
}
