//! Walks every route of the shipped workflows with marked results, assembles the brief of each receiver, and looks for
//! each mark in it.

use super::assembly::{Assembly, BriefStock, WordSources};
use super::evidence::RunEvidence;
use super::history::{Collector, Speaker, Utterance};
use super::review::Difference;
use super::rounds::BoardCover;
use super::words::Narrator;
use super::{BriefPart, BriefSection, PartList, evidence};
use crate::site::{TREES, Trouble};
use remand_contract::SchemaId;
use remand_kernel::brief::{Brief as Law, Onward, is_author};
use remand_kernel::change::{Approach, Change, Digest, FileChange, Hunk, TestEnd, TestResult};
use remand_kernel::command::{Command, Dispatch, QuestionKind};
use remand_kernel::event::{Grants, Item, Mode, Start, Usage};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use remand_kernel::ids::{ArtifactId, CommandId, ContractId, PhaseId, SignalId};
use remand_kernel::program::{Operation, Program, Work};
use remand_kernel::ruling::{Disposition, Rule, Ruling, Why};
use remand_kernel::signal::Failure;
use remand_kernel::{EngineOperation, Event, Outcome, Report};
use remand_ledger::fact::{BlobId, Check, Note, NoteKind, Telemetry};
use remand_ledger::query::{CheckRow, NoteRow};
use remand_ledger::{Facts, LedgerError, RunId};
use remand_workflow::briefs::{FindingsToAnswer, briefs};
use remand_workflow::roles::Roles;
use remand_workflow::walk::Walker;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// The signal in the table for a seat that is dispatched again after a failed attempt.
const RETRY: &str = "(retry)";

/// A run with marked results.
struct MarkedRun<'p> {
    program: &'p Program,
    roles: &'p Roles,
    walker: Walker<'p>,
    collector: Collector<'p>,
    blobs: HashMap<BlobId, String>,
    /// Everything that was reported, in order.
    said: Vec<Said>,
    written: Vec<Written>,
    checks: Vec<CheckRow>,
    notes: Vec<NoteRow>,
    /// What the first attempt of each seat was given.
    first_attempts: HashMap<CommandId, String>,
    random: u64,
    /// How many of ten dispatches give no result.
    crashes: usize,
    /// Whether the work may go in circles.
    circles: bool,
    /// Whether findings may be security blockers.
    blockers: bool,
    /// How many of five results are the success.
    successes: usize,
    /// A way that the run tries to take.
    goal: Option<Route>,
    /// Whether everything succeeds before the receiver of the goal.
    gets_far: bool,
}

/// A version of a document, or of one seat's part of it.
struct Written {
    artifact: ArtifactId,
    digest: Digest,
    by: CommandId,
    marks: Vec<String>,
}

/// What one seat reported in one visit of a phase.
struct Said {
    id: CommandId,
    task: Option<String>,
    is_human: bool,
    marks: Vec<String>,
    findings: Vec<String>,
}

impl Said {
    fn is_of(&self, phase: PhaseId, task: Option<&str>) -> bool {
        self.id.phase == phase && self.task.as_deref() == task
    }
}

/// One hand-over: the sender, its signal and the receiver.
type Route = (String, String, String);

/// What was sent and received on each route.
#[derive(Default)]
struct HandOvers {
    walked: BTreeMap<Route, Cells>,
    lost: BTreeSet<(Route, String)>,
    /// What `remand brief` says about each route.
    stated: BTreeMap<Route, StatedBrief>,
    /// Routes on which a dispatch was given something else.
    misstated: BTreeSet<Route>,
}

/// What `remand brief` says about one route, combined over all its entries.
#[derive(Clone, Copy, Default)]
struct StatedBrief {
    shows_change: bool,
    may_have_findings: bool,
    always_has_findings: bool,
}

/// What was sent on one route, and what arrived.
#[derive(Default)]
struct Cells {
    /// What the sender reported, by kind.
    sent: BTreeSet<String>,
    /// The sections in which it arrived.
    received: BTreeSet<BriefSection>,
    /// Whether the receiver must be given what the sender reported.
    is_owed: bool,
}

impl<'p> MarkedRun<'p> {
    fn start(program: &'p Program, roles: &'p Roles, seed: u64, goal: Option<Route>) -> MarkedRun<'p> {
        // These bits do not depend on the remainders of the seed that are used below.
        let toss = |at: usize| (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (at + 40)) & 1 == 1;
        let mode = if seed % 4 == 3 { Mode::Autonomous } else { Mode::Interactive };
        let flags = program.flags.iter().enumerate();
        let flags = flags.map(|(at, flag)| (flag.clone(), (seed >> (at % 8 + 1)) & 1 == 1)).collect();
        let start = Start { mode, flags, ..Start::default() };
        let is_steady = seed.is_multiple_of(5);
        let mut collector = Collector::new(program);
        let mut walker = Walker::start(program, start.clone(), Vec::new()).expect("a run");
        // Some runs start with some budgets spent, so that what happens without a budget is walked as well.
        let is_spent = |at: &usize| toss(3) && toss(at % 8 + 4);
        for at in (0..walker.state.left.len()).filter(is_spent) {
            walker.state.left[at] = 0;
        }
        collector.add(Event::Started(start), Facts::default(), &[], walker.open.clone());
        MarkedRun {
            program,
            roles,
            walker,
            collector,
            blobs: HashMap::new(),
            said: Vec::new(),
            written: Vec::new(),
            checks: Vec::new(),
            notes: Vec::new(),
            first_attempts: HashMap::new(),
            crashes: match goal {
                Some((_, ref signal, _)) if signal != "no-result" => 0,
                _ if seed.is_multiple_of(8) => 8,
                _ => 1,
            },
            circles: toss(0),
            blockers: toss(1),
            successes: if is_steady { 5 } else { usize::try_from(seed % 3).unwrap_or(0) + 1 },
            gets_far: toss(2),
            goal,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    fn pick(&mut self, count: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random >> 33).unwrap_or(0) % count.max(1)
    }

    /// Chooses how a phase ends: with the option that leads to the goal, or with the first option, which is the
    /// success, or with any.
    fn choose<'s>(&mut self, phase: PhaseId, options: &'s [SignalId]) -> &'s SignalId {
        let program = self.program;
        let leads = |option: &&SignalId| {
            self.goal.as_ref().is_some_and(|(from, signal, _)| {
                // With a detector, the verdict follows the name of the detector.
                let said = signal.rsplit(' ').next();
                program.phase(phase).name == *from && said == Some(program.signal(**option))
            })
        };
        let wanted = options.iter().find(leads);
        let receiver = self.goal.as_ref().and_then(|(_, _, to)| program.phase_named(to));
        let is_before = self.gets_far && receiver.is_some_and(|receiver| phase < receiver);
        let at = if is_before || self.pick(5) < self.successes { 0 } else { self.pick(options.len()) };
        wanted.unwrap_or(&options[at])
    }

    /// Answers one open command. `false` if the run waits for nothing.
    fn step(&mut self, hand_overs: &mut HandOvers) -> bool {
        if self.walker.open.is_empty() {
            return false;
        }
        let at = self.pick(self.walker.open.len());
        let command = self.walker.open[at].clone();
        let Some(id) = command.id() else { return false };
        let mut facts = Facts::default();
        let mut said = Said { id, task: None, is_human: false, marks: Vec::new(), findings: Vec::new() };
        let event = match &command {
            Command::Dispatch(dispatch) => {
                said.task.clone_from(&dispatch.task);
                let outcome = self.dispatch_ends(dispatch, &mut facts, &mut said);
                Event::Ended { id, outcome, usage: Usage::default() }
            }
            Command::Operate { operation, task, .. } => {
                said.task.clone_from(task);
                let operation = self.program.operation(*operation).clone();
                let outcome = match self.crash(if self.successes == 5 { 4 } else { 30 }, &mut said) {
                    Some(crash) => crash,
                    None => {
                        let report = self.operation_ends(id, &operation, &mut facts, &mut said);
                        Outcome::Said(Box::new(report))
                    }
                };
                Event::Ended { id, outcome, usage: Usage::default() }
            }
            Command::Ask(question) => {
                let option = self.program.signal(*self.choose(id.phase, &question.options)).to_string();
                let note = format!("note-{}.", self.said.len());
                said.is_human = true;
                if !matches!(question.kind, QuestionKind::Hold(_)) {
                    said.marks.push(note.clone());
                }
                let (by, flags) = ("ada".to_string(), self.flags(id.phase));
                Event::Answered { id, option, by, note, flags, grants: Grants::default() }
            }
            Command::Cancel { .. }
            | Command::Discard { .. }
            | Command::Restore { .. }
            | Command::Finish { .. } => {
                return false;
            }
        };
        let Ok(step) = self.walker.feed(event.clone(), String::new()) else { return true };
        self.checks.extend(facts.checks.iter().map(check_row));
        self.notes.extend(facts.notes.iter().map(note_row));
        let task = said.task.clone();
        let detected = step.rulings.iter().filter(|ruling| ruling.phase == id.phase);
        said.marks.extend(detected.filter_map(|ruling| match &ruling.why {
            Why::Detected { sentence } => Some(sentence.clone()),
            _ => None,
        }));
        self.said.push(said);
        self.collector.add(event, facts, &step.rulings, step.commands.clone());
        for command in &step.commands {
            if let Command::Dispatch(dispatch) = command
                && (task.is_none() || dispatch.task.is_none() || dispatch.task == task)
            {
                self.hand_over(&step.rulings, dispatch, hand_overs);
            }
        }
        true
    }

    /// A crash, in `crashes` of `out_of` cases, or because a retry is the goal.
    fn crash(&mut self, out_of: usize, said: &mut Said) -> Option<Outcome> {
        let name = &self.program.phase(said.id.phase).name;
        let is_goal = self.goal.as_ref().is_some_and(|(from, signal, _)| signal == RETRY && from == name);
        if self.pick(out_of) >= self.crashes && !(is_goal && said.id.attempt == 1) {
            return None;
        }
        said.marks = vec![format!("crashed-{}.", self.said.len())];
        let detail = said.marks[0].clone();
        Some(Outcome::Failed { failure: Failure::Crashed, detail, in_a_row: 0 })
    }

    /// How an agent ends: mostly with a marked result.
    fn dispatch_ends(&mut self, dispatch: &Dispatch, facts: &mut Facts, said: &mut Said) -> Outcome {
        let (id, number) = (dispatch.id, self.said.len());
        if let Some(crash) = self.crash(10, said) {
            return crash;
        }
        let contract = self.program.contract(dispatch.contract).clone();
        let says = *self.choose(id.phase, &contract.says);
        let findings = if contract.findings { vec![self.finding(id.phase)] } else { Vec::new() };
        let says = self.program.signal(says).to_string();
        let text = result(number, &says, &findings);
        said.marks = ["summary", "notes", "why"].map(|word| format!("{word}-{number}.")).to_vec();
        said.marks.extend(findings.iter().flat_map(|it| [it.claim.clone(), it.evidence.clone()]));
        said.findings = findings.iter().map(|finding| finding.id.clone()).collect();
        let blob = BlobId::of(text.as_bytes());
        self.blobs.insert(blob, text);
        facts.telemetry = Some(Telemetry { result: Some(blob), ..Telemetry::default() });
        let lists: Vec<_> =
            contract.lists.iter().map(|list| self.program.lists[list.index()].clone()).collect();
        let (lists, wrote, flags) = (items(&lists), self.wrote(id, &said.marks), self.flags(id.phase));
        let change = (self.circles && !contract.changes.is_empty()).then(|| self.change());
        let approach = (contract.states_approach || contract.guarded).then(|| self.approach());
        Outcome::Said(Box::new(Report {
            says,
            findings,
            lists,
            wrote,
            flags,
            change,
            approach,
            ..Report::default()
        }))
    }

    /// How an operation ends. If it does not succeed, it has a finding, a failed check and a note.
    fn operation_ends(
        &mut self,
        id: CommandId,
        operation: &Operation,
        facts: &mut Facts,
        said: &mut Said,
    ) -> Report {
        let number = self.said.len();
        let says = *self.choose(id.phase, &operation.results);
        let mut findings = Vec::new();
        if says != operation.results[0] {
            // The engine does not say where a defect comes from.
            let mut finding = Finding { injected_by: Vec::new(), ..self.finding(id.phase) };
            let lines = format!("lines-{number}.");
            // A finding may quote the lines of a check.
            if self.pick(2) == 0 {
                finding.evidence = format!("{} {lines}", finding.evidence);
            }
            facts.checks.push(check(&lines, said.task.clone()));
            facts.notes.push(Note::new(NoteKind::Warning, format!("warning-{number}.")));
            said.marks = vec![lines, format!("warning-{number}.")];
            let chooses_way =
                matches!(operation.name, EngineOperation::LookBack | EngineOperation::AssignGaps);
            if !chooses_way {
                said.marks.push(finding.claim.clone());
                said.findings = vec![finding.id.clone()];
                findings.push(finding);
            }
        }
        let lists: Vec<_> =
            operation.lists.iter().map(|list| self.program.lists[list.index()].clone()).collect();
        let (lists, wrote, flags) = (items(&lists), self.wrote(id, &said.marks), self.flags(id.phase));
        // Two tests that trade their results make a circle.
        let ends = if self.pick(2) == 0 {
            [TestEnd::Passed, TestEnd::Failed]
        } else {
            [TestEnd::Failed, TestEnd::Passed]
        };
        let names = ["test_sub", "test_add"].into_iter();
        let tests = names.zip(ends).map(|(name, end)| TestResult { name: name.to_string(), end }).collect();
        let tests: Vec<TestResult> = if operation.judges && self.circles { tests } else { Vec::new() };
        let says = self.program.signal(says).to_string();
        Report { says, findings, lists, wrote, flags, tests, ..Report::default() }
    }

    /// A finding that names any origin, and sometimes repeats an earlier one or blocks for security.
    fn finding(&mut self, phase: PhaseId) -> Finding {
        let number = self.said.len();
        let program = self.program;
        let mut injected_by: Vec<String> =
            program.injects.iter().map(|id| program.phase(*id).name.clone()).collect();
        let wanted = self.goal.as_ref().map(|(_, _, to)| to.clone()).filter(|to| injected_by.contains(to));
        match (self.pick(4), wanted) {
            (0, _) => injected_by.clear(),
            (1, _) => injected_by.retain(|_| self.pick(2) == 0),
            (_, Some(wanted)) => injected_by = vec![wanted],
            (_, None) => {
                let only = self.pick(injected_by.len());
                injected_by = injected_by.into_iter().skip(only).take(1).collect();
            }
        }
        let earlier = self.said.iter().rev().filter(|said| said.id.phase == phase);
        let earlier = earlier.flat_map(|said| said.findings.first()).next().cloned();
        let kinds = [FindingKind::Plan, FindingKind::Test, FindingKind::Production, FindingKind::Cosmetic];
        let is_blocker = self.blockers && self.pick(4) == 0;
        Finding {
            id: format!("F-{number}"),
            severity: if is_blocker { Severity::Blocker } else { Severity::Major },
            category: if is_blocker { Category::Security } else { Category::Correctness },
            kind: Some(kinds[self.pick(4)]),
            injected_by,
            task: None,
            place: Location { file: format!("file-{number}"), symbol: String::new(), line: 1 },
            claim: format!("claim-{number}."),
            evidence: format!("evidence-{number}."),
            impact: String::new(),
            recommendation: String::new(),
            patch: None,
            repeats: earlier.filter(|_| self.pick(3) == 0),
        }
    }

    /// A change that may undo the last one, or lead to a tree that was there before.
    fn change(&mut self) -> Change {
        let lines =
            |word: &str| (0..8).map(|at| format!("let {word}_{at} = compute_{word}({at});")).collect();
        let (removed, added) = if self.pick(2) == 0 { ("left", "right") } else { ("right", "left") };
        let hunk = Hunk { removed: lines(removed), added: lines(added) };
        let file = FileChange { path: "src/sub.rs".to_string(), hunks: vec![hunk], generated: false };
        let files = if self.pick(2) == 0 { vec![file] } else { Vec::new() };
        let tree = if self.pick(3) == 0 { 7 } else { self.said.len() as u64 + 100 };
        Change { tree: Digest(tree), files, hypothesis: None, restored: false }
    }

    /// One of two approaches.
    fn approach(&mut self) -> Approach {
        let texts = ["Subtract b from a in a new module.", "Call the server and parse what it answers."];
        Approach { text: texts[self.pick(2)].to_string(), decisions: Vec::new() }
    }

    /// A value for each flag that the phase sets.
    fn flags(&mut self, phase: PhaseId) -> Vec<(String, bool)> {
        let program = self.program;
        let sets = program.phase(phase).sets.iter();
        sets.map(|flag| (program.flags[flag.index()].clone(), self.pick(2) == 0)).collect()
    }

    /// New versions of what the phase writes, with these marks.
    fn wrote(&mut self, by: CommandId, marks: &[String]) -> Vec<(String, Digest)> {
        let digest = Digest(self.said.len() as u64 + 1_000);
        let ids = self.program.phase(by.phase).writes.clone();
        for artifact in ids.iter().copied() {
            self.written.push(Written { artifact, digest, by, marks: marks.to_vec() });
        }
        ids.iter().map(|id| (self.program.artifacts[id.index()].clone(), digest)).collect()
    }

    /// Records what a dispatch that follows from these rulings is given of everything that was reported since its phase ran.
    fn hand_over(&mut self, rulings: &[Ruling], dispatch: &Dispatch, hand_overs: &mut HandOvers) {
        let id = dispatch.id;
        let brief = self.brief(dispatch);
        let whole: String = brief.iter().map(|part| part.text.as_str()).collect();
        let name = |id: PhaseId| self.program.phase(id).name.clone();
        if id.attempt > 1 {
            let first = self.first_attempts.get(&CommandId { attempt: 1, ..id }).cloned().unwrap_or_default();
            let route = (name(id.phase), RETRY.to_string(), name(id.phase));
            hand_overs.walked.entry(route.clone()).or_default();
            // What other tasks reported may change between the attempts.
            let said = self.said.iter().filter(|said| said.task.is_none() || said.task == dispatch.task);
            let marks = said.flat_map(|said| &said.marks);
            for mark in marks.filter(|mark| first.contains(*mark) && !whole.contains(*mark)) {
                hand_overs.lost.insert((route.clone(), mark.clone()));
            }
            return;
        }
        self.first_attempts.insert(id, whole.clone());
        // A route to a sub-flow leads to the phases with which its tasks start.
        let receivers = [Some(id.phase), self.program.phase(id.phase).owner];
        let led_here = rulings.iter().rev().find_map(|ruling| match &ruling.verdict {
            Disposition::Follow { action, target } if target.is_some() && receivers.contains(target) => {
                Some((ruling, action, *target))
            }
            _ => None,
        });
        let Some((ruling, action, target)) = led_here else { return };
        let route = (name(ruling.phase), self.program.signal(ruling.signal).to_string(), name(id.phase));
        let has = |section: BriefSection| brief.iter().any(|part| part.section == section);
        let stated = hand_overs.stated.get(&route).copied().unwrap_or_default();
        let is_understated = (has(BriefSection::ToAnswer) && !stated.may_have_findings)
            || (brief.iter().any(|part| part.name == "evidence.md") && !stated.shows_change);
        let is_overstated = !has(BriefSection::ToAnswer) && stated.always_has_findings;
        if is_understated || is_overstated {
            hand_overs.misstated.insert(route.clone());
        }
        let cells = hand_overs.walked.entry(route.clone()).or_default();
        // A phase that runs for the first time must be given its sender's report, unless the work came by a plain
        // `next`.
        let effect = ruling.effects.first().copied();
        let is_plain = Onward::of(self.program, ruling.phase, action, target, effect) == Onward::Plainly;
        let task = dispatch.task.as_deref();
        // A role that reads a tree is given the reports of its authors on every way in.
        for said in self.latest(0, task) {
            let is_other = said.id.phase != id.phase;
            if is_other && is_author(self.program, said.id.phase, id.phase) {
                for mark in said.marks.iter().filter(|mark| !whole.contains(*mark)) {
                    let kind = mark.split('-').next().unwrap_or_default();
                    let report = format!("report of {}: {kind}", name(said.id.phase));
                    hand_overs.lost.insert((route.clone(), report));
                }
            }
        }
        let last = self.said.iter().rposition(|said| said.is_of(id.phase, task));
        let since = match last {
            Some(last) => {
                let visit = (self.said[last].id.lane, self.said[last].id.visit);
                let is_last =
                    |said: &Said| said.is_of(id.phase, task) && (said.id.lane, said.id.visit) == visit;
                self.said.iter().position(is_last).unwrap_or(last)
            }
            None if is_plain => return,
            None => self.said.len() - 1,
        };
        for said in self.latest(since, task) {
            if said.id.phase == id.phase && (said.id.seat != id.seat || self.program.phase(id.phase).afresh) {
                continue;
            }
            if self.is_superseded(said) {
                continue;
            }
            let speaker = name(said.id.phase);
            let owner = self.program.phase(said.id.phase).owner;
            let is_sender = said.id.phase == ruling.phase || owner == Some(ruling.phase);
            for mark in &said.marks {
                let kind = mark.split_once('-').map_or(mark.as_str(), |(kind, _)| kind);
                // A detector explains itself in a sentence.
                let kind = if kind.contains(' ') { "detection" } else { kind };
                let found: Vec<&BriefPart> = brief.iter().filter(|part| part.text.contains(mark)).collect();
                if found.is_empty() {
                    hand_overs.lost.insert((route.clone(), format!("{speaker} {kind}")));
                }
                if is_sender {
                    cells.is_owed = true;
                    cells.sent.insert(kind.to_string());
                    cells.received.extend(found.iter().map(|part| part.section));
                }
            }
        }
        if is_silent(self.program, ruling) {
            return;
        }
        cells.is_owed = true;
    }

    /// Whether everything that a seat wrote was replaced by the current versions, which another visit wrote later.
    fn is_superseded(&self, said: &Said) -> bool {
        let own: Vec<&Written> = self.written.iter().filter(|written| written.by == said.id).collect();
        let is_replaced = |own: &&Written| {
            let current = self.walker.state.digest(own.artifact);
            let is_current =
                |written: &&Written| written.artifact == own.artifact && written.digest == current;
            let by = self.written.iter().find(is_current).map(|written| written.by);
            by.is_some_and(|by| by.phase != said.id.phase && current > own.digest)
        };
        !own.is_empty() && own.iter().all(is_replaced)
    }

    /// What each seat reported in the latest visit of each phase since then, as far as it concerns a task.
    fn latest(&self, since: usize, task: Option<&str>) -> Vec<&Said> {
        let concerns = |said: &&Said| task.is_none() || said.task.is_none() || said.task.as_deref() == task;
        let mut latest: Vec<&Said> = Vec::new();
        for said in self.said[since..].iter().filter(concerns) {
            latest.retain(|earlier| {
                let is_same_phase = earlier.is_of(said.id.phase, said.task.as_deref());
                let is_same_visit = (earlier.id.lane, earlier.id.visit) == (said.id.lane, said.id.visit);
                let is_same_seat = earlier.id.seat == said.id.seat && earlier.is_human == said.is_human;
                !is_same_phase || (is_same_visit && !is_same_seat)
            });
            latest.push(said);
        }
        latest
    }

    /// The brief of a dispatch, as the engine assembles it.
    fn brief(&self, dispatch: &Dispatch) -> Vec<BriefPart> {
        let content = |id: BlobId| -> Result<String, Trouble> {
            self.blobs.get(&id).cloned().ok_or_else(|| LedgerError::NoSuchBlob { id }.into())
        };
        let words = WordSources {
            history: &self.collector.history,
            schema: &|_| SchemaId::CompletionContract,
            content: &content,
        };
        let board = self.board(dispatch);
        let assembly = Assembly::new(self.program, &self.walker.state, dispatch, words, board.as_ref());
        let stock = MarkedStock { run: self, dispatch, board: board.as_ref() };
        assembly.parts(&stock, &str::to_string).expect("a brief")
    }

    fn schema(&self, contract: ContractId) -> Option<SchemaId> {
        self.roles.get(&self.program.contract(contract).title())?.result.parse().ok()
    }

    /// The board, for a role in rounds.
    fn board(&self, dispatch: &Dispatch) -> Option<BoardCover> {
        let opens = |phase: PhaseId| match self.program.phase(phase).work {
            Work::Operation { operation } => {
                self.program.operation(operation).name == EngineOperation::OpenBoard
            }
            _ => false,
        };
        let is_open = self.collector.history.visits.iter().any(|visit| opens(visit.phase));
        let is_in_rounds = matches!(
            self.schema(dispatch.contract),
            Some(SchemaId::GapProposals | SchemaId::GapReview | SchemaId::GapInventory)
        );
        (is_open && is_in_rounds).then(|| {
            let schema = |phase: PhaseId| self.schema(*self.program.phase(phase).contracts().first()?);
            BoardCover::new(self.program, &schema)
        })
    }
}

/// Whether a sender has nothing to say: an operation that succeeded, or a phase whose earlier result is still current.
fn is_silent(program: &Program, ruling: &Ruling) -> bool {
    let is_reused = matches!(ruling.rule, Rule::Stands | Rule::Default);
    is_reused
        || match program.phase(ruling.phase).work {
            Work::Operation { operation } => {
                program.operation(operation).results.first() == Some(&ruling.signal)
            }
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Ask { .. }
            | Work::Flow { .. } => false,
        }
}

/// The ledger and the tree of a marked run.
struct MarkedStock<'r> {
    run: &'r MarkedRun<'r>,
    dispatch: &'r Dispatch,
    board: Option<&'r BoardCover>,
}

impl MarkedStock<'_> {
    /// Adds these versions of a document.
    fn add(&self, section: BriefSection, id: ArtifactId, versions: &[&Written], parts: &mut PartList<'_>) {
        let name = self.run.program.artifacts[id.index()].as_str();
        let marks: Vec<&str> =
            versions.iter().flat_map(|version| &version.marks).map(String::as_str).collect();
        if !TREES.contains(&name) {
            parts.add(section, &format!("{name}.yaml"), name, marks.join("\n"));
        }
    }

    /// A version of a document, with the parts that the other seats wrote in the same visit.
    fn version(&self, id: ArtifactId, digest: Digest) -> Vec<&Written> {
        let visit = |by: CommandId| (by.phase, by.lane, by.visit);
        let of_artifact = self.run.written.iter().filter(|written| written.artifact == id);
        let Some(last) = of_artifact.clone().find(|written| written.digest == digest) else {
            return Vec::new();
        };
        of_artifact.filter(|written| visit(written.by) == visit(last.by)).collect()
    }
}

impl BriefStock for MarkedStock<'_> {
    fn own_documents(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        for id in &self.run.program.phase(self.dispatch.id.phase).writes {
            let mut current = self.version(*id, self.run.walker.state.digest(*id));
            if self.dispatch.item.is_some() {
                current.retain(|written| written.by.seat == self.dispatch.id.seat);
            }
            self.add(BriefSection::OwnWork, *id, &current, parts);
        }
        Ok(())
    }

    fn difference(&self, _: &Utterance) -> Result<Difference, Trouble> {
        Ok(Difference::default())
    }

    fn documents(&self, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        for (id, digest) in &self.dispatch.reads {
            self.add(BriefSection::Material, *id, &self.version(*id, *digest), parts);
        }
        // The board has the results of all rounds.
        if let Some(board) = self.board {
            let told = self.run.program.phase_ids().filter(|id| board.tells(*id, self.run.program));
            let written: Vec<ArtifactId> =
                told.flat_map(|id| self.run.program.phase(id).writes.clone()).collect();
            let versions = self.run.written.iter().filter(|version| written.contains(&version.artifact));
            let mut text: Vec<&str> =
                versions.flat_map(|version| &version.marks).map(String::as_str).collect();
            let history = &self.run.collector.history;
            let decided = (0..history.visits.len())
                .filter(|visit| BoardCover::has_decisions(*visit, history, self.run.program));
            text.extend(decided.flat_map(|visit| history.words(visit)).filter_map(
                |said| match &said.speaker {
                    Speaker::Human { note, .. } => Some(note.as_str()),
                    Speaker::Agent { .. } | Speaker::Engine { .. } => None,
                },
            ));
            parts.add(BriefSection::Material, "board.md", "the board", text.join("\n"));
        }
        Ok(())
    }

    fn tree(&self, narrator: &Narrator<'_>, parts: &mut PartList<'_>) -> Result<(), Trouble> {
        let found =
            RunEvidence { rows: self.run.checks.clone(), notes: &self.run.notes, specs: &[], red: &[] };
        evidence::add(found, self.dispatch.task.as_deref(), &narrator.given, parts);
        Ok(())
    }

    fn background(&self, _: &Law, _: &Narrator<'_>, _: &mut PartList<'_>) -> Result<(), Trouble> {
        Ok(())
    }
}

fn items(lists: &[String]) -> Vec<(String, Vec<Item>)> {
    let item = |number: u64| Item { id: format!("task-{number}"), spec: Digest(number), ..Item::default() };
    lists.iter().map(|list| (list.clone(), vec![item(1), item(2)])).collect()
}

fn result(number: usize, verdict: &str, findings: &[Finding]) -> String {
    let result = serde_json::json!({
        "agent": "a", "step": "s", "schema_version": "1.0",
        "completion": {"status": "DONE", "summary": format!("summary-{number}."), "findings_count": findings.len()},
        "payload": {
            "verdict": verdict, "notes": format!("notes-{number}."), "justification": format!("why-{number}."),
            "findings": findings,
        },
    });
    result.to_string()
}

/// A failed check. Each has another name, so none replaces another.
fn check(lines: &str, task: Option<String>) -> Check {
    Check {
        task,
        phase: RowPhase::After,
        name: format!("check of {lines}").replace("lines-", ""),
        tool: "pytest".to_string(),
        command: Some("pytest -q".to_string()),
        exit_code: Some(1),
        snippet: lines.to_string(),
        output: None,
        passed: false,
        verdict: None,
        severity: None,
        round: 1,
        tier: None,
        iteration: 1,
        collected: None,
        duration_ms: 1,
        reason: String::new(),
        tests: None,
        reuse: None,
    }
}

fn check_row(check: &Check) -> CheckRow {
    CheckRow {
        run: RunId("r".to_string()),
        seq: 1,
        at: Default::default(),
        task: check.task.clone(),
        phase: check.phase,
        name: check.name.clone(),
        tool: check.tool.clone(),
        command: check.command.clone(),
        exit_code: check.exit_code,
        snippet: check.snippet.clone(),
        output: None,
        passed: check.passed,
        verdict: None,
        severity: None,
        round: 1,
        tier: None,
        iteration: 1,
        collected: None,
        duration_ms: 1,
        reason: String::new(),
        tests: None,
        superseded: false,
        origin: None,
        tree: None,
    }
}

fn note_row(note: &Note) -> NoteRow {
    NoteRow {
        run: RunId("r".to_string()),
        seq: 1,
        at: Default::default(),
        kind: note.kind,
        text: note.text.clone(),
        files: Vec::new(),
        blob: None,
        decision: None,
    }
}

/// The ways into the phases of a workflow, as `remand brief` lists them, and a retry of each phase.
fn ways(program: &Program) -> BTreeSet<Route> {
    let mut routes = BTreeSet::new();
    for brief in briefs(program) {
        routes.insert((brief.phase.clone(), RETRY.to_string(), brief.phase.clone()));
        for way in brief.ways.iter().flat_map(|way| &way.ways) {
            if let Some((from, signal)) = way.split_once(": ") {
                routes.insert((from.to_string(), signal.to_string(), brief.phase.clone()));
            }
        }
    }
    routes
}

/// What `remand brief` says about the change and the findings.
fn stated(program: &Program) -> BTreeMap<Route, StatedBrief> {
    let mut stated: BTreeMap<Route, StatedBrief> = BTreeMap::new();
    for brief in briefs(program) {
        for entry in &brief.ways {
            for (from, signal) in entry.ways.iter().filter_map(|way| way.split_once(": ")) {
                let route = (from.to_string(), signal.to_string(), brief.phase.clone());
                let is_known = stated.contains_key(&route);
                let known = stated.entry(route).or_default();
                let is_always = entry.findings == FindingsToAnswer::Always;
                known.shows_change = brief.shows_change;
                known.may_have_findings |= entry.findings != FindingsToAnswer::Never;
                known.always_has_findings = is_always && (known.always_has_findings || !is_known);
            }
        }
    }
    stated
}

/// Walks until every way has been walked. Two of three runs try to take a way that none has taken yet.
fn walk(program: &Program, roles: &Roles) -> HandOvers {
    let wanted = ways(program);
    let mut hand_overs = HandOvers { stated: stated(program), ..HandOvers::default() };
    for seed in 1..MAX_RUNS {
        let missing: Vec<&Route> =
            wanted.iter().filter(|way| !hand_overs.walked.contains_key(*way)).collect();
        if seed >= MIN_RUNS && missing.is_empty() {
            break;
        }
        let turn = usize::try_from(seed / 3).unwrap_or(0);
        let goal = missing.get(turn % missing.len().max(1)).filter(|_| !seed.is_multiple_of(3));
        let mut run = MarkedRun::start(program, roles, seed, goal.map(|way| (*way).clone()));
        for _ in 0..200 {
            if !run.step(&mut hand_overs) {
                break;
            }
        }
    }
    hand_overs
}

const MIN_RUNS: u64 = 200;
const MAX_RUNS: u64 = 20_000;

// HO-01 HO-02 HO-07 HO-08
#[test]
fn every_route_hands_over_everything_that_was_said() {
    let roles = Roles::shipped();
    let mut table = String::new();
    let mut problems = String::new();
    for name in ["feature", "issue", "ticket", "spec", "tsp", "quick"] {
        let checked = remand_workflow::check_shipped(name).expect("a shipped workflow");
        let program = &checked.compiled.expect("a program").program;
        let HandOvers { walked, lost, misstated, .. } = walk(program, &roles);
        let _ = writeln!(table, "{name}");
        for ((from, signal, to), Cells { sent, received, is_owed }) in &walked {
            if signal == RETRY {
                let _ = writeln!(table, "  {from}: {signal} -> {to} | all that the first attempt was given");
                continue;
            }
            if !is_owed {
                let _ = writeln!(table, "  {from}: {signal} -> {to} | accepted, with nothing more to say");
                continue;
            }
            let sent: Vec<&str> = sent.iter().map(String::as_str).collect();
            let received: Vec<&str> = received.iter().map(|section| section.title()).collect();
            let _ =
                writeln!(table, "  {from}: {signal} -> {to} | {} | {}", sent.join(", "), received.join(", "));
            if sent.is_empty() {
                let _ = writeln!(problems, "{name}: {from}: {signal} -> {to}: the sender said nothing");
            }
        }
        for ((from, signal, to), what) in lost {
            let _ = writeln!(problems, "{name}: {from}: {signal} -> {to}: not received: {what}");
        }
        for (from, signal, to) in misstated {
            let _ =
                writeln!(problems, "{name}: {from}: {signal} -> {to}: `remand brief` says something else");
        }
        for (from, signal, to) in ways(program).difference(&walked.keys().cloned().collect()) {
            let _ = writeln!(problems, "{name}: {from}: {signal} -> {to}: no walk took this way");
        }
    }
    assert!(problems.is_empty(), "{problems}\n{table}");
    insta::assert_snapshot!(table);
}
