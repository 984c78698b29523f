//! Sends findings to the phases and tasks that must deal with them.

use super::{Step, Stepper};
use crate::event::Item;
use crate::ids::{Lane, PhaseId};
use crate::program::{Program, Work};
use crate::ruling::Why;
use crate::state::State;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

impl Stepper<'_> {
    /// The findings that a ruling is about: those that the phase reported, and those carried along to an aside.
    pub(super) fn findings_for_ruling(&self, lane: Lane, reported: &[u32]) -> Vec<u32> {
        let mut all = self.lane_state(lane).carried.clone();
        all.extend(reported.iter().copied().filter(|at| !self.lane_state(lane).carried.contains(at)));
        all
    }

    /// The earliest phase that the findings name as their origin. If none names one, the most recent phase that can
    /// inject defects is assumed, and the ruling says so.
    pub(super) fn find_injector(&self, lane: Lane, findings: &[u32]) -> (PhaseId, Why) {
        let mut phases: Vec<PhaseId> = findings
            .iter()
            .filter_map(|at| self.state.findings.get(*at as usize))
            .flat_map(|filed| filed.finding.injected_by.iter())
            .filter_map(|name| self.injecting_phase(name))
            .collect();
        phases.sort_unstable();
        phases.dedup();
        match phases.first() {
            Some(first) => (*first, Why::Injected { phases: phases.clone(), assumed: false }),
            None => {
                let last = self.assumed_injector(lane);
                (last, Why::Injected { phases: vec![last], assumed: true })
            }
        }
    }

    fn assumed_injector(&self, lane: Lane) -> PhaseId {
        let lane_state = self.lane_state(lane);
        let latest = lane_state.caller.unwrap_or(lane_state.phase);
        let before = self.program.injects.iter().copied().filter(|id| *id < latest).max();
        before.or(self.program.injects.first().copied()).unwrap_or(lane_state.phase)
    }

    /// Puts each finding into the inboxes of the phases that it names as its origin, or else into the inbox of the
    /// target. If the way back crosses a sub-flow, the findings of its tasks go to the tasks.
    pub(super) fn address(&mut self, lane: Lane, target: PhaseId, findings: &[u32]) {
        let from = self.lane_state(lane).phase;
        for at in findings {
            let Some(filed) = self.state.findings.get_mut(*at as usize) else {
                continue;
            };
            filed.sent_at = Some(self.state.changes);
            // An aside forwards the finding; `sent_to` is set when that happens.
            if !self.program.phase(target).aside {
                filed.sent_to = Some(target);
            }
            let names = filed.finding.injected_by.clone();
            let mut named: Vec<PhaseId> =
                names.iter().filter_map(|name| self.injecting_phase(name)).collect();
            named.retain(|id| *id >= target);
            if named.is_empty() {
                named.push(target);
            }
            for phase in named {
                match self.task_id(lane) {
                    Some(task) => self.add_to_task_inbox(task, *at),
                    None => self.add_to_inbox(phase, *at),
                }
            }
        }
        if lane == Lane::Main {
            self.address_tasks(target, from, findings);
        }
    }

    pub(super) fn add_to_inbox(&mut self, phase: PhaseId, at: u32) {
        let target = self.program.phase(phase);
        if target.aside || matches!(target.work, Work::Flow { .. }) {
            return;
        }
        let inbox = &mut self.state.inbox[phase.index()];
        if !inbox.contains(&at) {
            inbox.push(at);
        }
    }

    fn add_to_task_inbox(&mut self, task: String, at: u32) {
        let inbox = self.state.task_inbox.entry(task).or_default();
        if !inbox.contains(&at) {
            inbox.push(at);
        }
    }

    /// Addresses findings to tasks if the repeated phases include a sub-flow. A failure after the sub-flow that
    /// concerns no particular task goes to the last task.
    fn address_tasks(&mut self, target: PhaseId, from: PhaseId, findings: &[u32]) {
        let flow = self.program.phase_ids().find(|id| {
            *id >= target && *id <= from && matches!(self.program.phase(*id).work, Work::Flow { .. })
        });
        let Some(flow) = flow else {
            return;
        };
        let mut has_task = false;
        for at in findings {
            for task in self.tasks_for_finding(flow, *at) {
                has_task = true;
                self.add_to_task_inbox(task, *at);
            }
        }
        if has_task || from == flow {
            return;
        }
        let Some(last) = self.items_of(flow).last().map(|item| item.id.clone()) else {
            return;
        };
        self.state.finished.remove(&last);
        for at in findings {
            self.add_to_task_inbox(last.clone(), *at);
        }
    }

    fn items_of(&self, flow: PhaseId) -> &[Item] {
        match &self.program.phase(flow).work {
            Work::Flow { list, .. } => &self.state.lists[list.index()],
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Operation { .. }
            | Work::Ask { .. } => &[],
        }
    }

    /// The tasks that a finding is about: the one it names, if that is in the list, otherwise those that list its file.
    fn tasks_for_finding(&self, flow: PhaseId, at: u32) -> Vec<String> {
        let Some(filed) = self.state.findings.get(at as usize) else {
            return Vec::new();
        };
        let items = self.items_of(flow);
        let named = filed.finding.task.as_ref().or(filed.task.as_ref());
        if let Some(item) = named.and_then(|task| items.iter().find(|item| item.id == *task)) {
            return alloc::vec![item.id.clone()];
        }
        let file = &filed.finding.place.file;
        items
            .iter()
            .filter(|item| !file.is_empty() && item.files.contains(file))
            .map(|item| item.id.clone())
            .collect()
    }

    /// If the lane's phase is an operation that gives up tasks: drops the unfinished tasks, those that the findings are
    /// about, and all that need them.
    pub(super) fn give_up_tasks(&mut self, lane: Lane) {
        let gives_up = match &self.program.phase(self.lane_state(lane).phase).work {
            Work::Operation { operation } => self.program.operation(*operation).gives_up,
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Flow { .. }
            | Work::Ask { .. } => false,
        };
        let (true, Some(flow)) = (gives_up, self.task_flow()) else {
            return;
        };
        let kept = self.tasks_to_keep(flow);
        self.state.finished.retain(|id, _| kept.iter().any(|item| item.id == *id));
        if let Work::Flow { list, .. } = &self.program.phase(flow).work {
            self.state.lists[list.index()] = kept;
        }
    }

    fn task_flow(&self) -> Option<PhaseId> {
        self.program.phase_ids().find(|id| matches!(self.program.phase(*id).work, Work::Flow { .. }))
    }

    /// The tasks to keep: they are finished, no carried finding is about them, and they need only such tasks.
    fn tasks_to_keep(&self, flow: PhaseId) -> Vec<Item> {
        let carried = self.state.main.carried.iter();
        let blamed: Vec<String> = carried.flat_map(|at| self.tasks_for_finding(flow, *at)).collect();
        let mut kept: Vec<Item> = Vec::new();
        for item in self.items_of(flow) {
            let is_sound = self.state.finished.contains_key(&item.id) && !blamed.contains(&item.id);
            let needs_are_kept = item.needs.iter().all(|need| kept.iter().any(|other| other.id == *need));
            if is_sound && needs_are_kept {
                kept.push(item.clone());
            }
        }
        kept
    }
}

/// The tasks that giving up would drop in this state.
pub fn tasks_to_give_up(program: &Program, state: &State) -> Vec<String> {
    let mut state = state.clone();
    let stepper = Stepper { program, state: &mut state, answered: None, out: Step::default() };
    let Some(flow) = stepper.task_flow() else {
        return Vec::new();
    };
    let kept = stepper.tasks_to_keep(flow);
    let dropped = stepper.items_of(flow).iter().filter(|item| !kept.iter().any(|other| other.id == item.id));
    dropped.map(|item| item.id.clone()).collect()
}
