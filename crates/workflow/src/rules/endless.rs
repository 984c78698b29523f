//! T303: every cycle spends a budget that the cycle does not refill.
//!
//! Works without counters: in each strongly connected component, a budget that is spent but never refilled there bounds
//! how often the edges that spend it are followed. Without these edges, the rest must break up in the same way.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use crate::explore::ways::{Way, ways};
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
        let ways = ways(program, flow);
        let positions = ways.iter().map(|way| way.from.max(way.to) + 1).max().unwrap_or(0);
        if let Some(cycle) = endless_cycle(program, positions, ways) {
            report(compiled, &cycle, problems);
        }
    }
}

/// A cycle that no budget bounds.
fn endless_cycle(program: &Program, positions: usize, ways: Vec<Way>) -> Option<Vec<Way>> {
    for component in components(positions, &ways) {
        let is_inside = |way: &&Way| component.contains(&way.from) && component.contains(&way.to);
        let inside: Vec<Way> = ways.iter().filter(is_inside).cloned().collect();
        if inside.is_empty() {
            continue;
        }
        let bounding: BTreeSet<BudgetId> = inside
            .iter()
            .flat_map(|way| way.spends.iter().copied())
            .filter(|budget| {
                inside.iter().all(|way| {
                    way.spends.is_empty()
                        || !resolve::refills(program, *budget, way.phase, way.target, &way.spends)
                })
            })
            .collect();
        if bounding.is_empty() {
            return example_cycle(program, &inside).or(Some(inside));
        }
        let rest: Vec<Way> = inside
            .into_iter()
            .filter(|way| !way.spends.iter().any(|budget| bounding.contains(budget)))
            .collect();
        if let Some(cycle) = endless_cycle(program, positions, rest) {
            return Some(cycle);
        }
    }
    None
}

/// The strongly connected components.
fn components(positions: usize, ways: &[Way]) -> Vec<BTreeSet<usize>> {
    let mut graph = petgraph::graph::DiGraph::<(), ()>::with_capacity(positions, ways.len());
    let ids: Vec<_> = (0..positions).map(|_| graph.add_node(())).collect();
    for way in ways {
        graph.add_edge(ids[way.from], ids[way.to], ());
    }
    petgraph::algo::tarjan_scc(&graph)
        .into_iter()
        .map(|component| component.into_iter().map(petgraph::graph::NodeIndex::index).collect())
        .collect()
}

/// A closed walk inside a component that refills everything it spends: first a way that spends, then ways that refill
/// what was spent so far, until everything is refilled.
fn example_cycle(program: &Program, ways: &[Way]) -> Option<Vec<Way>> {
    let first = ways.iter().find(|way| !way.spends.is_empty()).or(ways.first())?;
    let mut walk = vec![first.clone()];
    loop {
        let spent = walk
            .iter()
            .flat_map(|way| &way.spends)
            .find(|budget| !walk.iter().any(|way| refills(program, way, **budget)));
        let Some(spent) = spent.copied() else {
            break;
        };
        let refilling = ways.iter().find(|way| refills(program, way, spent))?;
        walk.extend(path(ways, walk.last()?.to, refilling.from)?);
        walk.push(refilling.clone());
    }
    walk.extend(path(ways, walk.last()?.to, first.from)?);
    Some(walk)
}

fn refills(program: &Program, way: &Way, budget: BudgetId) -> bool {
    !way.spends.is_empty() && resolve::refills(program, budget, way.phase, way.target, &way.spends)
}

/// The shortest path between two positions.
fn path(ways: &[Way], from: usize, to: usize) -> Option<Vec<Way>> {
    let mut came: BTreeMap<usize, &Way> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if at == to {
            let mut path = Vec::new();
            let mut here = to;
            while here != from {
                let before = came.get(&here)?;
                path.push((*before).clone());
                here = before.from;
            }
            path.reverse();
            return Some(path);
        }
        for way in ways.iter().filter(|way| way.from == at) {
            if way.to != from
                && let std::collections::btree_map::Entry::Vacant(entry) = came.entry(way.to)
            {
                entry.insert(way);
                queue.push_back(way.to);
            }
        }
    }
    None
}

fn report(compiled: &Compiled, cycle: &[Way], problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let Some(last) = cycle.iter().find(|way| !way.spends.is_empty()).or(cycle.last()) else {
        return;
    };
    let mut path: Vec<String> = cycle
        .iter()
        .map(|way| {
            let spends: Vec<&str> = way.spends.iter().map(|id| program.budget(*id).name.as_str()).collect();
            let paid =
                if spends.is_empty() { String::new() } else { format!(", spending {}", spends.join(", ")) };
            format!("{}: {}{paid}", program.phase(way.phase).name, program.signal(way.signal))
        })
        .collect();
    path.push(format!("{} again", program.phase(cycle[0].phase).name));
    let message = "this cycle can repeat without limit, because it refills every budget it spends";
    let remedy = "let one of its remands spend a budget `per run`";
    let span = compiled.spans.route(last.phase, last.signal);
    problems.push(Diagnostic::error(Code::Endless, span, message, remedy).along(path));
}
