//! Finds the installed agents, and the one for roles that name none.

use remand_agents::driver::{AgentProtocol, AgentRow, NamedRow};
use remand_process::confine::programs;
use remand_terminal::CommandFailure;
use serde::Serialize;
use std::path::PathBuf;

/// How an agent is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignedIn {
    /// An environment variable.
    Key(String),
    /// A file, relative to the user's home.
    File(String),
}

impl SignedIn {
    /// How this agent is signed in, as far as the environment or a file shows.
    pub fn of(row: &AgentRow) -> Option<SignedIn> {
        let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let key = row.keys.iter().find(is_set).map(|name| SignedIn::Key(name.clone()));
        key.or_else(|| {
            let home = PathBuf::from(std::env::var_os("HOME")?);
            let file = row.credentials.iter().find(|path| home.join(path).is_file());
            file.map(|path| SignedIn::File(format!("~/{path}")))
        })
    }
}

/// The path of an agent's program, if it is on PATH.
pub fn program(agent: &NamedRow) -> Option<PathBuf> {
    programs::find(&agent.row.command[0], &std::env::var_os("PATH").unwrap_or_default())
}

/// An agent whose program is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledAgent {
    pub name: String,
    /// Whether a dispatch would find an account, as far as this machine shows.
    pub is_signed_in: bool,
    /// How to sign in.
    pub sign_in: String,
    is_tested: bool,
}

/// The installed agents, sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledAgents {
    agents: Vec<InstalledAgent>,
    /// Commands that install tested agents.
    installers: Vec<String>,
}

/// The agent for roles that name none, and why it is this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultAgent {
    pub name: String,
    pub reason: &'static str,
    /// How to sign in, if this machine does not show that the agent is signed in.
    pub sign_in: Option<String>,
}

impl DefaultAgent {
    /// What a user should do before a run.
    pub fn advice(&self) -> Option<String> {
        let how = self.sign_in.as_deref()?;
        Some(match how {
            "" => "sign in first".to_string(),
            how => format!("to sign in, {how}"),
        })
    }
}

/// Why a run must name its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoDefaultAgent {
    Missing { installers: Vec<String> },
    SignedOut { installed: Vec<String> },
    Several { ready: Vec<String> },
}

impl InstalledAgents {
    pub fn find(rows: &[NamedRow]) -> InstalledAgents {
        // ACP rows count only if nothing else is installed: an agent may have one in addition to its usual row.
        let (acp, usual): (Vec<&NamedRow>, Vec<&NamedRow>) =
            rows.iter().partition(|agent| agent.row.speaks == AgentProtocol::Acp);
        let tested = usual.iter().filter(|agent| agent.row.tried.is_some());
        let installers = tested.map(|agent| agent.row.install.clone()).collect();
        let installed = |agents: &[&NamedRow]| -> Vec<InstalledAgent> {
            agents.iter().filter(|agent| program(agent).is_some()).map(|agent| describe(agent)).collect()
        };
        let agents = match installed(&usual) {
            none if none.is_empty() => installed(&acp),
            some => some,
        };
        InstalledAgents { agents, installers }
    }

    pub fn all(&self) -> &[InstalledAgent] {
        &self.agents
    }

    fn ready(&self) -> Vec<&InstalledAgent> {
        self.agents.iter().filter(|agent| agent.is_signed_in).collect()
    }

    /// The only agent that is installed and signed in. If only one agent is installed, it need not be signed in.
    pub fn only(&self) -> Result<DefaultAgent, NoDefaultAgent> {
        let chosen = |agent: &InstalledAgent, reason| DefaultAgent {
            name: agent.name.clone(),
            reason,
            sign_in: (!agent.is_signed_in).then(|| agent.sign_in.clone()),
        };
        let names = |agents: &[&InstalledAgent]| agents.iter().map(|agent| agent.name.clone()).collect();
        match (self.ready().as_slice(), self.agents.as_slice()) {
            ([one], [_]) => Ok(chosen(one, "the only agent that is installed")),
            ([one], _) => Ok(chosen(one, "the only agent that is installed and signed in")),
            ([], [one]) => Ok(chosen(one, "the only agent that is installed, but no sign-in was found")),
            ([], []) => Err(NoDefaultAgent::Missing { installers: self.installers.clone() }),
            ([], several) => {
                Err(NoDefaultAgent::SignedOut { installed: names(&several.iter().collect::<Vec<_>>()) })
            }
            (several, _) => Err(NoDefaultAgent::Several { ready: names(several) }),
        }
    }

    /// The agent that a new configuration names: preferably one that is signed in, and among those one that is tested.
    pub fn preferred(&self) -> Option<&InstalledAgent> {
        self.agents.iter().min_by_key(|agent| (!agent.is_signed_in, !agent.is_tested))
    }
}

fn describe(agent: &NamedRow) -> InstalledAgent {
    let row = &agent.row;
    let needs_no_account = row.keys.is_empty() && row.credentials.is_empty();
    InstalledAgent {
        name: agent.name.clone(),
        is_signed_in: needs_no_account || SignedIn::of(row).is_some(),
        sign_in: row.sign_in.clone(),
        is_tested: row.tried.is_some(),
    }
}

impl NoDefaultAgent {
    /// What the user has to do, as the beginning of a sentence.
    pub fn remedy(&self) -> &'static str {
        match self {
            NoDefaultAgent::Missing { .. } => "Install an agent",
            NoDefaultAgent::SignedOut { .. } => "Sign in to an agent, or choose one with `--agent`",
            NoDefaultAgent::Several { .. } => "Choose an agent with `--agent`",
        }
    }
}

impl From<NoDefaultAgent> for CommandFailure {
    fn from(lack: NoDefaultAgent) -> CommandFailure {
        match lack {
            NoDefaultAgent::Missing { installers } => {
                let commands: Vec<String> =
                    installers.iter().take(3).map(|command| format!("`{command}`")).collect();
                let hint = format!(
                    "install one, for example with {}; `remand agents` lists all, and `remand demo` shows a whole run \
                     without one",
                    commands.join(" or ")
                );
                CommandFailure::user("no agent is installed", hint)
            }
            NoDefaultAgent::SignedOut { installed } => {
                let first = installed.first().map_or("NAME", String::as_str);
                let hint = format!(
                    "`remand agents {first}` shows how to sign in; if you are signed in already, choose one with \
                     `--agent {first}`, or run `remand init`"
                );
                let what = format!("{} are installed, but no sign-in was found", listed(&installed));
                CommandFailure::user(what, hint)
            }
            NoDefaultAgent::Several { ready } => {
                let first = ready.first().map_or("NAME", String::as_str);
                let what = format!("{} are installed and signed in, but none is chosen", listed(&ready));
                let hint = format!(
                    "choose one with `--agent {first}`, or run `remand init`, which writes a choice to remand.toml"
                );
                CommandFailure::user(what, hint)
            }
        }
    }
}

/// Names as a part of a sentence: `a, b and c`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [start @ .., last] => format!("{} and {last}", start.join(", ")),
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    fn agents(described: &[(&str, bool, bool)]) -> InstalledAgents {
        let agent = |(name, is_signed_in, is_tested): &(&str, bool, bool)| InstalledAgent {
            name: name.to_string(),
            is_signed_in: *is_signed_in,
            sign_in: format!("run `{name}`"),
            is_tested: *is_tested,
        };
        InstalledAgents {
            agents: described.iter().map(agent).collect(),
            installers: vec!["npm install a".to_string()],
        }
    }

    #[test]
    fn the_only_agent_that_is_signed_in_is_chosen() {
        let chosen = |described| agents(described).only().expect("a choice").name;
        assert_eq!(chosen(&[("a", false, true), ("b", true, false)]), "b");
        assert_eq!(chosen(&[("a", false, true)]), "a");
    }

    #[test]
    fn a_choice_that_only_a_human_can_make_names_the_candidates() {
        let failure = |described| CommandFailure::from(agents(described).only().expect_err("no choice"));
        let several = failure(&[("a", true, true), ("b", false, true), ("c", true, true)]);
        assert_eq!(several.what, "a and c are installed and signed in, but none is chosen");
        assert!(several.hint.contains("`--agent a`") && several.hint.contains("`remand init`"));
        let unsigned = failure(&[("a", false, true), ("b", false, true)]);
        assert_eq!(unsigned.what, "a and b are installed, but no sign-in was found");
        assert_eq!(failure(&[]).what, "no agent is installed");
    }

    #[test]
    fn a_new_configuration_names_a_signed_in_and_tested_agent() {
        let preferred = |described| agents(described).preferred().map(|agent| agent.name.clone());
        assert_eq!(
            preferred(&[("a", true, false), ("b", false, true), ("c", true, true)]),
            Some("c".to_string())
        );
        assert_eq!(preferred(&[("a", false, false), ("b", false, true)]), Some("b".to_string()));
        assert_eq!(preferred(&[]), None);
    }
}
