//! The page about the exported workflow, with its drawing.

use super::files::ExportedFile;
use super::{Export, cell, coded, target};
use remand_drawings::mermaid;
use std::fmt::Write;

/// The comment that marks a file as exported, so a later export may replace it.
pub const EXPORT_MARKER: &str = "<!-- Made by `remand export`; make it again instead of changing it. -->";

pub fn file(export: &Export<'_>) -> ExportedFile {
    let program = export.program;
    let tool = export.tool;
    let mut text = format!(
        "{EXPORT_MARKER}\n\n# {}\n\n{} {}\n\n```mermaid\n{}\n```\n\n## Agents\n\n\
         | agent | phases | returns | what it does |\n| --- | --- | --- | --- |\n",
        program.name,
        program.about,
        target::how_to_start(tool, &program.name),
        mermaid(program).trim_end()
    );
    for spec in export.used() {
        let phases = export.phases(&spec.title);
        let _ = writeln!(
            text,
            "| [`{name}`]({}) | {} | `{}` | {} |",
            target::agent(tool, &target::name_of(&spec.title)).display(),
            coded(phases.iter().map(|(_, phase)| phase.name.as_str())),
            spec.result,
            cell(&spec.about),
            name = target::name_of(&spec.title)
        );
    }
    let _ = writeln!(
        text,
        "| [`{name}`]({}) | all | `completion-contract` | {} |\n\n## References\n",
        target::agent(tool, target::ORCHESTRATOR).display(),
        cell(&program.about),
        name = target::ORCHESTRATOR
    );
    for (name, about) in [
        ("schemas.md", "what agents return"),
        ("dispatch-patterns.md", "how phases are dispatched"),
        ("severity-taxonomy.md", "what severities mean"),
    ] {
        let _ = writeln!(text, "- [{name}]({}): {about}", target::reference(tool, name).display());
    }
    let entry = target::entry(tool, &program.name);
    let _ = writeln!(text, "- [{}]({0}): the entry prompt", entry.display());
    if !export.guarantees.is_empty() {
        text.push_str("\n## Guarantees\n\nProven for every path of the workflow if Remand drives it:\n\n");
    }
    for guarantee in export.guarantees {
        let _ = writeln!(text, "- {guarantee}");
    }
    let _ = write!(
        text,
        "\n## What is enforced\n\nThese files are advice to a model: nothing prevents it from skipping a phase, and \
         only lists of tools limit an agent. `remand run --workflow {}` enforces the same workflow: it confines \
         agents, undoes changes that they may not make, runs build and tests itself, and commits only verified \
         work.\n",
        program.name
    );
    ExportedFile { path: export.overview.clone(), text }
}
