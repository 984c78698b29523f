//! A rehearsal file: which dispatch does what.

use super::action::Action;
use super::dispatch::DispatchInfo;
use super::fault::{ScriptError, malformed};
use super::usage::Usage;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::Path;

/// The version of the format.
const VERSION: u64 = 1;

/// What the dispatches of a run do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    rehearsal: u64,
    #[serde(default)]
    pub about: String,
    pub dispatches: Vec<Entry>,
}

/// What a dispatch that fits all given keys does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    pub role: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(default, rename = "do", deserialize_with = "actions")]
    pub actions: Vec<Action>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Writes results as they stand, without completing the header.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw_result: bool,
    #[serde(default, skip_serializing_if = "OnFailure::is_stop")]
    pub on_failure: OnFailure,
}

/// What happens after an action that could not be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    #[default]
    Stop,
    GoOn,
}

impl OnFailure {
    fn is_stop(&self) -> bool {
        *self == OnFailure::Stop
    }
}

impl Script {
    pub fn new(about: impl Into<String>, dispatches: Vec<Entry>) -> Script {
        Script { rehearsal: VERSION, about: about.into(), dispatches }
    }

    /// Reads a script; `name` stands for it in errors.
    pub fn parse(text: &str, name: &str) -> Result<Script, ScriptError> {
        // A recording may be large, but nobody writes aliases that unfold to a multiple of it.
        let alias_limits = serde_saphyr::alias_limits! { max_total_replayed_events: 50_000 };
        let options = serde_saphyr::options! { budget: None, alias_limits: alias_limits };
        let script: Script =
            serde_saphyr::from_str_with_options(text, options).map_err(|error| malformed(name, &error))?;
        match script.rehearsal {
            VERSION => Ok(script),
            version => Err(ScriptError::Version { name: name.to_owned(), version }),
        }
    }

    /// Reads the script in a file.
    pub fn load(path: &Path) -> Result<Script, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Unreadable { path: path.into(), source })?;
        Script::parse(&text, &path.display().to_string())
    }

    /// Finds the entry for a dispatch: of those that fit, the one with the most keys, and of these the first.
    pub fn entry(&self, info: &DispatchInfo) -> Option<&Entry> {
        let fitting = self.dispatches.iter().filter_map(|entry| Some((entry.fit(info)?, entry)));
        fitting.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, entry)| entry)
    }
}

impl Entry {
    /// Counts the keys by which the entry fits, if it does.
    fn fit(&self, info: &DispatchInfo) -> Option<usize> {
        let fits = [
            self.task.as_ref().map(|task| info.task.as_ref() == Some(task)),
            self.item.as_ref().map(|item| info.item.as_ref() == Some(item)),
            self.phase.as_ref().map(|phase| info.phase == *phase),
            self.round.map(|round| info.round == round),
            self.attempt.map(|attempt| info.attempt == attempt),
            Some(self.role == info.role),
        ];
        let given = fits.into_iter().flatten();
        given.clone().all(|fits| fits).then(|| given.count())
    }
}

fn actions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Action>, D::Error> {
    let actions = Vec::<Action>::deserialize(deserializer)?;
    let last = actions.iter().position(Action::is_last);
    match last {
        Some(last) if last + 1 < actions.len() => {
            let text =
                format!("nothing happens after action {} of this list; make it the last one", last + 1);
            Err(D::Error::custom(text))
        }
        Some(_) | None => Ok(actions),
    }
}
