//! Finds and pins the agents of a run: the agent row of a program, or the file of a scripted agent.

use crate::installed_agents::{DefaultAgent, InstalledAgents, program};
use crate::load;
use remand_agents::driver::AgentRows;
use remand_agents::rehearsal::{Script, ScriptError};
use remand_engine::config::{Config, RoleChoice};
use remand_engine::pinned::{AgentChoice, PinnedAgent, PinnedFile};
use remand_terminal::CommandFailure;
use std::collections::BTreeMap;
use std::path::Path;

/// The prefix of a scripted agent's name.
const REHEARSAL: &str = "rehearsal:";

/// The agents that the roles of a run use.
pub struct Agents<'a> {
    config: &'a Config,
    rows: AgentRows,
    found: Option<DefaultAgent>,
    chosen: BTreeMap<String, PinnedAgent>,
}

/// The rows of all agents, including those of the configuration.
pub fn agent_rows(config: &Config) -> Result<AgentRows, CommandFailure> {
    AgentRows::from_config(&config.agents).map_err(|error| {
        CommandFailure::user(error.to_string(), "correct `[agents]`; `remand reference agents` describes it")
    })
}

/// The installed agents.
pub fn installed(config: &Config) -> Result<InstalledAgents, CommandFailure> {
    let all = agent_rows(config)?.all();
    let rows = all.map_err(|error| CommandFailure::user(error.to_string(), "correct `[agents]`"))?;
    Ok(InstalledAgents::find(&rows))
}

impl<'a> Agents<'a> {
    pub fn new(config: &'a Config) -> Result<Agents<'a>, CommandFailure> {
        Ok(Agents { config, rows: agent_rows(config)?, found: None, chosen: BTreeMap::new() })
    }

    /// The agent for roles that do not name one.
    pub fn default_choice(&mut self) -> Result<AgentChoice, CommandFailure> {
        let agent = match self.config.agent.as_str() {
            "" => self.found_default()?.name,
            name => name.to_string(),
        };
        self.pin(&agent)?;
        Ok(AgentChoice { agent, model: self.config.model.clone(), seconds: 0 })
    }

    fn found_default(&mut self) -> Result<DefaultAgent, CommandFailure> {
        let found = match self.found.take() {
            Some(found) => found,
            None => installed(self.config)?.only()?,
        };
        self.found = Some(found.clone());
        Ok(found)
    }

    /// The default agent, if no setting names one, and why it is this one.
    pub fn found(&self) -> Option<&DefaultAgent> {
        self.found.as_ref()
    }

    /// Overrides `base` with one `[roles]` table of the configuration. A different agent does not keep the base's model.
    pub fn choose(&mut self, base: AgentChoice, choice: &RoleChoice) -> Result<AgentChoice, CommandFailure> {
        let agent = choice.agent.clone().unwrap_or_else(|| base.agent.clone());
        self.pin(&agent)?;
        let same = agent == base.agent;
        Ok(AgentChoice {
            model: choice.model.clone().or(base.model.filter(|_| same)),
            seconds: choice.time.map_or(base.seconds, |time| time.as_secs().max(1)),
            agent,
        })
    }

    pub fn chosen(self) -> BTreeMap<String, PinnedAgent> {
        self.chosen
    }

    /// Checks that an agent can be dispatched, and pins it.
    fn pin(&mut self, name: &str) -> Result<(), CommandFailure> {
        if self.chosen.contains_key(name) {
            return Ok(());
        }
        let agent = match name.strip_prefix(REHEARSAL) {
            Some(path) => load_rehearsal(path)?,
            None => self.find_installed(name)?,
        };
        self.chosen.insert(name.to_string(), agent);
        Ok(())
    }

    fn find_installed(&self, name: &str) -> Result<PinnedAgent, CommandFailure> {
        let hint =
            "`remand agents` lists them; `rehearsal:FILE` plays a script (`remand reference rehearsals`)";
        let agent = self.rows.get(name).map_err(|error| CommandFailure::user(error.to_string(), hint))?;
        if program(&agent).is_none() {
            let what =
                format!("{} is not installed: `{}` is not on PATH", agent.row.title, agent.row.command[0]);
            let hint = match agent.row.install.as_str() {
                "" => format!("install it, or set its path with `command` in `[agents.{name}]`"),
                how => {
                    format!("install it with `{how}`, or set its path with `command` in `[agents.{name}]`")
                }
            };
            return Err(CommandFailure::user(what, hint));
        }
        Ok(PinnedAgent::Cli(Box::new(agent.row)))
    }
}

fn load_rehearsal(path: &str) -> Result<PinnedAgent, CommandFailure> {
    let bytes = load::read(Path::new(path))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let invalid = |error: ScriptError| {
        CommandFailure::user(error.to_string(), "`remand reference rehearsals` describes the format")
    };
    Script::parse(&text, path).map_err(invalid)?;
    Ok(PinnedAgent::Rehearsal(PinnedFile::new(path, text)))
}
