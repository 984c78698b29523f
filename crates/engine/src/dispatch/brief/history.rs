//! The visits of a run so far, and what was reported in each, from the journal.

use super::evidence::is_about_work;
use crate::site::{Job, Trouble};
use remand_kernel::brief::{Onward, PastVisit};
use remand_kernel::change::Digest;
use remand_kernel::command::{Command, Dispatch, QuestionKind};
use remand_kernel::finding::Finding;
use remand_kernel::ids::{ArtifactId, CommandId, ContractId, Lane, OperationId, PhaseId};
use remand_kernel::program::Action;
use remand_kernel::ruling::{Disposition, Rule, Ruling, Why};
use remand_kernel::signal::NO_RESULT;
use remand_kernel::{Event, Outcome, Program};
use remand_ledger::fact::{BlobId, Check};
use remand_ledger::{Facts, Reader};
use std::collections::{HashMap, HashSet};

/// The visits of a run, oldest first.
#[derive(Debug, Default)]
pub struct RunHistory {
    pub visits: Vec<PastVisit>,
    /// What was reported in each visit, in the order of `visits`.
    words: Vec<Vec<Utterance>>,
    /// Why the engine ended a visit with another signal than its members gave, as sentences.
    reasons: Vec<Option<String>>,
}

/// What one member of a phase reported.
#[derive(Clone, Debug)]
pub struct Utterance {
    pub seat: u16,
    pub speaker: Speaker,
    pub findings: Vec<Finding>,
    /// The versions that it wrote, by artifact.
    pub wrote: Vec<(String, Digest)>,
    /// The verdict, the result of an operation, or the chosen option; `None` without a valid result.
    pub says: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Speaker {
    Agent {
        contract: ContractId,
        item: Option<String>,
        advisory: bool,
        /// The versions that it read.
        reads: Vec<(ArtifactId, Digest)>,
        /// The result as the agent left it, and the answer in its output if there is no file.
        result: Option<BlobId>,
        answer: Option<BlobId>,
        /// The tree that it judged: what it saw, with its own changes.
        tree: Option<String>,
        /// Why there is no result.
        failed: String,
    },
    Engine {
        operation: OperationId,
        checks: Vec<Check>,
        /// What the engine noted about the work.
        notes: Vec<String>,
        failed: String,
    },
    Human {
        by: String,
        note: String,
    },
}

impl RunHistory {
    pub fn read(job: &Job, reader: &Reader) -> Result<RunHistory, Trouble> {
        let mut collector = Collector::new(&job.program);
        reader.each_event(&job.site.run, 0, |row| {
            collector.add(row.event, row.facts, &row.rulings, row.commands)
        })?;
        Ok(collector.history)
    }

    /// Why the engine ended a visit with another signal than its members gave.
    pub fn reason(&self, visit: usize) -> Option<&str> {
        self.reasons.get(visit)?.as_deref()
    }

    /// What was reported in a visit, in the order of its members.
    pub fn words(&self, visit: usize) -> &[Utterance] {
        self.words.get(visit).map_or(&[], Vec::as_slice)
    }
}

/// Collects the visits from the events of a run, oldest first.
pub(super) struct Collector<'p> {
    program: &'p Program,
    pub(super) history: RunHistory,
    dispatches: HashMap<CommandId, Dispatch>,
    operations: HashMap<CommandId, OperationId>,
    questions: HashSet<CommandId>,
    tasks: HashMap<Lane, String>,
    /// What was reported in visits that have not ended.
    open: HashMap<(PhaseId, Lane), Vec<Utterance>>,
}

impl<'p> Collector<'p> {
    pub(super) fn new(program: &'p Program) -> Collector<'p> {
        Collector {
            program,
            history: RunHistory::default(),
            dispatches: HashMap::new(),
            operations: HashMap::new(),
            questions: HashSet::new(),
            tasks: HashMap::new(),
            open: HashMap::new(),
        }
    }

    /// Adds one event with its consequences.
    pub(super) fn add(&mut self, event: Event, facts: Facts, rulings: &[Ruling], commands: Vec<Command>) {
        let spoken = match event {
            Event::Ended { id, outcome, .. } => self.ended(id, outcome, facts).map(|said| (id, said)),
            Event::Answered { id, option, by, note, .. } if self.questions.contains(&id) => {
                let speaker = Speaker::Human { by, note };
                let (findings, wrote) = (Vec::new(), Vec::new());
                Some((id, Utterance { seat: id.seat, speaker, findings, wrote, says: Some(option) }))
            }
            _ => None,
        };
        if let Some((id, utterance)) = spoken {
            let words = self.open.entry((id.phase, id.lane)).or_default();
            // The last attempt of a seat counts. A human may confirm what a member reported.
            let is_same = |earlier: &Utterance| {
                std::mem::discriminant(&earlier.speaker) == std::mem::discriminant(&utterance.speaker)
                    && earlier.seat == utterance.seat
            };
            words.retain(|earlier| !is_same(earlier));
            words.push(utterance);
        }
        for ruling in rulings {
            self.close(ruling);
        }
        for command in commands {
            self.issue(command);
        }
    }

    fn ended(&self, id: CommandId, outcome: Outcome, facts: Facts) -> Option<Utterance> {
        let (says, findings, wrote, failed) = match outcome {
            Outcome::Said(report) => (Some(report.says), report.findings, report.wrote, String::new()),
            Outcome::Failed { detail, .. } => (None, Vec::new(), Vec::new(), detail),
            Outcome::Supposed(_) => return None,
        };
        let speaker = if let Some(dispatch) = self.dispatches.get(&id) {
            let telemetry = facts.telemetry.unwrap_or_default();
            // Changes of a role that may not change anything are undone.
            let is_author = !self.program.contract(dispatch.contract).changes.is_empty();
            Speaker::Agent {
                contract: dispatch.contract,
                item: dispatch.item.clone(),
                advisory: dispatch.advisory,
                reads: dispatch.reads.clone(),
                result: telemetry.result,
                answer: telemetry.answer,
                tree: telemetry.after.filter(|_| is_author).or(telemetry.before),
                failed,
            }
        } else {
            let notes = facts.notes.into_iter().filter(|note| is_about_work(note.kind));
            let notes = notes.map(|note| note.text).collect();
            Speaker::Engine { operation: *self.operations.get(&id)?, checks: facts.checks, notes, failed }
        };
        Some(Utterance { seat: id.seat, speaker, findings, wrote, says })
    }

    /// Ends a visit if the ruling leaves its phase.
    fn close(&mut self, ruling: &Ruling) {
        let Disposition::Follow { action, target } = &ruling.verdict else { return };
        if matches!(action, Action::Ignore | Action::Hold) {
            return;
        }
        let mut words = self.open.remove(&(ruling.phase, ruling.lane)).unwrap_or_default();
        words.sort_by_key(|utterance| utterance.seat);
        let reused = matches!(ruling.rule, Rule::Stands | Rule::Default);
        self.history.visits.push(PastVisit {
            phase: ruling.phase,
            task: self.tasks.get(&ruling.lane).cloned(),
            onward: Onward::of(self.program, ruling.phase, action, *target, ruling.effects.first().copied()),
            spoke: !reused && !words.is_empty(),
            has_result: ruling.signal != NO_RESULT && words.iter().any(|utterance| utterance.says.is_some()),
        });
        let reason = match &ruling.why {
            Why::Detected { sentence } => Some(sentence.clone()),
            Why::Failed { detail, .. } => Some(detail.clone()),
            _ => None,
        };
        let signal = self.program.signal(ruling.signal);
        self.history.reasons.push(reason.map(|reason| format!("The engine ruled `{signal}`: {reason}")));
        self.history.words.push(words);
    }

    fn issue(&mut self, command: Command) {
        match command {
            Command::Dispatch(dispatch) => {
                if let (Some(task), Lane::Task { .. }) = (&dispatch.task, dispatch.id.lane) {
                    self.tasks.insert(dispatch.id.lane, task.clone());
                }
                self.dispatches.insert(dispatch.id, dispatch);
            }
            Command::Operate { id, operation, task, .. } => {
                if let (Some(task), Lane::Task { .. }) = (task, id.lane) {
                    self.tasks.insert(id.lane, task);
                }
                self.operations.insert(id, operation);
            }
            Command::Ask(question) if !matches!(question.kind, QuestionKind::Hold(_)) => {
                self.questions.insert(question.id);
            }
            Command::Ask(_)
            | Command::Cancel { .. }
            | Command::Discard { .. }
            | Command::Restore { .. }
            | Command::Finish { .. } => {}
        }
    }
}
