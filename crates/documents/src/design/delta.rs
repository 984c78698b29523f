//! A revision as a delta: what was cited must have changed, and nothing else may have (DR-13).

use super::{APPROACH, Design, NOTES, Piece, names};
use std::collections::BTreeSet;
use std::fmt;

/// What stands before the first heading.
pub(super) const PREAMBLE: &str = "the text before the first heading";

/// What a revision is held against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// The sections and decisions that the findings want changed.
    pub cited: Vec<String>,
}

/// Something in a revised design that is not as a delta must be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Departure {
    /// Cited, and as it was.
    Unchanged(String),
    /// Changed, and not cited.
    Uncited(String),
    /// Gone; a decision that is given up stays, as superseded.
    Gone(String),
    /// A new section or decision, and no note says which flaw it answers.
    Unexplained(String),
    /// There are no new revision notes.
    NoNotes,
    /// The notes of an earlier revision are not there any more.
    NotesLost,
    /// The notes do not speak of this.
    NotNoted(String),
}

impl Delta {
    /// Everything in which a revision departs from a delta, in a fixed order.
    pub fn departures(&self, before: &Design, after: &Design) -> Vec<Departure> {
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
    pub fn changes(before: &Design, after: &Design) -> Vec<String> {
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

    fn lacking_notes(&self, before: &Design, after: &Design) -> Vec<Departure> {
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

/// The pieces of a design as a delta compares them: what stands before the first heading is one of them, and the
/// statement of the approach is in none, since every revision may state another.
fn compared(design: &Design) -> Vec<Piece> {
    let stated = design.approach_lines().map(|lines| design.text()[lines].trim_end()).unwrap_or_default();
    let mut pieces = design.pieces();
    for piece in pieces.iter_mut().filter(|piece| piece.name.eq_ignore_ascii_case(APPROACH)) {
        piece.text = piece.text.replacen(stated, "", 1).trim_end().to_string();
    }
    let preamble = design.preamble().trim().to_string();
    pieces.insert(0, Piece { name: PREAMBLE.to_string(), inside: Vec::new(), text: preamble });
    pieces
}

/// What a revision added to the notes; none if it changed the earlier ones.
fn added_notes<'d>(before: &Design, after: &'d Design) -> Option<&'d str> {
    after.notes().and_then(|notes| notes.strip_prefix(before.notes().unwrap_or_default()))
}

/// What every revision may write without being asked: the notes.
fn is_free(piece: &Piece) -> bool {
    let free = |name: &str| name.eq_ignore_ascii_case(NOTES);
    free(&piece.name) || piece.inside.iter().any(|name| free(name))
}

/// A diagram may follow the structure if the new notes speak of it.
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
            Departure::Unchanged(name) => write!(f, "`{name}` is cited by the findings and did not change"),
            Departure::Uncited(name) => write!(f, "`{name}` changed, and the findings do not cite it"),
            Departure::Gone(name) => {
                write!(f, "`{name}` is gone; what is given up stays, with the status superseded")
            }
            Departure::Unexplained(name) => {
                write!(f, "`{name}` is new, and no revision note names the flaw that it answers")
            }
            Departure::NoNotes => write!(f, "there is no new text in `{NOTES}`"),
            Departure::NotesLost => write!(f, "the earlier text of `{NOTES}` was changed; add to its end"),
            Departure::NotNoted(what) => write!(f, "the new text of `{NOTES}` does not speak of {what}"),
        }
    }
}
