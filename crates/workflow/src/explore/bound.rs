//! Counts the dispatches of a run: on the happy path, and in the worst case.

use super::graph::{Graph, GraphTarget, TooManyNodes};
use super::machine::{Counting, Machine, MachineNode, Scenario};
use super::tasks::{TaskCosts, batch_costs, task_costs};
use remand_kernel::event::Mode;
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Action, Confidence, Items, Program, Work};
use remand_kernel::resolve;
use serde::Serialize;
use std::collections::BTreeMap;

/// The number of dispatches of a workflow for given lengths of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bound {
    pub happy: u64,
    pub autonomous: Worst,
    pub interactive: Worst,
}

/// The exact worst case in one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Worst {
    /// The number of dispatches without retries.
    pub dispatches: u64,
    /// The number if every dispatch needs all its retries. Retries after environment failures are not limited.
    pub with_retries: u64,
    /// The number of explored states.
    pub states: u64,
}

impl Bound {
    /// The higher bound of the two modes, without retries.
    pub fn max_dispatches(&self) -> u64 {
        self.autonomous.dispatches.max(self.interactive.dispatches)
    }
}

/// The number of dispatches of a workflow, given the lengths of its lists.
pub fn bound(program: &Program, counts: &[(&str, u16)]) -> Result<Bound, TooManyNodes> {
    BoundCalculator::new(program).calculate(counts)
}

/// Calculates bounds for different list lengths. Parts that do not depend on the lengths are explored once.
pub struct BoundCalculator<'p> {
    program: &'p Program,
    /// Scenarios share a graph if they have the same mode and agree on all conditions and budgets.
    explored: Vec<(Scenario, Explored)>,
}

struct Explored {
    graph: Graph,
    order: Vec<u32>,
    plain: BTreeMap<PhaseId, TaskCosts>,
    retried: BTreeMap<PhaseId, TaskCosts>,
}

impl<'p> BoundCalculator<'p> {
    pub fn new(program: &'p Program) -> BoundCalculator<'p> {
        BoundCalculator { program, explored: Vec::new() }
    }

    pub fn calculate(&mut self, counts: &[(&str, u16)]) -> Result<Bound, TooManyNodes> {
        let program = self.program;
        Ok(Bound {
            happy: happy(program, &Scenario::new(program, Mode::Autonomous, counts)),
            autonomous: self.worst(Scenario::new(program, Mode::Autonomous, counts))?,
            interactive: self.worst(Scenario::new(program, Mode::Interactive, counts))?,
        })
    }

    fn worst(&mut self, scenario: Scenario) -> Result<Worst, TooManyNodes> {
        let index =
            match self.explored.iter().position(|(known, _)| have_same_graph(self.program, known, &scenario))
            {
                Some(index) => index,
                None => {
                    let explored = explore(self.program, scenario.clone())?;
                    self.explored.push((scenario.clone(), explored));
                    self.explored.len() - 1
                }
            };
        let explored = &self.explored[index].1;
        let machine = Machine::new(self.program, scenario, Counting::Exact);
        Ok(Worst {
            dispatches: longest_path(&machine, explored, &explored.plain, Weight::Plain),
            with_retries: longest_path(&machine, explored, &explored.retried, Weight::Retried),
            states: explored.graph.len() as u64,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Plain,
    Retried,
}

fn explore(program: &Program, scenario: Scenario) -> Result<Explored, TooManyNodes> {
    let machine = Machine::new(program, scenario, Counting::Exact);
    let graph = Graph::build(&machine, None)?;
    let order = graph.order().ok_or(TooManyNodes)?;
    let mut plain = BTreeMap::new();
    let mut retried = BTreeMap::new();
    for id in program.phase_ids() {
        if matches!(program.phase(id).work, Work::Flow { .. }) {
            plain.insert(id, task_costs(&machine, id, false)?);
            retried.insert(id, task_costs(&machine, id, true)?);
        }
    }
    Ok(Explored { graph, order, plain, retried })
}

/// Whether two scenarios have the same graph: the same mode, and the same conditions and budgets.
fn have_same_graph(program: &Program, a: &Scenario, b: &Scenario) -> bool {
    let same_truth = program.conditions().flat_map(|(_, condition)| &condition.all).all(|comparison| {
        match comparison.fact {
            remand_kernel::program::Fact::Count(list) => {
                comparison.holds(a.count(list)) == comparison.holds(b.count(list))
            }
            remand_kernel::program::Fact::Confidence
            | remand_kernel::program::Fact::Mode
            | remand_kernel::program::Fact::Risk
            | remand_kernel::program::Fact::Flag(_)
            | remand_kernel::program::Fact::Left(_) => true,
        }
    });
    let same_budgets =
        (0..program.budgets.len()).filter_map(|index| u16::try_from(index).ok()).all(|index| {
            let id = remand_kernel::ids::BudgetId(index);
            program.capacity(id, |list| a.count(list)) == program.capacity(id, |list| b.count(list))
        });
    a.mode == b.mode && same_truth && same_budgets
}

/// The number of dispatches on the longest path.
fn longest_path(
    machine: &Machine<'_>,
    explored: &Explored,
    flows: &BTreeMap<PhaseId, TaskCosts>,
    weight: Weight,
) -> u64 {
    let graph = &explored.graph;
    let batches: BTreeMap<PhaseId, (BTreeMap<SignalId, u64>, u64)> = flows
        .iter()
        .map(|(flow, costs)| {
            let tasks = flow_count(machine, *flow);
            let rows = batch_costs(machine.program, *flow, costs, tasks);
            let highest = costs.exits.values().copied().max().unwrap_or(0);
            let failing =
                costs.fail.map_or(0, |fail| fail + u64::from(tasks.saturating_sub(1)) * highest.max(fail));
            (*flow, (rows, failing))
        })
        .collect();
    let mut reached: Vec<Option<u64>> = vec![None; graph.len()];
    for start in &graph.starts {
        reached[*start as usize] = Some(0);
    }
    let mut worst = 0;
    for node in &explored.order {
        let Some(before) = reached[*node as usize] else {
            continue;
        };
        let phase = graph.phases[*node as usize];
        let (plain, retried) = machine.dispatches(phase);
        let phase_cost = if weight == Weight::Plain { plain } else { retried };
        if let Some((_, failing)) = batches.get(&phase) {
            worst = worst.max(before + failing);
        }
        for edge in graph.edges_of(*node) {
            let cost = match batches.get(&phase) {
                Some((rows, _)) => match rows.get(&edge.signal) {
                    Some(cost) => *cost,
                    // No batch with this many tasks ends with this signal.
                    None => continue,
                },
                None => phase_cost,
            };
            let after = before + cost;
            worst = worst.max(after);
            if let GraphTarget::Node(to) = edge.to {
                let longest = &mut reached[to as usize];
                *longest = Some(longest.unwrap_or(0).max(after));
            }
        }
    }
    worst
}

fn flow_count(machine: &Machine<'_>, flow: PhaseId) -> u16 {
    match &machine.program.phase(flow).work {
        Work::Flow { list, .. } => machine.scenario.count(*list),
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => 0,
    }
}

/// The number of dispatches if every phase ends with its first signal and no flag is set.
pub fn happy(program: &Program, scenario: &Scenario) -> u64 {
    let machine = Machine::new(program, scenario.clone(), Counting::Exact);
    let Some(mut node) = machine.starts(None, Confidence::High).pop() else {
        return 0;
    };
    let mut dispatches = 0;
    // A happy path visits no phase twice; the limit only prevents an endless loop.
    for _ in 0..=program.phases.len() * 2 {
        dispatches += happy_cost(&machine, scenario, node.phase);
        match happy_next(&machine, &node) {
            Some(next) => node = next,
            None => break,
        }
    }
    dispatches
}

fn happy_cost(machine: &Machine<'_>, scenario: &Scenario, phase: PhaseId) -> u64 {
    match &machine.program.phase(phase).work {
        Work::Flow { list, .. } => {
            let per_task = task_costs(machine, phase, false).map_or(0, |costs| costs.happy);
            u64::from(scenario.count(*list)) * per_task
        }
        // The happy path counts one item of a list.
        Work::Each { items: Items::Listed { .. }, .. } => 1,
        Work::Role { .. }
        | Work::Each { items: Items::Fixed(_), .. }
        | Work::Panel { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => machine.dispatches(phase).0,
    }
}

fn happy_next(machine: &Machine<'_>, node: &MachineNode) -> Option<MachineNode> {
    let program = machine.program;
    let phase = program.phase(node.phase);
    let signal = happy_signal(program, node.phase)?;
    let route = resolve::resolve(program, node.phase, signal, |budget| node.left[budget.index()])?.route;
    let target = match &route.action {
        Action::To(target) => Some(*target),
        // No flag is set on the happy path, so phases that depend on one are skipped.
        Action::Next => resolve::following(program, node.phase, |condition| {
            resolve::holds(condition, |fact| match fact {
                remand_kernel::program::Fact::Count(list) => machine.scenario.count(list),
                remand_kernel::program::Fact::Confidence => Confidence::High as u16,
                remand_kernel::program::Fact::Mode => machine.scenario.mode as u16,
                remand_kernel::program::Fact::Risk | remand_kernel::program::Fact::Flag(_) => 0,
                remand_kernel::program::Fact::Left(budget) => node.left[budget.index()],
            })
        }),
        Action::Return
        | Action::Remand(_)
        | Action::RemandInjector
        | Action::Restore(_)
        | Action::Raise(_)
        | Action::Done
        | Action::Fail
        | Action::Stop(_)
        | Action::Hold
        | Action::Ignore => None,
    };
    let caller = if phase.aside { node.caller } else { Some(node.phase) };
    target.map(|phase| MachineNode { phase, caller, ..node.clone() })
}

/// The signal that a phase ends with if everything succeeds.
pub fn happy_signal(program: &Program, id: PhaseId) -> Option<SignalId> {
    let phase = program.phase(id);
    match &phase.work {
        Work::Role { contract, .. } => program.contract(*contract).says.first().copied(),
        Work::Panel { members, .. } => program.contract(*members.first()?).says.first().copied(),
        Work::Operation { operation } => program.operation(*operation).results.first().copied(),
        Work::Ask { default, options, .. } => default.or_else(|| options.first().map(|option| option.signal)),
        Work::Each { contract, items, tally, .. } => {
            let happy = *program.contract(*contract).says.first()?;
            let seats = match items {
                Items::Fixed(names) => names.len(),
                Items::Listed { .. } => 1,
            };
            Some(remand_kernel::step::tally_of(tally, &vec![happy; seats]))
        }
        Work::Flow { tally, .. } => {
            Some(remand_kernel::step::tally_of(tally, &[remand_kernel::signal::COMPLETED]))
        }
    }
}
