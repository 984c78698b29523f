//! Makes a rehearsal of what dispatches did, so that any run can be played again.

use super::action::{Action, Always, Base64, Blow, Link, Mode, ModeChange};
use super::content::{Content, FileContent};
use super::dispatch::DispatchInfo;
use super::fault::ScriptError;
use super::script::{Entry, Script};
use super::usage::Usage;
use crate::ordered;
use crate::process::Exit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What one dispatch did, as the engine saw it.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub info: DispatchInfo,
    /// What is different in the work tree, by paths below it; what became of another kind (a file now a link) comes
    /// as a deletion and its new form.
    pub changes: Vec<Change>,
    /// The result file, byte for byte.
    pub result: Option<Vec<u8>>,
    /// The final answer, where the agent printed one.
    pub answer: Option<String>,
    /// What it said on the standard error, where that tells why it failed.
    pub last_words: Option<String>,
    pub usage: Usage,
    pub model: Option<String>,
    pub exit: Exit,
}

/// One difference that a dispatch made in the work tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    Delete {
        path: PathBuf,
    },
    Mkdir {
        path: PathBuf,
    },
    /// A file's new content, and its permissions where they changed or it is new.
    Write {
        path: PathBuf,
        bytes: Vec<u8>,
        mode: Option<u32>,
    },
    Symlink {
        path: PathBuf,
        target: PathBuf,
    },
    Chmod {
        path: PathBuf,
        mode: u32,
    },
}

impl Change {
    fn deleted(&self) -> Option<&Path> {
        match self {
            Change::Delete { path } => Some(path),
            Change::Mkdir { .. } | Change::Write { .. } | Change::Symlink { .. } | Change::Chmod { .. } => {
                None
            }
        }
    }
}

/// Why a recording cannot be written down.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("the path {} is not UTF-8 and cannot stand in a rehearsal", path.display())]
    Path { path: PathBuf },
    #[error("the rehearsal cannot be written as YAML: {why}")]
    Unwritable { why: String },
    #[error("the rehearsal does not read back")]
    Unreadable { source: ScriptError },
    #[error("the rehearsal reads back as something else")]
    Changed,
}

/// A rehearsal in the making.
#[derive(Clone, Debug)]
pub struct Recording {
    script: Script,
}

impl Recording {
    pub fn new(about: impl Into<String>) -> Recording {
        Recording { script: Script::new(about, Vec::new()) }
    }

    /// Adds what a dispatch did as an entry that fits this dispatch only.
    pub fn add(&mut self, recorded: &Recorded) -> Result<(), RecordingError> {
        self.script.dispatches.push(entry(recorded)?);
        Ok(())
    }

    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Writes the rehearsal, and proves that it reads back as the same.
    ///
    /// Text that YAML does not carry unchanged is written in base64.
    pub fn to_yaml(&self) -> Result<String, RecordingError> {
        match written(&self.script) {
            Err(RecordingError::Changed | RecordingError::Unreadable { .. }) => {
                written(&encoded(&self.script))
            }
            written => written,
        }
    }
}

fn written(script: &Script) -> Result<String, RecordingError> {
    let text = serde_saphyr::to_string(script)
        .map_err(|error| RecordingError::Unwritable { why: error.to_string() })?;
    let back = Script::parse(&text, "recording").map_err(|source| RecordingError::Unreadable { source })?;
    match back == *script {
        true => Ok(text),
        false => Err(RecordingError::Changed),
    }
}

fn entry(recorded: &Recorded) -> Result<Entry, RecordingError> {
    let info = &recorded.info;
    let mut changes = recorded.changes.clone();
    // A deletion makes room for what comes in its place, and a folder stands before what it holds.
    changes.sort();
    let deleted: BTreeSet<&Path> = changes.iter().filter_map(Change::deleted).collect();
    let is_gone = |path: &Path| path.ancestors().skip(1).any(|above| deleted.contains(above));
    let mut actions = Vec::new();
    for change in changes.iter().filter(|change| !change.deleted().is_some_and(is_gone)) {
        actions.extend(change_actions(change, &info.tree)?);
    }
    if let Some(answer) = &recorded.answer {
        actions.push(Action::Answer(answer.clone()));
    }
    if let Some(words) = &recorded.last_words {
        actions.push(Action::Error(words.clone()));
    }
    if let Some(result) = &recorded.result {
        actions.push(result_action(result));
    }
    actions.extend(match recorded.exit {
        Exit::Code(0) | Exit::Lingered => None,
        Exit::Code(code) => Some(Action::Exit(u8::try_from(code).unwrap_or(u8::MAX))),
        Exit::Signal(signal) => Some(Action::Crash(Blow::of(signal))),
        Exit::TimedOut | Exit::Silent | Exit::Cancelled => Some(Action::Hang(Always)),
    });
    Ok(Entry {
        role: info.role.clone(),
        task: info.task.clone(),
        item: info.item.clone(),
        phase: Some(info.phase.clone()),
        round: Some(info.round),
        attempt: Some(info.attempt),
        actions,
        usage: (recorded.usage != Usage::default()).then_some(recorded.usage),
        model: recorded.model.clone(),
        raw_result: true,
        ..Entry::default()
    })
}

fn change_actions(change: &Change, tree: &Path) -> Result<Vec<Action>, RecordingError> {
    let text = |path: &Path| {
        let path = path.strip_prefix(tree).unwrap_or(path);
        path.to_str().map(str::to_owned).ok_or_else(|| RecordingError::Path { path: path.into() })
    };
    let chmod = |path: &str, mode: u32| {
        Action::Chmod(ModeChange { path: path.to_owned(), mode: Mode(mode & 0o7777) })
    };
    Ok(match change {
        Change::Delete { path } => vec![Action::Delete(text(path)?)],
        Change::Mkdir { path } => vec![Action::Mkdir(text(path)?)],
        Change::Write { path, bytes, mode } => {
            let path = text(path)?;
            let mode = mode.map(|mode| chmod(&path, mode));
            let file = Action::Write(FileContent { path, content: Content::of(bytes) });
            [Some(file), mode].into_iter().flatten().collect()
        }
        Change::Symlink { path, target } => {
            let target = target.to_str().ok_or_else(|| RecordingError::Path { path: target.clone() })?;
            vec![Action::Symlink(Link { path: text(path)?, target: target.to_owned() })]
        }
        Change::Chmod { path, mode } => vec![chmod(&text(path)?, *mode)],
    })
}

/// Takes the result as a value where writing that again gives the same bytes.
fn result_action(bytes: &[u8]) -> Action {
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes)
        && page(&value) == bytes
    {
        return Action::Result(value);
    }
    match Content::of(bytes) {
        Content::Text(text) => Action::ResultText(text),
        Content::Bytes(bytes) => Action::ResultBase64(Base64(bytes)),
    }
}

/// A result as it is played.
fn page(value: &serde_json::Value) -> Vec<u8> {
    format!("{}\n", ordered::page(value)).into_bytes()
}

/// Puts everything that may be long text into base64.
fn encoded(script: &Script) -> Script {
    let mut script = script.clone();
    for action in script.dispatches.iter_mut().flat_map(|entry| &mut entry.actions) {
        match action {
            Action::Write(file) => file.content = file.content.clone().encoded(),
            Action::Result(value) => {
                *action = Action::ResultBase64(Base64(page(value)));
            }
            Action::ResultText(text) => *action = Action::ResultBase64(Base64(text.clone().into_bytes())),
            _ => {}
        }
    }
    script
}
