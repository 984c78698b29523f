//! Colours, for terminals that can show them.

use crate::line;
use remand_ledger::query::RunStage;
use std::borrow::Cow;
use std::io::IsTerminal;
use std::ops::Range;
use std::sync::OnceLock;

/// Whether to write colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Plain,
    Coloured,
}

/// When to write colours, as the user chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourChoice {
    /// On a terminal that can show them, unless `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

impl ColourChoice {
    /// The choices by their names on the command line.
    pub const NAMES: [&str; 3] = ["auto", "always", "never"];

    pub fn by_name(name: &str) -> ColourChoice {
        match name {
            "always" => ColourChoice::Always,
            "never" => ColourChoice::Never,
            _ => ColourChoice::Auto,
        }
    }
}

static CHOICE: OnceLock<ColourChoice> = OnceLock::new();

/// Records the user's choice. Only the first call has an effect.
pub fn set_choice(choice: ColourChoice) {
    let _ = CHOICE.set(choice);
}

/// The meaning of a colour. The text must be clear without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Doubtful,
    Bad,
    Faint,
    Strong,
}

impl Tone {
    /// The colour of a run's stage or outcome.
    pub fn of_stage(stage: RunStage) -> Tone {
        match stage {
            RunStage::Running => Tone::Plain,
            RunStage::Waiting | RunStage::Paused | RunStage::Interrupted | RunStage::LeftToYou => {
                Tone::Doubtful
            }
            RunStage::Committed => Tone::Good,
            RunStage::Failed | RunStage::Stopped => Tone::Bad,
        }
    }
}

impl Ink {
    /// `Coloured` if standard output is a terminal that can show colours and `NO_COLOR` is not set.
    pub fn of_stdout() -> Ink {
        Ink::for_stream(&std::io::stdout())
    }

    /// The same for standard error.
    pub fn of_stderr() -> Ink {
        Ink::for_stream(&std::io::stderr())
    }

    fn for_stream(stream: &impl IsTerminal) -> Ink {
        let is_disabled = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match CHOICE.get().copied().unwrap_or_default() {
            ColourChoice::Always => Ink::Coloured,
            ColourChoice::Auto if is_capable(stream) && !is_disabled => Ink::Coloured,
            ColourChoice::Auto | ColourChoice::Never => Ink::Plain,
        }
    }

    /// Removes control sequences from text; `Coloured` keeps colours. Everything printed for people goes through here.
    pub fn sanitize(self, text: &str) -> Cow<'_, str> {
        match self {
            Ink::Plain => line::clean(text),
            Ink::Coloured => {
                let (mut out, mut rest) = (String::with_capacity(text.len()), text);
                while let Some(colour) = first_colour(rest) {
                    out.push_str(&line::clean(&rest[..colour.start]));
                    out.push_str(&rest[colour.clone()]);
                    rest = &rest[colour.end..];
                }
                out.push_str(&line::clean(rest));
                Cow::Owned(out)
            }
        }
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

/// Whether the stream is a terminal that can show more than plain lines.
pub fn is_capable(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb")
}

/// The first escape sequence that only sets colours.
fn first_colour(text: &str) -> Option<Range<usize>> {
    text.match_indices("\u{1b}[").find_map(|(start, prefix)| {
        let parameters = &text[start + prefix.len()..];
        let length = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
        let end = start + prefix.len() + length + 1;
        parameters[length..].starts_with('m').then_some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // CORE-05
    #[test]
    fn colours_are_the_only_escapes_that_reach_a_terminal() {
        let text = "\u{1b}[1mrun\u{1b}[0m \u{1b}]0;owned\u{7}a\rb\u{9b}2Jc\u{1b}[2J\u{1b}[38;5;12md\u{8}";
        assert_eq!(Ink::Coloured.sanitize(text), "\u{1b}[1mrun\u{1b}[0m a\nbc\u{1b}[38;5;12md");
        assert_eq!(Ink::Plain.sanitize(text), "run a\nbcd");
        assert_eq!(Ink::Coloured.sanitize("\u{1b}[\u{1b}[3"), "");
    }
}
