//! Stored content on standard output: byte for byte into a pipe, cleaned on a terminal.

use super::line;
use crate::exit::{Exit, Failure, print};
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints content; a terminal gets it without escapes, and through `dress` line by line.
pub fn print_stored(bytes: &[u8], dress: impl Fn(&str) -> String) -> Result<(), Failure> {
    if !std::io::stdout().is_terminal() {
        return print_bytes(bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<String> = line::clean(&text).lines().map(dress).collect();
    print(&lines.join("\n"))
}

/// Nothing is added and nothing is taken away: a patch must stay one. A reader that went away is no error.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure {
            exit: Exit::Internal,
            what: "standard output cannot be written".to_string(),
            causes: vec![error.to_string()],
            hint: String::new(),
        }),
    }
}
