//! Gates at the terminal: they are put to whoever sits there, until somebody answers, here or from another process.

use crate::cli;
use crate::commands::gates;
use crate::driving;
use crate::exit::{Failure, tell};
use crate::progress::Stop;
use crate::table::{Ink, line};
use crate::workplace::{internal, of_ledger};
use remand_kernel::Event;
use remand_ledger::query::{GateRow, RequestRow};
use remand_ledger::{Reader, RunId};
use remand_runtime::redact::Redactor;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{BufRead, IsTerminal, Write};

/// How often whoever is asked is left alone before the next look at signals and other processes.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// What came of a question at the terminal.
pub enum Reply {
    Answered(Event),
    /// Another process asks something of a run that is driven here.
    Overtaken(RequestRow),
    /// The end of input, or a signal: the gate waits.
    Silence,
}

/// What somebody typed, unless something came first.
enum Typed {
    Line(String),
    Overtaken(RequestRow),
    Silence,
}

/// Puts gates to the person at the terminal.
pub struct Terminal<'d> {
    pub reader: &'d Reader,
    pub redactor: &'d Redactor,
    pub stop: &'d Stop,
}

impl Terminal<'_> {
    /// Whether somebody can be asked here.
    pub fn is_there() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Puts a gate. Other processes are heeded meanwhile, as far as they want something of the runs that `driven` knows.
    pub fn ask(&self, gate: &GateRow, driven: impl Fn(&RunId) -> bool) -> Result<Reply, Failure> {
        let question = gates::text_of(self.reader, gate, std::slice::from_ref(gate), Ink::of_stdout())?;
        tell(&format!("\n{question}"));
        let options: Vec<&str> = gate.options.iter().map(|option| option.name.as_str()).collect();
        loop {
            let default = gate.default.as_deref().map_or_else(String::new, |default| format!(" [{default}]"));
            let prompt = line::one(&format!("{}{default}>", options.join("/")));
            let _ = write!(std::io::stderr(), "{prompt} ");
            let line = match self.next_line(&driven)? {
                Typed::Line(line) => line,
                Typed::Overtaken(request) => return Ok(Reply::Overtaken(request)),
                Typed::Silence => return Ok(Reply::Silence),
            };
            let (word, note) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
            let word = if word.is_empty() { gate.default.as_deref().unwrap_or_default() } else { word };
            if note.trim_start().starts_with("--") {
                let command = cli::command(format!("answer {} {word} {}", gate.run, note.trim()));
                tell(&format!("a note does not begin with `--`; `{command}` in another terminal does that"));
                continue;
            }
            if let Some(option) = options.iter().find(|option| **option == word) {
                let note = self.redactor.redact(note.trim());
                return driving::answered(gate, option, &note).map(Reply::Answered);
            }
            tell(&format!(
                "`{word}` is not offered; answer with one of {}, and a note behind it if you like",
                options.join(", ")
            ));
        }
    }

    /// The next line that somebody types. Nothing is read before a whole line is there: what is typed after this was
    /// given up belongs to whoever asks next.
    fn next_line(&self, driven: &impl Fn(&RunId) -> bool) -> Result<Typed, Failure> {
        let stdin = std::io::stdin();
        loop {
            let ready = match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&LOOK)) {
                Ok(ready) => ready > 0,
                Err(Errno::INTR) => false,
                Err(error) => return Err(internal("the terminal cannot be waited for", &error)),
            };
            if self.stop.is_set() {
                return Ok(Typed::Silence);
            }
            if ready {
                let mut line = String::new();
                let read = stdin.lock().read_line(&mut line);
                return Ok(if matches!(read, Ok(1..)) { Typed::Line(line) } else { Typed::Silence });
            }
            let requests = self.reader.all_requests().map_err(|error| of_ledger(&error))?;
            if let Some(request) = requests.into_iter().find(|request| driven(&request.run)) {
                return Ok(Typed::Overtaken(request));
            }
        }
    }
}

/// What another process asks of a run, for somebody whose answer is no longer waited for.
pub fn told(request: &RequestRow) -> String {
    let what = match &request.event {
        Event::Answered { option, by, .. } => format!("{by} answered {}", line::one(option)),
        Event::Cancelled { by } => format!("cancelled by {by}"),
        Event::Started(_)
        | Event::Ended { .. }
        | Event::Interrupted { .. }
        | Event::Paused { .. }
        | Event::Resumed { .. }
        | Event::RolledBack { .. }
        | Event::ApproachRemoved { .. }
        | Event::Reattributed { .. }
        | Event::Reverted { .. } => "something is asked of it".to_string(),
    };
    format!("run {}: {what}, from another process", request.run)
}
