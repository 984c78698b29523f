//! Agents in words: those that are there, and how to get the others.

use super::found::{Found, SignedIn};
use crate::table::{Cell, Fields, Fit, Ink, Table, Tone};
use remand_runtime::confine::Level;
use remand_runtime::driver::Speech;

/// All of them, those that are installed first.
pub fn list(all: &[Found], ink: Ink) -> String {
    let mut table = Table::list(&[Fit::Whole, Fit::Wrap], 0);
    let (there, absent): (Vec<&Found>, Vec<&Found>) = all.iter().partition(|agent| agent.program.is_some());
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
        true => "no agent is installed; `remand demo` shows a whole run without any",
        false => "`remand agents NAME` shows one in full, `remand doctor` the rest of the machine",
    };
    format!("{}\n{more}\n", table.render(ink))
}

/// One of them, with all that there is to say.
pub fn in_full(agent: &Found, ink: Ink) -> String {
    let mut fields = Fields::new();
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
    fields.add("install", if agent.install.is_empty() { "nobody said how" } else { &agent.install });
    fields.add("signed in", signed_in(agent));
    if !agent.sign_in.is_empty() {
        fields.add("to sign in", &agent.sign_in);
    }
    fields.add("driven by", driven(agent.driven));
    fields.add("sandbox", held(agent.held));
    fields.add("account", if agent.spends.is_empty() { "unknown" } else { &agent.spends });
    fields.render(ink)
}

fn version(agent: &Found) -> String {
    let unknown = match agent.of_repository {
        true => "of remand.toml, and not started to tell its version",
        false => "a version that it does not tell",
    };
    let version = agent.version.as_deref().unwrap_or(unknown);
    match agent.tried.as_deref() {
        Some(tried) if agent.version.as_deref() == Some(tried) => format!("{version}, as it was tried"),
        Some(_) | None => format!("{version}, {}", tried(agent)),
    }
}

fn tried(agent: &Found) -> String {
    agent.tried.as_deref().map_or("untried".to_string(), |version| format!("tried with {version}"))
}

fn signed_in(agent: &Found) -> String {
    match &agent.signed_in {
        Some(SignedIn::Key(name)) => format!("by {name}"),
        Some(SignedIn::File(path)) => format!("by {path}"),
        None => "unknown".to_string(),
    }
}

fn driven(speech: Speech) -> &'static str {
    match speech {
        Speech::Lines => "a process for each dispatch, which speaks JSON lines",
        Speech::Acp => "the Agent Client Protocol",
        Speech::Text => "a process for each dispatch, which speaks text: its tokens and cost are unknown",
    }
}

fn held(level: Level) -> &'static str {
    match level {
        Level::Full => "held by the sandbox",
        Level::Partial => "held by the sandbox in part",
        Level::None | Level::Unasked => "not held by a sandbox on this machine",
    }
}

fn get(agent: &Found) -> String {
    match agent.install.as_str() {
        "" => "install it, or name its path by `command`".to_string(),
        how => format!("get it by `{how}`"),
    }
}
