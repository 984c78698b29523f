//! Who can be dispatched: scripted agents by their file, programs by their row.

use crate::exit::Failure;
use crate::load;
use remand_runtime::config::{Config, RoleChoice};
use remand_runtime::confine::programs;
use remand_runtime::driver::{Known, Named, Speech};
use remand_runtime::pinned::{Choice, PinnedAgent, PinnedFile};
use remand_runtime::rehearsal::{Script, ScriptError};
use std::collections::BTreeMap;
use std::path::Path;

/// What a scripted agent is named by.
const REHEARSAL: &str = "rehearsal:";

/// The agents of a run, as its roles choose them.
pub struct Agents<'a> {
    config: &'a Config,
    known: Known,
    chosen: BTreeMap<String, PinnedAgent>,
}

/// The rows of all agents, those of the configuration among them.
pub fn known(config: &Config) -> Result<Known, Failure> {
    Known::with(&config.agents).map_err(|error| {
        Failure::user(error.to_string(), "correct `[agents]`; docs/guide/agents.md describes it")
    })
}

/// Finds the program of a row as it would be started.
pub fn program(agent: &Named) -> Option<std::path::PathBuf> {
    programs::find(&agent.row.command[0], &std::env::var_os("PATH").unwrap_or_default())
}

impl<'a> Agents<'a> {
    pub fn new(config: &'a Config) -> Result<Agents<'a>, Failure> {
        Ok(Agents { config, known: known(config)?, chosen: BTreeMap::new() })
    }

    /// Who does a role that names nobody.
    pub fn usual(&mut self) -> Result<Choice, Failure> {
        let agent = match self.config.agent.as_str() {
            "" => self.only_one()?,
            name => name.to_string(),
        };
        self.take(&agent)?;
        Ok(Choice { agent, model: self.config.model.clone(), seconds: 0 })
    }

    /// What one table of the configuration changes. Another agent does not know the model of the first.
    pub fn choose(&mut self, under: Choice, choice: &RoleChoice) -> Result<Choice, Failure> {
        let agent = choice.agent.clone().unwrap_or_else(|| under.agent.clone());
        self.take(&agent)?;
        let same = agent == under.agent;
        Ok(Choice {
            model: choice.model.clone().or(under.model.filter(|_| same)),
            seconds: choice.time.map_or(under.seconds, |time| time.as_secs().max(1)),
            agent,
        })
    }

    pub fn chosen(self) -> BTreeMap<String, PinnedAgent> {
        self.chosen
    }

    /// The one agent that is installed, if there is exactly one.
    fn only_one(&self) -> Result<String, Failure> {
        let rows =
            self.known.all().map_err(|error| Failure::user(error.to_string(), "correct `[agents]`"))?;
        // Who is driven by a conversation too is one agent and not two.
        let (talking, usual): (Vec<&Named>, Vec<&Named>) =
            rows.iter().partition(|agent| agent.row.speaks == Speech::Acp);
        let there = |agents: &[&'_ Named]| -> Vec<Named> {
            agents.iter().filter(|agent| program(agent).is_some()).map(|agent| (*agent).clone()).collect()
        };
        let installed = match there(&usual) {
            none if none.is_empty() => there(&talking),
            some => some,
        };
        match installed.as_slice() {
            [one] => Ok(one.name.clone()),
            [] => {
                let tried = usual.iter().filter(|agent| agent.row.tried.is_some()).take(3);
                let ways: Vec<String> = tried.map(|agent| format!("`{}`", agent.row.install)).collect();
                let hint = format!(
                    "get one, such as by {}; `remand agents` lists all, and `remand demo` shows a whole run without any",
                    ways.join(" or ")
                );
                Err(Failure::user("no agent is installed", hint))
            }
            several => {
                let names: Vec<&str> = several.iter().map(|agent| agent.name.as_str()).collect();
                let what = format!("no agent is chosen, and {} are installed", names.join(", "));
                Err(Failure::user(what, "name one by `--agent NAME`, or by `agent` in remand.toml"))
            }
        }
    }

    /// Proves that an agent can be dispatched, and remembers it.
    fn take(&mut self, name: &str) -> Result<(), Failure> {
        if self.chosen.contains_key(name) {
            return Ok(());
        }
        let agent = match name.strip_prefix(REHEARSAL) {
            Some(path) => rehearsal(path)?,
            None => self.installed(name)?,
        };
        self.chosen.insert(name.to_string(), agent);
        Ok(())
    }

    fn installed(&self, name: &str) -> Result<PinnedAgent, Failure> {
        let hint = "`remand agents` lists them; `rehearsal:FILE` plays a script (docs/guide/rehearsals.md)";
        let agent = self.known.get(name).map_err(|error| Failure::user(error.to_string(), hint))?;
        if program(&agent).is_none() {
            let what = format!(
                "{} is not installed: there is no `{}` on PATH",
                agent.row.title, agent.row.command[0]
            );
            let hint = match agent.row.install.as_str() {
                "" => format!("install it, or name its path in `[agents.{name}]` by `command`"),
                how => format!("get it by `{how}`, or name its path in `[agents.{name}]` by `command`"),
            };
            return Err(Failure::user(what, hint));
        }
        Ok(PinnedAgent::Cli(Box::new(agent.row)))
    }
}

fn rehearsal(path: &str) -> Result<PinnedAgent, Failure> {
    let bytes = load::read(Path::new(path))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let wrong = |error: ScriptError| {
        Failure::user(error.to_string(), "docs/guide/rehearsals.md describes the format")
    };
    Script::parse(&text, path).map_err(wrong)?;
    Ok(PinnedAgent::Rehearsal(PinnedFile::new(path, text)))
}
