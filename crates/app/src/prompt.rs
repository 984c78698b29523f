//! Asks the questions of gates at the terminal, until someone answers here or from another process.

use crate::answering::{AnswerError, HumanAnswer};
use crate::environment;
use crate::gate;
use remand_kernel::Event;
use remand_kernel::event::Grants;
use remand_ledger::query::{GateRow, RequestRow};
use remand_ledger::{Reader, RunId};
use remand_terminal::output::{print_failure, tell};
use remand_terminal::{CommandFailure, Ink, Stop, invocation, line};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{BufRead, IsTerminal, Write};

/// The interval at which signals and requests are checked while the user thinks.
const POLL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The result of a question at the terminal.
pub enum PromptReply {
    /// The answer is recorded as the request with this id.
    Answered(i64),
    /// Before the user answered, another process sent this request to a run that this process drives.
    Overtaken(Box<RequestRow>),
    /// The input ended, or a signal arrived. The gate stays open.
    NoAnswer,
}

/// What the prompt received: a line, or the same as in [`PromptReply`].
enum Typed {
    Line(String),
    Overtaken(Box<RequestRow>),
    NoAnswer,
}

/// Asks the person at the terminal.
pub struct GatePrompt<'d> {
    pub reader: &'d Reader,
    pub stop: &'d Stop,
}

impl GatePrompt<'_> {
    /// Whether standard input and standard error are terminals.
    pub fn is_possible() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Asks the question of a gate until `submit` accepts the answer. Returns early when another process sends a request
    /// to a run for which `is_driven` is true.
    pub fn ask(
        &self,
        gate: &GateRow,
        is_driven: impl Fn(&RunId) -> bool,
        mut submit: impl FnMut(&HumanAnswer) -> Result<i64, AnswerError>,
    ) -> Result<PromptReply, CommandFailure> {
        let question = gate::text_of(self.reader, gate, std::slice::from_ref(gate), Ink::of_stdout())?;
        tell(&format!("\n{question}"));
        let options: Vec<&str> = gate.options.iter().map(|option| option.name.as_str()).collect();
        loop {
            let default = gate.default.as_deref().map_or_else(String::new, |default| format!(" [{default}]"));
            let prompt = line::one(&format!("{}{default}>", options.join("/")));
            let _ = write!(std::io::stderr(), "{prompt} ");
            let line = match self.next_line(&is_driven)? {
                Typed::Line(line) => line,
                Typed::Overtaken(request) => return Ok(PromptReply::Overtaken(request)),
                Typed::NoAnswer => return Ok(PromptReply::NoAnswer),
            };
            let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
            let (word, rest) = (word.trim(), rest.trim());
            let option = if word.is_empty() { gate.default.as_deref().unwrap_or_default() } else { word };
            if rest.starts_with("--") {
                let command = invocation::command(format!("answer {} {option} {rest}", gate.run));
                tell(&format!("a note cannot start with `--`; run `{command}` in another terminal instead"));
                continue;
            }
            let answer = HumanAnswer {
                option: option.to_string(),
                note: rest.to_string(),
                flags: Vec::new(),
                grants: Grants::AskedFor,
                by: environment::user(),
            };
            match submit(&answer) {
                Ok(request) => return Ok(PromptReply::Answered(request)),
                Err(error @ AnswerError::NotOffered { .. }) => print_failure(&error.into()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The next line that the user types. Reads only whole lines, so text that is typed after this returns
    /// belongs to the next question.
    fn next_line(&self, is_driven: &impl Fn(&RunId) -> bool) -> Result<Typed, CommandFailure> {
        let stdin = std::io::stdin();
        loop {
            let ready = match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&POLL)) {
                Ok(ready) => ready > 0,
                Err(Errno::INTR) => false,
                Err(error) => {
                    return Err(CommandFailure::internal_error("polling the terminal failed", &error));
                }
            };
            if self.stop.is_set() {
                return Ok(Typed::NoAnswer);
            }
            if ready {
                let mut line = String::new();
                let read = stdin.lock().read_line(&mut line);
                return Ok(if matches!(read, Ok(1..)) { Typed::Line(line) } else { Typed::NoAnswer });
            }
            let requests = self.reader.all_requests()?;
            if let Some(request) = requests.into_iter().find(|request| is_driven(&request.run)) {
                return Ok(Typed::Overtaken(Box::new(request)));
            }
        }
    }
}

impl PromptReply {
    /// Describes the request of another process, for the user whose answer is no longer needed.
    pub fn describe_request(request: &RequestRow) -> String {
        let what = match &request.event {
            Event::Answered { option, by, .. } => format!("{by} answered {}", line::one(option)),
            Event::Cancelled { by } => format!("{by} cancelled it"),
            Event::Started(_)
            | Event::Ended { .. }
            | Event::Interrupted { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::Retried { .. }
            | Event::RolledBack { .. }
            | Event::ApproachRemoved { .. }
            | Event::Reattributed { .. }
            | Event::Reverted { .. } => "a change was requested".to_string(),
        };
        format!("run {}: {what}, from another process", request.run)
    }
}
