//! The entry prompt: what a user starts a run with.

use super::files::File;
use super::overview::MARK;
use super::{Export, target};
use remand_workflow::foreign::Tool;
use std::fmt::Write;

pub fn file(export: &Export<'_>) -> File {
    let program = export.program;
    let tool = export.tool;
    let orchestrator = target::agent(tool, target::ORCHESTRATOR);
    let mut text = format!(
        "{}\n{MARK}\n\n# The workflow `{}`\n\n{}\n\n## Initial Request\n\n{}\n\n## Execution Mode\n\n\
         autonomous, unless the request begins with `interactive:`. In interactive mode every question is asked; in \
         autonomous mode those with a default are answered by it.\n\n## Key Artifacts Reference\n\n\
         | Artifact | Path |\n| --- | --- |\n",
        target::entry_front(tool, &program.about, &program.subject),
        program.name,
        program.about,
        target::request(tool)
    );
    let references = [
        ("Orchestrator", orchestrator.clone()),
        ("Agent definitions", orchestrator.parent().unwrap_or(&orchestrator).to_path_buf()),
        ("Schema reference", target::reference(tool, "schemas.md")),
        ("Dispatch patterns", target::reference(tool, "dispatch-patterns.md")),
        ("Severity taxonomy", target::reference(tool, "severity-taxonomy.md")),
    ];
    for (name, path) in references {
        let _ = writeln!(text, "| {name} | `{}` |", path.display());
    }
    let who = match tool {
        // A subagent of Claude Code cannot be counted on to start others, so the session itself goes through.
        Tool::Claude => "Read the orchestrator's definition and act as it yourself, in this session",
        Tool::Copilot | Tool::Opencode => "Act as the orchestrator's definition says",
    };
    let _ = write!(
        text,
        "\n## Pipeline Execution Rules\n\n1. {who}.\n2. Follow the execution mode at every question.\n3. Every agent \
         returns the schema that its definition names.\n4. Hold every result against its schema before you follow a \
         route.\n"
    );
    File { path: target::entry(tool, &program.name), text }
}
