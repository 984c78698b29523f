//! The list of agents: installed ones first, and how to install the others.

use super::found::{FoundAgent, SignedIn};
use remand_agents::driver::AgentProtocol;
use remand_process::confine::EnforcementLevel;
use remand_terminal::table::{Cell, ColumnFit, FieldList, TextTable};
use remand_terminal::{Ink, Tone};

/// All agents, installed ones first.
pub fn list(all: &[FoundAgent], ink: Ink) -> String {
    let mut table = TextTable::list(&[ColumnFit::Whole, ColumnFit::Wrap], 0);
    let (there, absent): (Vec<&FoundAgent>, Vec<&FoundAgent>) =
        all.iter().partition(|agent| agent.program.is_some());
    for agent in &there {
        let name = Cell::new(&agent.name).toned(Tone::Good);
        table.row(vec![name, Cell::new(format!("{}: {}", agent.title, version(agent)))]);
        let program = agent.program.as_ref().map(|program| program.display().to_string());
        let lines = [
            program.unwrap_or_default(),
            format!("{}; signed in: {}", held(agent.held), signed_in(agent)),
            driven(agent.driven).to_string(),
            agent.spends.clone(),
        ];
        for line in lines.iter().filter(|line| !line.is_empty()) {
            table.row(vec![Cell::new(""), Cell::new(line)]);
        }
    }
    for agent in &absent {
        let what = format!("{}: not installed, {}; {}", agent.title, tried(agent), get(agent));
        table.row(vec![Cell::new(&agent.name).toned(Tone::Faint), Cell::new(what)]);
    }
    let more = match there.is_empty() {
        true => "no agent is installed; `remand demo` shows a whole run without one",
        false => "`remand agents NAME` shows all about one agent; `remand doctor` checks the machine",
    };
    format!("{}\n{more}\n", table.render(ink))
}

/// Everything about one agent.
pub fn in_full(agent: &FoundAgent, ink: Ink) -> String {
    let mut fields = FieldList::new();
    fields.add("agent", format!("{} ({})", agent.title, agent.name));
    match &agent.program {
        Some(program) => {
            fields.add("program", program.display().to_string());
            fields.add("version", version(agent));
        }
        None => {
            fields.add("program", "not installed");
            fields.add("version", tried(agent));
        }
    }
    fields.add("install", if agent.install.is_empty() { "unknown" } else { &agent.install });
    fields.add("signed in", signed_in(agent));
    if !agent.sign_in.is_empty() {
        fields.add("to sign in", &agent.sign_in);
    }
    fields.add("driven by", driven(agent.driven));
    fields.add("sandbox", held(agent.held));
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
        Some(_) | None => format!("{version}, {}", tried(agent)),
    }
}

fn tried(agent: &FoundAgent) -> String {
    agent.tried.as_deref().map_or("not tested".to_string(), |version| format!("tested with {version}"))
}

fn signed_in(agent: &FoundAgent) -> String {
    match &agent.signed_in {
        Some(SignedIn::Key(name)) => format!("by {name}"),
        Some(SignedIn::File(path)) => format!("by {path}"),
        None => "unknown".to_string(),
    }
}

fn driven(speech: AgentProtocol) -> &'static str {
    match speech {
        AgentProtocol::Lines => "one process per dispatch, with JSON lines as output",
        AgentProtocol::Acp => "the Agent Client Protocol",
        AgentProtocol::Text => {
            "one process per dispatch, with plain text as output: tokens and cost are unknown"
        }
    }
}

fn held(level: EnforcementLevel) -> &'static str {
    match level {
        EnforcementLevel::Full => "confined by the sandbox",
        EnforcementLevel::Partial => "partly confined by the sandbox",
        EnforcementLevel::None | EnforcementLevel::Unasked => "not confined: this machine has no sandbox",
    }
}

fn get(agent: &FoundAgent) -> String {
    match agent.install.as_str() {
        "" => "install it, or set its path with `command`".to_string(),
        how => format!("install it with `{how}`"),
    }
}
