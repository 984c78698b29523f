//! `severity-taxonomy.md`: the terms that findings use, and what each leads to.

use super::files::ExportedFile;
use super::overview::EXPORT_MARKER;
use super::{Export, cell, coded, target};
use remand_contract::SchemaId;
use remand_drawings::phrase::route_phrase;
use remand_kernel::program::Confidence;
use remand_kernel::signal::SECURITY_BLOCKER;
use serde_json::Value;
use std::fmt::Write;

pub fn file(export: &Export<'_>) -> ExportedFile {
    const NAME: &str = "severity-taxonomy";
    let front = target::reference_front(export.tool, NAME, "Reference: what severities mean; not an agent.");
    let mut text = format!(
        "{front}{EXPORT_MARKER}\n\n# Severity taxonomy\n\nAll findings use these words and no others.\n"
    );
    table(&mut text, "Severity", SchemaId::Finding, "Severity");
    table(&mut text, "Category", SchemaId::Finding, "Category");
    if export.used().iter().any(|spec| spec.by_kind) {
        table(&mut text, "Kind", SchemaId::Finding, "Kind");
    }
    table(&mut text, "Severity of gaps", gap_schema(export), "GapSeverity");
    table(&mut text, "Risk", SchemaId::PlanOutput, "Risk");
    text.push_str("\n## Confidence of the run\n\n| level | meaning |\n| --- | --- |\n");
    for level in [Confidence::High, Confidence::Medium, Confidence::Low] {
        let _ = writeln!(text, "| `{}` | {} |", level.name(), level.definition());
    }
    minor_findings(&mut text, export);
    blockers(&mut text, export);
    ExportedFile { path: target::reference(export.tool, "severity-taxonomy.md"), text }
}

/// The schema with gap severities, if a role reports gaps; otherwise one without them, so the table is left out.
fn gap_schema(export: &Export<'_>) -> SchemaId {
    let reports_gaps = export.used().iter().any(|spec| spec.result == SchemaId::GapInventory.name());
    if reports_gaps { SchemaId::GapInventory } else { SchemaId::CompletionContract }
}

/// Writes the words of one enumeration and their meanings, as the schema defines them.
fn table(text: &mut String, heading: &str, schema: SchemaId, set: &str) {
    let json = &schema.schema().json;
    let Some(set) = json.get("$defs").and_then(|sets| sets.get(set)) else { return };
    let about = set.get("description").and_then(Value::as_str).unwrap_or_default();
    let _ = write!(text, "\n## {heading}\n\n{about}\n\n");
    let words = words(set);
    if words.iter().all(|(_, meaning)| meaning.is_empty()) {
        let _ = writeln!(text, "{}", coded(words.iter().map(|(word, _)| *word)));
    } else {
        text.push_str("| word | meaning |\n| --- | --- |\n");
        for (word, meaning) in words {
            let _ = writeln!(text, "| `{word}` | {} |", cell(meaning));
        }
    }
    for (key, label) in [("x-mapped", "Accepted and noted"), ("x-same", "Accepted")] {
        let Some(Value::Object(others)) = set.get(key) else { continue };
        let others =
            others.iter().filter_map(|(word, term)| Some(format!("`{word}` for `{}`", term.as_str()?)));
        let _ = writeln!(text, "\n{label}: {}.", others.collect::<Vec<_>>().join(", "));
    }
}

fn words(set: &Value) -> Vec<(&str, &str)> {
    let plain = set.get("enum").and_then(Value::as_array).into_iter().flatten();
    let plain = plain.filter_map(Value::as_str).map(|word| (word, ""));
    let described =
        set.get("oneOf").and_then(Value::as_array).into_iter().flatten().flat_map(|one| {
            match one.get("const").and_then(Value::as_str) {
                Some(word) => {
                    vec![(word, one.get("description").and_then(Value::as_str).unwrap_or_default())]
                }
                None => words(one),
            }
        });
    plain.chain(described).collect()
}

/// Lists the verdicts that count as success when all findings are minor.
fn minor_findings(text: &mut String, export: &Export<'_>) {
    let mild: Vec<_> = export.used().into_iter().filter(|spec| spec.mild.is_some()).collect();
    if mild.is_empty() {
        return;
    }
    text.push_str(
        "\n## When all findings are minor\n\n| role | verdict | counts as |\n| --- | --- | --- |\n",
    );
    for spec in mild {
        let verdict = spec.mild.as_deref().unwrap_or_default();
        let _ = writeln!(text, "| `{}` | `{verdict}` | `{}` |", target::name_of(&spec.title), spec.says[0]);
    }
}

/// Lists where a security blocker leads from each phase.
fn blockers(text: &mut String, export: &Export<'_>) {
    let program = export.program;
    let routes: Vec<_> = program
        .phase_ids()
        .filter_map(|id| Some((id, program.phase(id), program.phase(id).route(SECURITY_BLOCKER)?)))
        .collect();
    if routes.is_empty() {
        return;
    }
    let (_, about) = remand_kernel::signal::IMPLICIT[SECURITY_BLOCKER.index()];
    let _ = write!(
        text,
        "\n## Security blockers\n\n`security-blocker` is {about}.\n\n| phase | leads to |\n| --- | --- |\n"
    );
    for (id, phase, route) in routes {
        let _ = writeln!(text, "| `{}` | `{}` |", phase.name, cell(&route_phrase(program, id, route)));
    }
}
