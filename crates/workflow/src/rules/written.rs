//! A402: what a phase reads was written before, on every path.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::explore::World;
use crate::explore::machine::{Counting, Machine, Node, Target};
use remand_kernel::ids::{ArtifactId, PhaseId};
use remand_kernel::program::{Confidence, Program, Work};
use remand_kernel::signal::NO_RESULT;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

type Artifacts = BTreeSet<ArtifactId>;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let mut missing: BTreeSet<(PhaseId, ArtifactId)> = BTreeSet::new();
    for world in World::all(program) {
        let machine = Machine::new(program, world, Counting::Free);
        let subject: Artifacts = program.artifact_named(&program.subject).into_iter().collect();
        let before = flow_analysis(&machine, None, &subject);
        for (phase, known) in &before {
            note(program, *phase, known, &mut missing);
            if matches!(program.phase(*phase).work, Work::Flow { .. }) {
                for (inner, known) in flow_analysis(&machine, Some(*phase), known) {
                    note(program, inner, &known, &mut missing);
                }
            }
        }
    }
    for (phase, artifact) in missing {
        let (name, artifact) = (&program.phase(phase).name, &program.artifacts[artifact.index()]);
        let message = format!("`{name}` reads `{artifact}`, which need not have been written when it runs");
        let remedy = format!("let a phase before it write `{artifact}`, or say `may-read: [{artifact}]`");
        problems.push(Diagnostic::error(Code::Unwritten, compiled.places.phase(phase), message, remedy));
    }
}

fn note(program: &Program, phase: PhaseId, known: &Artifacts, missing: &mut BTreeSet<(PhaseId, ArtifactId)>) {
    for artifact in &program.phase(phase).reads {
        if !known.contains(artifact) {
            missing.insert((phase, *artifact));
        }
    }
}

/// What is surely written before each phase of a flow: the intersection over all paths.
fn flow_analysis(
    machine: &Machine<'_>,
    flow: Option<PhaseId>,
    given: &Artifacts,
) -> BTreeMap<PhaseId, Artifacts> {
    let program = machine.program;
    let mut known: BTreeMap<(PhaseId, Option<PhaseId>, Confidence), Artifacts> = BTreeMap::new();
    let mut open: VecDeque<Node> = VecDeque::new();
    for start in machine.starts(flow, Confidence::High) {
        known.insert((start.phase, start.caller, start.confidence), given.clone());
        open.push_back(start);
    }
    while let Some(node) = open.pop_front() {
        let Some(before) = known.get(&(node.phase, node.caller, node.confidence)).cloned() else {
            continue;
        };
        for edge in machine.edges(&node) {
            let Target::Node(next) = edge.target else {
                continue;
            };
            let mut after = before.clone();
            if edge.signal != NO_RESULT {
                after.extend(writes(program, node.phase));
            }
            let key = (next.phase, next.caller, next.confidence);
            let narrowed: Artifacts = match known.get(&key) {
                Some(earlier) => earlier.intersection(&after).copied().collect(),
                None => after,
            };
            if known.get(&key) != Some(&narrowed) {
                known.insert(key, narrowed);
                open.push_back(next);
            }
        }
    }
    let mut by_phase: BTreeMap<PhaseId, Artifacts> = BTreeMap::new();
    for ((phase, _, _), artifacts) in known {
        by_phase
            .entry(phase)
            .and_modify(|all| *all = all.intersection(&artifacts).copied().collect())
            .or_insert(artifacts);
    }
    by_phase
}

/// What a phase writes; a sub-flow writes what its unconditional phases write.
fn writes(program: &Program, id: PhaseId) -> Vec<ArtifactId> {
    let mut all = program.phase(id).writes.clone();
    for inner in program.flow(Some(id)) {
        let phase = program.phase(inner);
        if !phase.aside && phase.when.is_none() {
            all.extend(&phase.writes);
        }
    }
    all
}
