//! Exit codes and the one place that prints errors.

use crate::table::Ink;
use remand_runtime::ordered;
use std::io::Write;
use std::process::ExitCode;

/// How the program ends; the numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// The user's input or configuration is wrong.
    User,
    /// A workflow was refused.
    Refused,
    /// The run failed, was stopped or cancelled.
    Failed,
    /// The run waits for a human.
    Waiting,
    /// The run is over, and its work is left to the user: nothing was committed.
    HandedOver,
    /// This process was told to stop; the run can be resumed.
    Left,
    /// Something that should always work did not.
    Internal,
}

impl Exit {
    /// Every code with its meaning, for the help text. Code 2 is a bad command line.
    pub const HELP: &str = "\
Exit codes:
  0   done
  1   wrong input or configuration
  2   bad command line
  3   a workflow is refused
  4   the run failed, was stopped or cancelled
  5   the run waits for a human
  6   the run is over, but its work is left to you: nothing was committed
  7   stopped driving by a signal; `remand resume` goes on
  70  internal error
  130 ended at once by a second signal; `remand resume` goes on";

    pub fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    /// The graver of two, for a command that did several things.
    #[must_use]
    pub fn max_with(self, other: Exit) -> Exit {
        if other.number() > self.number() { other } else { self }
    }

    pub fn number(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::User => 1,
            Exit::Refused => 3,
            Exit::Failed => 4,
            Exit::Waiting => 5,
            Exit::HandedOver => 6,
            Exit::Left => 7,
            Exit::Internal => 70,
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub what: String,
    pub causes: Vec<String>,
    pub hint: String,
}

impl Failure {
    pub fn user(what: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure { exit: Exit::User, what: what.into(), causes: Vec::new(), hint: hint.into() }
    }

    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<String>) -> Failure {
        self.causes.push(cause.into());
        self
    }

    pub fn print(&self) {
        tell(&format!("error: {}", self.what));
        for cause in &self.causes {
            tell(&format!("caused by: {cause}"));
        }
        if !self.hint.is_empty() {
            tell(&format!("hint: {}", self.hint));
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "error": self.what, "causes": self.causes, "hint": self.hint })
    }
}

/// Writes a line to standard error, harmless. There is nobody left to tell when that fails.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", Ink::of_stderr().harmless(line));
}

/// Writes to standard output, harmless; a reader that went away is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let text = Ink::of_stdout().harmless(text);
    let mut out = std::io::stdout().lock();
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") });
    match written.and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure {
            exit: Exit::Internal,
            what: "standard output cannot be written".to_string(),
            causes: vec![error.to_string()],
            hint: String::new(),
        }),
    }
}

/// Writes a value as JSON, and nothing else.
pub fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&escaped(&ordered::page(value)))
}

/// One JSON value on one line, for streams of them.
pub fn print_line(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{}\n", escaped(&ordered::line(value))))
}

/// Control characters that JSON lets through and a terminal would obey, as escapes that mean the same.
pub fn escaped(json: &str) -> String {
    let obeyed = |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    if !json.contains(obeyed) {
        return json.to_string();
    }
    json.chars().map(|c| if obeyed(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect()
}
