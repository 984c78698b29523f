//! Describes agents: which are installed, and how to install the others.

use super::found::FoundAgent;
use crate::installed_agents::SignedIn;
use remand_agents::driver::AgentProtocol;
use remand_process::confine::EnforcementLevel;
use remand_terminal::table::{Cell, ColumnFit, FieldList, TextTable};
use remand_terminal::{Ink, Tone};

/// All agents, installed ones first.
pub fn list(all: &[FoundAgent], ink: Ink) -> String {
    let mut table = TextTable::list(&[ColumnFit::Whole, ColumnFit::Wrap], 0);
    let (installed, missing): (Vec<&FoundAgent>, Vec<&FoundAgent>) =
        all.iter().partition(|agent| agent.program.is_some());
    for agent in &installed {
        let name = Cell::new(&agent.name).toned(Tone::Good);
        table.row(vec![name, Cell::new(format!("{}: {}", agent.title, version(agent)))]);
        let program = agent.program.as_ref().map(|program| program.display().to_string());
        let lines = [
            program.unwrap_or_default(),
            format!("{}; signed in: {}", confinement(agent.held), signed_in(agent)),
            how_driven(agent.driven).to_string(),
            agent.spends.clone(),
        ];
        for line in lines.iter().filter(|line| !line.is_empty()) {
            table.row(vec![Cell::new(""), Cell::new(line)]);
        }
    }
    for agent in &missing {
        let what =
            format!("{}: not installed, {}; {}", agent.title, tested_with(agent), how_to_install(agent));
        table.row(vec![Cell::new(&agent.name).toned(Tone::Faint), Cell::new(what)]);
    }
    let footer = match installed.is_empty() {
        true => "no agent is installed; `remand demo` shows a whole run without one",
        false => "`remand agents NAME` shows all about one agent; `remand doctor` checks the machine",
    };
    format!("{}\n{footer}\n", table.render(ink))
}

/// Everything about one agent.
pub fn details(agent: &FoundAgent, ink: Ink) -> String {
    let mut fields = FieldList::new();
    fields.add("agent", format!("{} ({})", agent.title, agent.name));
    match &agent.program {
        Some(program) => {
            fields.add("program", program.display().to_string());
            fields.add("version", version(agent));
        }
        None => {
            fields.add("program", "not installed");
            fields.add("version", tested_with(agent));
        }
    }
    fields.add("install", if agent.install.is_empty() { "unknown" } else { &agent.install });
    fields.add("signed in", signed_in(agent));
    if !agent.sign_in.is_empty() {
        fields.add("to sign in", &agent.sign_in);
    }
    fields.add("driven by", how_driven(agent.driven));
    fields.add("sandbox", confinement(agent.held));
    fields.add("account", if agent.spends.is_empty() { "unknown" } else { &agent.spends });
    fields.render(ink)
}

fn version(agent: &FoundAgent) -> String {
    let unknown = match agent.of_repository {
        true => "from remand.toml, so not started; version unknown",
        false => "version unknown",
    };
    let version = agent.version.as_deref().unwrap_or(unknown);
    match agent.tried.as_deref() {
        Some(tried) if agent.version.as_deref() == Some(tried) => format!("{version}, tested"),
        Some(_) | None => format!("{version}, {}", tested_with(agent)),
    }
}

fn tested_with(agent: &FoundAgent) -> String {
    agent.tried.as_deref().map_or("not tested".to_string(), |version| format!("tested with {version}"))
}

fn signed_in(agent: &FoundAgent) -> String {
    match &agent.signed_in {
        Some(SignedIn::Key(name)) => format!("by {name}"),
        Some(SignedIn::File(path)) => format!("by {path}"),
        None => "unknown".to_string(),
    }
}

fn how_driven(protocol: AgentProtocol) -> &'static str {
    match protocol {
        AgentProtocol::Lines => "one process per dispatch, with JSON lines as output",
        AgentProtocol::Acp => "the Agent Client Protocol",
        AgentProtocol::Text => {
            "one process per dispatch, with plain text as output: tokens and cost are unknown"
        }
    }
}

fn confinement(level: EnforcementLevel) -> &'static str {
    match level {
        EnforcementLevel::Full => "confined by the sandbox",
        EnforcementLevel::Partial => "partly confined by the sandbox",
        EnforcementLevel::None | EnforcementLevel::Unasked => "not confined: this machine has no sandbox",
    }
}

fn how_to_install(agent: &FoundAgent) -> String {
    match agent.install.as_str() {
        "" => "install it, or set its path with `command`".to_string(),
        how => format!("install it with `{how}`"),
    }
}
