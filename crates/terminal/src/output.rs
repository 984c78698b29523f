//! All printing: data goes to standard output, everything else to standard error.

use crate::exit::ExitCode;
use crate::failure::CommandFailure;
use crate::ink::Ink;
use crate::line;
use crate::table::terminal_width;
use remand_notation::ordered;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Writes text to standard error without terminal escapes, wrapped at words if a terminal shows it. Errors are ignored:
/// there is nowhere to report them.
pub fn tell(text: &str) {
    let text = Ink::of_stderr().sanitize(text);
    // Coloured lines have been wrapped already.
    let columns = terminal_width().filter(|_| io::stderr().is_terminal() && !text.contains('\u{1b}'));
    let wrapped = columns.map(|columns| {
        let lines = text.lines().flat_map(|line| line::hanging(line, 2, columns));
        lines.collect::<Vec<_>>().join("\n")
    });
    let _ = writeln!(io::stderr(), "{}", wrapped.as_deref().unwrap_or(&text));
}

/// Prints a failure to standard error.
pub fn print_failure(failure: &CommandFailure) {
    tell(&format!("error: {}", failure.what));
    for cause in &failure.causes {
        tell(&format!("caused by: {cause}"));
    }
    if !failure.hint.is_empty() {
        tell(&format!("hint: {}", failure.hint));
    }
}

/// Writes text to standard output without terminal escapes, ending with a line break.
pub fn print(text: &str) -> Result<(), CommandFailure> {
    let text = Ink::of_stdout().sanitize(text);
    let end: &[u8] = if text.ends_with('\n') { b"" } else { b"\n" };
    write(&[text.as_bytes(), end])
}

/// Writes a value as JSON, and nothing else.
pub fn print_json(value: &serde_json::Value) -> Result<(), CommandFailure> {
    print(&escape_controls(&ordered::page(value)))
}

/// Writes a value as JSON on one line, for a stream of values.
pub fn print_line(value: &serde_json::Value) -> Result<(), CommandFailure> {
    print(&format!("{}\n", escape_controls(&ordered::line(value))))
}

/// Prints stored content. A pipe or file gets it unchanged; a terminal gets formatted lines without escapes.
pub fn print_stored(bytes: &[u8], format: impl Fn(&str) -> String) -> Result<(), CommandFailure> {
    if !io::stdout().is_terminal() {
        return print_bytes(bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<String> = line::clean(&text).lines().map(format).collect();
    print(&lines.join("\n"))
}

/// Writes bytes to standard output unchanged: a patch must stay a patch.
pub fn print_bytes(bytes: &[u8]) -> Result<(), CommandFailure> {
    write(&[bytes])
}

/// Writes to standard output. A broken pipe is not a failure: the reader has seen enough.
fn write(parts: &[&[u8]]) -> Result<(), CommandFailure> {
    let mut out = io::stdout().lock();
    match parts.iter().try_for_each(|part| out.write_all(part)).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CommandFailure {
            exit: ExitCode::Internal,
            what: "standard output cannot be written".to_string(),
            causes: vec![error.to_string()],
            hint: String::new(),
        }),
    }
}

/// Escapes control characters that JSON allows, but that a terminal would obey.
pub fn escape_controls(json: &str) -> String {
    let is_obeyed = |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    if !json.contains(is_obeyed) {
        return json.to_string();
    }
    json.chars()
        .map(|c| if is_obeyed(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() })
        .collect()
}
