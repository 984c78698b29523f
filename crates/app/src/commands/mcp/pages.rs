//! Resources, which are artifacts and evidence of runs, and prompts, one for each workflow.

use super::looks::cut;
use super::site::McpSite;
use crate::load;
use remand_engine::bundle;
use remand_ledger::query::ArtifactRow;
use remand_ledger::{Reader, RunId};
use remand_terminal::{CommandFailure, line};
use remand_workflow::shipped;
use rmcp::model::{Prompt, PromptArgument, Resource, ResourceTemplate};

/// The beginning of every address.
const RUNS: &str = "remand://runs/";

/// The name of the evidence among the artifacts of a run.
const EVIDENCE: &str = "evidence";

/// The number of runs whose artifacts are listed.
const LISTED: usize = 10;

/// What a client can read of the latest runs.
pub fn resources(site: &McpSite) -> Result<Vec<Resource>, CommandFailure> {
    let Some(reader) = site.workplace()?.reader_if_any()? else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for row in reader.runs()?.into_iter().take(LISTED) {
        let request = line::cut(&line::first(&row.request), 60);
        let mut evidence =
            Resource::new(format!("{RUNS}{}/{EVIDENCE}", row.run), format!("evidence of {}", row.run));
        evidence.description = Some(format!("{}, {}: {request}", row.workflow, row.stage.name()));
        evidence.mime_type = Some("text/markdown".to_string());
        all.push(evidence);
        for artifact in reader.artifacts(&row.run)? {
            let name = name_of(&artifact);
            let mut resource = Resource::new(
                format!("{RUNS}{}/artifacts/{name}", row.run),
                format!("{name} of {}", row.run),
            );
            resource.description = Some(format!("version {}, by {}", artifact.version, artifact.by));
            resource.mime_type = Some(mime(&artifact.format).to_string());
            all.push(resource);
        }
    }
    Ok(all)
}

/// The forms of the addresses.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{RUNS}{{run}}/{EVIDENCE}"), "the evidence of a run"),
        ResourceTemplate::new(
            format!("{RUNS}{{run}}/artifacts/{{name}}"),
            "an artifact of a run, such as plan or code[task-1]",
        ),
    ]
}

/// The text at an address and its type.
pub fn read(site: &McpSite, address: &str) -> Result<(String, &'static str), CommandFailure> {
    let unknown = || CommandFailure::user(format!("there is nothing at {address}"), "list the resources");
    let (run, rest) = address.strip_prefix(RUNS).and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
    let reader = site.workplace()?.reader()?;
    let run = reader.run(run)?.run;
    if rest == EVIDENCE {
        return Ok((cut(bundle::text(&reader, &run)?), "text/markdown"));
    }
    let name = rest.strip_prefix("artifacts/").ok_or_else(unknown)?;
    let artifact = find(&reader, &run, name)?.ok_or_else(unknown)?;
    let bytes = reader.blob(artifact.blob)?;
    Ok((cut(String::from_utf8_lossy(&bytes).into_owned()), mime(&artifact.format)))
}

fn find(reader: &Reader, run: &RunId, name: &str) -> Result<Option<ArtifactRow>, CommandFailure> {
    // Clients encode the brackets of a part.
    let name = name.replace("%5B", "[").replace("%5D", "]").replace("%5b", "[").replace("%5d", "]");
    Ok(reader.artifacts(run)?.into_iter().find(|artifact| name_of(artifact) == name))
}

/// The name of an artifact as `remand show` takes it.
fn name_of(artifact: &ArtifactRow) -> String {
    match artifact.part.as_str() {
        "" => artifact.name.clone(),
        part => format!("{}[{part}]", artifact.name),
    }
}

fn mime(format: &str) -> &'static str {
    match format {
        "md" => "text/markdown",
        "yaml" => "application/yaml",
        "patch" => "text/x-diff",
        _ => "text/plain",
    }
}

/// The workflows, each as a prompt.
pub fn prompts(site: &McpSite) -> Vec<Prompt> {
    let mut names: Vec<String> = shipped::WORKFLOWS.iter().map(|(name, _)| (*name).to_string()).collect();
    names.extend(load::repository_workflows(&site.context()));
    names.sort();
    names.dedup();
    let argument = || {
        PromptArgument::new("request")
            .with_description("The request, or a file or issue that contains it")
            .with_required(true)
    };
    names
        .into_iter()
        .map(|name| {
            let about =
                format!("Run the workflow `{name}` with Remand, and report the result with its evidence");
            Prompt::new(name, Some(about), Some(vec![argument()]))
        })
        .collect()
}

/// The text of a prompt.
pub fn prompt(site: &McpSite, name: &str, request: &str) -> Option<String> {
    prompts(site).iter().find(|prompt| prompt.name == name)?;
    let subject = match name {
        "issue" | "ticket" | "spec" => name,
        _ => "request",
    };
    Some(format!(
        "Use the tools of the MCP server `remand`.\n\n1. Call `start` with workflow `{name}` and this {subject}: \
         {request}\n2. Call `wait` with the run, and then with the `cursor` that it returned, until `over` or `needs_you` \
         is true.\n3. If `needs_you` is true, show the question and its options, and the command with which the user \
         answers. Do not answer for the user.\n4. When the run is over, call `evidence` and report the outcome, what was \
         checked, and how to take the work.\n"
    ))
}
