//! Does what the script says for one dispatch.

use super::action::{Action, Link, ModeChange, Outage, Replacement};
use super::content::FileContent;
use super::dispatch::DispatchInfo;
use super::header::completed;
use super::script::{Entry, OnFailure, Script};
use super::usage::Tokens;
use crate::contract::to_yaml;
use crate::ordered;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The exit code of a dispatch that the script does not know.
pub const NO_ENTRY: i32 = 64;

/// The exit code of a dispatch that stopped at an action that could not be done.
pub const FAILED: i32 = 65;

/// The exit code of a dispatch whose model could not be reached.
pub const OUTAGE: i32 = 1;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// How a played dispatch goes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exit(i32),
    /// By this signal.
    Crash(i32),
    Hang,
}

/// Does what the script says for the dispatch, up to its ending, which is the caller's to carry out.
pub fn perform(script: &Script, info: &DispatchInfo, out: &mut dyn Write, err: &mut dyn Write) -> Ending {
    let Some(entry) = script.entry(info) else {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(
            err,
            "{}\n\nerror: the rehearsal has no entry for this dispatch; add the one above",
            missing(info, None)
        );
        return Ending::Exit(NO_ENTRY);
    };
    let mut player = Player { entry, info, out, err };
    player.play().unwrap_or(Ending::Exit(FAILED))
}

/// Shows the entry that a script lacks for a dispatch, with this payload of its result if one is known.
pub fn missing(info: &DispatchInfo, payload: Option<&Value>) -> String {
    let mut keys = vec![("role", &info.role), ("phase", &info.phase)];
    keys.extend(info.task.as_ref().map(|task| ("task", task)));
    keys.extend(info.item.as_ref().map(|item| ("item", item)));
    let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key}: {}", json!(value))).collect();
    let result = match payload {
        Some(payload) => {
            let indented =
                |line: &str| if line.is_empty() { "\n".to_string() } else { format!("\n            {line}") };
            let lines: String = to_yaml(payload).lines().map(indented).collect();
            format!("\n          payload:{lines}")
        }
        None => " {payload: {}}".to_string(),
    };
    format!(
        "  - {}\n    round: {}\n    attempt: {}\n    do:\n      - result:{result}",
        keys.join("\n    "),
        info.round,
        info.attempt
    )
}

struct Stopped;

struct Player<'a> {
    entry: &'a Entry,
    info: &'a DispatchInfo,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

impl Player<'_> {
    fn play(&mut self) -> Result<Ending, Stopped> {
        let noted = self.note_usage();
        self.judge("usage", noted)?;
        for action in &self.entry.actions {
            match action {
                Action::Hang(_) => return Ok(Ending::Hang),
                Action::Crash(blow) => return Ok(Ending::Crash(blow.0)),
                Action::Exit(code) => return Ok(Ending::Exit(i32::from(*code))),
                Action::Silent(_) => return Ok(Ending::Exit(0)),
                Action::Service(outage) => {
                    let told = line(self.err, &words(outage));
                    self.judge("service", told)?;
                    // A client that waits and asks again gets through; a process has nobody to ask.
                    if outage.times.is_none() {
                        return Ok(Ending::Exit(OUTAGE));
                    }
                }
                other => {
                    let done = self.act(other);
                    self.judge(&name(other), done)?;
                }
            }
        }
        Ok(Ending::Exit(0))
    }

    /// Says what could not be done, and stops unless the entry goes on.
    fn judge(&mut self, what: &str, done: io::Result<()>) -> Result<(), Stopped> {
        let Err(error) = done else { return Ok(()) };
        let _ = writeln!(self.err, "rehearsal: {what}: {error}");
        match self.entry.on_failure {
            OnFailure::Stop => Err(Stopped),
            OnFailure::GoOn => Ok(()),
        }
    }

    fn note_usage(&self) -> io::Result<()> {
        let usage = self.entry.usage.unwrap_or_default();
        let mut noted = serde_json::Map::new();
        noted.extend(usage.tokens.map(|tokens| ("tokens".to_owned(), json!(tokens.total()))));
        noted.extend(usage.tokens.and_then(Tokens::kinds).map(|kinds| ("kinds".to_owned(), json!(kinds))));
        noted.extend(usage.money.map(|money| ("money".to_owned(), json!(money.0))));
        noted.extend(self.entry.model.as_ref().map(|model| ("model".to_owned(), json!(model))));
        match noted.is_empty() {
            true => Ok(()),
            false => fs::write(self.info.folder.join("usage.json"), ordered::line(&noted.into())),
        }
    }

    fn act(&mut self, action: &Action) -> io::Result<()> {
        match action {
            Action::Write(file) => write(&self.place(&file.path), file),
            Action::Append(file) => append(&self.place(&file.path), file),
            Action::Patch(patch) => apply(&self.place(&patch.path), patch),
            Action::Delete(path) => delete(&self.place(path)),
            Action::Mkdir(path) => fs::create_dir_all(self.place(path)),
            Action::Symlink(link) => symlink(&self.place(&link.path), link),
            Action::Chmod(change) => chmod(&self.place(&change.path), change),
            Action::Run(command) => self.run(command),
            Action::Print(text) => line(self.out, text),
            Action::Error(text) => line(self.err, text),
            Action::Result(value) => {
                let value = if self.entry.raw_result { value.clone() } else { completed(value, self.info) };
                self.result(format!("{}\n", ordered::page(&value)).as_bytes())
            }
            Action::ResultText(text) => self.result(text.as_bytes()),
            Action::ResultBase64(bytes) => self.result(&bytes.0),
            Action::Answer(text) => line(self.out, text.strip_suffix('\n').unwrap_or(text)),
            Action::Sleep(pause) => {
                std::thread::sleep(pause.0);
                Ok(())
            }
            Action::Spawn(command) => self.spawn(command),
            Action::Connect(address) => connect(address),
            Action::Read(path) => read(&self.place(path)),
            Action::Hang(_) | Action::Crash(_) | Action::Exit(_) | Action::Silent(_) | Action::Service(_) => {
                Ok(())
            }
        }
    }

    fn place(&self, path: &str) -> PathBuf {
        self.info.tree.join(path)
    }

    fn result(&self, bytes: &[u8]) -> io::Result<()> {
        fs::write(self.info.tree.join(&self.info.result), bytes)
    }

    fn run(&mut self, command: &str) -> io::Result<()> {
        self.out.flush()?;
        let status = Command::new("sh").arg("-c").arg(command).current_dir(&self.info.tree).status()?;
        let how = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "no exit".to_owned(),
        };
        writeln!(self.err, "rehearsal: run `{command}`: {how}")
    }

    fn spawn(&self, command: &str) -> io::Result<()> {
        let start = |program: &mut Command| {
            program.arg("-c").arg(command).current_dir(&self.info.tree).stdin(Stdio::null()).spawn()
        };
        // Where there is no `setsid`, at least the group is left.
        let started = match start(Command::new("setsid").arg("sh")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                start(Command::new("sh").process_group(0))
            }
            started => started,
        };
        started.map(drop)
    }
}

fn name(action: &Action) -> String {
    let value = serde_json::to_value(action).unwrap_or_default();
    let Some((key, value)) = value.as_object().and_then(|object| object.iter().next()) else {
        return String::new();
    };
    match value.get("path").unwrap_or(value).as_str().and_then(|text| text.lines().next()) {
        Some(what) => format!("{key} {what}"),
        None => key.clone(),
    }
}

fn words(outage: &Outage) -> String {
    match outage.retry_after {
        Some(seconds) => format!("service: {}, retry after {seconds} s", outage.status),
        None => format!("service: {}", outage.status),
    }
}

fn line(stream: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(stream, "{text}")?;
    stream.flush()
}

fn write(path: &Path, file: &FileContent) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, file.content.bytes())
}

fn append(path: &Path, file: &FileContent) -> io::Result<()> {
    fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(file.content.bytes())
}

fn apply(path: &Path, patch: &Replacement) -> io::Result<()> {
    let text = fs::read_to_string(path)?;
    match text.matches(&patch.find).count() {
        1 if !patch.find.is_empty() => fs::write(path, text.replacen(&patch.find, &patch.replace, 1)),
        count => Err(io::Error::other(format!(
            "the text to find occurs {count} times; it must occur exactly once"
        ))),
    }
}

fn delete(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    }
}

fn symlink(path: &Path, link: &Link) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => std::os::unix::fs::symlink(&link.target, path),
    }
}

fn chmod(path: &Path, change: &ModeChange) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(change.mode.0))
}

fn connect(address: &str) -> io::Result<()> {
    let mut last = io::Error::other("the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn read(path: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => fs::read_dir(path)?.try_for_each(|entry| entry.map(drop)),
        false => fs::read(path).map(drop),
    }
}
