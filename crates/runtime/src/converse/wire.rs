//! The agent's process, and the lines between it and the connection.

use super::lenient;
use agent_client_protocol::{Client, ConnectTo, Lines};
use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::sink;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest line that is taken in.
const LINE: u64 = 64 * 1024 * 1024;

/// How often an end is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// The agent's process.
pub struct Wire {
    process: Child,
}

impl Wire {
    /// Starts the agent in a process group of its own, with the lines that go to and fro. It hears no more when these
    /// are dropped.
    pub fn start(argv: &[OsString]) -> io::Result<(Wire, impl ConnectTo<Client> + 'static)> {
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (to, from) = (process.stdin.take(), process.stdout.take());
        let (hearing, heard) = unbounded();
        if let Some(from) = from {
            std::thread::spawn(move || listen(BufReader::new(from), &hearing));
        }
        Ok((Wire { process }, Lines::new(sink::unfold(to, say), heard)))
    }

    /// Ends the agent: some go when they hear no more, some when they are asked to, and some not at all.
    pub fn end(mut self, patience: Duration) {
        let group = rustix::process::Pid::from_child(&self.process);
        for (signal, time) in [(None, patience), (Some(rustix::process::Signal::TERM), patience / 2)] {
            if let Some(signal) = signal {
                let _ = rustix::process::kill_process_group(group, signal);
            }
            let until = Instant::now() + time;
            while Instant::now() < until && matches!(self.process.try_wait(), Ok(None)) {
                std::thread::sleep(LOOK);
            }
        }
        // What it started may have outlived it.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.process.wait();
    }
}

/// An agent that does not listen any more is heard of by its end.
async fn say(mut to: Option<ChildStdin>, line: String) -> io::Result<Option<ChildStdin>> {
    if let Some(to) = &mut to {
        let _ = writeln!(to, "{line}").and_then(|()| to.flush());
    }
    Ok(to)
}

/// Takes lines in until there are no more. What is no message of the protocol is somebody's print-out.
fn listen(mut from: impl BufRead, hearing: &UnboundedSender<io::Result<String>>) {
    use std::io::Read;
    let mut line = Vec::new();
    while let Ok(1..) = from.by_ref().take(LINE).read_until(b'\n', &mut line) {
        let message = serde_json::from_slice(&line).ok().and_then(lenient::completed);
        line.clear();
        if message.is_some_and(|message| hearing.unbounded_send(Ok(message.to_string())).is_err()) {
            return;
        }
    }
}
