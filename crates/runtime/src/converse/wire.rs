//! JSON-RPC with the agent's process: one message a line, both ways, and everything that happens in one channel.

use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The longest line that is taken in.
const LINE: u64 = 64 * 1024 * 1024;

/// How often an end is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// What happens to a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// The agent asks for something.
    Asked { id: Value, method: String, params: Value },
    /// The agent tells something.
    Told { method: String, params: Value },
    /// The agent answers a request.
    Answered { id: Value, answer: Result<Value, Fault> },
    /// The agent will say no more.
    Closed,
    /// Somebody wants this to end.
    Cancelled,
    /// Nothing, for as long as was asked.
    Nothing,
}

/// An error of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub code: i64,
    pub message: String,
    pub data: Value,
}

/// The agent's process, and what comes from it.
pub struct Wire {
    process: Child,
    to: Option<ChildStdin>,
    happens: Receiver<Happened>,
    asked: u64,
}

impl Wire {
    /// Starts the agent in a process group of its own.
    pub fn start(argv: &[OsString]) -> io::Result<Wire> {
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (to, from) = (process.stdin.take(), process.stdout.take());
        let (happening, happens) = channel();
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        let cancelling = happening.clone();
        std::thread::spawn(move || signals.forever().try_for_each(|_| cancelling.send(Happened::Cancelled)));
        if let Some(from) = from {
            std::thread::spawn(move || listen(BufReader::new(from), &happening));
        }
        Ok(Wire { process, to, happens, asked: 0 })
    }

    /// Sends a request and gives its number.
    pub fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.asked += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}));
        self.asked
    }

    pub fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub fn answer(&mut self, id: &Value, answer: Result<Value, Fault>) {
        self.send(&match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(fault) => {
                let error = json!({"code": fault.code, "message": fault.message, "data": fault.data});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
        });
    }

    /// An agent that does not listen any more is heard of by its end.
    fn send(&mut self, message: &Value) {
        if let Some(to) = &mut self.to {
            let _ = writeln!(to, "{message}").and_then(|()| to.flush());
        }
    }

    /// The next thing that happens, before a deadline if there is one.
    pub fn next(&self, deadline: Option<Instant>) -> Happened {
        match deadline {
            None => self.happens.recv().unwrap_or(Happened::Closed),
            Some(deadline) => {
                match self.happens.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                    Ok(happened) => happened,
                    Err(RecvTimeoutError::Timeout) => Happened::Nothing,
                    Err(RecvTimeoutError::Disconnected) => Happened::Closed,
                }
            }
        }
    }

    /// Ends the agent: some go when they hear no more, some when they are asked to, and some not at all.
    pub fn end(mut self, patience: Duration) {
        drop(self.to.take());
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

/// Takes lines in until there are no more. What is no message of the protocol is somebody's print-out.
fn listen(mut from: impl BufRead, happening: &Sender<Happened>) {
    use std::io::Read;
    let mut line = Vec::new();
    while let Ok(1..) = from.by_ref().take(LINE).read_until(b'\n', &mut line) {
        let happened = serde_json::from_slice(&line).ok().and_then(understood);
        line.clear();
        if happened.is_some_and(|happened| happening.send(happened).is_err()) {
            return;
        }
    }
    let _ = happening.send(Happened::Closed);
}

fn understood(mut message: Value) -> Option<Happened> {
    let method = message.get("method").and_then(Value::as_str).map(str::to_string);
    let id = message.get("id").filter(|id| !id.is_null()).cloned();
    let params = message.get_mut("params").map(Value::take).unwrap_or_default();
    match (method, id) {
        (Some(method), Some(id)) => Some(Happened::Asked { id, method, params }),
        (Some(method), None) => Some(Happened::Told { method, params }),
        (None, Some(id)) => {
            let answer = match message.get_mut("error").map(Value::take) {
                Some(error) if !error.is_null() => Err(Fault {
                    code: error["code"].as_i64().unwrap_or_default(),
                    message: error["message"].as_str().unwrap_or_default().to_string(),
                    data: error["data"].clone(),
                }),
                Some(_) | None => Ok(message["result"].take()),
            };
            Some(Happened::Answered { id, answer })
        }
        (None, None) => None,
    }
}

impl Fault {
    /// What the protocol has for a method that nobody knows.
    pub fn unknown(method: &str) -> Fault {
        Fault { code: -32601, message: format!("`{method}` is not offered"), data: Value::Null }
    }

    pub fn refused(message: String) -> Fault {
        Fault { code: -32603, message, data: Value::Null }
    }

    /// All that it says, in one text.
    pub fn text(&self) -> String {
        let told = |key: &str| self.data.get(key).and_then(Value::as_str).map(str::to_string);
        let more = match &self.data {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            data => told("message").or_else(|| told("details")).or_else(|| Some(data.to_string())),
        };
        match more {
            Some(more) if !self.message.contains(&more) => format!("{}: {more}", self.message),
            Some(_) | None => self.message.clone(),
        }
    }
}
