//! `schemas.md` and the JSON Schemas that it names: what agents return.

use super::files::ExportedFile;
use super::overview::EXPORT_MARKER;
use super::{Export, target};
use remand_contract::{Schema, SchemaId, outline, schemas};
use std::fmt::Write;

pub fn files(export: &Export<'_>) -> Vec<ExportedFile> {
    const NAME: &str = "schemas";
    let front = target::reference_front(export.tool, NAME, "Reference: what agents return; not an agent.");
    let mut text = format!(
        "{front}{EXPORT_MARKER}\n\n# Schemas of `{}`\n\nAn agent returns one document, in YAML or JSON. `schemas/` has a JSON \
         Schema for each kind.\n\n\
         | schema | producer | consumers | what it is |\n| --- | --- | --- | --- |\n",
        export.program.name
    );
    let used: Vec<&Schema> = schemas().iter().filter(|schema| is_used(export, schema.id)).collect();
    for schema in &used {
        let consumers = schema.consumers.join(", ");
        let _ =
            writeln!(text, "| `{}` | {} | {consumers} | {} |", schema.name, schema.producer, schema.about);
    }
    let mut files = Vec::new();
    for schema in used {
        let path = format!("schemas/{}.json", schema.name);
        let _ = write!(
            text,
            "\n## {}\n\n{} Version {}; `{path}`.\n\n```yaml\n{}\n```\n\nFor example:\n\n```yaml\n{}\n```\n",
            schema.name,
            schema.about,
            schema.version,
            outline(schema).trim_end(),
            schema.example.trim_end()
        );
        let json = format!("{:#}\n", schema.json);
        files.push(ExportedFile { path: target::reference(export.tool, &path), text: json });
    }
    files.push(ExportedFile { path: target::reference(export.tool, "schemas.md"), text });
    files
}

/// Whether the workflow uses the schema, directly or as a part of another one.
fn is_used(export: &Export<'_>, id: SchemaId) -> bool {
    let roles = export.used();
    let is_returned = |name: &str| roles.iter().any(|spec| spec.result == name);
    match id {
        SchemaId::CompletionContract => true,
        SchemaId::Task => is_returned(SchemaId::PlanOutput.name()),
        SchemaId::Finding => roles.iter().any(|spec| spec.findings),
        SchemaId::ResearchOutput
        | SchemaId::SpecOutput
        | SchemaId::DesignOutput
        | SchemaId::PlanOutput
        | SchemaId::SplitOutput
        | SchemaId::ImplementationReport
        | SchemaId::VerificationReport
        | SchemaId::ReviewFindings
        | SchemaId::KnowledgeOutput
        | SchemaId::Verdict
        | SchemaId::Diagnosis
        | SchemaId::FindingsReport
        | SchemaId::Document
        | SchemaId::GapInventory
        | SchemaId::GapProposals
        | SchemaId::GapReview => is_returned(id.name()),
    }
}
