//! How many dispatches a run takes: on the happy path, and at the very most (EP-31).

use super::graph::{Graph, Head, TooMany};
use super::machine::{Counting, Machine, Node, World};
use super::tasks::{TaskCosts, batch_costs, task_costs};
use remand_kernel::event::Mode;
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Action, Confidence, Items, Program, Work};
use remand_kernel::resolve;
use serde::Serialize;
use std::collections::BTreeMap;

/// The dispatches of a workflow for given lengths of its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bound {
    pub happy: u64,
    pub autonomous: Worst,
    pub interactive: Worst,
}

/// The exact worst case in one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Worst {
    /// Without retries.
    pub dispatches: u64,
    /// When every dispatch needs all its retries; environment failures and holds are outside any bound.
    pub with_retries: u64,
    /// Nodes counted through.
    pub states: u64,
}

impl Bound {
    /// The dearest of both modes, without retries.
    pub fn most(&self) -> u64 {
        self.autonomous.dispatches.max(self.interactive.dispatches)
    }
}

/// The dispatches of a workflow with so many items in its lists.
pub fn bound(program: &Program, counts: &[(&str, u16)]) -> Result<Bound, TooMany> {
    Bounds::new(program).of(counts)
}

/// Bounds for many lengths of lists: what does not depend on them is explored once.
pub struct Bounds<'p> {
    program: &'p Program,
    /// Worlds that differ only in numbers that no condition and no budget looks at share a graph.
    explored: Vec<(World, Explored)>,
}

struct Explored {
    graph: Graph,
    order: Vec<u32>,
    plain: BTreeMap<PhaseId, TaskCosts>,
    retried: BTreeMap<PhaseId, TaskCosts>,
}

impl<'p> Bounds<'p> {
    pub fn new(program: &'p Program) -> Bounds<'p> {
        Bounds { program, explored: Vec::new() }
    }

    pub fn of(&mut self, counts: &[(&str, u16)]) -> Result<Bound, TooMany> {
        let program = self.program;
        Ok(Bound {
            happy: happy(program, &World::new(program, Mode::Autonomous, counts)),
            autonomous: self.worst(World::new(program, Mode::Autonomous, counts))?,
            interactive: self.worst(World::new(program, Mode::Interactive, counts))?,
        })
    }

    fn worst(&mut self, world: World) -> Result<Worst, TooMany> {
        let at = match self.explored.iter().position(|(known, _)| alike(self.program, known, &world)) {
            Some(at) => at,
            None => {
                let explored = explore(self.program, world.clone())?;
                self.explored.push((world.clone(), explored));
                self.explored.len() - 1
            }
        };
        let explored = &self.explored[at].1;
        let machine = Machine::new(self.program, world, Counting::Exact);
        Ok(Worst {
            dispatches: longest(&machine, explored, &explored.plain, Weight::Plain),
            with_retries: longest(&machine, explored, &explored.retried, Weight::Retried),
            states: explored.graph.len() as u64,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Plain,
    Retried,
}

fn explore(program: &Program, world: World) -> Result<Explored, TooMany> {
    let machine = Machine::new(program, world, Counting::Exact);
    let graph = Graph::build(&machine, None)?;
    let order = graph.order().ok_or(TooMany)?;
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

/// Tells whether two worlds have the same transition system: no condition and no budget tells them apart.
fn alike(program: &Program, a: &World, b: &World) -> bool {
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
    let same_budgets = (0..program.budgets.len()).filter_map(|at| u16::try_from(at).ok()).all(|at| {
        let id = remand_kernel::ids::BudgetId(at);
        program.capacity(id, |list| a.count(list)) == program.capacity(id, |list| b.count(list))
    });
    a.mode == b.mode && same_truth && same_budgets
}

/// The longest path, counted in dispatches.
fn longest(
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
            let dearest = costs.exits.values().copied().max().unwrap_or(0);
            let failing =
                costs.fail.map_or(0, |fail| fail + u64::from(tasks.saturating_sub(1)) * dearest.max(fail));
            (*flow, (rows, failing))
        })
        .collect();
    let mut reached: Vec<Option<u64>> = vec![None; graph.len()];
    for start in &graph.starts {
        reached[*start as usize] = Some(0);
    }
    let mut most = 0;
    for at in &explored.order {
        let Some(before) = reached[*at as usize] else {
            continue;
        };
        let phase = graph.phases[*at as usize];
        let (plain, retried) = machine.dispatches(phase);
        let own = if weight == Weight::Plain { plain } else { retried };
        if let Some((_, failing)) = batches.get(&phase) {
            most = most.max(before + failing);
        }
        for arc in graph.edges_of(*at) {
            let cost = match batches.get(&phase) {
                // A row that no batch of this size gives is not taken.
                Some((rows, _)) => match rows.get(&arc.signal) {
                    Some(cost) => *cost,
                    None => continue,
                },
                None => own,
            };
            let after = before + cost;
            most = most.max(after);
            if let Head::Node(to) = arc.to {
                let known = &mut reached[to as usize];
                *known = Some(known.unwrap_or(0).max(after));
            }
        }
    }
    most
}

fn flow_count(machine: &Machine<'_>, flow: PhaseId) -> u16 {
    match &machine.program.phase(flow).work {
        Work::Flow { list, .. } => machine.world.count(*list),
        Work::Role { .. }
        | Work::Each { .. }
        | Work::Panel { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => 0,
    }
}

/// The dispatches when every phase ends with its first signal and no flag is set.
pub fn happy(program: &Program, world: &World) -> u64 {
    let machine = Machine::new(program, world.clone(), Counting::Exact);
    let Some(mut node) = machine.starts(None, Confidence::High).pop() else {
        return 0;
    };
    let mut dispatches = 0;
    // A happy path that comes back to a phase is not one; the length of the flow bounds it.
    for _ in 0..=program.phases.len() * 2 {
        dispatches += happy_cost(&machine, world, node.phase);
        match happy_next(&machine, &node) {
            Some(next) => node = next,
            None => break,
        }
    }
    dispatches
}

fn happy_cost(machine: &Machine<'_>, world: &World, phase: PhaseId) -> u64 {
    match &machine.program.phase(phase).work {
        Work::Flow { list, .. } => {
            let per_task = task_costs(machine, phase, false).map_or(0, |costs| costs.happy);
            u64::from(world.count(*list)) * per_task
        }
        // A list is worked on in one piece unless it has to be cut.
        Work::Each { items: Items::Listed { .. }, .. } => 1,
        Work::Role { .. }
        | Work::Each { items: Items::Fixed(_), .. }
        | Work::Panel { .. }
        | Work::Operation { .. }
        | Work::Ask { .. } => machine.dispatches(phase).0,
    }
}

fn happy_next(machine: &Machine<'_>, node: &Node) -> Option<Node> {
    let program = machine.program;
    let phase = program.phase(node.phase);
    let signal = happy_signal(program, node.phase)?;
    let route = resolve::resolve(program, node.phase, signal, |budget| node.left[budget.index()])?.route;
    let target = match &route.action {
        Action::To(target) => Some(*target),
        // Flags count as not set: the last candidate is the phase after all that depend on them.
        Action::Next => resolve::following(program, node.phase, |condition| {
            resolve::holds(condition, |fact| match fact {
                remand_kernel::program::Fact::Count(list) => machine.world.count(list),
                remand_kernel::program::Fact::Confidence => Confidence::High as u16,
                remand_kernel::program::Fact::Mode => machine.world.mode as u16,
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
    target.map(|phase| Node { phase, caller, ..node.clone() })
}

/// The signal with which a phase ends when all goes well.
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
