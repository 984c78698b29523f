//! Role files of other tools, read as they are (BY-08).
//!
//! Such a file gives a prompt, a model, and which tools it wants. What a role says, returns and changes stays with our
//! role of the same name, and so does the most that it may do: a foreign file narrows permissions and never widens them.

mod claude;
mod copilot;
mod opencode;

mod front;
mod grants;
mod tools;
mod unused;

pub use grants::{Grant, Grants};
pub use unused::Unused;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Source, Span};
use crate::yaml::{Key, Node};
use front::Front;

/// A tool whose role files are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    Claude,
    Copilot,
    Opencode,
}

impl Tool {
    pub const ALL: &'static [Tool] = &[Tool::Claude, Tool::Copilot, Tool::Opencode];

    /// The name that the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Claude => "claude",
            Tool::Copilot => "copilot",
            Tool::Opencode => "opencode",
        }
    }

    pub fn named(name: &str) -> Option<Tool> {
        Tool::ALL.iter().copied().find(|tool| tool.name() == name)
    }

    /// Keys that no other tool has.
    fn own_keys(self) -> &'static [&'static str] {
        match self {
            Tool::Claude => &["disallowedTools", "permissionMode", "mcpServers", "maxTurns", "skills"],
            Tool::Copilot => {
                &["target", "mcp-servers", "handoffs", "argument-hint", "user-invocable", "infer"]
            }
            Tool::Opencode => &["mode", "permission", "permissions", "temperature", "top_p"],
        }
    }
}

/// Whose format a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Ours,
    Of(Tool),
}

/// What a foreign role file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    pub tool: Tool,
    pub name: Option<String>,
    /// Its description, in one line.
    pub about: Option<String>,
    /// As the tool names it.
    pub model: Option<String>,
    pub grants: Grants,
    /// What the agent is told.
    pub body: String,
    /// What has no meaning here, in the order of the file.
    pub unused: Vec<Unused>,
}

/// The format of a file, by its path, else by its front matter; `None` when neither tells.
pub fn format(source: &Source) -> Option<Format> {
    let path = source.name.replace('\\', "/");
    let within = |folder: &str| path.starts_with(folder) || path.contains(&format!("/{folder}"));
    if path.ends_with(".agent.md") || path.ends_with(".chatmode.md") || within(".github/agents/") {
        return Some(Format::Of(Tool::Copilot));
    }
    if within(".claude/agents/") {
        return Some(Format::Of(Tool::Claude));
    }
    if [".opencode/agent/", ".opencode/agents/"].into_iter().any(within) {
        return Some(Format::Of(Tool::Opencode));
    }
    let source = unix(source);
    let front = Front::read(&source).ok()?;
    let has = |key: &&str| front.entry(key).is_some();
    if ["says", "about"].iter().any(has) {
        return Some(Format::Ours);
    }
    Tool::ALL.iter().copied().find(|tool| tool.own_keys().iter().any(has)).map(Format::Of)
}

/// Reads a file of a tool; all that is not understood is on the list of what is not used.
pub fn read(tool: Tool, source: &Source) -> Result<Foreign, Vec<Diagnostic>> {
    let source = unix(source);
    let front = Front::read(&source)?;
    if front.body.trim().is_empty() {
        let at = Span::new(source.text.len(), source.text.len());
        let remedy = "write what the agent is told below the front matter";
        return Err(vec![Diagnostic::error(Code::MissingKey, at, "the file has no text", remedy)]);
    }
    let text = |key: &str| front.entry(key).and_then(|(_, node)| front::line(node));
    let mut foreign = Foreign {
        tool,
        name: text("name"),
        about: front.about.clone().or_else(|| text("description")).as_deref().map(sentence),
        model: None,
        grants: Grants::default(),
        body: format!("{}\n", front.body.trim()),
        unused: Vec::new(),
    };
    for (key, node) in &front.entries {
        if matches!(key.name.as_str(), "name" | "description") {
            continue;
        }
        if key.name == "model" {
            foreign.take_model(key, node);
            continue;
        }
        let taken = match tool {
            Tool::Claude => claude::take(&mut foreign, key, node),
            Tool::Copilot => copilot::take(&mut foreign, key, node),
            Tool::Opencode => opencode::take(&mut foreign, key, node),
        };
        if !taken {
            foreign.unused.push(Unused::key(key));
        }
    }
    foreign.unused.sort_by_key(|unused| unused.line);
    let mut lines: Vec<usize> = foreign.unused.iter().map(|unused| source.position(unused.line).0).collect();
    foreign.unused.iter_mut().rev().for_each(|unused| unused.line = lines.pop().unwrap_or(1));
    Ok(foreign)
}

impl Foreign {
    /// One model, or the first of several that are tried in order.
    fn take_model(&mut self, key: &Key, node: &Node) {
        let mut models = front::words(node).into_iter();
        // The model of the session that asks: there is none here.
        self.model = models.next().map(|model| model.it).filter(|model| model != "inherit");
        let others: Vec<String> = models.map(|model| model.it).collect();
        if !others.is_empty() {
            let what = format!("{}: {}", key.name, others.join(", "));
            self.unused.push(Unused::new(what, "one model is used, the first", key.span));
        }
    }
}

/// The first line of a description, at a length that fits a table.
fn sentence(text: &str) -> String {
    const MOST: usize = 200;
    // Some tools write line breaks into descriptions as two characters.
    let first = text.trim().lines().next().unwrap_or_default();
    let first = first.split("\\n").next().unwrap_or_default().trim();
    if first.chars().count() <= MOST {
        return first.to_string();
    }
    first.chars().take(MOST).chain(['…']).collect()
}

/// The same text with plain line ends; lines stay where they are.
pub(crate) fn unix(source: &Source) -> Source {
    Source::new(source.name.clone(), source.text.replace("\r\n", "\n"))
}
