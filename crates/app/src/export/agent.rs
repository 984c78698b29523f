//! The agent definition of one role, in the nine sections that every definition has.

use super::artifacts::{self, ExportedArtifact};
use super::files::ExportedFile;
use super::overview::EXPORT_MARKER;
use super::{Export, coded, target};
use remand_contract::{ApproachRule, Expectation, FindingsRule, SchemaId, outline_for, schema};
use remand_kernel::program::Phase;
use remand_workflow::foreign::AgentTool;
use remand_workflow::permissions::Writable;
use remand_workflow::roles::RoleSpec;
use std::fmt::Write;

pub fn file(export: &Export<'_>, spec: &RoleSpec) -> ExportedFile {
    let name = target::name_of(&spec.title);
    let phases: Vec<&Phase> = export.phases(&spec.title).into_iter().map(|(_, phase)| phase).collect();
    let reads = artifacts::read(export, &phases);
    let writes = artifacts::written(export, &phases);
    let mut text = format!("{}\n{EXPORT_MARKER}\n\n# {name}\n\n", target::front(export.tool, spec));
    head(&mut text, export, spec, &phases, (&reads, &writes));
    let section = |heading: &str| export.roles.section(&spec.title, heading);
    let mut part = |heading: &str, body: &str| {
        let _ = write!(text, "\n## {heading}\n\n{}\n", body.trim());
    };
    part("Role & Purpose", &section("Purpose").unwrap_or_else(|| spec.about.clone()));
    part("Input Schema", &inputs(&reads, section("What you get")));
    part("Output Schema", &output(export, spec, &phases));
    part("Workflow", &work(export, spec));
    part("Completion Contract", &completion(spec, section("What you return")));
    part("Operating Rules", &section("Rules").unwrap_or_else(|| "None beyond these sections.".to_string()));
    part("Self-Verification", &checks(export.tool, spec));
    part("Tool Access", &access(export.tool, spec));
    part("Anti-Drift Anchor", &anchor(&name, spec, section("Never")));
    ExportedFile { path: target::agent(export.tool, &name), text }
}

/// Writes the quoted lines at the start of a definition.
pub fn quote(text: &mut String, lines: &[(&str, String)]) {
    for (name, value) in lines {
        let _ = writeln!(text, "> **{name}:** {value}  ");
    }
    text.push_str("\n---\n");
}

fn head(
    text: &mut String,
    export: &Export<'_>,
    spec: &RoleSpec,
    phases: &[&Phase],
    (reads, writes): (&[ExportedArtifact], &[ExportedArtifact]),
) {
    let names = |all: &[ExportedArtifact]| coded(all.iter().map(|artifact| artifact.name.as_str()));
    let steps = coded(phases.iter().map(|phase| phase.name.as_str()));
    let result = format!("`{}`", spec.result);
    let outputs = match writes.is_empty() {
        true => result,
        false => format!("{result}, as {}", names(writes)),
    };
    quote(
        text,
        &[
            ("Type", "Agent definition".to_string()),
            ("Pipeline Step", format!("{steps} of `{}`", export.program.name)),
            ("Inputs", if reads.is_empty() { "as listed by the dispatch".to_string() } else { names(reads) }),
            ("Outputs", outputs),
        ],
    );
}

fn inputs(reads: &[ExportedArtifact], section_text: Option<String>) -> String {
    let mut text = String::from("```yaml\n");
    for artifact in reads {
        let _ = writeln!(text, "{}: {}  # {}", artifact.name, artifact.form, artifact.producer);
    }
    if reads.is_empty() {
        text.push_str("{}  # the dispatch lists its inputs\n");
    }
    text.push_str("```\n");
    if let Some(section_text) = section_text {
        let _ = write!(text, "\n{section_text}\n");
    }
    text
}

fn output(export: &Export<'_>, spec: &RoleSpec, phases: &[&Phase]) -> String {
    let about = schema(&spec.result).map_or("", |schema| schema.about);
    let reference = target::reference(export.tool, "schemas.md");
    let mut text = format!("`{}` of `{}`: {about}\n", spec.result, reference.display());
    let Ok(id) = spec.result.parse::<SchemaId>() else { return text };
    let says: Vec<&str> = spec.says.iter().map(String::as_str).collect();
    let steps: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
    let mut expected = Expectation::new(id, &spec.title, &steps.join(" | "), &says);
    expected.findings = FindingsRule::of_contract(spec.findings, spec.by_kind);
    expected.approach = if spec.states_approach { ApproachRule::Stated } else { ApproachRule::NotAsked };
    let program = export.program;
    let flags = phases.iter().flat_map(|phase| &phase.sets);
    expected.sets = flags.map(|flag| program.flags[flag.index()].clone()).collect();
    expected.injects = program.injects.iter().map(|id| program.phase(*id).name.clone()).collect();
    let _ = write!(text, "\n```yaml\n{}\n```\n", outline_for(&expected).trim_end());
    let instruction = if spec.is_read_only() {
        "End your answer with it, in the last fenced block; you write no files."
    } else {
        "End your answer with it, in the last fenced block."
    };
    let _ = write!(text, "\n{instruction}\n");
    text
}

/// The instructions. If a user's role has none of the usual sections, this is its whole prompt.
fn work(export: &Export<'_>, spec: &RoleSpec) -> String {
    let section = |heading: &str| export.roles.section(&spec.title, heading);
    let common = section("What to do");
    let mode = spec.title.split_once('/').and_then(|(_, mode)| {
        let heading = format!("Mode: {mode}");
        section(&heading).map(|text| format!("### {heading}\n\n{text}"))
    });
    match (common, mode) {
        (Some(common), Some(mode)) => format!("{common}\n\n{mode}"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => export.roles.prompt(&spec.title).unwrap_or_default(),
    }
}

fn completion(spec: &RoleSpec, section_text: Option<String>) -> String {
    // A diagnosis has no success verdict: any verdict completes it.
    let success_count = if spec.result == SchemaId::Diagnosis.name() { spec.says.len() } else { 1 };
    let (done, others) = spec.says.split_at(success_count.min(spec.says.len()));
    let mut text = format!("- DONE: with the verdict {}.\n", coded(done.iter().map(String::as_str)));
    if !others.is_empty() {
        let _ = writeln!(
            text,
            "- NEEDS_REVISION: with the verdict {}.",
            coded(others.iter().map(String::as_str))
        );
    }
    text.push_str("- ERROR: no verdict can be given; `completion.summary` says why.\n");
    if let Some(mild) = &spec.mild {
        let _ = writeln!(text, "\n`{mild}` counts as `{}` when all its findings are minor.", spec.says[0]);
    }
    if let Some(section_text) = section_text {
        let _ = write!(text, "\n{section_text}\n");
    }
    text
}

fn checks(tool: AgentTool, spec: &RoleSpec) -> String {
    let version = schema::VERSION;
    let mut all = vec![
        format!(
            "The result is one YAML document with `schema_version: \"{version}\"` and every required field."
        ),
        format!(
            "`payload.verdict` is one of {}, and `completion.status` matches it.",
            coded(spec.says.iter().map(String::as_str))
        ),
        "`completion.findings_count` is the number of `payload.findings`.".to_string(),
    ];
    if spec.findings {
        let reference = target::reference(tool, "severity-taxonomy.md");
        all.push(format!(
            "A verdict that rejects has at least one finding, with a severity from `{}`.",
            reference.display()
        ));
    }
    if spec.findings {
        all.push("Every finding names its place and its evidence.".to_string());
    }
    if spec.by_kind {
        all.push("Every finding names its kind.".to_string());
    }
    all.push(format!("Nothing was changed except: {}.", writable_names(spec)));
    let numbered = all.iter().enumerate().map(|(at, check)| format!("{}. {check}", at + 1));
    numbered.collect::<Vec<_>>().join("\n")
}

fn writable_names(spec: &RoleSpec) -> String {
    let names: Vec<&str> = spec.may_write.iter().map(|writable| writable.name()).collect();
    names.join(", ")
}

fn access(tool: AgentTool, spec: &RoleSpec) -> String {
    let mut text = format!("Tools: {}.\n\nYou may write:\n\n", coded(target::tools(tool, spec)));
    for writable in &spec.may_write {
        let _ = writeln!(text, "- `{}`: {}", writable.name(), writable.about());
    }
    if !spec.tree {
        text.push_str("\nYou see only the documents that you get, and no work tree.\n");
    }
    if spec.shell && !spec.may_write.contains(&Writable::Tree) {
        text.push_str(
            "\nYour shell can write more than this list, and nothing here prevents it. Remand's engine would undo \
             such a change and fail the dispatch.\n",
        );
    }
    text
}

fn anchor(name: &str, spec: &RoleSpec, never: Option<String>) -> String {
    let never = never.map_or_else(String::new, |never| format!(" You never:\n\n{never}\n\n"));
    format!("**REMEMBER:** You are the **{name}**. {}{never} Stay as {name}.", spec.about)
        .replace("\n\n Stay", "\n\nStay")
}
