//! What a repository's file may not decide: whoever can change that file could name any program and any file, so that an
//! agent of its is handed nothing of the user's, the sandbox shows no agent more because of it, and state is kept where
//! the user says.

use super::effective::Config;
use super::problem::{Origin, Problem};
use super::value::Value;
use crate::driver::Known;

/// What a repository may say of any agent: neither starts another program nor shows it more.
const HARMLESS: &[&str] = &["model", "silence"];

/// What opens the sandbox to things of the user's.
const OPENING: &[&str] = &["environment", "reads", "hooks-write", "unix-sockets"];

impl Config {
    /// What of the sandbox only the user decides on.
    pub(super) fn opened(&self) -> Vec<Problem> {
        let settings = self.settings.iter().filter_map(|(path, setting)| match path.as_slice() {
            [section, key, ..] if section == "sandbox" => Some((key.as_str(), setting)),
            _ => None,
        });
        settings
            .filter(|(key, setting)| {
                let is_open = match &setting.value {
                    Value::Words(names) => !names.is_empty(),
                    value => *value == Value::Flag(true),
                };
                is_open && OPENING.contains(key) && matches!(setting.origin, Origin::Repository(_))
            })
            .map(|(key, setting)| Problem {
                origin: setting.origin.clone(),
                message: format!(
                    "`sandbox.{key}`: what agents see and reach of yours is not for a repository to say"
                ),
                remedy: format!("move `sandbox.{key}` to ~/.config/remand/config.toml"),
            })
            .collect()
    }

    /// Where state lies is the user's matter: any folder could be named, and filled.
    pub(super) fn placed(&self) -> Option<Problem> {
        let (_, setting) = self.settings.iter().find(|(path, _)| path.join(".") == "state.dir")?;
        matches!(setting.origin, Origin::Repository(_)).then(|| Problem {
            origin: setting.origin.clone(),
            message: "`state.dir`: where your state lies is not for a repository to say".to_string(),
            remedy: "move `state.dir` to ~/.config/remand/config.toml".to_string(),
        })
    }

    /// Tells whether the repository's file brings this agent, or changes more of it than what is harmless.
    pub fn is_of_repository(&self, agent: &str) -> bool {
        self.brought(agent).next().is_some()
    }

    /// Agents of the repository that would be handed something of the user's.
    pub(super) fn handed_out(&self) -> Vec<Problem> {
        // Rows that cannot be read are refused by all who want to use one.
        let Ok(known) = Known::with(&self.agents) else { return Vec::new() };
        let rows = self.agents.keys().filter_map(|name| known.get(name).ok());
        rows.filter_map(|agent| {
            let handed = agent.row.handed();
            let (first, name) = (handed.first()?, &agent.name);
            let own = self.brought(name).find(|(key, _)| handed.contains(key));
            let (key, origin) = own.or_else(|| self.brought(name).next())?;
            let message = format!(
                "`agents.{name}.{key}`: an agent of the repository is handed nothing of yours, and this one has `{}`",
                if handed.contains(&key) { key } else { *first }
            );
            let remedy = format!("move `[agents.{name}]` to ~/.config/remand/config.toml");
            Some(Problem { origin: origin.clone(), message, remedy })
        })
        .collect()
    }

    /// The keys of the repository's file that make an agent one of its own.
    fn brought<'c>(&'c self, agent: &str) -> impl Iterator<Item = (&'c str, &'c Origin)> {
        self.settings.iter().filter_map(move |(path, setting)| match (path.as_slice(), &setting.origin) {
            ([section, name, key, ..], Origin::Repository(_))
                if section == "agents" && name == agent && !HARMLESS.contains(&key.as_str()) =>
            {
                Some((key.as_str(), &setting.origin))
            }
            (_, _) => None,
        })
    }
}
