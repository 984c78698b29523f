//! Sub-flows: one per task, in dependency order, several in parallel. When all have ended, one ruling follows.

use super::Stepper;
use super::follow::RuledSignal;
use super::settle::tally_of;
use crate::change::Digest;
use crate::event::Item;
use crate::ids::{BudgetId, Lane, PhaseId, SignalId};
use crate::program::{Scope, Work};
use crate::resolve;
use crate::ruling::{Rule, Why};
use crate::signal::COMPLETED;
use crate::state::{Finished, LaneState, Stage, TaskProgress, TaskRun};
use alloc::vec::Vec;

impl Stepper<'_> {
    /// The items of the main line's current sub-flow.
    pub(super) fn flow_items(&self) -> &[Item] {
        match &self.program.phase(self.state.main.phase).work {
            Work::Flow { list, .. } => &self.state.lists[list.index()],
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Operation { .. }
            | Work::Ask { .. } => &[],
        }
    }

    pub(super) fn start_batch(&mut self, flow: PhaseId) {
        let rounds = self.round_budgets(flow);
        let items = self.flow_items();
        let known: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        let gone: Vec<alloc::string::String> =
            self.state.finished.keys().filter(|id| !known.contains(&id.as_str())).cloned().collect();
        let runs = items
            .iter()
            .map(|_| TaskRun {
                progress: TaskProgress::Waiting,
                lane_state: LaneState::new(flow),
                left: rounds.clone(),
                visits: Vec::new(),
                patch: Digest::default(),
                raised: Vec::new(),
            })
            .collect();
        for id in gone {
            self.state.finished.remove(&id);
        }
        self.state.tasks = runs;
        self.schedule();
    }

    fn round_budgets(&self, flow: PhaseId) -> Vec<(BudgetId, u16)> {
        self.program
            .budgets
            .iter()
            .enumerate()
            .filter_map(|(at, budget)| match budget.scope {
                Scope::Entry(entered) if self.program.phase(entered).owner == Some(flow) => {
                    let id = BudgetId(u16::try_from(at).ok()?);
                    Some((id, self.program.capacity(id, |list| self.state.count(list))))
                }
                Scope::Entry(_) | Scope::Phase(_) | Scope::Run | Scope::Subject => None,
            })
            .collect()
    }

    /// Starts the tasks that can start; if none is running afterwards, settles the batch.
    pub(super) fn schedule(&mut self) {
        let Work::Flow { at_once, .. } = &self.program.phase(self.state.main.phase).work else {
            return;
        };
        let max_running = usize::from(*at_once);
        loop {
            let next = (0..self.state.tasks.len())
                .find_map(|index| self.next_progress(index, max_running).map(|progress| (index, progress)));
            let Some((index, progress)) = next else {
                break;
            };
            self.state.tasks[index].progress = progress;
            if progress == TaskProgress::Running {
                self.start_task(index);
            }
            let has_left_flow = self.state.stage != Stage::Running
                || !matches!(self.program.phase(self.state.main.phase).work, Work::Flow { .. });
            if has_left_flow || self.state.tasks.is_empty() {
                return;
            }
        }
        if self.state.tasks.iter().all(|run| run.progress != TaskProgress::Running) {
            self.settle_batch();
        }
    }

    /// The next progress of a waiting task; `None` if it must keep waiting or does not wait.
    fn next_progress(&self, index: usize, max_running: usize) -> Option<TaskProgress> {
        if self.state.tasks[index].progress != TaskProgress::Waiting {
            return None;
        }
        let items = self.flow_items();
        let item = &items[index];
        let mut all_done = true;
        for need in &item.needs {
            let at = items.iter().position(|other| other.id == *need)?;
            match self.state.tasks[at].progress {
                TaskProgress::Stands => {}
                TaskProgress::Exited(exit) if exit == COMPLETED => {}
                TaskProgress::Exited(_) | TaskProgress::Blocked => return Some(TaskProgress::Blocked),
                TaskProgress::Waiting | TaskProgress::Running => all_done = false,
            }
        }
        if !all_done {
            return None;
        }
        if self.task_is_reusable(item) {
            return Some(TaskProgress::Stands);
        }
        let running = self.state.tasks.iter().filter(|run| run.progress == TaskProgress::Running).count();
        (running < max_running).then_some(TaskProgress::Running)
    }

    fn start_task(&mut self, index: usize) {
        let flow = self.state.main.phase;
        let lane = Lane::Task {
            batch: self.state.visits[flow.index()],
            index: u16::try_from(index).unwrap_or(u16::MAX),
        };
        match resolve::first_phase(self.program, Some(flow), |condition| self.holds(lane, condition)) {
            Some(first) => self.enter(lane, first),
            None => self.exit_task(index, COMPLETED, Vec::new()),
        }
    }

    /// Handles a task that left its sub-flow: finished, or with a signal and findings.
    pub(super) fn exit_task(&mut self, index: usize, exit: SignalId, findings: Vec<u32>) {
        let item = self.flow_items()[index].clone();
        let run = &mut self.state.tasks[index];
        run.progress = TaskProgress::Exited(exit);
        run.raised = findings;
        run.lane_state.seats.clear();
        let patch = run.patch;
        if exit == COMPLETED {
            let finished = Finished {
                spec: item.spec,
                patch,
                needs: self.patches(&item.needs),
                reads: self.flow_reads(),
            };
            self.state.finished.insert(item.id.clone(), finished);
            self.state.task_inbox.remove(&item.id);
        } else {
            self.state.finished.remove(&item.id);
        }
        self.schedule();
    }

    /// Makes one ruling for all tasks of a batch, with all their findings.
    fn settle_batch(&mut self) {
        let flow = self.state.main.phase;
        let Work::Flow { tally, .. } = &self.program.phase(flow).work else {
            return;
        };
        let exits: Vec<Option<SignalId>> = self
            .state
            .tasks
            .iter()
            .map(|run| match run.progress {
                TaskProgress::Exited(exit) => Some(exit),
                TaskProgress::Stands => Some(COMPLETED),
                TaskProgress::Blocked | TaskProgress::Waiting | TaskProgress::Running => None,
            })
            .collect();
        let have: Vec<SignalId> = exits.iter().flatten().copied().collect();
        let signal = tally_of(tally, &have);
        let findings: Vec<u32> = self.state.tasks.iter().flat_map(|run| run.raised.iter().copied()).collect();
        self.merge_patches(flow);
        self.state.tasks.clear();
        self.state.main.carried = findings;
        let line = self.program.phase(flow).route(signal).map_or(0, |route| route.line);
        let why = Why::Tally { members: exits };
        self.settle_with(Lane::Main, RuledSignal { signal, rule: Rule::Route { line }, why });
    }

    /// Derives the digests of the written artifacts from the patches of the finished tasks, in list order.
    fn merge_patches(&mut self, flow: PhaseId) {
        let merged = self
            .flow_items()
            .iter()
            .filter_map(|item| self.state.finished.get(&item.id))
            .fold(Digest(0xcbf2_9ce4_8422_2325), |sum, finished| {
                Digest((sum.0 ^ finished.patch.0).wrapping_mul(0x0100_0000_01b3))
            });
        let mut written: Vec<_> = self
            .program
            .flow(Some(flow))
            .flat_map(|id| self.program.phase(id).writes.iter().copied())
            .collect();
        written.sort_unstable();
        written.dedup();
        for artifact in written {
            if self.state.versions[artifact.index()] != merged {
                self.state.versions[artifact.index()] = merged;
                self.state.changes += 1;
            }
        }
    }
}
