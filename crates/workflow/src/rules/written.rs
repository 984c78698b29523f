//! A402: on every path, everything that a phase reads has been written before.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::explore::Scenario;
use crate::explore::machine::{Counting, Machine, MachineNode, StepTarget};
use remand_kernel::ids::{ArtifactId, PhaseId};
use remand_kernel::program::{Confidence, Program, Work};
use remand_kernel::signal::NO_RESULT;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

type Artifacts = BTreeSet<ArtifactId>;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let mut missing: BTreeSet<(PhaseId, ArtifactId)> = BTreeSet::new();
    for scenario in Scenario::all(program) {
        let machine = Machine::new(program, scenario, Counting::Free);
        let subject: Artifacts = program.artifact_named(&program.subject).into_iter().collect();
        let before = written_before(&machine, None, &subject);
        for (phase, written) in &before {
            collect_missing(program, *phase, written, &mut missing);
            if matches!(program.phase(*phase).work, Work::Flow { .. }) {
                for (inner, written) in written_before(&machine, Some(*phase), written) {
                    collect_missing(program, inner, &written, &mut missing);
                }
            }
        }
    }
    for (phase, artifact) in missing {
        let (name, artifact) = (&program.phase(phase).name, &program.artifacts[artifact.index()]);
        let message = format!("`{name}` reads `{artifact}`, which may not have been written yet");
        let remedy = format!("let an earlier phase write `{artifact}`, or use `may-read: [{artifact}]`");
        problems.push(Diagnostic::error(Code::Unwritten, compiled.spans.phase(phase), message, remedy));
    }
}

fn collect_missing(
    program: &Program,
    phase: PhaseId,
    written: &Artifacts,
    missing: &mut BTreeSet<(PhaseId, ArtifactId)>,
) {
    for artifact in &program.phase(phase).reads {
        if !written.contains(artifact) {
            missing.insert((phase, *artifact));
        }
    }
}

/// The artifacts that are written on every path before each phase of a flow.
fn written_before(
    machine: &Machine<'_>,
    flow: Option<PhaseId>,
    initial: &Artifacts,
) -> BTreeMap<PhaseId, Artifacts> {
    let program = machine.program;
    let mut written: BTreeMap<(PhaseId, Option<PhaseId>, Confidence), Artifacts> = BTreeMap::new();
    let mut open: VecDeque<MachineNode> = VecDeque::new();
    for start in machine.starts(flow, Confidence::High) {
        written.insert((start.phase, start.caller, start.confidence), initial.clone());
        open.push_back(start);
    }
    while let Some(node) = open.pop_front() {
        let Some(before) = written.get(&(node.phase, node.caller, node.confidence)).cloned() else {
            continue;
        };
        for edge in machine.edges(&node) {
            let StepTarget::Node(next) = edge.target else {
                continue;
            };
            let mut after = before.clone();
            if edge.signal != NO_RESULT {
                after.extend(written_by(program, node.phase));
            }
            let key = (next.phase, next.caller, next.confidence);
            let narrowed: Artifacts = match written.get(&key) {
                Some(earlier) => earlier.intersection(&after).copied().collect(),
                None => after,
            };
            if written.get(&key) != Some(&narrowed) {
                written.insert(key, narrowed);
                open.push_back(next);
            }
        }
    }
    let mut by_phase: BTreeMap<PhaseId, Artifacts> = BTreeMap::new();
    for ((phase, _, _), artifacts) in written {
        by_phase
            .entry(phase)
            .and_modify(|all| *all = all.intersection(&artifacts).copied().collect())
            .or_insert(artifacts);
    }
    by_phase
}

/// The artifacts that a phase writes; for a sub-flow, those that its unconditional phases write.
fn written_by(program: &Program, id: PhaseId) -> Vec<ArtifactId> {
    let mut all = program.phase(id).writes.clone();
    for inner in program.flow(Some(id)) {
        let phase = program.phase(inner);
        if !phase.aside && phase.when.is_none() {
            all.extend(&phase.writes);
        }
    }
    all
}
