//! Sequences that make a terminal show a notice.

use remand_notation::clean;

/// A sequence that some terminals understand; others ignore it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalSequence {
    /// One line of text.
    Osc9,
    /// A title and a text.
    Osc777,
}

impl TerminalSequence {
    /// The sequence with this name in the configuration.
    pub fn by_name(name: &str) -> Option<TerminalSequence> {
        match name {
            "osc9" => Some(TerminalSequence::Osc9),
            "osc777" => Some(TerminalSequence::Osc777),
            _ => None,
        }
    }

    /// The bytes to write. Nothing in the text can end the sequence.
    pub fn of(self, title: &str) -> String {
        let text = clean(title).replace(['\n', '\r', '\t'], " ").replace(';', ",");
        match self {
            TerminalSequence::Osc9 => format!("\u{1b}]9;{text}\u{7}"),
            TerminalSequence::Osc777 => format!("\u{1b}]777;notify;Remand;{text}\u{7}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // BY-12
    #[test]
    fn text_cannot_leave_the_sequence() {
        let text = TerminalSequence::Osc777.of("a;b\u{7}\u{1b}]0;evil\u{7}\nc");
        assert_eq!(text.matches('\u{1b}').count(), 1, "{text:?}");
        assert_eq!(text.matches('\u{7}').count(), 1, "{text:?}");
        assert!(text.starts_with("\u{1b}]777;notify;Remand;a,b") && text.ends_with("c\u{7}"), "{text:?}");
        assert!(TerminalSequence::Osc9.of("x").starts_with("\u{1b}]9;x"));
    }
}
