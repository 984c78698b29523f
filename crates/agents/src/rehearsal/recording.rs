//! Records dispatches as a rehearsal, so that any run can be replayed.

use super::action::{Base64, CrashSignal, FileMode, ModeChange, OnlyTrue, ScriptAction, ScriptedLink};
use super::content::{FileContent, ScriptedContent};
use super::dispatch::DispatchInfo;
use super::fault::ScriptError;
use super::script::{Script, ScriptEntry};
use super::usage::ScriptedUsage;
use remand_notation::ordered;
use remand_process::Exit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The actions of one dispatch, as the engine observed them.
#[derive(Clone, Debug)]
pub struct RecordedDispatch {
    pub info: DispatchInfo,
    /// Changes in the work tree, by relative path. A path that changed its type, such as a file that became a link, has a
    /// deletion and a creation.
    pub changes: Vec<RecordedChange>,
    /// The result file, byte for byte.
    pub result: Option<Vec<u8>>,
    /// The final answer, if the agent printed one.
    pub answer: Option<String>,
    /// The agent's standard error, if it explains a failure.
    pub stderr: Option<String>,
    pub usage: ScriptedUsage,
    pub model: Option<String>,
    pub exit: Exit,
}

/// One change in the work tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordedChange {
    Delete {
        path: PathBuf,
    },
    Mkdir {
        path: PathBuf,
    },
    /// A file's new content, and its permissions if they changed or the file is new.
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

impl RecordedChange {
    fn deleted_path(&self) -> Option<&Path> {
        match self {
            RecordedChange::Delete { path } => Some(path),
            RecordedChange::Mkdir { .. }
            | RecordedChange::Write { .. }
            | RecordedChange::Symlink { .. }
            | RecordedChange::Chmod { .. } => None,
        }
    }
}

/// Why a recording cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    #[error("the path {} is not UTF-8, so a rehearsal cannot contain it", path.display())]
    Path { path: PathBuf },
    #[error("the rehearsal cannot be written as YAML: {why}")]
    Unwritable { why: String },
    #[error("the written rehearsal cannot be read")]
    Unreadable { source: ScriptError },
    #[error("the written rehearsal differs from the recording")]
    Changed,
}

/// A rehearsal that is being recorded.
#[derive(Clone, Debug)]
pub struct Recording {
    script: Script,
}

impl Recording {
    pub fn new(about: impl Into<String>) -> Recording {
        Recording { script: Script::new(about, Vec::new()) }
    }

    /// Adds an entry that matches only this dispatch.
    pub fn add(&mut self, recorded: &RecordedDispatch) -> Result<(), RecordingError> {
        self.script.dispatches.push(entry_for(recorded)?);
        Ok(())
    }

    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Writes the rehearsal. Text that YAML does not preserve is written as base64.
    pub fn to_yaml(&self) -> Result<String, RecordingError> {
        match write_checked(&self.script) {
            Err(RecordingError::Changed | RecordingError::Unreadable { .. }) => {
                write_checked(&with_base64(&self.script))
            }
            outcome => outcome,
        }
    }
}

/// Writes the script and checks that it reads back unchanged.
fn write_checked(script: &Script) -> Result<String, RecordingError> {
    let text = serde_saphyr::to_string(script)
        .map_err(|error| RecordingError::Unwritable { why: error.to_string() })?;
    let parsed = Script::parse(&text, "recording").map_err(|source| RecordingError::Unreadable { source })?;
    match parsed == *script {
        true => Ok(text),
        false => Err(RecordingError::Changed),
    }
}

fn entry_for(recorded: &RecordedDispatch) -> Result<ScriptEntry, RecordingError> {
    let info = &recorded.info;
    let mut changes = recorded.changes.clone();
    // Sorting puts deletions first, so that their paths are free, and folders before their content.
    changes.sort();
    let deleted: BTreeSet<&Path> = changes.iter().filter_map(RecordedChange::deleted_path).collect();
    let is_in_deleted_folder = |path: &Path| path.ancestors().skip(1).any(|above| deleted.contains(above));
    let mut actions = Vec::new();
    for change in changes.iter().filter(|change| !change.deleted_path().is_some_and(is_in_deleted_folder)) {
        actions.extend(change_actions(change, &info.tree)?);
    }
    if let Some(answer) = &recorded.answer {
        actions.push(ScriptAction::Answer(answer.clone()));
    }
    if let Some(stderr) = &recorded.stderr {
        actions.push(ScriptAction::Error(stderr.clone()));
    }
    if let Some(result) = &recorded.result {
        actions.push(result_action(result));
    }
    actions.extend(match recorded.exit {
        Exit::Code(0) | Exit::Lingered => None,
        Exit::Code(code) => Some(ScriptAction::Exit(u8::try_from(code).unwrap_or(u8::MAX))),
        Exit::Signal(signal) => Some(ScriptAction::Crash(CrashSignal::from_number(signal))),
        Exit::TimedOut | Exit::Silent | Exit::Cancelled => Some(ScriptAction::Hang(OnlyTrue)),
    });
    Ok(ScriptEntry {
        role: info.role.clone(),
        task: info.task.clone(),
        item: info.item.clone(),
        phase: Some(info.phase.clone()),
        round: Some(info.round),
        attempt: Some(info.attempt),
        actions,
        usage: (recorded.usage != ScriptedUsage::default()).then_some(recorded.usage),
        model: recorded.model.clone(),
        raw_result: true,
        ..ScriptEntry::default()
    })
}

fn change_actions(change: &RecordedChange, tree: &Path) -> Result<Vec<ScriptAction>, RecordingError> {
    let relative = |path: &Path| {
        let path = path.strip_prefix(tree).unwrap_or(path);
        path.to_str().map(str::to_owned).ok_or_else(|| RecordingError::Path { path: path.into() })
    };
    let chmod = |path: &str, mode: u32| {
        ScriptAction::Chmod(ModeChange { path: path.to_owned(), mode: FileMode(mode & 0o7777) })
    };
    Ok(match change {
        RecordedChange::Delete { path } => vec![ScriptAction::Delete(relative(path)?)],
        RecordedChange::Mkdir { path } => vec![ScriptAction::Mkdir(relative(path)?)],
        RecordedChange::Write { path, bytes, mode } => {
            let path = relative(path)?;
            let mode = mode.map(|mode| chmod(&path, mode));
            let file = ScriptAction::Write(FileContent { path, content: ScriptedContent::from_bytes(bytes) });
            [Some(file), mode].into_iter().flatten().collect()
        }
        RecordedChange::Symlink { path, target } => {
            let target = target.to_str().ok_or_else(|| RecordingError::Path { path: target.clone() })?;
            vec![ScriptAction::Symlink(ScriptedLink { path: relative(path)?, target: target.to_owned() })]
        }
        RecordedChange::Chmod { path, mode } => vec![chmod(&relative(path)?, *mode)],
    })
}

/// Records the result as a value if playing the value gives the same bytes.
fn result_action(bytes: &[u8]) -> ScriptAction {
    if let Ok(value) = serde_json::from_slice::<serde_json::Value>(bytes)
        && played_result(&value) == bytes
    {
        return ScriptAction::Result(value);
    }
    match ScriptedContent::from_bytes(bytes) {
        ScriptedContent::Text(text) => ScriptAction::ResultText(text),
        ScriptedContent::Bytes(bytes) => ScriptAction::ResultBase64(Base64(bytes)),
    }
}

/// The bytes that are written when a result is played.
fn played_result(value: &serde_json::Value) -> Vec<u8> {
    format!("{}\n", ordered::page(value)).into_bytes()
}

/// Converts all file content and results to base64.
fn with_base64(script: &Script) -> Script {
    let mut script = script.clone();
    for action in script.dispatches.iter_mut().flat_map(|entry| &mut entry.actions) {
        match action {
            ScriptAction::Write(file) => file.content = file.content.clone().into_bytes(),
            ScriptAction::Result(value) => {
                *action = ScriptAction::ResultBase64(Base64(played_result(value)));
            }
            ScriptAction::ResultText(text) => {
                *action = ScriptAction::ResultBase64(Base64(text.clone().into_bytes()))
            }
            _ => {}
        }
    }
    script
}
