//! The actions of a scripted agent.

use super::content::{FileContent, decode_base64, encode_base64};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::Duration;

/// One action of a scripted agent. Paths are relative to the work tree and may lead out of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptAction {
    /// Creates or replaces a file, and creates its parent folders.
    Write(FileContent),
    /// Appends to a file.
    Append(FileContent),
    /// Replaces a string that occurs exactly once in a file.
    Patch(Replacement),
    /// Removes a file, a link, or a folder with its content.
    Delete(String),
    Mkdir(String),
    /// Creates a symbolic link, replacing an existing file or link.
    Symlink(ScriptedLink),
    Chmod(ModeChange),
    /// Runs a shell command in the work tree and prints its exit status. The dispatch continues if the command fails.
    Run(String),
    /// Prints a line to the standard output.
    Print(String),
    /// Prints a line to the standard error.
    Error(String),
    /// Writes a value to the result file, with the common header filled in.
    Result(serde_json::Value),
    /// Writes this text to the result file, unchanged.
    ResultText(String),
    /// Writes these bytes to the result file.
    ResultBase64(Base64),
    /// Prints the final answer.
    Answer(String),
    Sleep(Pause),
    /// Hangs forever.
    Hang(OnlyTrue),
    Exit(#[serde(deserialize_with = "exit_code")] u8),
    /// Kills the process with a signal.
    Crash(CrashSignal),
    /// Starts a process in a separate session. It outlives the agent.
    Spawn(String),
    /// Opens a TCP connection to `host:port`.
    Connect(String),
    /// Reads a file or lists a folder.
    Read(String),
    /// The model's service responds with an error.
    Service(Outage),
    /// Ends the turn without output.
    Silent(OnlyTrue),
}

impl ScriptAction {
    /// Whether no other action can follow this one.
    pub fn is_last(&self) -> bool {
        match self {
            ScriptAction::Hang(_)
            | ScriptAction::Exit(_)
            | ScriptAction::Crash(_)
            | ScriptAction::Silent(_) => true,
            ScriptAction::Write(_)
            | ScriptAction::Append(_)
            | ScriptAction::Patch(_)
            | ScriptAction::Delete(_)
            | ScriptAction::Mkdir(_)
            | ScriptAction::Symlink(_)
            | ScriptAction::Chmod(_)
            | ScriptAction::Run(_)
            | ScriptAction::Print(_)
            | ScriptAction::Error(_)
            | ScriptAction::Result(_)
            | ScriptAction::ResultText(_)
            | ScriptAction::ResultBase64(_)
            | ScriptAction::Answer(_)
            | ScriptAction::Sleep(_)
            | ScriptAction::Spawn(_)
            | ScriptAction::Connect(_)
            | ScriptAction::Read(_)
            | ScriptAction::Service(_) => false,
        }
    }
}

fn exit_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse()
        .map_err(|_| D::Error::custom(format!("`{text}` is not an exit code; write a number from 0 to 255")))
}

/// Replaces a string in a file.
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
pub struct ScriptedLink {
    pub path: String,
    pub target: String,
}

/// Changes the permissions of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeChange {
    pub path: String,
    pub mode: FileMode,
}

/// Permissions as octal digits, such as `755`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMode(pub u32);

impl Serialize for FileMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{:03o}", self.0))
    }
}

impl<'de> Deserialize<'de> for FileMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FileMode, D::Error> {
        let text = String::deserialize(deserializer)?;
        match u32::from_str_radix(text.trim_start_matches("0o"), 8) {
            Ok(mode) if mode <= 0o7777 => Ok(FileMode(mode)),
            Ok(_) | Err(_) => {
                Err(D::Error::custom(format!("`{text}` is not a mode; write octal digits such as \"755\"")))
            }
        }
    }
}

/// An error response of the model's service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Outage {
    #[serde(deserialize_with = "error_status")]
    pub status: u16,
    /// The `Retry-After` header, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
    /// How many requests get the error; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The error message; by default one that names the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

fn error_status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.parse() {
        Ok(status @ 400..=599) => Ok(status),
        _ => Err(D::Error::custom(format!(
            "`{text}` is not an HTTP error status; write a number from 400 to 599"
        ))),
    }
}

/// A duration, such as `200ms` or `1m 30s`.
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
            D::Error::custom(format!("`{text}` is not a duration; write a number and a unit, such as 200ms"))
        })
    }
}

/// The value `true`; `false` would be meaningless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnlyTrue;

impl Serialize for OnlyTrue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

impl<'de> Deserialize<'de> for OnlyTrue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OnlyTrue, D::Error> {
        match bool::deserialize(deserializer)? {
            true => Ok(OnlyTrue),
            false => Err(D::Error::custom("only `true` is allowed here; remove the action instead")),
        }
    }
}

/// The signal that kills a process: `true` for an abort, or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashSignal(pub i32);

impl CrashSignal {
    /// The signal that `abort` sends.
    pub const ABORT: CrashSignal = CrashSignal(6);

    /// The signal with this number, or an abort if the number is not portable.
    pub fn from_number(signal: i32) -> CrashSignal {
        if (1..=31).contains(&signal) { CrashSignal(signal) } else { CrashSignal::ABORT }
    }
}

impl Serialize for CrashSignal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if *self == CrashSignal::ABORT {
            serializer.serialize_bool(true)
        } else {
            serializer.serialize_i32(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for CrashSignal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CrashSignal, D::Error> {
        let text = String::deserialize(deserializer)?;
        match (text.as_str(), text.parse()) {
            ("true", _) => Ok(CrashSignal::ABORT),
            (_, Ok(signal @ 1..=31)) => Ok(CrashSignal(signal)),
            _ => Err(D::Error::custom(format!(
                "`{text}` is not a signal; write `true` or a number from 1 to 31"
            ))),
        }
    }
}

/// Bytes that a script holds as base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64(pub Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&encode_base64(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Base64, D::Error> {
        decode_base64(&String::deserialize(deserializer)?).map(Base64).map_err(D::Error::custom)
    }
}
