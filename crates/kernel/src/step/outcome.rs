//! Reads an outcome: checks a seat's result against its contract and the evidence, and only then applies it to the state.

use super::enter::seat_contract;
use super::{Refusal, Stepper};
use crate::change::{Approach, Change, Digest, TestResult};
use crate::event::{Item, Outcome, Report, Risk};
use crate::evidence;
use crate::finding::{Finding, FindingKind};
use crate::ids::{ArtifactId, CommandId, FlagId, Lane, ListId, PhaseId, SignalId};
use crate::program::{Contract, Effect, Program, Work};
use crate::signal::{
    COSMETIC_FINDING, Failure, NO_RESULT, PLAN_FINDING, PRODUCTION_FINDING, SECURITY_BLOCKER, TEST_FINDING,
};
use crate::state::{Attribution, Derived, Filed, FiledStatus, SeatProgress, SeatResult};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// An outcome after validation: a valid result, or a failure.
pub(super) enum ReadOutcome<'r> {
    Valid(Box<ValidResult<'r>>),
    Failed { failure: Failure, detail: String, in_a_row: u16 },
}

/// A valid result with names resolved.
pub(super) struct ValidResult<'r> {
    signal: SignalId,
    verdict: SignalId,
    derived: Derived,
    findings: &'r [Finding],
    wrote: Vec<(ArtifactId, Digest)>,
    change: Option<&'r Change>,
    tests: &'r [TestResult],
    approach: Option<&'r Approach>,
    lists: Vec<(ListId, Vec<Item>)>,
    flags: Vec<(FlagId, bool)>,
    risk: Option<Risk>,
    degraded: bool,
    model: Option<&'r str>,
}

impl Stepper<'_> {
    pub(super) fn read_outcome<'r>(
        &self,
        id: CommandId,
        outcome: &'r Outcome,
    ) -> Result<ReadOutcome<'r>, Refusal> {
        match outcome {
            Outcome::Failed { failure, detail, in_a_row } => {
                Ok(ReadOutcome::Failed { failure: *failure, detail: detail.clone(), in_a_row: *in_a_row })
            }
            Outcome::Supposed(signal) => self.read_supposed(id, *signal),
            Outcome::Said(report) => self.read_report(id, report),
        }
    }

    fn read_supposed<'r>(&self, id: CommandId, signal: SignalId) -> Result<ReadOutcome<'r>, Refusal> {
        if signal == NO_RESULT {
            let detail = String::from("supposed");
            return Ok(ReadOutcome::Failed { failure: Failure::Denied, detail, in_a_row: 0 });
        }
        let phase = self.program.phase(id.phase);
        let possible = possible_results(self.program, id);
        if !possible.contains(&signal) && phase.route(signal).is_none() {
            let name = self.program.signals.get(signal.index()).map_or("", String::as_str);
            return Err(self.not_a_result(name, possible));
        }
        // 0 means absent, and 1 stands for a subject without a digest.
        let new_digest = Digest(u64::from(self.state.changes) + 2);
        let wrote = phase.writes.iter().map(|artifact| (*artifact, new_digest)).collect();
        Ok(ReadOutcome::Valid(Box::new(ValidResult {
            signal,
            verdict: signal,
            derived: if possible.contains(&signal) { Derived::Plainly } else { Derived::Supposed },
            findings: &[],
            wrote,
            change: None,
            tests: &[],
            approach: None,
            lists: Vec::new(),
            flags: Vec::new(),
            risk: None,
            degraded: false,
            model: None,
        })))
    }

    fn read_report<'r>(&self, id: CommandId, report: &'r Report) -> Result<ReadOutcome<'r>, Refusal> {
        let possible = possible_results(self.program, id);
        let verdict = possible.iter().copied().find(|signal| self.program.signal(*signal) == report.says);
        let Some(verdict) = verdict else {
            return Err(self.not_a_result(&report.says, possible));
        };
        if let Some(detail) = self.origin_error(id, &report.findings) {
            return Ok(ReadOutcome::Failed { failure: Failure::Malformed, detail, in_a_row: 0 });
        }
        if matches!(self.program.phase(id.phase).work, Work::Operation { .. }) {
            self.check_evidence(verdict, report)?;
        }
        let phase = self.program.phase(id.phase);
        let wrote = self.read_artifacts(&report.wrote)?;
        if let Some((artifact, _)) = wrote.iter().find(|(artifact, _)| !phase.writes.contains(artifact)) {
            let name = self.program.artifacts[artifact.index()].clone();
            return Err(Refusal::UnknownName { what: "an artifact that this phase writes", name });
        }
        let lists = self.read_lists(&report.lists)?;
        if let Some((list, _)) = lists.iter().find(|(list, _)| !self.may_produce_list(id, *list)) {
            let name = self.program.lists[list.index()].clone();
            return Err(Refusal::UnknownName { what: "a list that this phase produces", name });
        }
        let flags = self.read_flags(&report.flags)?;
        if let Some((flag, _)) = flags.iter().find(|(flag, _)| !phase.sets.contains(flag)) {
            let name = self.program.flags[flag.index()].clone();
            return Err(Refusal::UnknownName { what: "a flag that this phase sets", name });
        }
        // Only the success verdict promises a change: a role may report that the work cannot be done.
        let is_success = possible.first() == Some(&verdict);
        if is_success && !report.disputes && self.changed_nothing(id, &wrote) {
            let detail = String::from("it received findings, but neither changed anything nor disputed one");
            return Ok(ReadOutcome::Failed { failure: Failure::Unchanged, detail, in_a_row: 0 });
        }
        let contract = seat_contract(self.program, id.phase, usize::from(id.seat));
        let (signal, derived) = match contract {
            Some(contract) => derive(self.program.contract(contract), verdict, &report.findings),
            None => (verdict, Derived::Plainly),
        };
        // A flag that the report does not set is cleared.
        let unset = phase.sets.iter().filter(|flag| !flags.iter().any(|(set, _)| set == *flag));
        let flags = flags.iter().copied().chain(unset.map(|flag| (*flag, false))).collect();
        Ok(ReadOutcome::Valid(Box::new(ValidResult {
            signal,
            verdict,
            derived,
            findings: &report.findings,
            wrote,
            change: report.change.as_ref(),
            tests: &report.tests,
            approach: report.approach.as_ref(),
            lists,
            flags,
            risk: report.risk,
            degraded: report.degraded,
            model: report.model.as_deref(),
        })))
    }

    /// Whether the contract or operation of a seat may produce a list. No seat may while the tasks of the list run.
    fn may_produce_list(&self, id: CommandId, list: ListId) -> bool {
        let is_running = match (id.lane, &self.program.phase(self.state.main.phase).work) {
            (Lane::Task { .. }, Work::Flow { list: running, .. }) => *running == list,
            _ => false,
        };
        let produces = match &self.program.phase(id.phase).work {
            Work::Operation { operation } => self.program.operation(*operation).lists.contains(&list),
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Flow { .. }
            | Work::Ask { .. } => {
                let contract = seat_contract(self.program, id.phase, usize::from(id.seat));
                contract.is_some_and(|contract| self.program.contract(contract).lists.contains(&list))
            }
        };
        produces && !is_running
    }

    fn not_a_result(&self, says: &str, possible: &[SignalId]) -> Refusal {
        let names: Vec<&str> = possible.iter().map(|signal| self.program.signal(*signal)).collect();
        Refusal::NotSayable { says: says.to_string(), possible: names.join(", ") }
    }

    /// Why the origin of a finding is invalid. An origin must be a phase that can inject defects, and must not come
    /// after the phase that found the defect.
    fn origin_error(&self, id: CommandId, findings: &[Finding]) -> Option<String> {
        if self.program.injects.is_empty() {
            return None;
        }
        let latest = self.lane_state(id.lane).caller.unwrap_or(id.phase).max(id.phase);
        findings
            .iter()
            .flat_map(|finding| finding.injected_by.iter().map(move |name| (finding, name)))
            .find_map(|(finding, name)| match self.injecting_phase(name) {
                None => Some(format!("finding {}: `{name}` is not a phase that injects defects", finding.id)),
                Some(phase) if phase > latest => {
                    Some(format!("finding {}: `{name}` comes later than the phase that found it", finding.id))
                }
                Some(_) => None,
            })
    }

    pub(super) fn injecting_phase(&self, name: &str) -> Option<PhaseId> {
        self.program.injects.iter().copied().find(|id| self.program.phase(*id).name == name)
    }

    /// Judges the evidence rows again, and refuses a result that contradicts them.
    fn check_evidence(&self, verdict: SignalId, report: &Report) -> Result<(), Refusal> {
        if report.rows.is_empty() && report.size.is_none() {
            return Ok(());
        }
        let size = report.size.unwrap_or(evidence::TaskSize::Large);
        let ruled = evidence::rule(&report.rows, size, self.state.demand());
        let says = self.program.signal(verdict);
        let (evidence, reasons) = match &ruled {
            evidence::GateResult::Passed => ("passed", Vec::new()),
            evidence::GateResult::Failed(reasons) => ("failed", reasons.clone()),
        };
        if says == evidence {
            return Ok(());
        }
        Err(Refusal::Contradicted { says: says.to_string(), evidence, reasons: reasons.join("; ") })
    }

    fn read_artifacts(&self, wrote: &[(String, Digest)]) -> Result<Vec<(ArtifactId, Digest)>, Refusal> {
        wrote
            .iter()
            .map(|(name, digest)| {
                let artifact = self.program.artifact_named(name);
                artifact.map(|artifact| (artifact, *digest)).ok_or_else(|| Refusal::UnknownName {
                    what: "an artifact of the workflow",
                    name: name.clone(),
                })
            })
            .collect()
    }

    pub(super) fn read_flags(&self, flags: &[(String, bool)]) -> Result<Vec<(FlagId, bool)>, Refusal> {
        flags
            .iter()
            .map(|(name, value)| {
                let flag = self.program.flag_named(name);
                flag.map(|flag| (flag, *value)).ok_or_else(|| Refusal::UnknownName {
                    what: "a flag of the workflow",
                    name: name.clone(),
                })
            })
            .collect()
    }

    /// Whether a phase wrote nothing new, although it received findings or rewrites what it reads. Always false for a
    /// phase that writes no artifacts.
    fn changed_nothing(&self, id: CommandId, wrote: &[(ArtifactId, Digest)]) -> bool {
        let has_findings = match id.lane {
            Lane::Main => !self.state.inbox[id.phase.index()].is_empty(),
            Lane::Task { .. } => {
                self.task(id.lane).is_some_and(|task| self.state.task_inbox.contains_key(task))
            }
        };
        let rewrites_inputs =
            wrote.iter().any(|(artifact, _)| self.program.phase(id.phase).reads.contains(artifact));
        (has_findings || rewrites_inputs)
            && !wrote.is_empty()
            && wrote.iter().all(|(artifact, digest)| self.digest_before(id.lane, *artifact) == *digest)
    }

    /// The digest of an artifact before this dispatch; for a task that was sent back, the digest of its last change.
    fn digest_before(&self, lane: Lane, artifact: ArtifactId) -> Digest {
        let attempt = self.task(lane).and_then(|task| self.state.attempts.get(task));
        match attempt {
            Some(attempt) if self.is_written_in_flow(artifact) => *attempt,
            Some(_) | None => self.current_digest(lane, artifact),
        }
    }

    /// Applies a valid result to the state.
    pub(super) fn accept_result(&mut self, lane: Lane, at: usize, valid: ValidResult<'_>) {
        let advisory = self.lane_state(lane).seats[at].advisory;
        self.set_lists(valid.lists);
        for (flag, value) in valid.flags {
            self.state.flags[flag.index()] = value;
        }
        if let Some(risk) = valid.risk {
            self.state.risk = risk;
        }
        if valid.degraded {
            self.cap_confidence(Effect::Degradation.ceiling());
        }
        self.run_detectors(lane, at, valid.change, valid.tests, valid.approach);
        // A refused design was never tried, so the version before it stays the current one.
        if !self.refuses_design(lane, at, valid.verdict) {
            self.write_artifacts(lane, &valid.wrote);
        }
        self.give_up_tasks(lane);
        let findings = self.file_findings(lane, advisory, valid.findings);
        self.lane_state_mut(lane).seats[at].progress = SeatProgress::Said(SeatResult {
            signal: valid.signal,
            verdict: valid.verdict,
            derived: valid.derived,
            findings,
            model: valid.model.map(String::from),
        });
    }

    fn write_artifacts(&mut self, lane: Lane, wrote: &[(ArtifactId, Digest)]) {
        for (artifact, digest) in wrote {
            if self.current_digest(lane, *artifact) == *digest {
                continue;
            }
            self.state.changes += 1;
            match lane {
                Lane::Task { index, .. } if self.is_written_in_flow(*artifact) => {
                    self.state.tasks[usize::from(index)].patch = *digest;
                    if let Some(task) = self.task_id(lane) {
                        self.state.attempts.insert(task, *digest);
                    }
                }
                Lane::Main | Lane::Task { .. } => self.state.versions[artifact.index()] = *digest,
            }
        }
    }

    fn file_findings(&mut self, lane: Lane, advisory: bool, findings: &[Finding]) -> Vec<u32> {
        let phase = self.lane_state(lane).phase;
        findings
            .iter()
            .cloned()
            .map(|finding| {
                let task = self.task_id(lane);
                let at = u32::try_from(self.state.findings.len()).unwrap_or(u32::MAX);
                let status = match (advisory, finding.is_follow_up()) {
                    (true, _) => FiledStatus::Advice,
                    (false, true) => FiledStatus::FollowUp,
                    (false, false) => FiledStatus::Open,
                };
                self.state.findings.push(Filed {
                    finding,
                    phase,
                    task,
                    count: 1,
                    sent_at: None,
                    sent_to: None,
                    status,
                    attribution: Attribution::Reported,
                });
                at
            })
            .collect()
    }
}

/// The verdicts or results that a seat can end with.
fn possible_results(program: &Program, id: CommandId) -> &[SignalId] {
    match &program.phase(id.phase).work {
        Work::Operation { operation } => &program.operation(*operation).results,
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } => {
            let contract = seat_contract(program, id.phase, usize::from(id.seat));
            contract.map_or(&[], |contract| &program.contract(contract).says)
        }
        Work::Ask { .. } | Work::Flow { .. } => &[],
    }
}

/// Derives the signal from a verdict and its findings.
fn derive(contract: &Contract, verdict: SignalId, findings: &[Finding]) -> (SignalId, Derived) {
    if contract.findings && findings.iter().any(Finding::is_security_blocker) {
        return (SECURITY_BLOCKER, Derived::SecurityBlocker);
    }
    let success = contract.says.first().copied().unwrap_or(verdict);
    if verdict == success {
        return (verdict, Derived::Plainly);
    }
    let only_minor = !findings.is_empty() && findings.iter().all(Finding::is_follow_up);
    if only_minor && contract.mild == Some(verdict) {
        return (success, Derived::OnlyMinor);
    }
    if !contract.by_kind {
        return (verdict, Derived::Plainly);
    }
    let kind =
        findings.iter().filter(|finding| !finding.is_follow_up()).filter_map(|finding| finding.kind).min();
    let signal = match kind.unwrap_or(FindingKind::Production) {
        FindingKind::Plan => PLAN_FINDING,
        FindingKind::Test => TEST_FINDING,
        FindingKind::Production => PRODUCTION_FINDING,
        FindingKind::Cosmetic => COSMETIC_FINDING,
    };
    (signal, Derived::ByKind { assumed: kind.is_none() })
}
