//! What the journal of a run says of its ticket: where it stands, what was tried, what was found, and who decided what.

use super::trigger::{Led, revision_budget};
use crate::contract::SchemaId;
use crate::pinned::Pinned;
use crate::workshop::{TREES, Trouble};
use remand_documents::Status;
use remand_kernel::change::{Approach, FileChange};
use remand_kernel::command::{Command, Question};
use remand_kernel::event::{Outcome, Report};
use remand_kernel::ids::{BudgetId, CommandId, Lane, PhaseId};
use remand_kernel::program::Work;
use remand_kernel::ruling::{Ruling, Verdict, Why};
use remand_kernel::state::End;
use remand_kernel::{Event, Program, State, step};
use remand_ledger::query::JournalRow;
use remand_ledger::{BlobId, Millis, Reader, RunId};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The statuses that it went through; the last is where it stands.
    pub statuses: Vec<Status>,
    /// Revisions of the design so far, those of earlier runs included.
    pub count: u16,
    /// How many there may be.
    pub cap: u16,
    pub attempts: Vec<Attempt>,
    pub gates: Vec<GateRun>,
    pub answers: Vec<Answer>,
    /// One for each number under which findings were stated.
    pub revisions: Vec<Revision>,
    /// The latest version of each document, by artifact.
    pub documents: BTreeMap<String, BlobId>,
    /// Approaches that failed, as the run has them now.
    pub approaches: Vec<Approach>,
    /// The design as it is.
    pub design: Option<BlobId>,
    /// What led to the last findings, or leads to those that are being stated.
    pub led: Option<Led>,
}

/// One implementation attempt (DR-24).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Over all designs of the run.
    pub number: usize,
    pub at: Millis,
    /// Which design it followed, from 1 over all runs.
    pub design: u16,
    pub says: String,
    /// The agent's own words.
    pub hypothesis: String,
    pub files: Vec<FileChange>,
    /// What the engine and reviewers found since.
    pub results: Vec<String>,
    /// What the detectors saw.
    pub flags: Vec<String>,
}

/// One run of the engine's checks as a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRun {
    pub at: Millis,
    pub attempt: usize,
    pub passed: bool,
    /// Name, result, and what it said.
    pub checks: Vec<(String, bool, String)>,
    pub claims: Vec<String>,
    /// Failures in a row, this one included.
    pub in_a_row: usize,
    /// The run led to findings about the design.
    pub recommends_revision: bool,
}

/// What a human decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub at: Millis,
    /// The status under which it was asked.
    pub status: Option<Status>,
    pub option: String,
    pub by: String,
    pub note: String,
    pub flags: Vec<(String, bool)>,
}

/// Findings about the design, and what became of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    pub number: u16,
    pub cap: u16,
    pub at: Millis,
    pub led: Led,
    pub findings: BlobId,
    pub decision: Option<Answer>,
    /// The gate did not offer a revision any more.
    pub is_capped: bool,
    /// The approach of the design that failed, once the revision is recorded.
    pub ruled_out: Option<Approach>,
    /// The design that failed, and the one that came of the revision.
    pub before: Option<BlobId>,
    pub after: Option<BlobId>,
}

impl History {
    /// Lives the run through again, and looks.
    pub fn read(reader: &Reader, run: &RunId, pinned: &Pinned) -> Result<History, Trouble> {
        let mut observer = Observer::new(pinned);
        for row in reader.journal(run, 0)? {
            observer.see(&row)?;
        }
        let mut history = observer.history;
        history.approaches.clone_from(&observer.state.approaches);
        Ok(history)
    }

    /// Where the ticket stands, once the run has moved it.
    pub fn status(&self) -> Option<Status> {
        self.statuses.last().copied()
    }

    /// The revision whose design is being worked on.
    pub fn current(&self) -> Option<&Revision> {
        self.revisions.last().filter(|revision| revision.ruled_out.is_some())
    }
}

/// The run as it goes by.
struct Observer<'o> {
    program: &'o Program,
    pinned: &'o Pinned,
    budget: Option<BudgetId>,
    state: State,
    history: History,
}

impl<'o> Observer<'o> {
    fn new(pinned: &'o Pinned) -> Observer<'o> {
        let program = &pinned.program;
        let budget = revision_budget(program);
        let cap = super::cap(program);
        Observer {
            program,
            pinned,
            budget,
            state: State::new(program),
            history: History { cap, ..History::default() },
        }
    }

    fn see(&mut self, row: &JournalRow) -> Result<(), Trouble> {
        let approach = self.state.approach.clone();
        step(self.program, &mut self.state, &row.event).map_err(|refusal| {
            Trouble::denied(format!("event {} of the run is refused now: {refusal}", row.seq))
        })?;
        match &row.event {
            Event::Started(start) => {
                let name = self.budget.map(|budget| self.program.budget(budget).name.as_str());
                let spent = start.spent.iter().filter(|(budget, _)| Some(budget.as_str()) == name);
                self.history.count = spent.map(|(_, spent)| *spent).max().unwrap_or(0);
            }
            Event::Ended { id, outcome: Outcome::Said(report), .. } if id.lane == Lane::Main => {
                self.ended(*id, report, row, approach);
            }
            Event::Answered { id, option, by, note, flags } => {
                let answer = Answer {
                    at: row.at,
                    status: self.history.status(),
                    option: option.clone(),
                    by: by.clone(),
                    note: note.trim().to_string(),
                    flags: flags.clone(),
                };
                self.answered(*id, answer);
            }
            Event::Ended { .. }
            | Event::Cancelled { .. }
            | Event::Paused { .. }
            | Event::Resumed { .. }
            | Event::RolledBack { .. }
            | Event::ApproachRemoved { .. } => {}
        }
        self.follow(row);
        Ok(())
    }

    fn ended(&mut self, id: CommandId, report: &Report, row: &JournalRow, approach: Option<Approach>) {
        self.take_documents(id, row);
        let phase = self.program.phase(id.phase);
        match &phase.work {
            Work::Operation { operation } => {
                let operation = self.program.operation(*operation);
                if operation.records_approach {
                    self.recorded(approach);
                }
                if operation.judges {
                    let happy = operation.results.first().map(|signal| self.program.signal(*signal));
                    self.gated(report, happy == Some(report.says.as_str()), row);
                }
            }
            Work::Role { contract, .. } => {
                let contract = self.program.contract(*contract);
                let writes_code =
                    phase.writes.iter().any(|id| self.program.artifacts[id.index()] == TREES[0]);
                if writes_code {
                    self.attempted(report, row);
                } else if contract.findings {
                    let claims: Vec<&str> =
                        report.findings.iter().map(|finding| finding.claim.as_str()).collect();
                    self.result(&phase.name, &report.says, &claims);
                }
            }
            Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {}
        }
    }

    fn attempted(&mut self, report: &Report, row: &JournalRow) {
        let change = report.change.clone().unwrap_or_default();
        self.history.attempts.push(Attempt {
            number: self.history.attempts.len() + 1,
            at: row.at,
            design: self.history.count + 1,
            says: report.says.clone(),
            hypothesis: change.hypothesis.unwrap_or_default(),
            files: change.files,
            results: Vec::new(),
            flags: Vec::new(),
        });
    }

    /// Adds what was found to the attempt that it was found in.
    fn result(&mut self, phase: &str, says: &str, claims: &[&str]) {
        let claims = if claims.is_empty() { String::new() } else { format!(": {}", claims.join("; ")) };
        if let Some(attempt) = self.history.attempts.last_mut() {
            attempt.results.push(format!("{phase}: {says}{claims}"));
        }
    }

    fn gated(&mut self, report: &Report, passed: bool, row: &JournalRow) {
        let claims: Vec<String> = report.findings.iter().map(|finding| finding.claim.clone()).collect();
        let before = self.history.gates.last().map_or(0, |last| last.in_a_row);
        self.history.gates.push(GateRun {
            at: row.at,
            attempt: self.history.attempts.len(),
            passed,
            checks: row
                .facts
                .checks
                .iter()
                .map(|check| {
                    let said = if check.reason.is_empty() { &check.snippet } else { &check.reason };
                    (check.name.clone(), check.passed, said.clone())
                })
                .collect(),
            in_a_row: if passed { 0 } else { before + 1 },
            claims: claims.clone(),
            recommends_revision: false,
        });
        let claims: Vec<&str> = claims.iter().map(String::as_str).collect();
        self.result("quality gate", &report.says, &claims);
    }

    /// Documents for people, and findings about the design.
    fn take_documents(&mut self, id: CommandId, row: &JournalRow) {
        for artifact in &row.facts.artifacts {
            let role = self.pinned.roles.get(&artifact.by);
            let schema = role.and_then(|role| role.result.parse::<SchemaId>().ok());
            match schema {
                Some(SchemaId::Document) if artifact.part.is_empty() => {
                    self.history.documents.insert(artifact.name.clone(), artifact.blob);
                    if self.states_approach(id.phase) {
                        self.history.design = Some(artifact.blob);
                        let recorded =
                            self.history.revisions.last_mut().filter(|last| last.ruled_out.is_some());
                        if let Some(revision) = recorded {
                            revision.after = Some(artifact.blob);
                        }
                    }
                }
                Some(SchemaId::FindingsReport) => self.stated(artifact.blob, row.at),
                Some(_) | None => {}
            }
        }
    }

    fn states_approach(&self, phase: PhaseId) -> bool {
        self.program.phase(phase).contracts().iter().any(|id| self.program.contract(*id).states_approach)
    }

    /// Findings that are stated again under the same number take the place of the earlier ones.
    fn stated(&mut self, findings: BlobId, at: Millis) {
        let number = self.history.count + 1;
        self.history.revisions.retain(|revision| revision.number != number || revision.ruled_out.is_some());
        let led = self.history.led.clone().unwrap_or_else(|| Led {
            producer: crate::contract::schema::failure::Producer::Implementer,
            trigger: None,
            why: String::new(),
        });
        self.history.revisions.push(Revision {
            number,
            cap: self.history.cap,
            at,
            led,
            findings,
            decision: None,
            is_capped: false,
            ruled_out: None,
            before: self.history.design,
            after: None,
        });
    }

    fn answered(&mut self, id: CommandId, answer: Answer) {
        if self.asks_for_revision(id.phase)
            && let Some(revision) = self.history.revisions.last_mut()
        {
            revision.decision = Some(answer.clone());
        }
        self.history.answers.push(answer);
    }

    /// Whether a question is about findings on the design: it leads to recording the approach that failed.
    fn asks_for_revision(&self, phase: PhaseId) -> bool {
        let routes = &self.program.phase(phase).routes;
        self.budget.is_some_and(|budget| routes.iter().any(|(_, route)| route.spends.contains(&budget)))
    }

    fn recorded(&mut self, approach: Option<Approach>) {
        self.history.count += 1;
        if let Some(revision) = self.history.revisions.last_mut() {
            revision.ruled_out = Some(approach.unwrap_or_default());
        }
        // What was tried for another design says nothing of the next one.
        if let Some(last) = self.history.gates.last_mut() {
            last.in_a_row = 0;
        }
    }

    /// Where the run went, and what the detectors saw.
    fn follow(&mut self, row: &JournalRow) {
        if let (Event::Started(_), Some(first)) = (&row.event, row.commands.iter().find_map(Command::id)) {
            self.enter(first.phase);
        }
        for ruling in &row.rulings {
            if let (Why::Detected { sentence }, Some(attempt)) =
                (&ruling.why, self.history.attempts.last_mut())
            {
                attempt.flags.push(sentence.clone());
            }
            if let Verdict::Follow { target: Some(target), .. } = &ruling.verdict {
                self.lead(ruling, *target);
                self.enter(*target);
            }
        }
        for command in &row.commands {
            match command {
                Command::Ask(question) => self.asked(question),
                Command::Finish { end: End::Stopped { why } } => {
                    self.move_to(why);
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
        self.move_to(&self.program.phase(phase).status);
    }

    fn move_to(&mut self, status: &str) {
        let new = Status::of_line(status).filter(|new| self.history.status() != Some(*new));
        self.history.statuses.extend(new);
    }

    /// Remembers what led to findings; asides on the way are no cause of their own.
    fn lead(&mut self, ruling: &Ruling, target: PhaseId) {
        if !self.states_findings(target) || self.states_findings(ruling.phase) {
            return;
        }
        let why = match &ruling.why {
            Why::Detected { sentence } => sentence.clone(),
            Why::Human { note, .. } => note.clone(),
            _ => format!("{}: {}", self.program.phase(ruling.phase).name, self.program.signal(ruling.signal)),
        };
        let aside = self.program.phase(ruling.phase).aside;
        let from = if aside { self.state.main.caller.unwrap_or(ruling.phase) } else { ruling.phase };
        let mut led = Led::by(self.program, from, ruling.signal, why);
        if aside {
            led.trigger = None;
        }
        self.history.led = Some(led);
        let from_gate = matches!(self.program.phase(ruling.phase).work, Work::Operation { .. });
        if let Some(last) = self.history.gates.last_mut().filter(|last| from_gate && !last.passed) {
            last.recommends_revision = true;
        }
    }

    fn states_findings(&self, phase: PhaseId) -> bool {
        self.program.phase(phase).contracts().iter().any(|id| {
            let role = self.pinned.roles.get(&self.program.contract(*id).title());
            role.is_some_and(|role| role.result == SchemaId::FindingsReport.name())
        })
    }

    fn asked(&mut self, question: &Question) {
        let capped = question.withheld.iter().any(|(_, empty)| empty.is_some() && *empty == self.budget);
        if capped
            && self.asks_for_revision(question.id.phase)
            && let Some(revision) = self.history.revisions.last_mut()
        {
            revision.is_capped = true;
        }
    }
}
