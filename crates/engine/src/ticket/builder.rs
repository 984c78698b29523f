//! Builds the ticket history by replaying a run, event by event.

use super::cause::{FindingsCause, cap, revision_budget};
use super::history::{
    GateCheck, GateDecision, GateRun, ImplementationAttempt, InheritedRevision, RefusedDesign, Revision,
    TicketHistory,
};
use crate::pinned::Pinned;
use crate::site::{TREES, Trouble};
use remand_contract::SchemaId;
use remand_contract::schema::failure::Producer;
use remand_documents::TicketStatus;
use remand_kernel::change::Approach;
use remand_kernel::command::{Command, Question};
use remand_kernel::event::{Outcome, Report};
use remand_kernel::ids::{ArtifactId, BudgetId, CommandId, Lane, PhaseId};
use remand_kernel::program::Work;
use remand_kernel::ruling::{Disposition, Ruling, Why};
use remand_kernel::signal::OSCILLATION;
use remand_kernel::state::End;
use remand_kernel::{Event, Program, State, step};
use remand_ledger::fact::Artifact;
use remand_ledger::query::JournalRow;
use remand_ledger::{BlobId, Millis};

/// The replay in progress.
pub struct HistoryBuilder<'o> {
    program: &'o Program,
    pinned: &'o Pinned,
    budget: Option<BudgetId>,
    state: State,
    history: TicketHistory,
    /// Consecutive failures of the quality gate for the current design.
    gate_failures: usize,
}

impl<'o> HistoryBuilder<'o> {
    pub fn new(pinned: &'o Pinned) -> HistoryBuilder<'o> {
        let program = &pinned.program;
        let budget = revision_budget(program);
        let cap = cap(program);
        HistoryBuilder {
            program,
            pinned,
            budget,
            state: State::new(program),
            history: TicketHistory { cap, ..TicketHistory::default() },
            gate_failures: 0,
        }
    }

    pub fn apply(&mut self, row: &JournalRow) -> Result<(), Trouble> {
        let approach = self.state.approach.clone();
        step(self.program, &mut self.state, &row.event).map_err(|refusal| {
            Trouble::denied(format!("event {} of the run cannot be replayed: {refusal}", row.seq))
        })?;
        match &row.event {
            Event::Started(start) => {
                let name = self.budget.map(|budget| self.program.budget(budget).name.as_str());
                let spent = start.spent.iter().filter(|(budget, _)| Some(budget.as_str()) == name);
                self.history.count = spent.map(|(_, spent)| *spent).max().unwrap_or(0);
            }
            Event::Ended { id, outcome: Outcome::Said(report), .. } if id.lane == Lane::Main => {
                self.apply_end(*id, report, row, approach);
            }
            Event::Answered { id, option, by, note, flags, .. } => {
                let answer = GateDecision {
                    at: row.at,
                    status: self.history.status(),
                    option: option.clone(),
                    by: by.clone(),
                    note: note.trim().to_string(),
                    flags: flags.clone(),
                };
                self.apply_answer(*id, answer);
            }
            Event::Ended { .. }
            | Event::Interrupted { .. }
            | Event::Cancelled { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::Retried { .. }
            | Event::RolledBack { .. }
            | Event::ApproachRemoved { .. }
            | Event::Reattributed { .. }
            | Event::Reverted { .. } => {}
        }
        self.apply_rulings(row);
        Ok(())
    }

    pub fn into_history(self) -> TicketHistory {
        TicketHistory { approaches: self.state.approaches, ..self.history }
    }

    fn apply_end(&mut self, id: CommandId, report: &Report, row: &JournalRow, approach: Option<Approach>) {
        self.add_documents(id, row);
        let phase = self.program.phase(id.phase);
        match &phase.work {
            Work::Operation { operation } => {
                let operation = self.program.operation(*operation);
                if operation.records_approach {
                    self.record_revision(approach);
                }
                if operation.judges {
                    let success = operation.results.first().map(|signal| self.program.signal(*signal));
                    self.add_gate_run(report, success == Some(report.says.as_str()), row);
                }
            }
            Work::Role { contract, .. } => {
                let contract = self.program.contract(*contract);
                let is_code = |id: &ArtifactId| self.program.artifacts[id.index()] == TREES[0];
                if phase.writes.iter().any(is_code) {
                    self.add_attempt(report, row);
                } else if contract.findings && phase.reads.iter().any(is_code) {
                    let claims: Vec<&str> =
                        report.findings.iter().map(|finding| finding.claim.as_str()).collect();
                    self.add_result(&phase.name, &report.says, &claims);
                }
            }
            Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {}
        }
    }

    fn add_attempt(&mut self, report: &Report, row: &JournalRow) {
        let change = report.change.clone().unwrap_or_default();
        self.history.attempts.push(ImplementationAttempt {
            number: u32::try_from(self.history.attempts.len() + 1).unwrap_or(u32::MAX),
            at: row.at,
            design: self.history.count + 1,
            says: report.says.clone(),
            hypothesis: change.hypothesis.unwrap_or_default(),
            files: change.files,
            results: Vec::new(),
            flags: Vec::new(),
        });
    }

    /// Adds a result to the last attempt.
    fn add_result(&mut self, phase: &str, says: &str, claims: &[&str]) {
        let claims = if claims.is_empty() { String::new() } else { format!(": {}", claims.join("; ")) };
        if let Some(attempt) = self.history.attempts.last_mut() {
            attempt.results.push(format!("{phase}: {says}{claims}"));
        }
    }

    fn add_gate_run(&mut self, report: &Report, passed: bool, row: &JournalRow) {
        let claims: Vec<String> = report.findings.iter().map(|finding| finding.claim.clone()).collect();
        self.gate_failures = if passed { 0 } else { self.gate_failures + 1 };
        self.history.gates.push(GateRun {
            at: row.at,
            attempt: self.history.attempts.last().map_or(0, |attempt| attempt.number),
            passed,
            checks: row
                .facts
                .checks
                .iter()
                .map(|check| {
                    let detail = if check.reason.is_empty() { &check.snippet } else { &check.reason };
                    GateCheck { name: check.name.clone(), passed: check.passed, detail: detail.clone() }
                })
                .collect(),
            in_a_row: self.gate_failures,
            claims: claims.clone(),
            recommends_revision: false,
        });
        let claims: Vec<&str> = claims.iter().map(String::as_str).collect();
        self.add_result("quality gate", &report.says, &claims);
    }

    /// Adds documents for people, and findings about the design.
    fn add_documents(&mut self, id: CommandId, row: &JournalRow) {
        for artifact in &row.facts.artifacts {
            let role = self.pinned.roles.get(&artifact.by);
            let schema = role.and_then(|role| role.result.parse::<SchemaId>().ok());
            match schema {
                Some(SchemaId::Document) if self.is_refused_design(id.phase, artifact) => {
                    let (name, design) = (artifact.name.clone(), artifact.blob);
                    self.history.refused.push(RefusedDesign { name, design });
                }
                Some(SchemaId::Document) if artifact.part.is_empty() => {
                    self.history.documents.insert(artifact.name.clone(), artifact.blob);
                    if self.states_approach(id.phase) {
                        self.history.design = Some(artifact.blob);
                        self.history.design_name = Some(artifact.name.clone());
                        let recorded =
                            self.history.revisions.last_mut().filter(|last| last.ruled_out.is_some());
                        if let Some(revision) = recorded {
                            revision.after = Some(artifact.blob);
                        }
                    }
                }
                Some(SchemaId::FindingsReport) => self.add_findings(artifact.blob, row.at),
                Some(_) => {}
                None => self.inherit(artifact, row.at),
            }
        }
    }

    /// Adds the design of an earlier run or the findings about it, which an operation fetched.
    fn inherit(&mut self, artifact: &Artifact, at: Millis) {
        let Some(id) = self.program.artifact_named(&artifact.name) else { return };
        let writes = |phase: &PhaseId| self.program.phase(*phase).writes.contains(&id);
        let writers: Vec<PhaseId> = self.program.phase_ids().filter(writes).collect();
        if writers.iter().any(|phase| self.states_approach(*phase)) {
            self.history.design = Some(artifact.blob);
        }
        if writers.iter().any(|phase| self.states_findings(*phase)) {
            let revision = Revision {
                number: self.history.count,
                cap: self.history.cap,
                at,
                cause: no_trigger(),
                findings: artifact.blob,
                decision: None,
                is_capped: false,
                ruled_out: Some(self.state.approaches.last().cloned().unwrap_or_default()),
                before: self.history.design,
                after: None,
            };
            self.history.inherited = Some(InheritedRevision { revision, earlier_run: None });
        }
    }

    /// Whether a design did not become the current one, because its approach failed before.
    fn is_refused_design(&self, phase: PhaseId, artifact: &Artifact) -> bool {
        let current = self.program.artifact_named(&artifact.name).map(|id| self.state.digest(id));
        self.states_approach(phase) && current != Some(artifact.digest)
    }

    fn states_approach(&self, phase: PhaseId) -> bool {
        self.program.phase(phase).contracts().iter().any(|id| self.program.contract(*id).states_approach)
    }

    /// Adds findings. They replace earlier findings with the same number that led to no revision.
    fn add_findings(&mut self, findings: BlobId, at: Millis) {
        let number = self.history.count + 1;
        self.history.revisions.retain(|revision| revision.number != number || revision.ruled_out.is_some());
        let cause = self.history.cause.clone().unwrap_or_else(no_trigger);
        self.history.revisions.push(Revision {
            number,
            cap: self.history.cap,
            at,
            cause,
            findings,
            decision: None,
            is_capped: false,
            ruled_out: None,
            before: self.history.design,
            after: None,
        });
    }

    fn apply_answer(&mut self, id: CommandId, answer: GateDecision) {
        if self.asks_for_revision(id.phase)
            && let Some(revision) = self.history.revisions.last_mut()
        {
            revision.decision = Some(answer.clone());
        }
        self.history.answers.push(answer);
    }

    /// Whether a question asks for a revision of the design: one of its routes spends the revision budget.
    fn asks_for_revision(&self, phase: PhaseId) -> bool {
        let routes = &self.program.phase(phase).routes;
        self.budget.is_some_and(|budget| routes.iter().any(|(_, route)| route.spends.contains(&budget)))
    }

    fn record_revision(&mut self, approach: Option<Approach>) {
        self.history.count += 1;
        if let Some(revision) = self.history.revisions.last_mut() {
            revision.ruled_out = Some(approach.unwrap_or_default());
        }
        // Failures of one design do not count against the next one.
        self.gate_failures = 0;
        self.history.matched = None;
    }

    /// Records the phases that the run entered, the messages of detectors, and limits on revisions.
    fn apply_rulings(&mut self, row: &JournalRow) {
        if let (Event::Started(_), Some(first)) = (&row.event, row.commands.iter().find_map(Command::id)) {
            self.enter(first.phase);
        }
        for ruling in &row.rulings {
            if let (Why::Detected { sentence }, Some(attempt)) =
                (&ruling.why, self.history.attempts.last_mut())
            {
                attempt.flags.push(sentence.clone());
            }
            if let Disposition::Follow { target: Some(target), .. } = &ruling.verdict {
                self.record_cause(ruling, *target);
                self.enter(*target);
            }
        }
        for command in &row.commands {
            match command {
                Command::Ask(question) => self.apply_question(question),
                Command::Finish { end: End::Stopped { why } } => {
                    self.set_status(why);
                }
                Command::Dispatch(_)
                | Command::Operate { .. }
                | Command::Cancel { .. }
                | Command::Discard { .. }
                | Command::Restore { .. }
                | Command::Finish { .. } => {}
            }
        }
    }

    fn enter(&mut self, phase: PhaseId) {
        self.set_status(&self.program.phase(phase).status);
    }

    fn set_status(&mut self, status: &str) {
        let new = TicketStatus::of_line(status).filter(|new| self.history.status() != Some(*new));
        self.history.statuses.extend(new);
    }

    /// Records the cause of findings. If an aside leads to them, its caller is the cause.
    fn record_cause(&mut self, ruling: &Ruling, target: PhaseId) {
        if !self.states_findings(target) {
            return;
        }
        if let Why::Detected { sentence } = &ruling.why
            && ruling.signal == OSCILLATION
        {
            self.history.matched = Some(sentence.clone());
        }
        if self.states_findings(ruling.phase) {
            return;
        }
        let why = match &ruling.why {
            Why::Detected { sentence } => sentence.clone(),
            Why::Human { note, .. } => note.clone(),
            _ => format!("{}: {}", self.program.phase(ruling.phase).name, self.program.signal(ruling.signal)),
        };
        let aside = self.program.phase(ruling.phase).aside;
        let from = if aside { self.state.main.caller.unwrap_or(ruling.phase) } else { ruling.phase };
        let mut cause = FindingsCause::derive(self.program, from, ruling.signal, why);
        if aside {
            cause.trigger = None;
        }
        self.history.cause = Some(cause);
        let from_gate = matches!(self.program.phase(ruling.phase).work, Work::Operation { .. });
        let is_spent = from_gate && !ruling.exhausted.is_empty();
        if let Some(last) = self.history.gates.last_mut().filter(|last| is_spent && !last.passed) {
            last.recommends_revision = true;
        }
    }

    fn states_findings(&self, phase: PhaseId) -> bool {
        self.program.phase(phase).contracts().iter().any(|id| {
            let role = self.pinned.roles.get(&self.program.contract(*id).title());
            role.is_some_and(|role| role.result == SchemaId::FindingsReport.name())
        })
    }

    fn apply_question(&mut self, question: &Question) {
        let is_capped = question.withheld.iter().any(|(_, empty)| empty.is_some() && *empty == self.budget);
        if is_capped
            && self.asks_for_revision(question.id.phase)
            && let Some(revision) = self.history.revisions.last_mut()
        {
            revision.is_capped = true;
        }
    }
}

/// The cause of findings without a trigger.
fn no_trigger() -> FindingsCause {
    FindingsCause { producer: Producer::Implementer, trigger: None, why: String::new() }
}
