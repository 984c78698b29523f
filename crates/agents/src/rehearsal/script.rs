//! A rehearsal file: the actions of each dispatch.

use super::action::ScriptAction;
use super::dispatch::DispatchInfo;
use super::fault::{ScriptError, malformed};
use super::usage::ScriptedUsage;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::Path;

/// The version of the format.
const VERSION: u64 = 1;

/// The actions of a run's dispatches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    rehearsal: u64,
    #[serde(default)]
    pub about: String,
    pub dispatches: Vec<ScriptEntry>,
}

/// The actions of a dispatch that matches all given keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScriptEntry {
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
    /// Texts that must be in the agent's brief: in its prompt or in the files that it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
    #[serde(default, rename = "do", deserialize_with = "actions")]
    pub actions: Vec<ScriptAction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ScriptedUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Writes results unchanged, without filling in the header.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw_result: bool,
    #[serde(default, skip_serializing_if = "OnFailure::is_stop")]
    pub on_failure: OnFailure,
}

/// What happens after a failed action.
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
    pub fn new(about: impl Into<String>, dispatches: Vec<ScriptEntry>) -> Script {
        Script { rehearsal: VERSION, about: about.into(), dispatches }
    }

    /// Parses a script. Errors refer to it by `name`.
    pub fn parse(text: &str, name: &str) -> Result<Script, ScriptError> {
        // A recording may be large, but no legitimate script has aliases that expand to a multiple of its size.
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

    /// Finds the entry for a dispatch: of the matching entries, the first one with the most keys. An entry for a role
    /// without a mode is used if no entry for the mode matches.
    pub fn entry(&self, info: &DispatchInfo) -> Option<&ScriptEntry> {
        let role = info.role.split_once('/').map_or(info.role.as_str(), |(role, _)| role);
        self.entry_for(&info.role, info).or_else(|| self.entry_for(role, info))
    }

    fn entry_for(&self, role: &str, info: &DispatchInfo) -> Option<&ScriptEntry> {
        let of_role = self.dispatches.iter().filter(|entry| entry.role == role);
        let matching = of_role.filter_map(|entry| Some((entry.match_count(info)?, entry)));
        matching.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, entry)| entry)
    }
}

impl ScriptEntry {
    /// A message about the texts under `given` that are missing from the brief; `None` if none is missing. It contains only
    /// the numbers of the texts: a retry gets the message in its brief, and would otherwise find the texts there.
    /// Differences in white space do not count.
    pub fn missing(&self, given: &str) -> Option<String> {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let given = words(given);
        let texts = self.given.iter().enumerate().filter(|(_, text)| !given.contains(&words(text)));
        let numbers: Vec<String> = texts.map(|(at, _)| (at + 1).to_string()).collect();
        let (all, numbers) = (self.given.len(), numbers.join(", "));
        (!numbers.is_empty())
            .then(|| format!("the agent was not given number {numbers} of the {all} texts under `given`"))
    }

    /// The number of the entry's keys, if all of them match. The caller has compared the role.
    fn match_count(&self, info: &DispatchInfo) -> Option<usize> {
        let matches = [
            self.task.as_ref().map(|task| info.task.as_ref() == Some(task)),
            self.item.as_ref().map(|item| info.item.as_ref() == Some(item)),
            self.phase.as_ref().map(|phase| info.phase == *phase),
            self.round.map(|round| info.round == round),
            self.attempt.map(|attempt| info.attempt == attempt),
        ];
        let given = matches.into_iter().flatten();
        given.clone().all(|matches| matches).then(|| given.count())
    }
}

fn actions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ScriptAction>, D::Error> {
    let actions = Vec::<ScriptAction>::deserialize(deserializer)?;
    match actions.iter().position(ScriptAction::is_last) {
        Some(last) if last + 1 < actions.len() => {
            let message =
                format!("no action can follow action {} of this list; make it the last one", last + 1);
            Err(D::Error::custom(message))
        }
        Some(_) | None => Ok(actions),
    }
}
