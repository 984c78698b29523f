//! Colour, where it helps and a terminal is there to show it.

use std::io::IsTerminal;

/// Whether colours are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Plain,
    Coloured,
}

/// What a colour stands for; the words beside it say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Doubtful,
    Bad,
    Faint,
    Strong,
}

impl Ink {
    /// Colours on a terminal that knows them, unless `NO_COLOR` is set.
    pub fn of_stdout() -> Ink {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if std::io::stdout().is_terminal() && !unwanted && !dumb { Ink::Coloured } else { Ink::Plain }
    }

    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match (self, tone) {
            (Ink::Plain, _) | (Ink::Coloured, Tone::Plain) => return text.to_string(),
            (Ink::Coloured, Tone::Good) => "32",
            (Ink::Coloured, Tone::Doubtful) => "33",
            (Ink::Coloured, Tone::Bad) => "31",
            (Ink::Coloured, Tone::Faint) => "2",
            (Ink::Coloured, Tone::Strong) => "1",
        };
        let body = text.trim_end();
        let rest = &text[body.len()..];
        if body.is_empty() { text.to_string() } else { format!("\u{1b}[{code}m{body}\u{1b}[0m{rest}") }
    }
}
