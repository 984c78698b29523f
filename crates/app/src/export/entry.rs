//! The entry prompt, with which a user starts a run.

use super::files::ExportedFile;
use super::overview::EXPORT_MARKER;
use super::{Export, target};
use remand_workflow::foreign::AgentTool;
use std::fmt::Write;

pub fn file(export: &Export<'_>) -> ExportedFile {
    let program = export.program;
    let tool = export.tool;
    let orchestrator = target::agent(tool, target::ORCHESTRATOR);
    let mut text = format!(
        "{}\n{EXPORT_MARKER}\n\n# The workflow `{}`\n\n{}\n\n## Initial Request\n\n{}\n\n## Execution Mode\n\n\
         Autonomous, unless the request starts with `interactive:`. In interactive mode, ask every question; in \
         autonomous mode, answer every question that has a default with that default.\n\n## Key Artifacts Reference\n\n\
         | Artifact | Path |\n| --- | --- |\n",
        target::entry_front(tool, &program.about, &program.subject),
        program.name,
        program.about,
        target::request_placeholder(tool)
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
    let how = match tool {
        // A subagent of Claude Code may be unable to start others, so the session itself follows the workflow.
        AgentTool::Claude => "Read the orchestrator's definition and follow it yourself, in this session",
        AgentTool::Copilot | AgentTool::Opencode => "Act as the orchestrator's definition describes",
    };
    let _ = write!(
        text,
        "\n## Pipeline Execution Rules\n\n1. {how}.\n2. Follow the execution mode at every question.\n3. Every agent \
         returns the schema that its definition names.\n4. Validate every result against its schema before you follow a \
         route.\n"
    );
    ExportedFile { path: target::entry(tool, &program.name), text }
}
