//! Walks every route of the shipped workflows with marked results, and looks for each mark in what the receiver is given.

use super::history::{Collector, Speaker};
use super::review::earlier_judgement;
use super::words::{Narrator, finding_text};
use crate::site::Trouble;
use remand_contract::SchemaId;
use remand_kernel::brief::Onward;
use remand_kernel::change::Digest;
use remand_kernel::command::{Command, Dispatch};
use remand_kernel::event::{Grants, Item, Mode, Start, Usage};
use remand_kernel::evidence::RowPhase;
use remand_kernel::finding::{Category, Finding, FindingKind, Location, Severity};
use remand_kernel::ids::{ArtifactId, PhaseId, SignalId};
use remand_kernel::program::{Action, Program, Work, is_detector};
use remand_kernel::ruling::{Disposition, Ruling};
use remand_kernel::signal::Failure;
use remand_kernel::{Event, Outcome, Report};
use remand_ledger::fact::{BlobId, Check, Telemetry};
use remand_ledger::{Facts, LedgerError};
use remand_workflow::walk::Walker;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A run with marked results.
struct MarkedRun<'p> {
    program: &'p Program,
    walker: Walker<'p>,
    collector: Collector<'p>,
    blobs: HashMap<BlobId, String>,
    /// The marks of what was said, in order: who said it, for which task, and when.
    said: Vec<Said>,
    /// The marks in each version of each document.
    written: BTreeMap<(ArtifactId, u64), Vec<String>>,
    /// When each phase was last dispatched, by task.
    dispatched: BTreeMap<(PhaseId, Option<String>), usize>,
    random: u64,
    /// How many of ten dispatches give no result.
    crashes: usize,
}

struct Said {
    phase: PhaseId,
    task: Option<String>,
    marks: Vec<String>,
}

/// One hand-over: the sender, its signal and the receiver.
type Route = (String, String, String);

/// What was sent and received on each route.
#[derive(Default)]
struct HandOvers {
    sent: BTreeMap<Route, BTreeSet<String>>,
    lost: BTreeSet<(Route, String)>,
}

impl<'p> MarkedRun<'p> {
    fn start(program: &'p Program, seed: u64) -> MarkedRun<'p> {
        let start = Start { mode: Mode::Interactive, ..Start::default() };
        let mut collector = Collector::new(program);
        let walker = Walker::start(program, start.clone(), Vec::new()).expect("a run");
        collector.add(Event::Started(start), Facts::default(), &[], walker.open.clone());
        MarkedRun {
            program,
            walker,
            collector,
            blobs: HashMap::new(),
            said: Vec::new(),
            written: BTreeMap::new(),
            dispatched: BTreeMap::new(),
            crashes: if seed.is_multiple_of(8) { 8 } else { 1 },
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        }
    }

    fn pick(&mut self, count: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random >> 33).unwrap_or(0) % count.max(1)
    }

    /// The first of these, or any of them.
    fn choose<'s>(&mut self, options: &'s [SignalId]) -> &'s SignalId {
        let at = if self.pick(5) < 2 { 0 } else { self.pick(options.len()) };
        &options[at]
    }

    /// Answers one open command. `false` if the run waits for nothing.
    fn step(&mut self, hand_overs: &mut HandOvers) -> bool {
        if self.walker.open.is_empty() {
            return false;
        }
        let at = self.pick(self.walker.open.len());
        let command = self.walker.open[at].clone();
        let Some(id) = command.id() else { return false };
        let number = self.said.len();
        let mut facts = Facts::default();
        let mut marks = Vec::new();
        let mut task = None;
        let event = match &command {
            Command::Dispatch(dispatch) => {
                task.clone_from(&dispatch.task);
                let contract = self.program.contract(dispatch.contract).clone();
                let says = *self.choose(&contract.says);
                let findings = if contract.findings { vec![finding(number)] } else { Vec::new() };
                let text = result(number, self.program.signal(says), &findings);
                marks = ["summary", "notes", "why"].map(|word| format!("{word}-{number}.")).to_vec();
                marks.extend(findings.iter().flat_map(|it| [it.claim.clone(), it.evidence.clone()]));
                let blob = BlobId::of(text.as_bytes());
                self.blobs.insert(blob, text);
                facts.telemetry = Some(Telemetry { result: Some(blob), ..Telemetry::default() });
                let lists = self.items(
                    &contract
                        .lists
                        .iter()
                        .map(|list| self.program.lists[list.index()].clone())
                        .collect::<Vec<_>>(),
                );
                let wrote = self.wrote(id.phase, &marks);
                self.dispatched.insert((id.phase, task.clone()), number);
                let says = self.program.signal(says).to_string();
                let flags = self.flags(id.phase);
                let report = Report { says, findings, lists, wrote, flags, ..Report::default() };
                let outcome = if self.pick(10) < self.crashes {
                    facts = Facts::default();
                    marks = vec![format!("crashed-{number}.")];
                    Outcome::Failed { failure: Failure::Crashed, detail: marks[0].clone(), in_a_row: 0 }
                } else {
                    Outcome::Said(Box::new(report))
                };
                Event::Ended { id, outcome, usage: Usage::default() }
            }
            Command::Operate { operation, task: of, .. } => {
                task.clone_from(of);
                let operation = self.program.operation(*operation).clone();
                let says = *self.choose(&operation.results);
                let failed = operation.judges && says != operation.results[0];
                let findings = if failed { vec![finding(number)] } else { Vec::new() };
                if failed {
                    facts.checks.push(check(number));
                    marks = findings
                        .iter()
                        .map(|it| it.claim.clone())
                        .chain([format!("lines-{number}.")])
                        .collect();
                }
                let lists = self.items(
                    &operation
                        .lists
                        .iter()
                        .map(|list| self.program.lists[list.index()].clone())
                        .collect::<Vec<_>>(),
                );
                let wrote = self.wrote(id.phase, &[]);
                let says = self.program.signal(says).to_string();
                let flags = self.flags(id.phase);
                let report = Report { says, findings, lists, wrote, flags, ..Report::default() };
                Event::Ended { id, outcome: Outcome::Said(Box::new(report)), usage: Usage::default() }
            }
            Command::Ask(question) => {
                let option = self.program.signal(*self.choose(&question.options)).to_string();
                marks.push(format!("note-{number}."));
                let note = marks[0].clone();
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
        self.said.push(Said { phase: id.phase, task: task.clone(), marks: marks.clone() });
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

    /// A value for each flag that the phase sets.
    fn flags(&mut self, phase: PhaseId) -> Vec<(String, bool)> {
        let program = self.program;
        let sets = program.phase(phase).sets.iter();
        sets.map(|flag| (program.flags[flag.index()].clone(), self.pick(2) == 0)).collect()
    }

    fn items(&self, lists: &[String]) -> Vec<(String, Vec<Item>)> {
        let item =
            |number: u64| Item { id: format!("task-{number}"), spec: Digest(number), ..Item::default() };
        lists.iter().map(|list| (list.clone(), vec![item(1), item(2)])).collect()
    }

    /// New versions of what the phase writes, with these marks.
    fn wrote(&mut self, phase: PhaseId, marks: &[String]) -> Vec<(String, Digest)> {
        let digest = Digest(self.said.len() as u64 + 1_000);
        let ids = self.program.phase(phase).writes.clone();
        for id in &ids {
            self.written.insert((*id, digest.0), marks.to_vec());
        }
        ids.iter().map(|id| (self.program.artifacts[id.index()].clone(), digest)).collect()
    }

    /// Records what a dispatch that follows from these rulings is given of everything that was said since its phase ran.
    fn hand_over(&self, rulings: &[Ruling], dispatch: &Dispatch, hand_overs: &mut HandOvers) {
        let (phase, task) = (dispatch.id.phase, dispatch.task.clone());
        let led_here = rulings.iter().rev().find_map(|ruling| match &ruling.verdict {
            Disposition::Follow { action, target } if *target == Some(phase) => Some((ruling, action)),
            _ => None,
        });
        let Some((ruling, action)) = led_here else { return };
        let name = |id: PhaseId| self.program.phase(id).name.clone();
        let route = (name(ruling.phase), self.program.signal(ruling.signal).to_string(), name(phase));
        let given = self.given(dispatch);
        let last = self.dispatched.get(&(phase, task.clone())).copied();
        // A phase that runs for the first time must hear its sender unless it comes straight along the main line.
        let effect = ruling.effects.first().copied();
        let is_plain = Onward::of(self.program, ruling.phase, action, Some(phase), effect) == Onward::Plainly;
        let since = match last {
            Some(last) => last,
            None if is_plain => return,
            None => self.said.len() - 1,
        };
        let sent = hand_overs.sent.entry(route.clone()).or_default();
        let mut latest: BTreeMap<(PhaseId, Option<&str>), &Said> = BTreeMap::new();
        for said in &self.said[since..] {
            if task.is_none() || said.task.is_none() || said.task == task {
                latest.insert((said.phase, said.task.as_deref()), said);
            }
        }
        for said in latest.values() {
            let speaker = self.program.phase(said.phase).name.clone();
            for mark in &said.marks {
                let kind = mark.split('-').next().unwrap_or_default();
                sent.insert(format!("{speaker} {kind}"));
                if !given.contains(mark.as_str()) {
                    hand_overs.lost.insert((route.clone(), format!("{speaker} {kind}")));
                }
            }
        }
    }

    /// Everything that a dispatch is given in words.
    fn given(&self, dispatch: &Dispatch) -> String {
        let history = &self.collector.history;
        let content = |id: BlobId| -> Result<String, Trouble> {
            self.blobs.get(&id).cloned().ok_or_else(|| LedgerError::NoSuchBlob { id }.into())
        };
        let addressed = dispatch.findings.iter().map(|at| &self.walker.state.findings[*at as usize].finding);
        let narrator = Narrator {
            program: self.program,
            filed: &self.walker.state.findings,
            schema: &|_| SchemaId::CompletionContract,
            content: &content,
            history,
            given: addressed.clone().cloned().collect(),
            has_evidence: false,
        };
        let law = remand_kernel::brief::brief(
            self.program,
            &history.visits,
            dispatch.id.phase,
            dispatch.task.as_deref(),
        );
        let mut text: String = addressed.map(finding_text).collect();
        for visit in law.way.iter().chain(&law.authors) {
            text.push_str(&narrator.visit(*visit).expect("words"));
        }
        if let Some(own) = law.own {
            for utterance in history.words(own) {
                let is_review = matches!(&utterance.speaker, Speaker::Agent { contract, .. }
                    if self.program.contract(*contract).findings);
                if is_review {
                    text.push_str(&earlier_judgement(&narrator, own, utterance).expect("words"));
                }
                text.push_str(&narrator.utterance(utterance).expect("words"));
            }
        }
        for (id, digest) in &dispatch.reads {
            text.extend(self.written.get(&(*id, digest.0)).into_iter().flatten().map(String::as_str));
        }
        text
    }
}

fn finding(number: usize) -> Finding {
    Finding {
        id: format!("F-{number}"),
        severity: Severity::Major,
        category: Category::Correctness,
        kind: Some(
            [FindingKind::Plan, FindingKind::Test, FindingKind::Production, FindingKind::Cosmetic]
                [number % 4],
        ),
        injected_by: Vec::new(),
        task: None,
        place: Location { file: format!("file-{number}"), symbol: String::new(), line: 1 },
        claim: format!("claim-{number}."),
        evidence: format!("evidence-{number}."),
        impact: String::new(),
        recommendation: String::new(),
        patch: None,
        repeats: None,
    }
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

fn check(number: usize) -> Check {
    Check {
        task: None,
        phase: RowPhase::After,
        name: "pytest".to_string(),
        tool: "pytest".to_string(),
        command: Some("pytest -q".to_string()),
        exit_code: Some(1),
        snippet: format!("lines-{number}."),
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

/// Walks until no new route has been found for a while.
fn walk(program: &Program) -> HandOvers {
    let mut hand_overs = HandOvers::default();
    let mut quiet = 0;
    for seed in 1..4_000 {
        let before = hand_overs.sent.len();
        let mut run = MarkedRun::start(program, seed);
        for _ in 0..150 {
            if !run.step(&mut hand_overs) {
                break;
            }
        }
        quiet = if hand_overs.sent.len() == before { quiet + 1 } else { 0 };
        if quiet > 300 {
            break;
        }
    }
    hand_overs
}

/// The routes that send something to a role, with the receiver. What a detector notices cannot be planted here.
fn routes_to_roles(program: &Program) -> BTreeSet<(String, String)> {
    let mut routes = BTreeSet::new();
    for id in program.phase_ids() {
        let followed = program.phase(id).routes.iter();
        for (_, route) in followed.filter(|(signal, _)| !is_detector(program.phase(id), *signal)) {
            if let Action::To(target) | Action::Remand(target) | Action::Restore(target) = route.action
                && !matches!(
                    program.phase(target).work,
                    Work::Operation { .. } | Work::Ask { .. } | Work::Flow { .. }
                )
            {
                routes.insert((program.phase(id).name.clone(), program.phase(target).name.clone()));
            }
        }
    }
    routes
}

// HO-01 HO-02 HO-08
#[test]
fn every_route_hands_over_everything_that_was_said() {
    for name in ["feature", "issue", "ticket", "spec", "tsp", "quick"] {
        let checked = remand_workflow::check_shipped(name).expect("a shipped workflow");
        let program = &checked.compiled.expect("a program").program;
        let HandOvers { sent, lost } = walk(program);
        println!("{name}");
        for ((from, signal, to), marks) in &sent {
            let speakers: BTreeSet<&str> = marks.iter().filter_map(|mark| mark.split(' ').next()).collect();
            let speakers: Vec<&str> = speakers.into_iter().collect();
            println!("  {from}: {signal} -> {to} | received from {}", speakers.join(", "));
        }
        assert!(lost.is_empty(), "{name}: not received: {lost:#?}");
        let walked: BTreeSet<(String, String)> =
            sent.keys().map(|(from, _, to)| (from.clone(), to.clone())).collect();
        let missed: Vec<_> = routes_to_roles(program).difference(&walked).cloned().collect();
        assert!(missed.is_empty(), "{name}: routes that no walk took: {missed:?}");
    }
}
