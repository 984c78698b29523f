//! A404: a phase declares what its role or operation may change, and what its operation needs.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::operations::spec;
use remand_kernel::ids::{ArtifactId, PhaseId};
use remand_kernel::program::Work;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for id in program.phase_ids() {
        let phase = program.phase(id);
        let mut changes: Vec<ArtifactId> = phase
            .contracts()
            .iter()
            .flat_map(|contract| program.contract(*contract).changes.iter().copied())
            .collect();
        if let Work::Operation { operation } = &phase.work {
            changes.extend(&program.operation(*operation).changes);
        }
        for artifact in changes {
            if !phase.writes.contains(&artifact) {
                let name = &program.artifacts[artifact.index()];
                let message = format!("`{}` may change `{name}` but does not declare it", phase.name);
                problems.push(error(compiled, id, message, format!("add `writes: {name}`")));
            }
        }
        check_needs(compiled, id, problems);
        check_permitted(compiled, id, problems);
    }
}

/// If some role has permission to change an artifact, a role without that permission cannot write it.
fn check_permitted(compiled: &Compiled, id: PhaseId, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let phase = program.phase(id);
    let protected: Vec<ArtifactId> =
        program.contracts.iter().flat_map(|contract| contract.changes.iter().copied()).collect();
    for contract in phase.contracts().iter().map(|contract| program.contract(*contract)) {
        let is_not_permitted =
            |artifact: &&ArtifactId| protected.contains(artifact) && !contract.changes.contains(artifact);
        for artifact in phase.writes.iter().filter(is_not_permitted) {
            let name = &program.artifacts[artifact.index()];
            let message =
                format!("`{}` cannot write `{name}`: `{}` may not change it", phase.name, contract.title());
            problems.push(error(
                compiled,
                id,
                message,
                format!("remove `{name}` from its `writes`, or use another role"),
            ));
        }
    }
}

fn check_needs(compiled: &Compiled, id: PhaseId, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let phase = program.phase(id);
    let Work::Operation { operation } = &phase.work else {
        return;
    };
    let needs = spec(program.operation(*operation).name).map_or(&[][..], |spec| spec.needs);
    for need in needs {
        let is_declared = phase.reads.iter().any(|artifact| program.artifacts[artifact.index()] == *need);
        if !is_declared {
            let message = format!("`{}` reads `{need}` but does not declare it", phase.name);
            problems.push(error(compiled, id, message, format!("add `{need}` to its `reads`")));
        }
    }
}

fn error(compiled: &Compiled, id: PhaseId, message: String, remedy: String) -> Diagnostic {
    Diagnostic::error(Code::HiddenChange, compiled.spans.phase(id), message, remedy)
}
