//! The action of a check: a command, a shell script, or an analysis built into the engine.

use serde::{Deserialize, Serialize};

/// The action of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckAction {
    Argv(Vec<String>),
    /// A script for `sh -c`.
    Shell(String),
    BuiltIn(BuiltIn),
}

/// A check that the engine performs without a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuiltIn {
    Syntax,
}

impl CheckAction {
    /// A command as a list of words.
    pub fn argv(words: &[&str]) -> CheckAction {
        CheckAction::Argv(words.iter().map(|word| word.to_string()).collect())
    }

    /// The same action with every word changed; a shell script counts as one word.
    pub(super) fn map_words(&self, change: impl Fn(&str) -> String) -> CheckAction {
        match self {
            CheckAction::Argv(argv) => CheckAction::Argv(argv.iter().map(|word| change(word)).collect()),
            CheckAction::Shell(text) => CheckAction::Shell(change(text)),
            CheckAction::BuiltIn(built_in) => CheckAction::BuiltIn(*built_in),
        }
    }

    /// The name of the program that performs the check.
    pub fn tool(&self) -> String {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
        match self {
            CheckAction::Argv(argv) => argv.first().map_or_else(String::new, |first| name(first)),
            CheckAction::Shell(text) => name(first_program(text)),
            CheckAction::BuiltIn(BuiltIn::Syntax) => "remand".to_string(),
        }
    }

    /// The command as a person would type it; `None` for a built-in check.
    pub fn typed(&self) -> Option<String> {
        match self {
            CheckAction::Argv(argv) => {
                Some(argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
            }
            CheckAction::Shell(text) => Some(text.clone()),
            CheckAction::BuiltIn(BuiltIn::Syntax) => None,
        }
    }
}

/// The first program in a shell script, after assignments and `exec`.
pub fn first_program(text: &str) -> &str {
    let is_assignment = |word: &str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    text.split_whitespace().find(|word| *word != "exec" && !is_assignment(word)).unwrap_or_default()
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%{}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
