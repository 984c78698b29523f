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

/// The maximum length of a line.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// How often the exit is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The agent's process.
pub struct AgentProcess {
    process: Child,
}

impl AgentProcess {
    /// Starts the agent in its own process group. Dropping the returned lines closes the agent's stdin.
    pub fn start(argv: &[OsString]) -> io::Result<(AgentProcess, impl ConnectTo<Client> + 'static)> {
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        let (sender, received) = unbounded();
        if let Some(stdout) = stdout {
            std::thread::spawn(move || read_messages(BufReader::new(stdout), &sender));
        }
        Ok((AgentProcess { process }, Lines::new(sink::unfold(stdin, send_line), received)))
    }

    /// Ends the agent. Some agents exit when their standard input closes, some need a signal, and some must be killed.
    pub fn end(mut self, timeout: Duration) {
        let group = rustix::process::Pid::from_child(&self.process);
        for (signal, wait) in [(None, timeout), (Some(rustix::process::Signal::TERM), timeout / 2)] {
            if let Some(signal) = signal {
                // This fails if the process group has already ended.
                let _ = rustix::process::kill_process_group(group, signal);
            }
            let deadline = Instant::now() + wait;
            while Instant::now() < deadline && matches!(self.process.try_wait(), Ok(None)) {
                std::thread::sleep(POLL_INTERVAL);
            }
        }
        // The agent's children may have outlived it. An error means that nothing is left to kill or to wait for.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.process.wait();
    }
}

/// Writes a line. Errors are ignored because the agent's exit closes the connection anyway.
async fn send_line(mut stdin: Option<ChildStdin>, line: String) -> io::Result<Option<ChildStdin>> {
    if let Some(stdin) = &mut stdin {
        let _ = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
    }
    Ok(stdin)
}

/// Reads lines until the end of the output. Lines that are not messages of the protocol are ignored.
fn read_messages(mut output: impl BufRead, sender: &UnboundedSender<io::Result<String>>) {
    use std::io::Read;
    let mut line = Vec::new();
    while let Ok(1..) = output.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
        let message = serde_json::from_slice(&line).ok().and_then(lenient::complete);
        line.clear();
        if message.is_some_and(|message| sender.unbounded_send(Ok(message.to_string())).is_err()) {
            return;
        }
    }
}
