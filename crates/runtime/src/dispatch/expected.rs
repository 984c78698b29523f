//! What a dispatch must return: the role's contract, and what the run already knows that it can be held to.

use super::inputs;
use crate::contract::{ApproachRule, Blocked, Expectation, FindingField, FindingsRule, Known, SchemaId};
use crate::papers::{self, Case};
use crate::pinned::PinnedRole;
use crate::workshop::{Job, Trouble};
use remand_kernel::change::Digest;
use remand_kernel::command::Dispatch;
use remand_kernel::ids::ArtifactId;
use remand_kernel::program::Phase;
use remand_ledger::Reader;
use serde_json::Value;

/// What a review of a revised design must judge besides (DR-15).
const OF_REVISION: [&str; 5] =
    ["root-cause-addressed", "oscillation-free", "delta-scope", "warm-start-preserved", "decision-citation"];

/// The expectation for one dispatch.
pub fn expectation(
    job: &Job,
    dispatch: &Dispatch,
    role: &PinnedRole,
    case: Option<&Case>,
    reader: &Reader,
) -> Result<Expectation, Trouble> {
    let spec = job.program.contract(dispatch.contract);
    let schema: SchemaId =
        role.result.parse().map_err(|_| Trouble::denied(format!("there is no schema `{}`", role.result)))?;
    let says: Vec<&str> = spec.says.iter().map(|id| job.program.signal(*id)).collect();
    let mut expected = Expectation::new(schema, &spec.title(), job.phase(), &says);
    expected.instance = dispatch.item.clone().or_else(|| dispatch.task.clone()).unwrap_or_default();
    expected.findings = match (spec.findings, spec.by_kind) {
        (false, _) => FindingsRule::NotAsked,
        (true, false) => FindingsRule::Reports { needs: Vec::new() },
        (true, true) => FindingsRule::Reports { needs: vec![FindingField::Kind] },
    };
    expected.approach = if spec.states_approach { ApproachRule::Stated } else { ApproachRule::NotAsked };
    let phase = job.program.phase(job.id.phase);
    expected.sets = phase.sets.iter().map(|flag| job.program.flags[flag.index()].clone()).collect();
    expected.injects = job.program.injects.iter().map(|id| job.program.phase(*id).name.clone()).collect();
    let documents = inputs::parsed(&reader.artifacts(&job.site.run)?, reader)?;
    let judges = schema == SchemaId::VerificationReport;
    let of_task = dispatch.task.as_deref().filter(|_| judges).and_then(|task| criteria(&documents, task));
    expected.known = Known {
        criteria: of_task.or_else(|| Some(role.judges.clone()).filter(|judges| !judges.is_empty())),
        documents: Some(documents),
        gaps: None,
        findings: Some(addressed(job, dispatch)),
        task: dispatch.task.clone(),
        ..Known::default()
    };
    if let Some(case) = case {
        on_ticket(&mut expected, (job, dispatch, role), case, reader)?;
    }
    Ok(expected)
}

/// What is known of the ticket that the run is about.
fn on_ticket(
    expected: &mut Expectation,
    (job, dispatch, role): (&Job, &Dispatch, &PinnedRole),
    case: &Case,
    reader: &Reader,
) -> Result<(), Trouble> {
    let history = &case.history;
    let known = &mut expected.known;
    known.numbered = Some(case.shelf.id().to_string());
    if let Some(design) = history.design {
        let stored = inputs::document(&inputs::content(reader, design)?);
        let markdown = stored.as_ref().and_then(|stored| stored.pointer("/payload/markdown")?.as_str());
        known.design = markdown.map(str::to_string);
    }
    if role.delta
        && let Some(revision) = history.current()
    {
        known.answers = Some(papers::cited(&inputs::content(reader, revision.findings)?));
    }
    if expected.schema == SchemaId::FindingsReport {
        known.blocked = history.led.as_ref().map(|led| Blocked {
            revision: history.count + 1,
            producer: led.producer,
            trigger: led.trigger,
        });
    }
    let reviews = job.program.contract(dispatch.contract).findings && expected.schema == SchemaId::Verdict;
    if reviews && history.current().is_some() && reads_findings(job, dispatch) {
        known.criteria.get_or_insert_default().extend(OF_REVISION.map(str::to_string));
    }
    Ok(())
}

/// Whether a dispatch reads findings about the design.
fn reads_findings(job: &Job, dispatch: &Dispatch) -> bool {
    let states = |phase: &Phase| {
        let titles = phase.contracts().iter().map(|id| job.program.contract(*id).title());
        let mut roles = titles.filter_map(|title| job.site.pinned.roles.get(&title));
        roles.any(|role| role.result == SchemaId::FindingsReport.name())
    };
    let writers =
        |id: &ArtifactId| job.program.phases.iter().filter(|phase| phase.writes.contains(id)).any(states);
    dispatch.reads.iter().any(|(id, digest)| *digest != Digest::default() && writers(id))
}

/// The acceptance criteria of a task, by id.
fn criteria(documents: &std::collections::BTreeMap<String, Value>, task: &str) -> Option<Vec<String>> {
    let tasks = documents.get("plan")?.pointer("/payload/tasks")?.as_array()?;
    let entry = tasks.iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(task))?;
    let criteria = entry.get("acceptance_criteria")?.as_array()?;
    Some(criteria.iter().filter_map(|entry| entry.get("id")?.as_str()).map(str::to_string).collect())
}

/// The findings that the dispatch must answer, by id.
fn addressed(job: &Job, dispatch: &Dispatch) -> Vec<String> {
    dispatch
        .findings
        .iter()
        .filter_map(|at| job.state.findings.get(*at as usize))
        .map(|filed| filed.finding.id.clone())
        .collect()
}
