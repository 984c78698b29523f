//! T303: every cycle spends a budget that the cycle does not refill.
//!
//! The check needs no counters. In each strongly connected component, a budget that is spent but never refilled limits
//! how often the transitions that spend it can be followed. The check removes these transitions and repeats for the rest.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::explore::transitions::{FlowTransition, flow_transitions};
use remand_kernel::ids::{BudgetId, PhaseId};
use remand_kernel::program::{Program, Work};
use remand_kernel::resolve;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let mut flows: Vec<Option<PhaseId>> = vec![None];
    flows.extend(
        program.phase_ids().filter(|id| matches!(program.phase(*id).work, Work::Flow { .. })).map(Some),
    );
    for flow in flows {
        let transitions = flow_transitions(program, flow);
        let positions =
            transitions.iter().map(|transition| transition.from.max(transition.to) + 1).max().unwrap_or(0);
        if let Some(cycle) = endless_cycle(program, positions, transitions) {
            report(compiled, &cycle, problems);
        }
    }
}

/// A cycle that no budget limits.
fn endless_cycle(
    program: &Program,
    positions: usize,
    transitions: Vec<FlowTransition>,
) -> Option<Vec<FlowTransition>> {
    for component in components(positions, &transitions) {
        let is_inside = |transition: &&FlowTransition| {
            component.contains(&transition.from) && component.contains(&transition.to)
        };
        let inside: Vec<FlowTransition> = transitions.iter().filter(is_inside).cloned().collect();
        if inside.is_empty() {
            continue;
        }
        let bounding: BTreeSet<BudgetId> = inside
            .iter()
            .flat_map(|transition| transition.spends.iter().copied())
            .filter(|budget| {
                inside.iter().all(|transition| {
                    transition.spends.is_empty()
                        || !resolve::refills(
                            program,
                            *budget,
                            transition.phase,
                            transition.target,
                            &transition.spends,
                        )
                })
            })
            .collect();
        if bounding.is_empty() {
            return example_cycle(program, &inside).or(Some(inside));
        }
        let rest: Vec<FlowTransition> = inside
            .into_iter()
            .filter(|transition| !transition.spends.iter().any(|budget| bounding.contains(budget)))
            .collect();
        if let Some(cycle) = endless_cycle(program, positions, rest) {
            return Some(cycle);
        }
    }
    None
}

/// The strongly connected components.
fn components(positions: usize, transitions: &[FlowTransition]) -> Vec<BTreeSet<usize>> {
    let mut graph = petgraph::graph::DiGraph::<(), ()>::with_capacity(positions, transitions.len());
    let ids: Vec<_> = (0..positions).map(|_| graph.add_node(())).collect();
    for transition in transitions {
        graph.add_edge(ids[transition.from], ids[transition.to], ());
    }
    petgraph::algo::tarjan_scc(&graph)
        .into_iter()
        .map(|component| component.into_iter().map(petgraph::graph::NodeIndex::index).collect())
        .collect()
}

/// A cycle inside a component that refills every budget it spends: first a transition that spends, then transitions that
/// refill the budgets spent so far, until all are refilled.
fn example_cycle(program: &Program, transitions: &[FlowTransition]) -> Option<Vec<FlowTransition>> {
    let first = transitions.iter().find(|transition| !transition.spends.is_empty()).or(transitions.first())?;
    let mut cycle = vec![first.clone()];
    loop {
        let spent = cycle
            .iter()
            .flat_map(|transition| &transition.spends)
            .find(|budget| !cycle.iter().any(|transition| refills(program, transition, **budget)));
        let Some(spent) = spent.copied() else {
            break;
        };
        let refilling = transitions.iter().find(|transition| refills(program, transition, spent))?;
        cycle.extend(shortest_path(transitions, cycle.last()?.to, refilling.from)?);
        cycle.push(refilling.clone());
    }
    cycle.extend(shortest_path(transitions, cycle.last()?.to, first.from)?);
    Some(cycle)
}

fn refills(program: &Program, transition: &FlowTransition, budget: BudgetId) -> bool {
    !transition.spends.is_empty()
        && resolve::refills(program, budget, transition.phase, transition.target, &transition.spends)
}

/// The shortest path between two positions.
fn shortest_path(transitions: &[FlowTransition], from: usize, to: usize) -> Option<Vec<FlowTransition>> {
    let mut reached_by: BTreeMap<usize, &FlowTransition> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(position) = queue.pop_front() {
        if position == to {
            let mut path = Vec::new();
            let mut here = to;
            while here != from {
                let before = reached_by.get(&here)?;
                path.push((*before).clone());
                here = before.from;
            }
            path.reverse();
            return Some(path);
        }
        for transition in transitions.iter().filter(|transition| transition.from == position) {
            if transition.to != from
                && let std::collections::btree_map::Entry::Vacant(entry) = reached_by.entry(transition.to)
            {
                entry.insert(transition);
                queue.push_back(transition.to);
            }
        }
    }
    None
}

fn report(compiled: &Compiled, cycle: &[FlowTransition], problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let Some(last) = cycle.iter().find(|transition| !transition.spends.is_empty()).or(cycle.last()) else {
        return;
    };
    let mut path: Vec<String> = cycle
        .iter()
        .map(|transition| {
            let spends: Vec<&str> =
                transition.spends.iter().map(|id| program.budget(*id).name.as_str()).collect();
            let spending =
                if spends.is_empty() { String::new() } else { format!(", spending {}", spends.join(", ")) };
            format!(
                "{}: {}{spending}",
                program.phase(transition.phase).name,
                program.signal(transition.signal)
            )
        })
        .collect();
    path.push(format!("{} again", program.phase(cycle[0].phase).name));
    let message = "this cycle can repeat without limit, because it refills every budget it spends";
    let remedy = "let one of its remands spend a budget `per run`";
    let span = compiled.spans.route(last.phase, last.signal);
    problems.push(Diagnostic::error(Code::Endless, span, message, remedy).with_path(path));
}
