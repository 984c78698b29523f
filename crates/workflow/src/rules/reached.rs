//! A401: some path leads to every phase.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::explore::Scenario;
use crate::explore::graph::Graph;
use crate::explore::machine::{Counting, Machine};
use remand_kernel::ids::PhaseId;
use remand_kernel::program::Work;
use std::collections::BTreeSet;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let mut reached: BTreeSet<PhaseId> = BTreeSet::new();
    for scenario in Scenario::all(program) {
        let machine = Machine::new(program, scenario, Counting::Free);
        let flows =
            program.phase_ids().filter(|id| matches!(program.phase(*id).work, Work::Flow { .. })).map(Some);
        for flow in flows.chain([None]) {
            if let Ok(graph) = Graph::build(&machine, flow) {
                reached.extend(graph.phases);
            }
        }
    }
    for id in program.phase_ids() {
        if !reached.contains(&id) {
            let name = &program.phase(id).name;
            let message = format!("no path leads to `{name}`");
            let remedy = if program.phase(id).aside {
                format!("route some signal `to {name}`, or remove the phase")
            } else {
                "let the previous phase lead to it, or remove it".to_string()
            };
            problems.push(Diagnostic::error(Code::Unreachable, compiled.spans.phase(id), message, remedy));
        }
    }
}
