//! Performs the actions that the script has for one dispatch.

use super::action::{ModeChange, Outage, Replacement, ScriptAction, ScriptedLink};
use super::content::FileContent;
use super::dispatch::DispatchInfo;
use super::header::fill_in_header;
use super::script::{OnFailure, Script, ScriptEntry};
use super::usage::ScriptedTokens;
use remand_contract::to_yaml;
use remand_notation::ordered;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The exit code if the script has no entry for the dispatch.
pub const NO_ENTRY: i32 = 64;

/// The exit code if an action failed.
pub const FAILED: i32 = 65;

/// The exit code if the model's service failed.
pub const OUTAGE: i32 = 66;

/// The timeout of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How the process must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayEnding {
    Exit(i32),
    /// Killed by this signal.
    Crash(i32),
    Hang,
}

/// Performs the dispatch's actions and returns how the caller must end the process.
pub fn perform(script: &Script, info: &DispatchInfo, out: &mut dyn Write, err: &mut dyn Write) -> PlayEnding {
    let Some(entry) = script.entry(info) else {
        // If the standard error is closed, nobody reads the message.
        let _ = writeln!(
            err,
            "{}\n\nerror: the rehearsal has no entry for this dispatch; add the entry above",
            missing_entry(info, None)
        );
        return PlayEnding::Exit(NO_ENTRY);
    };
    if let Some(missing) = entry.missing(&info.brief()) {
        let _ = writeln!(err, "error: {missing}");
        return PlayEnding::Exit(FAILED);
    }
    let mut player = Player { entry, info, out, err };
    player.play().unwrap_or(PlayEnding::Exit(FAILED))
}

/// The entry that a script lacks for a dispatch. Its result has this payload, or an empty one.
pub fn missing_entry(info: &DispatchInfo, payload: Option<&Value>) -> String {
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

/// An action failed, and the entry does not continue after failures.
struct Stopped;

struct Player<'a> {
    entry: &'a ScriptEntry,
    info: &'a DispatchInfo,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

impl Player<'_> {
    fn play(&mut self) -> Result<PlayEnding, Stopped> {
        let outcome = self.write_usage();
        self.check("usage", outcome)?;
        for action in &self.entry.actions {
            match action {
                ScriptAction::Hang(_) => return Ok(PlayEnding::Hang),
                ScriptAction::Crash(signal) => return Ok(PlayEnding::Crash(signal.0)),
                ScriptAction::Exit(code) => return Ok(PlayEnding::Exit(i32::from(*code))),
                ScriptAction::Silent(_) => return Ok(PlayEnding::Exit(0)),
                ScriptAction::Service(outage) => {
                    let outcome = print_line(self.err, &describe_outage(outage));
                    self.check("service", outcome)?;
                    // An outage with `times` is temporary: an agent program that retries gets past it.
                    if outage.times.is_none() {
                        return Ok(PlayEnding::Exit(OUTAGE));
                    }
                }
                other => {
                    let outcome = self.perform_action(other);
                    self.check(&describe_action(other), outcome)?;
                }
            }
        }
        Ok(PlayEnding::Exit(0))
    }

    /// Prints the error of a failed action, and stops unless the entry continues after failures.
    fn check(&mut self, action: &str, outcome: io::Result<()>) -> Result<(), Stopped> {
        let Err(error) = outcome else { return Ok(()) };
        // If the standard error is closed, nobody reads the message.
        let _ = writeln!(self.err, "rehearsal: {action}: {error}");
        match self.entry.on_failure {
            OnFailure::Stop => Err(Stopped),
            OnFailure::GoOn => Ok(()),
        }
    }

    fn write_usage(&self) -> io::Result<()> {
        let usage = self.entry.usage.unwrap_or_default();
        let mut fields = serde_json::Map::new();
        fields.extend(usage.tokens.map(|tokens| ("tokens".to_owned(), json!(tokens.total()))));
        fields.extend(
            usage.tokens.and_then(ScriptedTokens::kinds).map(|kinds| ("kinds".to_owned(), json!(kinds))),
        );
        fields.extend(usage.money.map(|money| ("money".to_owned(), json!(money.0))));
        fields.extend(self.entry.model.as_ref().map(|model| ("model".to_owned(), json!(model))));
        match fields.is_empty() {
            true => Ok(()),
            false => fs::write(self.info.folder.join("usage.json"), ordered::line(&fields.into())),
        }
    }

    fn perform_action(&mut self, action: &ScriptAction) -> io::Result<()> {
        match action {
            ScriptAction::Write(file) => write(&self.in_tree(&file.path), file),
            ScriptAction::Append(file) => append(&self.in_tree(&file.path), file),
            ScriptAction::Patch(patch) => apply(&self.in_tree(&patch.path), patch),
            ScriptAction::Delete(path) => delete(&self.in_tree(path)),
            ScriptAction::Mkdir(path) => fs::create_dir_all(self.in_tree(path)),
            ScriptAction::Symlink(link) => symlink(&self.in_tree(&link.path), link),
            ScriptAction::Chmod(change) => chmod(&self.in_tree(&change.path), change),
            ScriptAction::Run(command) => self.run(command),
            ScriptAction::Print(text) => print_line(self.out, text),
            ScriptAction::Error(text) => print_line(self.err, text),
            ScriptAction::Result(value) => {
                let value =
                    if self.entry.raw_result { value.clone() } else { fill_in_header(value, self.info) };
                self.write_result(format!("{}\n", ordered::page(&value)).as_bytes())
            }
            ScriptAction::ResultText(text) => self.write_result(text.as_bytes()),
            ScriptAction::ResultBase64(bytes) => self.write_result(&bytes.0),
            ScriptAction::Answer(text) => print_line(self.out, text.strip_suffix('\n').unwrap_or(text)),
            ScriptAction::Sleep(pause) => {
                std::thread::sleep(pause.0);
                Ok(())
            }
            ScriptAction::Spawn(command) => self.spawn(command),
            ScriptAction::Connect(address) => connect(address),
            ScriptAction::Read(path) => read(&self.in_tree(path)),
            ScriptAction::Hang(_)
            | ScriptAction::Crash(_)
            | ScriptAction::Exit(_)
            | ScriptAction::Silent(_)
            | ScriptAction::Service(_) => Ok(()),
        }
    }

    fn in_tree(&self, path: &str) -> PathBuf {
        self.info.tree.join(path)
    }

    fn write_result(&self, bytes: &[u8]) -> io::Result<()> {
        fs::write(self.info.tree.join(&self.info.result), bytes)
    }

    fn run(&mut self, command: &str) -> io::Result<()> {
        self.out.flush()?;
        let status = Command::new("sh").arg("-c").arg(command).current_dir(&self.info.tree).status()?;
        let result = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "no exit".to_owned(),
        };
        writeln!(self.err, "rehearsal: run `{command}`: {result}")
    }

    fn spawn(&self, command: &str) -> io::Result<()> {
        let start = |program: &mut Command| {
            program.arg("-c").arg(command).current_dir(&self.info.tree).stdin(Stdio::null()).spawn()
        };
        // If `setsid` is missing, a separate process group is used instead.
        let started = match start(Command::new("setsid").arg("sh")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                start(Command::new("sh").process_group(0))
            }
            started => started,
        };
        started.map(drop)
    }
}

fn describe_action(action: &ScriptAction) -> String {
    let value = serde_json::to_value(action).unwrap_or_default();
    let Some((key, value)) = value.as_object().and_then(|object| object.iter().next()) else {
        return String::new();
    };
    match value.get("path").unwrap_or(value).as_str().and_then(|text| text.lines().next()) {
        Some(argument) => format!("{key} {argument}"),
        None => key.clone(),
    }
}

fn describe_outage(outage: &Outage) -> String {
    match outage.retry_after {
        Some(seconds) => format!("service: {}, retry after {seconds} s", outage.status),
        None => format!("service: {}", outage.status),
    }
}

fn print_line(stream: &mut dyn Write, text: &str) -> io::Result<()> {
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

fn symlink(path: &Path, link: &ScriptedLink) -> io::Result<()> {
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
    let mut last_error = io::Error::other("the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(_) => return Ok(()),
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

fn read(path: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => fs::read_dir(path)?.try_for_each(|entry| entry.map(drop)),
        false => fs::read(path).map(drop),
    }
}
