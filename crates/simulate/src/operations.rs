//! Operations of the engine in a simulation: checks find defects, the gap board changes, the rest is chance.

use crate::agents::{items, said, scaled_odds};
use crate::defects::{DefectState, desk_key};
use crate::draws::Drawn;
use crate::model::{Production, whole};
use crate::run::{FindingTruth, SimulatedRun};
use remand_kernel::EngineOperation;
use remand_kernel::command::Command;
use remand_kernel::event::{Outcome, Report};
use remand_kernel::ids::{ArtifactId, CommandId};
use remand_kernel::program::{Contract, Operation};
use remand_kernel::step::tasks_to_give_up;

/// The deviation of the logarithm of the time of an operation.
const TIME_SPREAD: f64 = 0.5;

impl SimulatedRun<'_, '_> {
    pub(crate) fn operation_time(&self, id: CommandId) -> u64 {
        let phase = self.model.phase(id.phase);
        let key = [phase.key, u64::from(id.visit), u64::from(id.seat)];
        let time = self.draws.log_normal(phase.operation_time, TIME_SPREAD, Drawn::OperationTime, &key);
        whole(time).unwrap_or_default()
    }

    /// How an operation ends.
    pub(crate) fn operate(&mut self, id: CommandId, command: &Command) -> Outcome {
        let Command::Operate { operation, task, .. } = command else {
            return said(Report::default());
        };
        let program = self.model.program;
        let operation = program.operation(*operation);
        // Operations after a failure are not phases: their results do not matter.
        if id.visit == 0 {
            return said(Report::default());
        }
        let mut report = if operation.judges {
            self.check(id, task.as_deref(), operation)
        } else {
            let result = self.result_of(id, task.as_deref(), operation);
            Report::saying(&result)
        };
        let succeeded = operation.results.first().is_some_and(|first| program.signal(*first) == report.says);
        self.is_committed |=
            succeeded && matches!(operation.name, EngineOperation::Commit | EngineOperation::WriteSpec);
        if operation.gives_up {
            self.give_up();
        }
        let phase = program.phase(id.phase);
        for artifact in &phase.writes {
            let digest = self.fresh_digest();
            report.wrote.push((program.artifacts[artifact.index()].clone(), digest));
        }
        for list in &operation.lists {
            let name = &program.lists[list.index()];
            let count = match operation.name {
                EngineOperation::AssignGaps => self.board.batches(),
                EngineOperation::OpenBoard => 0,
                _ => 2,
            };
            report.lists.push((name.clone(), items(name, count)));
        }
        let sets = phase.sets.iter().map(|flag| program.flags[flag.index()].clone());
        report.flags = sets.map(|flag| (flag, self.board.is_acceptable())).collect();
        said(report)
    }

    fn result_of(&mut self, id: CommandId, task: Option<&str>, operation: &Operation) -> String {
        let program = self.model.program;
        let name = |at: usize| operation.results.get(at).map_or("", |signal| program.signal(*signal));
        if let Some(result) = self.board.operate(operation.name, self.model.gaps, self.draws) {
            return result.to_string();
        }
        let phase = self.model.phase(id.phase);
        let key = [phase.key, desk_key(self.desk(task)), u64::from(id.visit)];
        let other = self.draws.choose(phase.others.iter().copied(), Drawn::OperationResult, &key);
        name(other.map_or(0, |at| at + 1)).to_string()
    }

    /// Runs the checks: they catch some defects, always the same ones, except by luck.
    fn check(&mut self, id: CommandId, task: Option<&str>, operation: &Operation) -> Report {
        let desk = self.desk(task);
        let phase = self.model.phase(id.phase);
        let (visit, draws) = (u64::from(id.visit), self.draws);
        let scale = self.findings_scale(id);
        let new_tests = if self.has_new_tests { phase.checks_new_tests } else { 0.0 };
        let mut found: Vec<(usize, FindingTruth)> = Vec::new();
        for (at, defect) in self.defects.all.iter().enumerate() {
            let is_here = desk.is_none() || defect.desk.is_none() || defect.desk == desk;
            if defect.state == DefectState::Gone || defect.severity == 0 || !is_here {
                continue;
            }
            let catch = if defect.production >= Production::Code {
                phase.checks_catch
            } else {
                phase.checks_upstream
            };
            let catch = scaled_odds(catch, scale);
            let is_caught = draws.happens(catch, Drawn::CaughtByChecks, &[defect.key])
                || draws.happens(new_tests, Drawn::CaughtByNewTests, &[defect.key]);
            let is_lucky = draws.happens(phase.checks_lucky, Drawn::Luck, &[defect.key, phase.key, visit]);
            if is_caught && !is_lucky {
                found.push((defect.severity, FindingTruth::Defect(at)));
            }
        }
        let key = [phase.key, desk_key(desk), visit];
        if draws.happens(phase.checks_flaky * scale, Drawn::Flaky, &key) {
            found.push((1, FindingTruth::FalseAlarm));
        }
        let result = operation.results.get(usize::from(!found.is_empty())).copied();
        let says = result.map_or("", |signal| self.model.program.signal(signal));
        let mut report = Report::saying(says);
        let nobody = unnamed_contract();
        for (severity, truth) in found {
            let mut finding = self.finding(id.phase, &nobody, (severity, truth), id.phase);
            // A check knows what fails, and not where the defect comes from.
            finding.injected_by.clear();
            report.findings.push(finding);
        }
        report
    }

    /// Removes the work of the tasks that are given up.
    fn give_up(&mut self) {
        for task in tasks_to_give_up(self.model.program, &self.state) {
            let desk = self.desk(Some(&task));
            self.given_up += 1;
            for defect in self.defects.all.iter_mut().filter(|defect| defect.desk == desk) {
                defect.state = DefectState::Gone;
            }
        }
    }

    /// Removes the work in discarded artifacts.
    pub(crate) fn discard(&mut self, artifacts: &[ArtifactId]) {
        for phase in self.model.program.phase_ids() {
            let writes = &self.model.program.phase(phase).writes;
            if artifacts.iter().any(|artifact| writes.contains(artifact)) {
                self.produced.retain(|(produced, _)| *produced != phase);
                for defect in self.defects.all.iter_mut().filter(|defect| defect.origin == phase) {
                    defect.state = DefectState::Gone;
                }
            }
        }
    }
}

/// The contract of a reporter that is not an agent.
fn unnamed_contract() -> Contract {
    Contract {
        role: String::new(),
        mode: String::new(),
        says: Vec::new(),
        mild: None,
        findings: true,
        by_kind: false,
        changes: Vec::new(),
        states_approach: false,
        guarded: false,
        lists: Vec::new(),
    }
}
