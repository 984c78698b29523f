//! Role files of other tools, used as they are.
//!
//! Such a file provides a prompt, a model and a list of tools. Its verdicts, result and allowed changes come from our role
//! of the same name. So do its permissions, which a foreign file can narrow but never widen.

mod claude;
mod copilot;
mod opencode;

mod front;
mod grants;
mod tools;
mod unused;

pub use grants::{Grant, ToolGrants};
pub use unused::Unused;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{SourceText, Span};
use crate::yaml::{YamlKey, YamlNode};
use front::Front;

/// A tool whose role files are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentTool {
    Claude,
    Copilot,
    Opencode,
}

impl AgentTool {
    pub const ALL: &'static [AgentTool] = &[AgentTool::Claude, AgentTool::Copilot, AgentTool::Opencode];

    /// The name that the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            AgentTool::Claude => "claude",
            AgentTool::Copilot => "copilot",
            AgentTool::Opencode => "opencode",
        }
    }

    pub fn by_name(name: &str) -> Option<AgentTool> {
        AgentTool::ALL.iter().copied().find(|tool| tool.name() == name)
    }

    /// The keys that only this tool has.
    fn own_keys(self) -> &'static [&'static str] {
        match self {
            AgentTool::Claude => &["disallowedTools", "permissionMode", "mcpServers", "maxTurns", "skills"],
            AgentTool::Copilot => {
                &["target", "mcp-servers", "handoffs", "argument-hint", "user-invocable", "infer"]
            }
            AgentTool::Opencode => &["mode", "permission", "permissions", "temperature", "top_p"],
        }
    }
}

/// The format of a role file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleFormat {
    Ours,
    Of(AgentTool),
}

/// The contents of a foreign role file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    pub tool: AgentTool,
    pub name: Option<String>,
    /// The first line of its description.
    pub about: Option<String>,
    /// The model, as the tool names it.
    pub model: Option<String>,
    pub grants: ToolGrants,
    /// The prompt.
    pub body: String,
    /// The parts that have no meaning here, in file order.
    pub unused: Vec<Unused>,
}

/// The format of a file, derived from its path or its front matter; `None` if neither shows it.
pub fn format(source: &SourceText) -> Option<RoleFormat> {
    let path = source.name.replace('\\', "/");
    let is_within = |folder: &str| path.starts_with(folder) || path.contains(&format!("/{folder}"));
    if path.ends_with(".agent.md") || path.ends_with(".chatmode.md") || is_within(".github/agents/") {
        return Some(RoleFormat::Of(AgentTool::Copilot));
    }
    if is_within(".claude/agents/") {
        return Some(RoleFormat::Of(AgentTool::Claude));
    }
    if [".opencode/agent/", ".opencode/agents/"].into_iter().any(is_within) {
        return Some(RoleFormat::Of(AgentTool::Opencode));
    }
    let source = with_unix_line_endings(source);
    let front = Front::read(&source).ok()?;
    let has = |key: &&str| front.entry(key).is_some();
    if ["says", "about"].iter().any(has) {
        return Some(RoleFormat::Ours);
    }
    AgentTool::ALL.iter().copied().find(|tool| tool.own_keys().iter().any(has)).map(RoleFormat::Of)
}

/// Reads a file of a tool. Parts that have no meaning here are listed as unused.
pub fn read(tool: AgentTool, source: &SourceText) -> Result<Foreign, Vec<Diagnostic>> {
    let source = with_unix_line_endings(source);
    let front = Front::read(&source)?;
    if front.body.trim().is_empty() {
        let end = Span::new(source.text.len(), source.text.len());
        let remedy = "write the agent's instructions below the front matter";
        return Err(vec![Diagnostic::error(Code::MissingKey, end, "the file has no text", remedy)]);
    }
    let text = |key: &str| front.entry(key).and_then(|(_, node)| front::trimmed(node));
    let mut foreign = Foreign {
        tool,
        name: text("name"),
        about: front.about.clone().or_else(|| text("description")).as_deref().map(first_line),
        model: None,
        grants: ToolGrants::default(),
        body: format!("{}\n", front.body.trim()),
        unused: Vec::new(),
    };
    for (key, node) in &front.entries {
        if matches!(key.name.as_str(), "name" | "description") {
            continue;
        }
        if key.name == "model" {
            foreign.set_model(key, node);
            continue;
        }
        let is_known = match tool {
            AgentTool::Claude => claude::apply(&mut foreign, key, node),
            AgentTool::Copilot => copilot::apply(&mut foreign, key, node),
            AgentTool::Opencode => opencode::apply(&mut foreign, key, node),
        };
        if !is_known {
            foreign.unused.push(Unused::key(key));
        }
    }
    foreign.unused.sort_by_key(|unused| unused.line);
    let mut lines: Vec<usize> = foreign.unused.iter().map(|unused| source.position(unused.line).0).collect();
    foreign.unused.iter_mut().rev().for_each(|unused| unused.line = lines.pop().unwrap_or(1));
    Ok(foreign)
}

impl Foreign {
    /// Sets the model, or the first of several that the tool would try in order.
    fn set_model(&mut self, key: &YamlKey, node: &YamlNode) {
        let mut models = front::words(node).into_iter();
        // `inherit` means the model of the calling session, which does not exist here.
        self.model = models.next().map(|model| model.value).filter(|model| model != "inherit");
        let others: Vec<String> = models.map(|model| model.value).collect();
        if !others.is_empty() {
            let unused = format!("{}: {}", key.name, others.join(", "));
            self.unused.push(Unused::new(unused, "only the first model is used", key.span));
        }
    }
}

/// The first line of a description, shortened to fit into a table.
fn first_line(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    let first = text.trim().lines().next().unwrap_or_default();
    // Some tools write a line break in a description as a backslash and an `n`.
    let first = first.split("\\n").next().unwrap_or_default().trim();
    if first.chars().count() <= MAX_CHARS {
        return first.to_string();
    }
    first.chars().take(MAX_CHARS).chain(['…']).collect()
}

/// The source with Unix line endings.
pub(crate) fn with_unix_line_endings(source: &SourceText) -> SourceText {
    SourceText::new(source.name.clone(), source.text.replace("\r\n", "\n"))
}
