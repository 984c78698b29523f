//! The form for an answer: an option, a note, and at a limit the amount to grant.

use crate::keys::Key;
use crate::paint::Paint;
use ratatui::text::Line;
use remand_ledger::query::GateRow;
use remand_terminal::{Tone, line};
use remand_views::{GivenAnswer, OpenGate};

/// The longest note, in characters.
const MAX_NOTE: usize = 4_000;

/// A question that somebody is answering.
pub struct AnswerForm {
    /// The question as it was when the form was opened.
    pub gate: GateRow,
    implications: Vec<String>,
    flags: Vec<(String, bool)>,
    option: usize,
    note: String,
    grant: String,
    field: Field,
}

/// What the keys change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Option,
    Note,
    Grant,
}

/// What a key does to the form.
pub enum FormWish {
    Nothing,
    Close,
    Send(GivenAnswer),
}

impl AnswerForm {
    pub fn new(open: &OpenGate) -> AnswerForm {
        let gate = open.gate.clone();
        let default = gate.options.iter().position(|option| gate.default.as_ref() == Some(&option.name));
        AnswerForm {
            implications: open.request.implications.clone(),
            flags: open.flags.iter().map(|flag| (flag.clone(), false)).collect(),
            option: default.unwrap_or(0),
            note: String::new(),
            grant: String::new(),
            field: Field::Option,
            gate,
        }
    }

    fn takes_amount(&self) -> bool {
        let option = self.gate.options.get(self.option);
        self.gate.limit_kind.is_some_and(|limit| limit.has_amount())
            && option.is_some_and(|option| option.name == "go-on")
    }

    pub fn press(&mut self, key: Key) -> FormWish {
        let options = self.gate.options.len();
        match (self.field, key) {
            (_, Key::Escape) => return FormWish::Close,
            (Field::Option, Key::Up | Key::Char('k')) => self.option = self.option.saturating_sub(1),
            (Field::Option, Key::Down | Key::Char('j')) => {
                self.option = (self.option + 1).min(options.saturating_sub(1));
            }
            (Field::Option, Key::Char(' ')) => {
                // The flags of a question are few; one key turns each in turn.
                if let Some((_, is_set)) = self.flags.iter_mut().find(|(_, is_set)| !is_set) {
                    *is_set = true;
                } else {
                    self.flags.iter_mut().for_each(|(_, is_set)| *is_set = false);
                }
            }
            (Field::Option, Key::Char(c)) => {
                let number = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
                if let Some(at) = number.and_then(|number| number.checked_sub(1)).filter(|at| *at < options) {
                    self.option = at;
                }
            }
            (Field::Option, Key::Enter | Key::Tab) => {
                self.field = if self.takes_amount() { Field::Grant } else { Field::Note };
            }
            (Field::Grant, Key::Enter | Key::Tab) => self.field = Field::Note,
            (Field::Note, Key::Tab) => self.field = Field::Option,
            (_, Key::BackTab) => self.field = Field::Option,
            (Field::Note, Key::Enter) => {
                if let Some(option) = self.gate.options.get(self.option) {
                    let set = self.flags.iter().filter(|(_, is_set)| *is_set);
                    return FormWish::Send(GivenAnswer {
                        option: option.name.clone(),
                        note: self.note.trim().to_string(),
                        flags: set.map(|(flag, _)| flag.clone()).collect(),
                        grant: if self.takes_amount() {
                            self.grant.trim().to_string()
                        } else {
                            String::new()
                        },
                    });
                }
            }
            (Field::Note, Key::Backspace) => drop(self.note.pop()),
            (Field::Grant, Key::Backspace) => drop(self.grant.pop()),
            (Field::Note, Key::Char(c)) if self.note.chars().count() < MAX_NOTE => self.note.push(c),
            (Field::Grant, Key::Char(c)) if self.grant.len() < 20 => self.grant.push(c),
            _ => {}
        }
        FormWish::Nothing
    }

    pub fn lines(&self, paint: Paint, width: usize) -> Vec<Line<'static>> {
        let mut lines = paint.wrapped(Tone::Strong, &line::one(&self.gate.question), 0, width);
        for (at, option) in self.gate.options.iter().enumerate() {
            let mark = if at == self.option { "▸" } else { " " };
            let does = self.implications.get(at).map(|text| format!("  {}", line::one(text)));
            let text = format!("{mark} {} {}{}", at + 1, line::one(&option.name), does.unwrap_or_default());
            let tone = if at == self.option { Tone::Strong } else { Tone::Plain };
            lines.extend(paint.wrapped(tone, &text, 4, width));
        }
        for (flag, is_set) in &self.flags {
            let mark = if *is_set { "[x]" } else { "[ ]" };
            lines.push(paint.cut(Tone::Plain, &format!("  {mark} {flag}"), width));
        }
        if self.takes_amount() {
            let cursor = if self.field == Field::Grant { "▏" } else { "" };
            let grant = format!("grant: {}{cursor} (empty: the limit once more)", self.grant);
            lines.push(paint.cut(Tone::Plain, &grant, width));
        }
        let cursor = if self.field == Field::Note { "▏" } else { "" };
        lines.extend(paint.wrapped(Tone::Plain, &format!("note: {}{cursor}", self.note), 2, width));
        lines
    }

    pub fn keys(&self) -> &'static str {
        match self.field {
            Field::Option if !self.flags.is_empty() => "↑↓ option  space flag  enter next  esc back",
            Field::Option => "↑↓ option  enter next  esc back",
            Field::Grant => "2h, 500k or 2.50  enter next  esc back",
            Field::Note => "enter sends the answer  esc back",
        }
    }
}
