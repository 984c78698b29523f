//! Effects that end every command immediately with a plausible result, so that only the engine is measured.

use remand_engine::clock;
use remand_engine::host::{CommandReply, Effects, RunAt};
use remand_engine::turn::{CommandEnding, CommandStart};
use remand_kernel::change::{Change, Digest, FileChange, Hunk};
use remand_kernel::command::{Command, Dispatch};
use remand_kernel::event::{Item, Outcome, Report, Usage};
use remand_kernel::evidence::{EvidenceRow, RowPhase, RowSource, TaskSize, Tier};
use remand_kernel::ids::{ArtifactId, CommandId, ListId, OperationId, PhaseId, SignalId};
use remand_kernel::{EngineOperation, Program};
use remand_ledger::fact::{Artifact, Check, Telemetry};
use remand_ledger::{Blob, Facts, RunId};

/// The checks that every verification reports.
const CHECKS: [(&str, Tier); 3] =
    [("cargo-check", Tier::One), ("cargo-build", Tier::Two), ("cargo-test", Tier::Two)];

/// Ends commands with plausible results.
#[derive(Debug)]
pub struct Answers {
    /// The number of tasks in a plan.
    tasks: u16,
    /// The phase that always rejects.
    objecting: Option<&'static str>,
    /// Counts written contents, so that no two are equal.
    written: u64,
}

impl Answers {
    /// Every command succeeds. Two instances on the same ledger must count from different numbers.
    pub fn succeeding(tasks: u16, from: u64) -> Answers {
        Answers { tasks, objecting: None, written: from }
    }

    /// Every command succeeds except in one phase, which never accepts.
    pub fn objecting(tasks: u16, phase: &'static str) -> Answers {
        Answers { tasks, objecting: Some(phase), written: 0 }
    }

    /// The ending of a command; `None` for commands that no event ends.
    pub fn ending(&mut self, program: &Program, command: &Command) -> Option<CommandEnding> {
        match command {
            Command::Dispatch(dispatch) => Some(self.end_dispatch(program, dispatch)),
            Command::Operate { id, operation, task, .. } => {
                Some(self.end_operation(program, *id, *operation, task.as_deref()))
            }
            Command::Ask(_)
            | Command::Cancel { .. }
            | Command::Discard { .. }
            | Command::Restore { .. }
            | Command::Finish { .. } => None,
        }
    }

    fn end_dispatch(&mut self, program: &Program, dispatch: &Dispatch) -> CommandEnding {
        let contract = program.contract(dispatch.contract);
        let says = self.verdict(program, dispatch.id.phase, &contract.says);
        let mut report = Report {
            lists: self.lists(program, &contract.lists),
            model: Some(format!("model-{}", dispatch.id.seat)),
            ..Report::saying(says)
        };
        let (artifacts, blobs) = self.write(program, dispatch.id, &contract.title(), &mut report);
        if !contract.changes.is_empty() {
            report.change = Some(self.change(dispatch.task.as_deref()));
        }
        let now = clock::now();
        let telemetry = Telemetry {
            started_at: now,
            ended_at: now,
            driver: "bench".to_string(),
            model: report.model.clone(),
            status: "DONE".to_string(),
            summary: "Everything that was asked for is done.".to_string(),
            exit_code: Some(0),
            ..Telemetry::default()
        };
        let facts = Facts { telemetry: Some(telemetry), artifacts, ..Facts::default() };
        let usage = Usage { money: Some(12_000), tokens: Some(4_321), time: 65_000, ..Usage::default() };
        CommandEnding { outcome: Outcome::Said(Box::new(report)), usage, facts, blobs }
    }

    fn end_operation(
        &mut self,
        program: &Program,
        id: CommandId,
        operation: OperationId,
        task: Option<&str>,
    ) -> CommandEnding {
        let operation = program.operation(operation);
        let says = self.verdict(program, id.phase, &operation.results);
        let mut report = Report { lists: self.lists(program, &operation.lists), ..Report::saying(says) };
        let (artifacts, blobs) = self.write(program, id, operation.name.name(), &mut report);
        let checks = match operation.name {
            EngineOperation::Baseline => passed_checks(None, RowPhase::Baseline, 0),
            EngineOperation::QuickChecks | EngineOperation::Checks | EngineOperation::Integrate => {
                passed_checks(task, RowPhase::After, u32::from(id.visit))
            }
            _ => Vec::new(),
        };
        if matches!(operation.name, EngineOperation::Checks | EngineOperation::Integrate) {
            let before = passed_checks(None, RowPhase::Baseline, 0);
            report.rows = before.iter().chain(&checks).map(evidence_row).collect();
            report.size = Some(TaskSize::Standard);
        }
        let facts = Facts { checks, artifacts, ..Facts::default() };
        let usage = Usage { money: Some(0), tokens: Some(0), time: 1_500, ..Usage::default() };
        CommandEnding { outcome: Outcome::Said(Box::new(report)), usage, facts, blobs }
    }

    /// The success verdict, or the next one for the phase that rejects.
    fn verdict<'p>(&self, program: &'p Program, phase: PhaseId, verdicts: &[SignalId]) -> &'p str {
        let index = usize::from(self.objecting == Some(program.phase(phase).name.as_str()));
        verdicts.get(index).or(verdicts.first()).map_or("", |signal| program.signal(*signal))
    }

    fn lists(&self, program: &Program, lists: &[ListId]) -> Vec<(String, Vec<Item>)> {
        let items = || (1..=self.tasks).map(item).collect();
        lists.iter().map(|list| (program.lists[list.index()].clone(), items())).collect()
    }

    /// Writes new content for every artifact of the phase.
    fn write(
        &mut self,
        program: &Program,
        id: CommandId,
        by: &str,
        report: &mut Report,
    ) -> (Vec<Artifact>, Vec<Blob>) {
        let writes: &[ArtifactId] = &program.phase(id.phase).writes;
        let (mut artifacts, mut blobs) = (Vec::new(), Vec::new());
        for artifact in writes {
            self.written += 1;
            let name = program.artifacts[artifact.index()].clone();
            let text =
                format!("{name}, version {} by {by}\n{}", self.written, "A line of its content.\n".repeat(8));
            let blob = Blob::of(text.into_bytes());
            let digest = blob.id.digest();
            report.wrote.push((name.clone(), digest));
            let (part, format) = (format!("{id}"), "md".to_string());
            artifacts.push(Artifact { name, part, digest, blob: blob.id, by: by.to_string(), format });
            blobs.push(blob);
        }
        (artifacts, blobs)
    }

    fn change(&mut self, task: Option<&str>) -> Change {
        self.written += 1;
        let number = self.written;
        let line = |n: u64| format!("    let value_{number}_{n} = compute({number} + {n});");
        let hunk = Hunk { removed: vec![line(0)], added: vec![line(1), line(2), line(3)] };
        let path = format!("src/{}.rs", task.unwrap_or("lib"));
        Change {
            tree: Digest(number),
            files: vec![FileChange { path, hunks: vec![hunk], generated: false }],
            hypothesis: None,
            restored: false,
        }
    }
}

impl Effects for Answers {
    fn start(&mut self, at: &RunAt<'_>, start: CommandStart, reply: CommandReply) {
        if let Some(ending) = self.ending(at.program, &start.command) {
            reply.send(ending);
        }
    }

    fn stop(&mut self, _: &RunId, _: CommandId) {}

    fn kill_leftovers(&mut self, _: &RunId) {}

    fn restore(&mut self, _: &RunAt<'_>, _: CommandId) {}

    fn finish(&mut self, _: &RunAt<'_>) {}
}

/// A task without dependencies.
fn item(number: u16) -> Item {
    let id = format!("task-{number:03}");
    Item { files: vec![format!("src/{id}.rs")], spec: Digest(u64::from(number)), id, ..Item::default() }
}

/// Check results, all of them passed.
fn passed_checks(task: Option<&str>, phase: RowPhase, iteration: u32) -> Vec<Check> {
    let check = |(name, tier): (&str, Tier)| Check {
        task: task.map(ToString::to_string),
        phase,
        name: name.to_string(),
        tool: "cargo".to_string(),
        command: Some("cargo test --workspace".to_string()),
        exit_code: Some(0),
        snippet: "test result: ok. 412 passed; 0 failed; finished in 3.18s".to_string(),
        output: None,
        passed: true,
        verdict: None,
        severity: None,
        round: 1,
        tier: Some(tier),
        iteration,
        collected: Some(412),
        duration_ms: 3_180,
        reason: String::new(),
        tests: None,
        reuse: None,
    };
    CHECKS.into_iter().map(check).collect()
}

/// A check result as the evidence gate reads it.
fn evidence_row(check: &Check) -> EvidenceRow {
    EvidenceRow {
        check: check.name.clone(),
        phase: check.phase,
        tier: check.tier,
        passed: check.passed,
        exit_code: check.exit_code,
        iteration: check.iteration,
        superseded: false,
        collected: check.collected,
        duration_ms: check.duration_ms,
        reason: String::new(),
        source: RowSource::Engine,
        red_before: 0,
    }
}
