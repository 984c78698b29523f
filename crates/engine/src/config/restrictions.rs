//! Settings that a repository's file must not contain. Anybody who can change the file could name any program and any
//! path, so the file cannot give an agent the user's data, widen the sandbox, choose the state folder, or send anything
//! anywhere.

use super::effective::Config;
use super::problem::{ConfigProblem, ValueOrigin};
use super::value::ConfigValue;
use remand_agents::driver::AgentRows;

/// Keys that a repository may set for any agent: they start no other program and give the agent no more access.
const HARMLESS: &[&str] = &["model", "silence"];

/// Keys that open the sandbox to the user's data.
const WIDENING: &[&str] =
    &["environment", "checks-environment", "reads", "copies", "hooks-write", "unix-sockets"];

/// Sections that only the user's own file may have, and what they choose.
const OWN: &[(&str, &str)] = &[
    ("state", "your state folder"),
    ("notify", "whom Remand tells about your runs"),
    ("telemetry", "where Remand sends your traces"),
    ("mcp", "which gates a program may answer for you"),
    ("forges", "which programs run as you"),
];

impl Config {
    /// Settings of the repository's file that widen the sandbox.
    pub(super) fn widened_sandbox(&self) -> Vec<ConfigProblem> {
        let settings = self.settings.iter().filter_map(|(path, setting)| match path.as_slice() {
            [section, key, ..] if section == "sandbox" => Some((key.as_str(), setting)),
            _ => None,
        });
        settings
            .filter(|(key, setting)| {
                let is_open = match &setting.value {
                    ConfigValue::Words(names) => !names.is_empty(),
                    value => *value == ConfigValue::Flag(true),
                };
                is_open && WIDENING.contains(key) && matches!(setting.origin, ValueOrigin::Repository(_))
            })
            .map(|(key, setting)| ConfigProblem {
                origin: setting.origin.clone(),
                message: format!("`sandbox.{key}`: a repository cannot widen what agents may see and use"),
                remedy: format!("move `sandbox.{key}` to ~/.config/remand/config.toml"),
            })
            .collect()
    }

    /// Settings that only the user's own file may contain, but the repository's does.
    pub(super) fn foreign_settings(&self) -> Vec<ConfigProblem> {
        let settings = self.settings.iter().filter_map(|(path, setting)| {
            let (_, what) =
                OWN.iter().find(|(section, _)| path.first().is_some_and(|name| name == section))?;
            Some((path.join("."), setting, what))
        });
        settings
            .filter(|(_, setting, _)| matches!(setting.origin, ValueOrigin::Repository(_)))
            .map(|(key, setting, what)| ConfigProblem {
                origin: setting.origin.clone(),
                message: format!("`{key}`: a repository cannot choose {what}"),
                remedy: format!("move `{key}` to ~/.config/remand/config.toml"),
            })
            .collect()
    }

    /// Whether the repository's file sets any key of this agent that is not harmless.
    pub fn is_defined_by_repository(&self, agent: &str) -> bool {
        self.repository_keys(agent).next().is_some()
    }

    /// Agents of the repository that would get the user's data.
    pub(super) fn exposing_agents(&self) -> Vec<ConfigProblem> {
        // An invalid agent row is refused when the agent is used.
        let Ok(known) = AgentRows::from_config(&self.agents) else { return Vec::new() };
        let rows = self.agents.keys().filter_map(|name| known.get(name).ok());
        rows.filter_map(|agent| {
            let access_keys = agent.row.access_keys();
            let (first, name) = (access_keys.first()?, &agent.name);
            let access_key = self.repository_keys(name).find(|(key, _)| access_keys.contains(key));
            let (key, origin) = access_key.or_else(|| self.repository_keys(name).next())?;
            let message = format!(
                "`agents.{name}.{key}`: an agent that a repository defines may not get your data, but this one has `{}`",
                if access_keys.contains(&key) { key } else { *first }
            );
            let remedy = format!("move `[agents.{name}]` to ~/.config/remand/config.toml");
            Some(ConfigProblem { origin: origin.clone(), message, remedy })
        })
        .collect()
    }

    /// The keys of an agent that the repository's file sets, except harmless ones.
    fn repository_keys<'c>(&'c self, agent: &str) -> impl Iterator<Item = (&'c str, &'c ValueOrigin)> {
        self.settings.iter().filter_map(move |(path, setting)| match (path.as_slice(), &setting.origin) {
            ([section, name, key, ..], ValueOrigin::Repository(_))
                if section == "agents" && name == agent && !HARMLESS.contains(&key.as_str()) =>
            {
                Some((key.as_str(), &setting.origin))
            }
            (_, _) => None,
        })
    }
}
