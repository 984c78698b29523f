//! Keys, from the bytes that a terminal sends.

use termion::event::{Event, Key as TerminalKey, parse_event};

/// What a person pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-L.
    Redraw,
}

/// The keys in what was read at once. Anything else, such as a report of the terminal, is left out.
pub fn keys(bytes: &[u8]) -> Vec<Key> {
    // A terminal sends the whole sequence of a key at once, so a single byte is the key itself.
    if bytes == b"\x1b" {
        return vec![Key::Escape];
    }
    let mut rest = bytes.iter().copied().map(Ok);
    let mut found = Vec::new();
    while let Some(Ok(first)) = rest.next() {
        if let Ok(Event::Key(key)) = parse_event(first, &mut rest) {
            found.extend(of_terminal(key));
        }
    }
    found
}

fn of_terminal(key: TerminalKey) -> Option<Key> {
    Some(match key {
        TerminalKey::Char('\n') => Key::Enter,
        TerminalKey::Char('\t') => Key::Tab,
        TerminalKey::Char(c) if !c.is_control() => Key::Char(c),
        TerminalKey::Esc => Key::Escape,
        TerminalKey::BackTab => Key::BackTab,
        TerminalKey::Backspace | TerminalKey::Ctrl('h') => Key::Backspace,
        TerminalKey::Up => Key::Up,
        TerminalKey::Down => Key::Down,
        TerminalKey::Left => Key::Left,
        TerminalKey::Right => Key::Right,
        TerminalKey::PageUp => Key::PageUp,
        TerminalKey::PageDown => Key::PageDown,
        TerminalKey::Home => Key::Home,
        TerminalKey::End => Key::End,
        TerminalKey::Ctrl('c') => Key::Interrupt,
        TerminalKey::Ctrl('z') => Key::Suspend,
        TerminalKey::Ctrl('l') => Key::Redraw,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_terminal_are_keys() {
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(keys(b"\x1b[A\x1b[5~q\r"), [Key::Up, Key::PageUp, Key::Char('q'), Key::Enter]);
        assert_eq!(
            keys("ä\x03\x1a\x7f".as_bytes()),
            [Key::Char('ä'), Key::Interrupt, Key::Suspend, Key::Backspace]
        );
        assert_eq!(keys(b"\x1b[200;1Rx\0"), [Key::Char('x')], "a report and a null are no keys");
    }
}
