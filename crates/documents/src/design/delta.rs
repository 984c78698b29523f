//! Checks that a revision is a delta: it changes what the findings cite, and nothing else.

use super::{APPROACH, DesignDocument, NOTES, Piece, names};
use std::collections::BTreeSet;
use std::fmt;

/// The name of the text before the first heading.
pub(super) const PREAMBLE: &str = "the text before the first heading";

/// What a revision is checked against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// The sections and decisions that the findings want changed.
    pub cited: Vec<String>,
}

/// One way in which a revision is not a delta.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Departure {
    /// Cited, but unchanged.
    Unchanged(String),
    /// Changed, but not cited.
    Uncited(String),
    /// Removed. An abandoned decision stays, marked as superseded.
    Gone(String),
    /// A new section or decision without a note on the flaw that it fixes.
    Unexplained(String),
    /// There are no new revision notes.
    NoNotes,
    /// The notes of an earlier revision were changed.
    NotesLost,
    /// The notes do not mention this.
    NotNoted(String),
}

impl Delta {
    /// Every way in which a revision is not a delta, in a fixed order.
    pub fn departures(&self, before: &DesignDocument, after: &DesignDocument) -> Vec<Departure> {
        let (old, new) = (compared(before), compared(after));
        let fresh_notes = added_notes(before, after).unwrap_or_default().to_string();
        let mut departures = BTreeSet::new();
        for piece in old.iter().filter(|piece| !is_free(piece)) {
            let now = new.iter().find(|other| other.name == piece.name);
            match now {
                None => drop(departures.insert(Departure::Gone(piece.name.clone()))),
                Some(now)
                    if now.text != piece.text
                        && !self.covers(piece)
                        && !is_noted_diagram(piece, &fresh_notes) =>
                {
                    departures.insert(Departure::Uncited(piece.name.clone()));
                }
                Some(_) => {}
            }
        }
        for name in &self.cited {
            let part = |pieces: &[Piece]| -> Vec<String> {
                let within = |piece: &&Piece| is_within(piece, name);
                pieces.iter().filter(within).map(|piece| piece.text.clone()).collect()
            };
            if part(&before.pieces()) == part(&after.pieces()) {
                departures.insert(Departure::Unchanged(name.clone()));
            }
        }
        let known: BTreeSet<&str> = old.iter().map(|piece| piece.name.as_str()).collect();
        let fresh = new.iter().filter(|piece| !known.contains(piece.name.as_str()) && !is_free(piece));
        for piece in fresh.filter(|piece| !piece.inside.iter().any(|name| self.cited.contains(name))) {
            if !self.is_explained(piece, &fresh_notes) {
                departures.insert(Departure::Unexplained(piece.name.clone()));
            }
        }
        departures.extend(self.lacking_notes(before, after));
        departures.into_iter().collect()
    }

    /// The decisions and sections that changed, for the log.
    pub fn changes(before: &DesignDocument, after: &DesignDocument) -> Vec<String> {
        let old = before.pieces();
        let new = after.pieces();
        let differs =
            |piece: &&Piece| !old.iter().any(|other| other.name == piece.name && other.text == piece.text);
        let told = new.iter().filter(differs).filter(|piece| piece.name != NOTES && !piece.inside.is_empty());
        told.filter(|piece| !piece.inside.iter().any(|name| name == NOTES))
            .map(|piece| piece.name.clone())
            .collect()
    }

    fn covers(&self, piece: &Piece) -> bool {
        self.cited.iter().any(|name| is_within(piece, name))
    }

    /// A note names the new piece and one that was cited.
    fn is_explained(&self, piece: &Piece, notes: &str) -> bool {
        items(notes)
            .iter()
            .any(|item| names(item, &piece.name) && self.cited.iter().any(|cited| names(item, cited)))
    }

    fn lacking_notes(&self, before: &DesignDocument, after: &DesignDocument) -> Vec<Departure> {
        let earlier = before.notes().unwrap_or_default();
        let Some(notes) = after.notes().filter(|notes| !notes.is_empty() && *notes != earlier) else {
            return vec![Departure::NoNotes];
        };
        let Some(fresh) = notes.strip_prefix(earlier) else {
            return vec![Departure::NotesLost];
        };
        let lower = fresh.to_lowercase();
        let cited = self.cited.iter().filter(|name| !names(fresh, name)).cloned();
        let topics = [("preserv", "what was preserved"), ("warm", "warm-start hints")];
        let topics =
            topics.into_iter().filter(|(word, _)| !lower.contains(word)).map(|(_, topic)| topic.to_string());
        cited.chain(topics).map(Departure::NotNoted).collect()
    }
}

/// The pieces of a design that a delta compares. The text before the first heading is one of them. The paragraph that
/// states the approach is excluded, because every revision may restate it.
fn compared(design: &DesignDocument) -> Vec<Piece> {
    let stated = design.approach_lines().map(|lines| design.text()[lines].trim_end()).unwrap_or_default();
    let mut pieces = design.pieces();
    for piece in pieces.iter_mut().filter(|piece| piece.name.eq_ignore_ascii_case(APPROACH)) {
        piece.text = piece.text.replacen(stated, "", 1).trim_end().to_string();
    }
    let preamble = design.preamble().trim().to_string();
    pieces.insert(0, Piece { name: PREAMBLE.to_string(), inside: Vec::new(), text: preamble });
    pieces
}

/// What a revision added to the notes; none if it changed earlier notes.
fn added_notes<'d>(before: &DesignDocument, after: &'d DesignDocument) -> Option<&'d str> {
    after.notes().and_then(|notes| notes.strip_prefix(before.notes().unwrap_or_default()))
}

/// The notes, which every revision may extend.
fn is_free(piece: &Piece) -> bool {
    let free = |name: &str| name.eq_ignore_ascii_case(NOTES);
    free(&piece.name) || piece.inside.iter().any(|name| free(name))
}

/// A diagram may change if the new notes mention it.
fn is_noted_diagram(piece: &Piece, notes: &str) -> bool {
    piece.name.to_lowercase().contains("diagram") && notes.to_lowercase().contains("diagram")
}

fn is_within(piece: &Piece, name: &str) -> bool {
    piece.name == name || piece.inside.iter().any(|above| above == name)
}

/// The list items and paragraphs of a text.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = vec![String::new()];
    for line in text.lines() {
        let starts = line.trim().is_empty() || line.trim_start().starts_with(['-', '*', '#']);
        if starts {
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
            Departure::Gone(name) => {
                write!(f, "`{name}` was removed; keep it with the status superseded")
            }
            Departure::Unexplained(name) => {
                write!(f, "`{name}` is new, but no revision note names the flaw that it fixes")
            }
            Departure::NoNotes => write!(f, "`{NOTES}` has no new text"),
            Departure::NotesLost => write!(f, "the existing text of `{NOTES}` changed; only add to its end"),
            Departure::NotNoted(what) => write!(f, "the new text of `{NOTES}` does not mention {what}"),
        }
    }
}
