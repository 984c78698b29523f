//! The artifacts that phases read and write, with their form and producer.

use super::Export;
use remand_kernel::ids::ArtifactId;
use remand_kernel::program::{Phase, Work};
use std::collections::BTreeSet;

/// One artifact, as exported files describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedArtifact {
    pub name: String,
    /// A schema, `text` or `tree`.
    pub form: String,
    pub is_schema: bool,
    pub producer: String,
}

/// The artifacts that phases read, or may read, each once.
pub fn read(export: &Export<'_>, phases: &[&Phase]) -> Vec<ExportedArtifact> {
    collect_artifacts(export, phases, |phase| phase.reads.iter().chain(&phase.may_read).copied().collect())
}

/// The artifacts that phases write.
pub fn written(export: &Export<'_>, phases: &[&Phase]) -> Vec<ExportedArtifact> {
    collect_artifacts(export, phases, |phase| phase.writes.clone())
}

fn collect_artifacts(
    export: &Export<'_>,
    phases: &[&Phase],
    of: impl Fn(&Phase) -> Vec<ArtifactId>,
) -> Vec<ExportedArtifact> {
    let mut seen = BTreeSet::new();
    let all = phases.iter().flat_map(|phase| of(phase));
    all.filter(|id| seen.insert(*id)).map(|id| artifact(export, id)).collect()
}

fn artifact(export: &Export<'_>, id: ArtifactId) -> ExportedArtifact {
    let program = export.program;
    let name = program.artifacts.get(id.index()).cloned().unwrap_or_default();
    let writers: Vec<&Phase> = program.phases.iter().filter(|phase| phase.writes.contains(&id)).collect();
    let contracts = || writers.iter().flat_map(|phase| phase.contracts()).map(|id| program.contract(*id));
    let (form, is_schema) = if contracts().any(|contract| contract.changes.contains(&id)) {
        ("tree".to_string(), false)
    } else {
        let results = contracts().filter_map(|contract| export.roles.get(&contract.title()));
        let results: BTreeSet<&str> = results.map(|spec| spec.result.as_str()).collect();
        match results.is_empty() {
            true => ("text".to_string(), false),
            false => (results.into_iter().collect::<Vec<_>>().join(" | "), true),
        }
    };
    let producers: Vec<String> = writers.iter().map(|phase| producer(export, phase)).collect();
    let producer = if producers.is_empty() { "the user".to_string() } else { producers.join("; ") };
    ExportedArtifact { name, form, is_schema, producer }
}

/// The phase that produces an artifact, and who works in it.
fn producer(export: &Export<'_>, phase: &Phase) -> String {
    match &phase.work {
        Work::Operation { .. } => format!("operation of {}", phase.name),
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {
            format!("{}: {}", phase.name, remand_drawings::phrase::who(export.program, phase))
        }
    }
}
