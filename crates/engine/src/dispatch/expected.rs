//! The expected result of a dispatch: the role's contract, and the facts of the run that the result is checked against.

use crate::artifacts;
use crate::pinned::PinnedRole;
use crate::site::{Job, Trouble};
use crate::ticket::{self, TicketRun};
use remand_contract::schema::plan::PlanPayload;
use remand_contract::{ApproachRule, Expectation, FailureFacts, FindingsRule, RunFacts, SchemaId};
use remand_kernel::change::Digest;
use remand_kernel::command::Dispatch;
use remand_kernel::ids::ArtifactId;
use remand_kernel::program::Phase;
use remand_ledger::Reader;
use std::collections::BTreeSet;

/// Additional criteria for the review of a revised design.
const REVISION_CRITERIA: [&str; 5] =
    ["root-cause-addressed", "oscillation-free", "delta-scope", "warm-start-preserved", "decision-citation"];

/// The expectation for one dispatch.
pub fn expectation(
    job: &Job,
    dispatch: &Dispatch,
    role: &PinnedRole,
    ticket_run: Option<&TicketRun>,
    reader: &Reader,
) -> Result<Expectation, Trouble> {
    let spec = job.program.contract(dispatch.contract);
    let schema: SchemaId = role
        .result
        .parse()
        .map_err(|_| Trouble::denied(format!("unknown result schema `{}`", role.result)))?;
    let says: Vec<&str> = spec.says.iter().map(|id| job.program.signal(*id)).collect();
    let mut expected = Expectation::new(schema, &spec.title(), job.phase(), &says);
    expected.instance = dispatch.item.clone().or_else(|| dispatch.task.clone()).unwrap_or_default();
    expected.findings = FindingsRule::of_contract(spec.findings, spec.by_kind);
    expected.approach = if spec.states_approach { ApproachRule::Stated } else { ApproachRule::NotAsked };
    let phase = job.program.phase(job.id.phase);
    expected.sets = phase.sets.iter().map(|flag| job.program.flags[flag.index()].clone()).collect();
    expected.injects = job.program.injects.iter().map(|id| job.program.phase(*id).name.clone()).collect();
    let documents = artifacts::parsed(&reader.artifacts(&job.site.run)?, reader)?;
    let is_verification = schema == SchemaId::VerificationReport;
    let judged_task = dispatch.task.as_deref().filter(|_| is_verification);
    let task_criteria = match judged_task {
        Some(task) => criteria(job, reader, task)?,
        None => None,
    };
    expected.known = RunFacts {
        criteria: task_criteria.or_else(|| Some(role.judges.clone()).filter(|judges| !judges.is_empty())),
        documents: Some(documents),
        gaps: None,
        findings: Some(finding_ids(job, dispatch.findings.iter().copied())),
        reported: Some(reported_ids(job)),
        constraints: finding_ids(job, job.state.constraints_of(job.id.phase)),
        task: dispatch.task.clone(),
        ..RunFacts::default()
    };
    if let Some(ticket_run) = ticket_run {
        add_ticket_facts(&mut expected, (job, dispatch, role), ticket_run, reader)?;
    }
    Ok(expected)
}

/// Adds the facts about the ticket of the run.
fn add_ticket_facts(
    expected: &mut Expectation,
    (job, dispatch, role): (&Job, &Dispatch, &PinnedRole),
    ticket_run: &TicketRun,
    reader: &Reader,
) -> Result<(), Trouble> {
    let history = &ticket_run.history;
    let known = &mut expected.known;
    known.numbered = Some(ticket_run.paths.id().to_string());
    if let Some(design) = history.design {
        known.design = artifacts::markdown(&artifacts::content(reader, design)?);
    }
    if role.delta
        && let Some(revision) = history.current()
    {
        known.answers = Some(ticket::cited_sections(&artifacts::content(reader, revision.findings)?));
    }
    if expected.schema == SchemaId::FindingsReport {
        known.blocked = history.cause.as_ref().map(|cause| FailureFacts {
            revision: history.count + 1,
            producer: cause.producer,
            trigger: cause.trigger,
            attempts: history.attempts_at(history.count + 1).map(|attempt| attempt.number).collect(),
        });
    }
    let reviews = job.program.contract(dispatch.contract).findings && expected.schema == SchemaId::Verdict;
    if reviews && history.current().is_some() && reads_findings(job, dispatch) {
        known.criteria.get_or_insert_default().extend(REVISION_CRITERIA.map(str::to_string));
    }
    Ok(())
}

/// Whether a dispatch reads findings about the design.
fn reads_findings(job: &Job, dispatch: &Dispatch) -> bool {
    let reports_findings = |phase: &Phase| {
        let titles = phase.contracts().iter().map(|id| job.program.contract(*id).title());
        let mut roles = titles.filter_map(|title| job.site.pinned.roles.get(&title));
        roles.any(|role| role.result == SchemaId::FindingsReport.name())
    };
    let holds_findings = |id: &ArtifactId| {
        job.program.phases.iter().filter(|phase| phase.writes.contains(id)).any(reports_findings)
    };
    dispatch.reads.iter().any(|(id, digest)| *digest != Digest::default() && holds_findings(id))
}

/// The ids of a task's acceptance criteria, according to the latest plan.
fn criteria(job: &Job, reader: &Reader, task: &str) -> Result<Option<Vec<String>>, Trouble> {
    let plan: Option<PlanPayload> = artifacts::latest_payload(&job.site.run, "plan", reader)?;
    let task = plan.into_iter().flat_map(|plan| plan.tasks).find(|entry| entry.id == task);
    Ok(task.map(|task| task.acceptance_criteria.into_iter().map(|criterion| criterion.id.0).collect()))
}

/// The ids of all findings of the run, each once.
fn reported_ids(job: &Job) -> Vec<String> {
    let ids: BTreeSet<&String> = job.state.findings.iter().map(|filed| &filed.finding.id).collect();
    ids.into_iter().cloned().collect()
}

/// The ids of findings, which are given as indexes.
fn finding_ids(job: &Job, indexes: impl Iterator<Item = u32>) -> Vec<String> {
    indexes
        .filter_map(|index| job.state.findings.get(index as usize))
        .map(|filed| filed.finding.id.clone())
        .collect()
}
