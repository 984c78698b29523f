//! The orchestrator: the agent that follows the workflow in a tool without an engine.

use super::agent::quote;
use super::files::ExportedFile;
use super::overview::EXPORT_MARKER;
use super::{Export, artifacts, cell, coded, target};
use remand_drawings::{matrix, phrase};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Work;
use remand_workflow::operations::{OPERATIONS, OperationSpec};
use std::fmt::Write;

pub fn file(export: &Export<'_>) -> ExportedFile {
    let program = export.program;
    let agents: Vec<String> = export.used().iter().map(|spec| target::name_of(&spec.title)).collect();
    let front = target::orchestrator_front(export.tool, &program.about, &agents);
    let mut text = format!("{front}\n{EXPORT_MARKER}\n\n# {}\n\n", target::ORCHESTRATOR);
    let subject = &program.subject;
    quote(
        &mut text,
        &[
            ("Type", "Agent definition".to_string()),
            ("Pipeline Step", format!("all of `{}`", program.name)),
            ("Inputs", format!("`{subject}`")),
            ("Outputs", "`completion-contract`".to_string()),
        ],
    );
    let reference = |name: &str| target::reference(export.tool, name).display().to_string();
    let mut part = |heading: &str, body: &str| {
        let _ = write!(text, "\n## {heading}\n\n{}\n", body.trim());
    };
    part(
        "Role & Purpose",
        &format!(
            "{} You dispatch the agents, read their results and follow the routes. You never decide what a route \
             decides, and never do an agent's work.",
            program.about
        ),
    );
    part("Input Schema", &format!("```yaml\n{subject}: text  # the user\n```"));
    part(
        "Output Schema",
        &format!(
            "`completion-contract` from `{}`. Every agent returns the schema that its definition names; a result \
             that does not match its contract goes back to its agent once, with the errors.",
            reference("schemas.md")
        ),
    );
    part("Workflow", &flow(export));
    part(
        "Completion Contract",
        "- DONE: a route led to `done`.\n- ERROR: a route led to `fail` or `stop`; `completion.summary` says why.",
    );
    part("Operating Rules", &rules(export));
    part("Self-Verification", &guarantees(export));
    part(
        "Tool Access",
        &format!(
            "Agents: {}.\n\nA shell for the operations, and nothing that edits files.",
            coded(agents.iter().map(String::as_str))
        ),
    );
    let name = target::ORCHESTRATOR;
    part(
        "Anti-Drift Anchor",
        &format!(
            "**REMEMBER:** You are the **{name}**. You dispatch, read results and follow the routing table. You never \
             write code, judge work, take a claim for evidence, or skip a route. Stay as {name}."
        ),
    );
    ExportedFile { path: target::agent(export.tool, name), text }
}

/// Every phase in order; the phases of a sub-flow are below its owner.
fn flow(export: &Export<'_>) -> String {
    let mut text = String::new();
    for (index, id) in export.program.flow(None).enumerate() {
        let _ = writeln!(text, "{}. {}", index + 1, step(export, id));
        for (index, id) in export.program.flow(Some(id)).enumerate() {
            let _ = writeln!(text, "   {}. {}", index + 1, step(export, id));
        }
    }
    text
}

fn step(export: &Export<'_>, id: PhaseId) -> String {
    let program = export.program;
    let phase = program.phase(id);
    let mut text = format!("**{}**", phase.name);
    if phase.aside {
        text.push_str(" (only when a route names it)");
    }
    let _ = write!(text, ": {}", phrase::who(program, phase));
    for remark in phrase::remarks(program, phase) {
        let _ = write!(text, ", {remark}");
    }
    if let Work::Ask { question, .. } = &phase.work {
        let _ = write!(text, ": {question}");
    }
    let names = |all: Vec<artifacts::ExportedArtifact>| {
        let names: Vec<String> = all.into_iter().map(|artifact| artifact.name).collect();
        coded(names.iter().map(String::as_str))
    };
    let (reads, writes) = (artifacts::read(export, &[phase]), artifacts::written(export, &[phase]));
    for (verb, all) in [("reads", reads), ("writes", writes)] {
        if !all.is_empty() {
            let _ = write!(text, "; {verb} {}", names(all));
        }
    }
    text
}

fn rules(export: &Export<'_>) -> String {
    let program = export.program;
    let reference = |name: &str| target::reference(export.tool, name).display().to_string();
    let mut text = format!(
        "1. A phase ends with a signal, and the table says where it leads. A route that spends a budget subtracts one \
         from it; when the budget is empty, follow the route that the table names for that.\n\
         2. `{}` describes how to dispatch phases, and `{}` what severities mean.\n\
         3. What an agent says is a claim. Evidence is the result of an operation in the table below that you ran yourself.\n",
        reference("dispatch-patterns.md"),
        reference("severity-taxonomy.md")
    );
    let renamed = export.used().into_iter().filter(|spec| target::name_of(&spec.title) != spec.title);
    let renamed: Vec<String> =
        renamed.map(|spec| format!("`{}` is `{}`", spec.title, target::name_of(&spec.title))).collect();
    if !renamed.is_empty() {
        let _ = writeln!(text, "4. Roles and their agents: {}.", renamed.join(", "));
    }
    text.push('\n');
    // The overview already has the title and the line about the workflow.
    let table = matrix::markdown(program);
    text.push_str(table.find("| phase").map_or(table.as_str(), |at| &table[at..]));
    let is_used = |spec: &&OperationSpec| program.operations.iter().any(|used| used.name == spec.operation);
    let used: Vec<&OperationSpec> = OPERATIONS.iter().filter(is_used).collect();
    if !used.is_empty() {
        text.push_str("\n| operation | ends with | what it does |\n| --- | --- | --- |\n");
    }
    for spec in used {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            spec.operation,
            coded(spec.results.iter().copied()),
            cell(spec.about)
        );
    }
    text
}

fn guarantees(export: &Export<'_>) -> String {
    if export.guarantees.is_empty() {
        return "Every route that was followed is in the table.".to_string();
    }
    let mut text = String::from(
        "Every route that was followed is in the table, and these guarantees hold for the whole run:\n\n",
    );
    for guarantee in export.guarantees {
        let _ = writeln!(text, "- {guarantee}");
    }
    text
}
