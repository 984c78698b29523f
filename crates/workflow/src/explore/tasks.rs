//! Sub-flows: explores one task, and derives the possible results of a batch.
//!
//! The result is exact, because all tasks are alike and a sub-flow spends no shared budget (rule T307).

use super::graph::{Graph, GraphTarget, TooManyNodes};
use super::machine::{Counting, Machine};
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Program, TallyRow, Work};
use remand_kernel::step::tally_of;
use std::collections::BTreeMap;

/// Numbers of dispatches of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskCosts {
    /// The maximum for each signal that the task can exit with.
    pub exits: BTreeMap<SignalId, u64>,
    /// The maximum for a task that ends the run; `None` if no task can end it.
    pub fail: Option<u64>,
    /// The number on the happy path.
    pub happy: u64,
}

/// Explores one task of a sub-flow.
pub fn task_costs(machine: &Machine<'_>, flow: PhaseId, retries: bool) -> Result<TaskCosts, TooManyNodes> {
    let graph = Graph::build(machine, Some(flow))?;
    let weight = |phase: PhaseId| {
        let (plain, with_retries) = machine.dispatches(phase);
        if retries { with_retries } else { plain }
    };
    let order = graph.order().ok_or(TooManyNodes)?;
    let mut reached: Vec<Option<u64>> = vec![None; graph.len()];
    for start in &graph.starts {
        reached[*start as usize] = Some(0);
    }
    let mut costs = TaskCosts { happy: happy(machine, flow, retries), ..TaskCosts::default() };
    for node in order {
        let Some(before) = reached[node as usize] else {
            continue;
        };
        let after = before + weight(graph.phases[node as usize]);
        for edge in graph.edges_of(node) {
            match edge.to {
                GraphTarget::Node(to) => {
                    let longest = &mut reached[to as usize];
                    *longest = Some(longest.unwrap_or(0).max(after));
                }
                GraphTarget::Exit(signal) => {
                    let longest = costs.exits.entry(signal).or_insert(0);
                    *longest = (*longest).max(after);
                }
                GraphTarget::Fail | GraphTarget::Done | GraphTarget::Stop => {
                    costs.fail = Some(costs.fail.unwrap_or(0).max(after))
                }
                GraphTarget::Hold => {}
            }
        }
    }
    Ok(costs)
}

/// The number of dispatches of a task on the happy path.
fn happy(machine: &Machine<'_>, flow: PhaseId, retries: bool) -> u64 {
    debug_assert!(machine.counting == Counting::Exact);
    machine
        .program
        .flow(Some(flow))
        .filter(|id| !machine.program.phase(*id).aside && machine.program.phase(*id).when.is_none())
        .map(|id| {
            let (plain, with_retries) = machine.dispatches(id);
            if retries { with_retries } else { plain }
        })
        .sum()
}

/// The maximum number of dispatches of a batch, by the row of its tally.
pub fn batch_costs(
    program: &Program,
    flow: PhaseId,
    costs: &TaskCosts,
    tasks: u16,
) -> BTreeMap<SignalId, u64> {
    let Work::Flow { tally, .. } = &program.phase(flow).work else {
        return BTreeMap::new();
    };
    let exits: Vec<(SignalId, u64)> = costs.exits.iter().map(|(signal, cost)| (*signal, *cost)).collect();
    let mut rows: BTreeMap<SignalId, u64> = BTreeMap::new();
    // The list may be empty.
    rows.insert(tally_of(tally, &[]), 0);
    for set in subsets(exits.len()) {
        let chosen: Vec<(SignalId, u64)> = exits
            .iter()
            .enumerate()
            .filter(|(index, _)| set & (1 << index) != 0)
            .map(|(_, exit)| *exit)
            .collect();
        if chosen.is_empty() || chosen.len() > usize::from(tasks) {
            continue;
        }
        let highest = chosen.iter().map(|(_, cost)| *cost).max().unwrap_or(0);
        let one_each: u64 = chosen.iter().map(|(_, cost)| cost).sum();
        let cost = one_each + (u64::from(tasks) - chosen.len() as u64) * highest;
        let row = row_of(tally, &chosen.iter().map(|(signal, _)| *signal).collect::<Vec<_>>());
        let highest = rows.entry(row).or_insert(0);
        *highest = (*highest).max(cost);
    }
    rows
}

/// The row of a batch in which exactly these exits occur.
pub fn row_of(tally: &[TallyRow], exits: &[SignalId]) -> SignalId {
    // With one exit of each kind, `all` holds only if there is a single kind.
    tally_of(tally, exits)
}

/// All non-empty subsets of `count` elements, as bit sets. Elements after the sixteenth are ignored.
pub fn subsets(count: usize) -> impl Iterator<Item = u32> {
    let count = u32::try_from(count.min(16)).unwrap_or(16);
    1..(1_u32 << count)
}
