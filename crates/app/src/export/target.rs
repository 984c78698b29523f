//! The differences between the tools: paths, front matter, and the names of their tools.
//!
//! Claude Code and opencode load every Markdown file in their folder as an agent, so references are outside of it. VS
//! Code does too, but can hide files, so there the references are in the same folder.

use super::coded;
use remand_workflow::foreign::AgentTool;
use remand_workflow::roles::RoleSpec;
use serde_json::Value;
use std::path::PathBuf;

/// Names of the tools' built-in agents and of our orchestrator; a role's file with such a name would replace one of
/// them.
const BUILT_IN: &[&str] = &[
    "agent",
    "ask",
    "build",
    "compaction",
    "edit",
    "explore",
    "general",
    "general-purpose",
    "orchestrator",
    "plan",
    "summary",
    "task",
    "title",
];

/// The name of a role's agent: `check/code` is `check-code`, and `plan` is `plan-role`.
pub fn name_of(title: &str) -> String {
    let name = title.replace('/', "-");
    if BUILT_IN.contains(&name.as_str()) { format!("{name}-role") } else { name }
}

/// The name of the agent that follows the workflow.
pub const ORCHESTRATOR: &str = "orchestrator";

/// The file of an agent.
pub fn agent(tool: AgentTool, name: &str) -> PathBuf {
    PathBuf::from(match tool {
        AgentTool::Claude => format!(".claude/agents/{name}.md"),
        AgentTool::Copilot => format!(".github/agents/{name}.agent.md"),
        AgentTool::Opencode => format!(".opencode/agents/{name}.md"),
    })
}

/// A file that agents refer to.
pub fn reference(tool: AgentTool, name: &str) -> PathBuf {
    PathBuf::from(match tool {
        AgentTool::Claude => format!(".claude/remand/{name}"),
        AgentTool::Copilot => format!(".github/agents/{name}"),
        AgentTool::Opencode => format!(".opencode/remand/{name}"),
    })
}

/// The prompt that starts a run.
pub fn entry(tool: AgentTool, workflow: &str) -> PathBuf {
    PathBuf::from(match tool {
        AgentTool::Claude => format!(".claude/commands/{workflow}-workflow.md"),
        AgentTool::Copilot => format!(".github/prompts/{workflow}-workflow.prompt.md"),
        AgentTool::Opencode => format!(".opencode/commands/{workflow}-workflow.md"),
    })
}

/// The placeholder for what the user types after the name of the entry prompt.
pub fn request_placeholder(tool: AgentTool) -> &'static str {
    match tool {
        AgentTool::Claude | AgentTool::Opencode => "$ARGUMENTS",
        AgentTool::Copilot => "${input:request:What you want}",
    }
}

/// The front matter of a role's agent.
pub fn front(tool: AgentTool, spec: &RoleSpec) -> String {
    let (name, about) = (name_of(&spec.title), quoted(&spec.about));
    match tool {
        AgentTool::Claude => {
            let model = spec.model.as_deref().map(|model| format!("model: {}\n", quoted(model)));
            let (tools, model) = (tools(tool, spec).join(", "), model.unwrap_or_default());
            format!("---\nname: {name}\ndescription: {about}\ntools: {tools}\n{model}---\n")
        }
        AgentTool::Copilot => {
            let model = spec.model.as_deref().map(|model| format!("model: {}\n", quoted(model)));
            let tools: Vec<String> = tools(tool, spec).iter().map(|tool| format!("'{tool}'")).collect();
            let (tools, model) = (tools.join(", "), model.unwrap_or_default());
            format!("---\nname: {name}\ndescription: {about}\ntools: [{tools}]\n{model}---\n")
        }
        AgentTool::Opencode => {
            let model = spec.model.as_deref().map(|model| format!("model: {}\n", quoted(model)));
            let word = |allowed: bool| if allowed { "allow" } else { "deny" };
            let (edit, bash, web) = (word(!spec.is_read_only()), word(spec.shell), word(spec.network));
            format!(
                "---\ndescription: {about}\nmode: subagent\n{}permission:\n  edit: {edit}\n  bash: {bash}\n  \
                 webfetch: {web}\n  websearch: {web}\n  task: deny\n---\n",
                model.unwrap_or_default()
            )
        }
    }
}

/// The front matter of the orchestrator, which may start these agents.
pub fn orchestrator_front(tool: AgentTool, about: &str, agents: &[String]) -> String {
    let about = quoted(about);
    match tool {
        AgentTool::Claude => format!(
            "---\nname: {ORCHESTRATOR}\ndescription: {about}\ntools: Agent({}), Read, Grep, Glob, Bash\n---\n",
            agents.join(", ")
        ),
        AgentTool::Copilot => {
            let names: Vec<String> = agents.iter().map(|name| format!("'{name}'")).collect();
            format!(
                "---\nname: {ORCHESTRATOR}\ndescription: {about}\ntools: ['agent', 'read', 'search', 'execute']\n\
                 agents: [{}]\n---\n",
                names.join(", ")
            )
        }
        AgentTool::Opencode => {
            let names: String = agents.iter().map(|name| format!("    \"{name}\": allow\n")).collect();
            format!(
                "---\ndescription: {about}\nmode: primary\npermission:\n  edit: deny\n  bash: allow\n  \
                 webfetch: deny\n  websearch: deny\n  task:\n    \"*\": deny\n{names}---\n"
            )
        }
    }
}

/// The front matter of a reference; empty unless the tool would load the file as an agent.
pub fn reference_front(tool: AgentTool, name: &str, about: &str) -> String {
    match tool {
        AgentTool::Claude | AgentTool::Opencode => String::new(),
        AgentTool::Copilot => format!(
            "---\nname: {name}\ndescription: {}\ntools: []\nuser-invocable: false\n\
             disable-model-invocation: true\n---\n\n",
            quoted(about)
        ),
    }
}

/// The front matter of the entry prompt.
pub fn entry_front(tool: AgentTool, about: &str, subject: &str) -> String {
    let about = quoted(about);
    match tool {
        AgentTool::Claude => format!("---\ndescription: {about}\nargument-hint: \"[{subject}]\"\n---\n"),
        AgentTool::Copilot => {
            format!("---\ndescription: {about}\nagent: {ORCHESTRATOR}\nargument-hint: \"{subject}\"\n---\n")
        }
        AgentTool::Opencode => format!("---\ndescription: {about}\nagent: {ORCHESTRATOR}\n---\n"),
    }
}

/// The tools that a role may use, under the names that the agent program uses.
pub fn tools(tool: AgentTool, spec: &RoleSpec) -> Vec<&'static str> {
    let (read, edit, shell, web): (&[_], &[_], &[_], &[_]) = match tool {
        AgentTool::Claude => {
            (&["Read", "Grep", "Glob"], &["Edit", "Write"], &["Bash"], &["WebFetch", "WebSearch"])
        }
        AgentTool::Copilot => (&["read", "search"], &["edit"], &["execute"], &["web"]),
        AgentTool::Opencode => {
            (&["read", "grep", "glob"], &["edit", "write"], &["bash"], &["webfetch", "websearch"])
        }
    };
    let all = [(read, true), (edit, !spec.is_read_only()), (shell, spec.shell), (web, spec.network)];
    all.into_iter().filter(|(_, allowed)| *allowed).flat_map(|(names, _)| names.iter().copied()).collect()
}

/// Explains how the user starts a run.
pub fn how_to_start(tool: AgentTool, workflow: &str) -> String {
    let command = format!("/{workflow}-workflow what you want");
    match tool {
        AgentTool::Claude => format!("Start `claude` here and type {}.", coded([command.as_str()])),
        AgentTool::Copilot => {
            format!("Open the VS Code chat here and type {}.", coded([command.as_str()]))
        }
        AgentTool::Opencode => format!("Start `opencode` here and type {}.", coded([command.as_str()])),
    }
}

/// A quoted string that YAML reads unchanged.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
