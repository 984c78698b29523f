//! T303: every cycle spends a budget that the cycle does not fill again.
//!
//! Looked for without counters: in each knot of ways, a budget that is spent there and never filled again bounds how
//! often the ways that spend it are taken; without them the rest must come apart in the same manner.

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
        let places = ways.iter().map(|way| way.from.max(way.to) + 1).max().unwrap_or(0);
        if let Some(cycle) = endless(program, places, ways) {
            report(compiled, &cycle, problems);
        }
    }
}

/// A cycle that no budget bounds.
fn endless(program: &Program, places: usize, ways: Vec<Way>) -> Option<Vec<Way>> {
    for knot in knots(places, &ways) {
        let inside: Vec<Way> =
            ways.iter().filter(|way| knot.contains(&way.from) && knot.contains(&way.to)).cloned().collect();
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
            return witness(program, &inside).or(Some(inside));
        }
        let rest: Vec<Way> = inside
            .into_iter()
            .filter(|way| !way.spends.iter().any(|budget| bounding.contains(budget)))
            .collect();
        if let Some(cycle) = endless(program, places, rest) {
            return Some(cycle);
        }
    }
    None
}

/// The sets of places that can all reach each other.
fn knots(places: usize, ways: &[Way]) -> Vec<BTreeSet<usize>> {
    let mut graph = petgraph::graph::DiGraph::<(), ()>::with_capacity(places, ways.len());
    let ids: Vec<_> = (0..places).map(|_| graph.add_node(())).collect();
    for way in ways {
        graph.add_edge(ids[way.from], ids[way.to], ());
    }
    petgraph::algo::tarjan_scc(&graph)
        .into_iter()
        .map(|knot| knot.into_iter().map(petgraph::graph::NodeIndex::index).collect())
        .collect()
}

/// A closed walk inside a knot on which everything that is spent is filled again: the way that spends, then the ways
/// that fill again what was spent so far, until nothing is owed.
fn witness(program: &Program, ways: &[Way]) -> Option<Vec<Way>> {
    let first = ways.iter().find(|way| !way.spends.is_empty()).or(ways.first())?;
    let mut walk = vec![first.clone()];
    loop {
        let owed = walk
            .iter()
            .flat_map(|way| &way.spends)
            .find(|budget| !walk.iter().any(|way| fills(program, way, **budget)));
        let Some(owed) = owed.copied() else {
            break;
        };
        let filling = ways.iter().find(|way| fills(program, way, owed))?;
        walk.extend(path(ways, walk.last()?.to, filling.from)?);
        walk.push(filling.clone());
    }
    walk.extend(path(ways, walk.last()?.to, first.from)?);
    Some(walk)
}

fn fills(program: &Program, way: &Way, budget: BudgetId) -> bool {
    !way.spends.is_empty() && resolve::refills(program, budget, way.phase, way.target, &way.spends)
}

/// The shortest path between two places.
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
    let message = "this cycle can go on for ever: what it spends is filled again on the way";
    let remedy = "let one of its ways back spend a budget `per run`";
    let span = compiled.places.route(last.phase, last.signal);
    problems.push(Diagnostic::error(Code::Endless, span, message, remedy).along(path));
}
