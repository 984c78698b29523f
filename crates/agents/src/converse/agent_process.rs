//! The agent's process, and the lines that it exchanges with the connection.

use super::lenient;
use agent_client_protocol::{Client, ConnectTo, Lines};
use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::sink;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest line that is read, in bytes.
const LINE: u64 = 64 * 1024 * 1024;

/// How often the exit is polled.
const LOOK: Duration = Duration::from_millis(20);

/// The agent's process.
pub struct AgentProcess {
    process: Child,
}

impl AgentProcess {
    /// Starts the agent in its own process group. Dropping the returned lines closes its standard input.
    pub fn start(argv: &[OsString]) -> io::Result<(AgentProcess, impl ConnectTo<Client> + 'static)> {
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (to, from) = (process.stdin.take(), process.stdout.take());
        let (sender, received) = unbounded();
        if let Some(from) = from {
            std::thread::spawn(move || read_messages(BufReader::new(from), &sender));
        }
        Ok((AgentProcess { process }, Lines::new(sink::unfold(to, send), received)))
    }

    /// Ends the agent. Some agents exit when their standard input closes, some need a signal, and some must be killed.
    pub fn end(mut self, timeout: Duration) {
        let group = rustix::process::Pid::from_child(&self.process);
        for (signal, time) in [(None, timeout), (Some(rustix::process::Signal::TERM), timeout / 2)] {
            if let Some(signal) = signal {
                // This fails if the group is gone already.
                let _ = rustix::process::kill_process_group(group, signal);
            }
            let until = Instant::now() + time;
            while Instant::now() < until && matches!(self.process.try_wait(), Ok(None)) {
                std::thread::sleep(LOOK);
            }
        }
        // Its children may have outlived it. An error means that nothing is left to kill or to wait for.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.process.wait();
    }
}

/// Writes a line. Errors are ignored because the agent's exit closes the connection anyway.
async fn send(mut to: Option<ChildStdin>, line: String) -> io::Result<Option<ChildStdin>> {
    if let Some(to) = &mut to {
        let _ = writeln!(to, "{line}").and_then(|()| to.flush());
    }
    Ok(to)
}

/// Reads lines until the end of the output. Lines that are not messages of the protocol are ignored.
fn read_messages(mut from: impl BufRead, sender: &UnboundedSender<io::Result<String>>) {
    use std::io::Read;
    let mut line = Vec::new();
    while let Ok(1..) = from.by_ref().take(LINE).read_until(b'\n', &mut line) {
        let message = serde_json::from_slice(&line).ok().and_then(lenient::completed);
        line.clear();
        if message.is_some_and(|message| sender.unbounded_send(Ok(message.to_string())).is_err()) {
            return;
        }
    }
}
