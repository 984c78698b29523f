//! What differs between the tools: where files lie, their front matter, and the names of tools.
//!
//! Claude Code and opencode take every Markdown file in their folder for an agent, so references lie beside it. VS Code
//! does too, but hides those that say so, and there the references stand where people look for them.

use super::coded;
use remand_workflow::foreign::Tool;
use remand_workflow::roles::RoleSpec;
use serde_json::Value;
use std::path::PathBuf;

/// Names of agents that the tools have themselves; a file of such a name would replace them.
const TAKEN: &[&str] = &[
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

/// The name of the agent that stands for a role: `check/code` is `check-code`, and `plan` is `plan-role`.
pub fn name_of(title: &str) -> String {
    let name = title.replace('/', "-");
    if TAKEN.contains(&name.as_str()) { format!("{name}-role") } else { name }
}

/// The agent that goes through the workflow.
pub const ORCHESTRATOR: &str = "orchestrator";

/// The file of an agent.
pub fn agent(tool: Tool, name: &str) -> PathBuf {
    PathBuf::from(match tool {
        Tool::Claude => format!(".claude/agents/{name}.md"),
        Tool::Copilot => format!(".github/agents/{name}.agent.md"),
        Tool::Opencode => format!(".opencode/agents/{name}.md"),
    })
}

/// A file that agents are pointed to.
pub fn reference(tool: Tool, name: &str) -> PathBuf {
    PathBuf::from(match tool {
        Tool::Claude => format!(".claude/remand/{name}"),
        Tool::Copilot => format!(".github/agents/{name}"),
        Tool::Opencode => format!(".opencode/remand/{name}"),
    })
}

/// The prompt that begins a run.
pub fn entry(tool: Tool, workflow: &str) -> PathBuf {
    PathBuf::from(match tool {
        Tool::Claude => format!(".claude/commands/{workflow}-workflow.md"),
        Tool::Copilot => format!(".github/prompts/{workflow}-workflow.prompt.md"),
        Tool::Opencode => format!(".opencode/commands/{workflow}-workflow.md"),
    })
}

/// What the user typed behind the name of the entry prompt.
pub fn request(tool: Tool) -> &'static str {
    match tool {
        Tool::Claude | Tool::Opencode => "$ARGUMENTS",
        Tool::Copilot => "${input:request:What is wanted}",
    }
}

/// The front matter of a role's agent.
pub fn front(tool: Tool, spec: &RoleSpec) -> String {
    let (name, about) = (name_of(&spec.title), quoted(&spec.about));
    match tool {
        Tool::Claude => {
            let model = spec.model.as_deref().map(|model| format!("model: {}\n", quoted(model)));
            let (tools, model) = (tools(tool, spec).join(", "), model.unwrap_or_default());
            format!("---\nname: {name}\ndescription: {about}\ntools: {tools}\n{model}---\n")
        }
        Tool::Copilot => {
            let model = spec.model.as_deref().map(|model| format!("model: {}\n", quoted(model)));
            let tools: Vec<String> = tools(tool, spec).iter().map(|tool| format!("'{tool}'")).collect();
            let (tools, model) = (tools.join(", "), model.unwrap_or_default());
            format!("---\nname: {name}\ndescription: {about}\ntools: [{tools}]\n{model}---\n")
        }
        Tool::Opencode => {
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

/// The front matter of the orchestrator, who may start the agents of these names.
pub fn orchestrator_front(tool: Tool, about: &str, agents: &[String]) -> String {
    let about = quoted(about);
    match tool {
        Tool::Claude => format!(
            "---\nname: {ORCHESTRATOR}\ndescription: {about}\ntools: Agent({}), Read, Grep, Glob, Bash\n---\n",
            agents.join(", ")
        ),
        Tool::Copilot => {
            let names: Vec<String> = agents.iter().map(|name| format!("'{name}'")).collect();
            format!(
                "---\nname: {ORCHESTRATOR}\ndescription: {about}\ntools: ['agent', 'read', 'search', 'execute']\n\
                 agents: [{}]\n---\n",
                names.join(", ")
            )
        }
        Tool::Opencode => {
            let names: String = agents.iter().map(|name| format!("    \"{name}\": allow\n")).collect();
            format!(
                "---\ndescription: {about}\nmode: primary\npermission:\n  edit: deny\n  bash: allow\n  \
                 webfetch: deny\n  websearch: deny\n  task:\n    \"*\": deny\n{names}---\n"
            )
        }
    }
}

/// The front matter of a reference; only where it would be taken for an agent there is some.
pub fn reference_front(tool: Tool, name: &str, about: &str) -> String {
    match tool {
        Tool::Claude | Tool::Opencode => String::new(),
        Tool::Copilot => format!(
            "---\nname: {name}\ndescription: {}\ntools: []\nuser-invocable: false\n\
             disable-model-invocation: true\n---\n\n",
            quoted(about)
        ),
    }
}

/// The front matter of the entry prompt.
pub fn entry_front(tool: Tool, about: &str, subject: &str) -> String {
    let about = quoted(about);
    match tool {
        Tool::Claude => format!("---\ndescription: {about}\nargument-hint: \"[{subject}]\"\n---\n"),
        Tool::Copilot => {
            format!("---\ndescription: {about}\nagent: {ORCHESTRATOR}\nargument-hint: \"{subject}\"\n---\n")
        }
        Tool::Opencode => format!("---\ndescription: {about}\nagent: {ORCHESTRATOR}\n---\n"),
    }
}

/// What a role is given, by the names that the tool has for it.
pub fn tools(tool: Tool, spec: &RoleSpec) -> Vec<&'static str> {
    let (look, edit, shell, web): (&[_], &[_], &[_], &[_]) = match tool {
        Tool::Claude => {
            (&["Read", "Grep", "Glob"], &["Edit", "Write"], &["Bash"], &["WebFetch", "WebSearch"])
        }
        Tool::Copilot => (&["read", "search"], &["edit"], &["execute"], &["web"]),
        Tool::Opencode => {
            (&["read", "grep", "glob"], &["edit", "write"], &["bash"], &["webfetch", "websearch"])
        }
    };
    let given = [(look, true), (edit, !spec.is_read_only()), (shell, spec.shell), (web, spec.network)];
    given.into_iter().filter(|(_, given)| *given).flat_map(|(names, _)| names.iter().copied()).collect()
}

/// How a person begins a run.
pub fn begin(tool: Tool, workflow: &str) -> String {
    let command = format!("/{workflow}-workflow what you want");
    match tool {
        Tool::Claude => format!("Start `claude` here and type {}.", coded([command.as_str()])),
        Tool::Copilot => format!("Open the chat of VS Code here and type {}.", coded([command.as_str()])),
        Tool::Opencode => format!("Start `opencode` here and type {}.", coded([command.as_str()])),
    }
}

/// A text that YAML reads as it is.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
