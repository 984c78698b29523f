//! Checks that a revision is a delta: it changes the pieces that the findings cite, and nothing else.

use super::{APPROACH, DesignDocument, NOTES, Piece, mentions};
use std::collections::BTreeSet;
use std::fmt;

/// The name of the text before the first heading.
pub(super) const PREAMBLE: &str = "the text before the first heading";

/// The pieces that a revision must change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// The sections and decisions that the findings cite.
    pub cited: Vec<String>,
}

/// One way in which a revision is not a delta.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Departure {
    /// Cited, but unchanged.
    Unchanged(String),
    /// Changed, but not cited.
    Uncited(String),
    /// Removed. An abandoned decision must stay, with the status superseded.
    Removed(String),
    /// A new section or decision without a note on the flaw that it fixes.
    Unexplained(String),
    /// There are no new revision notes.
    NoNotes,
    /// The notes of an earlier revision were changed.
    NotesChanged,
    /// The notes do not mention this piece or topic.
    NotNoted(String),
}

impl Delta {
    /// Every way in which a revision is not a delta, in a fixed order.
    pub fn departures(&self, before: &DesignDocument, after: &DesignDocument) -> Vec<Departure> {
        let (old, new) = (compared_pieces(before), compared_pieces(after));
        let new_notes = added_notes(before, after).unwrap_or_default().to_string();
        let mut departures = BTreeSet::new();
        for piece in old.iter().filter(|piece| !is_note(piece)) {
            let now = new.iter().find(|other| other.name == piece.name);
            match now {
                None => drop(departures.insert(Departure::Removed(piece.name.clone()))),
                Some(now)
                    if now.text != piece.text
                        && !self.covers(piece)
                        && !is_noted_diagram(piece, &new_notes) =>
                {
                    departures.insert(Departure::Uncited(piece.name.clone()));
                }
                Some(_) => {}
            }
        }
        for name in &self.cited {
            let texts_within = |pieces: &[Piece]| -> Vec<String> {
                let is_cited = |piece: &&Piece| is_within(piece, name);
                pieces.iter().filter(is_cited).map(|piece| piece.text.clone()).collect()
            };
            if texts_within(&before.pieces()) == texts_within(&after.pieces()) {
                departures.insert(Departure::Unchanged(name.clone()));
            }
        }
        let known: BTreeSet<&str> = old.iter().map(|piece| piece.name.as_str()).collect();
        let added = new.iter().filter(|piece| !known.contains(piece.name.as_str()) && !is_note(piece));
        for piece in added.filter(|piece| !piece.inside.iter().any(|name| self.cited.contains(name))) {
            if !self.is_explained(piece, &new_notes) {
                departures.insert(Departure::Unexplained(piece.name.clone()));
            }
        }
        departures.extend(self.missing_notes(before, after));
        departures.into_iter().collect()
    }

    /// The decisions and sections that changed, for the log.
    pub fn changes(before: &DesignDocument, after: &DesignDocument) -> Vec<String> {
        let old = before.pieces();
        let new = after.pieces();
        let differs =
            |piece: &&Piece| !old.iter().any(|other| other.name == piece.name && other.text == piece.text);
        let changed =
            new.iter().filter(differs).filter(|piece| piece.name != NOTES && !piece.inside.is_empty());
        changed
            .filter(|piece| !piece.inside.iter().any(|name| name == NOTES))
            .map(|piece| piece.name.clone())
            .collect()
    }

    fn covers(&self, piece: &Piece) -> bool {
        self.cited.iter().any(|name| is_within(piece, name))
    }

    /// Whether a note mentions both the new piece and a cited one.
    fn is_explained(&self, piece: &Piece, notes: &str) -> bool {
        items(notes)
            .iter()
            .any(|item| mentions(item, &piece.name) && self.cited.iter().any(|cited| mentions(item, cited)))
    }

    fn missing_notes(&self, before: &DesignDocument, after: &DesignDocument) -> Vec<Departure> {
        let earlier = before.notes().unwrap_or_default();
        let Some(notes) = after.notes().filter(|notes| !notes.is_empty() && *notes != earlier) else {
            return vec![Departure::NoNotes];
        };
        let Some(new) = notes.strip_prefix(earlier) else {
            return vec![Departure::NotesChanged];
        };
        let lower = new.to_lowercase();
        let cited = self.cited.iter().filter(|name| !mentions(new, name)).cloned();
        let topics = [("preserv", "what was preserved"), ("warm", "warm-start hints")];
        let topics =
            topics.into_iter().filter(|(word, _)| !lower.contains(word)).map(|(_, topic)| topic.to_string());
        cited.chain(topics).map(Departure::NotNoted).collect()
    }
}

/// The pieces of a design that a delta compares. The text before the first heading is one of them. The paragraph that
/// states the approach is excluded, because every revision may restate it.
fn compared_pieces(design: &DesignDocument) -> Vec<Piece> {
    let approach = design.approach_range().map(|range| design.text()[range].trim_end()).unwrap_or_default();
    let mut pieces = design.pieces();
    for piece in pieces.iter_mut().filter(|piece| piece.name.eq_ignore_ascii_case(APPROACH)) {
        piece.text = piece.text.replacen(approach, "", 1).trim_end().to_string();
    }
    let preamble = design.preamble().trim().to_string();
    pieces.insert(0, Piece { name: PREAMBLE.to_string(), inside: Vec::new(), text: preamble });
    pieces
}

/// The notes that a revision added; `None` if it changed earlier notes.
fn added_notes<'d>(before: &DesignDocument, after: &'d DesignDocument) -> Option<&'d str> {
    after.notes().and_then(|notes| notes.strip_prefix(before.notes().unwrap_or_default()))
}

/// Whether a piece belongs to the notes, which every revision may extend.
fn is_note(piece: &Piece) -> bool {
    let is_notes = |name: &str| name.eq_ignore_ascii_case(NOTES);
    is_notes(&piece.name) || piece.inside.iter().any(|name| is_notes(name))
}

/// Whether a piece is a diagram and the new notes mention a diagram; then the piece may change.
fn is_noted_diagram(piece: &Piece, notes: &str) -> bool {
    piece.name.to_lowercase().contains("diagram") && notes.to_lowercase().contains("diagram")
}

fn is_within(piece: &Piece, name: &str) -> bool {
    piece.name == name || piece.inside.iter().any(|section| section == name)
}

/// The list items and paragraphs of a text.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = vec![String::new()];
    for line in text.lines() {
        let is_start = line.trim().is_empty() || line.trim_start().starts_with(['-', '*', '#']);
        if is_start {
            items.push(String::new());
        }
        if let Some(last) = items.last_mut() {
            last.push_str(line.trim());
            last.push(' ');
        }
    }
    items
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Departure::Unchanged(name) => write!(f, "the findings cite `{name}`, but it did not change"),
            Departure::Uncited(name) => write!(f, "`{name}` changed, but the findings do not cite it"),
            Departure::Removed(name) => {
                write!(f, "`{name}` was removed; keep it with the status superseded")
            }
            Departure::Unexplained(name) => {
                write!(f, "`{name}` is new, but no revision note names the flaw that it fixes")
            }
            Departure::NoNotes => write!(f, "`{NOTES}` has no new text"),
            Departure::NotesChanged => {
                write!(f, "the existing text of `{NOTES}` changed; only add to its end")
            }
            Departure::NotNoted(topic) => write!(f, "the new text of `{NOTES}` does not mention {topic}"),
        }
    }
}
