//! One thing that a scripted agent does.

use super::content::{FileContent, decoded, encoded};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// One thing that a scripted agent does; paths are relative to the work tree, and may lead out of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Makes or replaces a file, and the folders above it.
    Write(FileContent),
    /// Adds to the end of a file.
    Append(FileContent),
    /// Replaces a text that occurs exactly once in a file.
    Patch(Replacement),
    /// Removes a file, a link, or a folder with all in it.
    Delete(String),
    Mkdir(String),
    /// Makes a link in the place of whatever file or link was there.
    Symlink(Link),
    Chmod(ModeChange),
    /// Runs a shell command in the work tree and says how it ended; a failure stops nothing.
    Run(String),
    /// Prints a line to the standard output.
    Print(String),
    /// Prints a line to the standard error.
    Error(String),
    /// Writes a value to the result file, completed by the common header.
    Result(serde_json::Value),
    /// Writes these characters to the result file, whatever they are.
    ResultText(String),
    /// Writes these bytes to the result file.
    ResultBase64(Base64),
    /// Prints the final answer.
    Answer(String),
    Sleep(Pause),
    /// Never ends by itself.
    Hang(Always),
    Exit(#[serde(deserialize_with = "exit_code")] u8),
    /// Ends by a signal.
    Crash(Blow),
    /// Starts a process in a session of its own that outlives the agent.
    Spawn(String),
    /// Opens a TCP connection to `host:port`.
    Connect(String),
    /// Reads a file or lists a folder.
    Read(String),
    /// The service of the model answers with an error.
    Service(Outage),
    /// Ends the turn without a word.
    Silent(Always),
}

impl Action {
    /// Tells whether nothing can happen after it.
    pub fn is_last(&self) -> bool {
        match self {
            Action::Hang(_) | Action::Exit(_) | Action::Crash(_) | Action::Silent(_) => true,
            Action::Write(_)
            | Action::Append(_)
            | Action::Patch(_)
            | Action::Delete(_)
            | Action::Mkdir(_)
            | Action::Symlink(_)
            | Action::Chmod(_)
            | Action::Run(_)
            | Action::Print(_)
            | Action::Error(_)
            | Action::Result(_)
            | Action::ResultText(_)
            | Action::ResultBase64(_)
            | Action::Answer(_)
            | Action::Sleep(_)
            | Action::Spawn(_)
            | Action::Connect(_)
            | Action::Read(_)
            | Action::Service(_) => false,
        }
    }
}

fn exit_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse()
        .map_err(|_| D::Error::custom(format!("`{text}` is no exit code; write a number from 0 to 255")))
}

/// A text in a file and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    pub path: String,
    pub find: String,
    pub replace: String,
}

/// A symbolic link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub path: String,
    pub target: String,
}

/// A change of permissions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeChange {
    pub path: String,
    pub mode: Mode,
}

/// Permissions as octal digits, such as `755`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode(pub u32);

impl Serialize for Mode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{:03o}", self.0))
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Mode, D::Error> {
        let text = String::deserialize(deserializer)?;
        match u32::from_str_radix(text.trim_start_matches("0o"), 8) {
            Ok(mode) if mode <= 0o7777 => Ok(Mode(mode)),
            Ok(_) | Err(_) => {
                Err(D::Error::custom(format!("`{text}` is no mode; write octal digits such as \"755\"")))
            }
        }
    }
}

/// An error of the model's service, by its HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Outage {
    #[serde(deserialize_with = "error_status")]
    pub status: u16,
    /// How many seconds the service asks to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
    /// How many requests meet it; all of them when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

fn error_status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.parse() {
        Ok(status @ 400..=599) => Ok(status),
        _ => Err(D::Error::custom(format!(
            "`{text}` is no error of a service; write a number from 400 to 599"
        ))),
    }
}

/// A length of time, such as `200ms` or `1m 30s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause(pub Duration);

impl Serialize for Pause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let duration = jiff::SignedDuration::try_from(self.0).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&format!("{duration:#}"))
    }
}

impl<'de> Deserialize<'de> for Pause {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pause, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parsed: Option<jiff::SignedDuration> = text.parse().ok();
        let duration = parsed.and_then(|duration| Duration::try_from(duration).ok());
        duration.map(Pause).ok_or_else(|| {
            D::Error::custom(format!("`{text}` is no time; write a number and a unit, such as 200ms"))
        })
    }
}

/// Stands for `true` where `false` would mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Always;

impl Serialize for Always {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

impl<'de> Deserialize<'de> for Always {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Always, D::Error> {
        match bool::deserialize(deserializer)? {
            true => Ok(Always),
            false => Err(D::Error::custom("only `true` makes sense here; leave the action out instead")),
        }
    }
}

/// The signal that ends a process: `true` for that of an abort, or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blow(pub i32);

impl Blow {
    /// What a program does to itself when it cannot go on.
    pub const ABORT: Blow = Blow(6);

    /// A signal that ends processes everywhere; others count as an abort.
    pub fn of(signal: i32) -> Blow {
        if (1..=31).contains(&signal) { Blow(signal) } else { Blow::ABORT }
    }
}

impl Serialize for Blow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == Blow::ABORT { serializer.serialize_bool(true) } else { serializer.serialize_i32(self.0) }
    }
}

impl<'de> Deserialize<'de> for Blow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Blow, D::Error> {
        let text = String::deserialize(deserializer)?;
        match (text.as_str(), text.parse()) {
            ("true", _) => Ok(Blow::ABORT),
            (_, Ok(signal @ 1..=31)) => Ok(Blow(signal)),
            _ => Err(D::Error::custom(format!(
                "`{text}` is no signal; write `true`, or a number from 1 to 31"
            ))),
        }
    }
}

/// Bytes that stand in a script as base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64(pub Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&encoded(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Base64, D::Error> {
        decoded(&String::deserialize(deserializer)?).map(Base64).map_err(D::Error::custom)
    }
}
