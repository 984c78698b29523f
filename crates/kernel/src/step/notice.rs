//! Runs the detectors on a result: they find circles, reversals and approaches that failed before.

use super::Stepper;
use super::enter::seat_contract;
use crate::change::{Approach, Change, TestResult};
use crate::detect::{self, Circle};
use crate::ids::{Lane, PhaseId, SignalId};
use crate::program::{Action, Work};
use crate::signal::{CIRCLE, OSCILLATION, REVERSAL};
use crate::state::Memory;
use alloc::string::String;

impl Stepper<'_> {
    /// Runs the detectors on a result and keeps the first detection for the ruling.
    pub(super) fn run_detectors(
        &mut self,
        lane: Lane,
        at: usize,
        change: Option<&Change>,
        tests: &[TestResult],
        approach: Option<&Approach>,
    ) {
        if let Some(change) = change {
            self.check_change(lane, change);
        }
        if !tests.is_empty() {
            self.check_tests(lane, tests);
        }
        if let Some(approach) = approach {
            self.check_approach(lane, at, approach);
        }
        if self.records_approach(lane)
            && let Some(failed) = self.state.approach.take()
        {
            self.state.approaches.push(failed);
        }
    }

    fn check_change(&mut self, lane: Lane, change: &Change) {
        let phase = self.lane_state(lane).phase;
        let memory = self.memory(lane, phase);
        match detect::check_change(&mut memory.trail, &mut memory.last, change) {
            // Undoing the last change may restore the tree from before the first attempt. It counts as a reversal.
            (Some(Circle::Tree { earlier: 0, .. }) | None, Some(reversal)) => {
                self.record_detection(lane, REVERSAL, reversal.sentence());
            }
            (Some(circle), _) => self.record_detection(lane, CIRCLE, circle.sentence()),
            (None, None) => {}
        }
    }

    /// Checks test results against the changes of every phase that contributed to the tree.
    fn check_tests(&mut self, lane: Lane, tests: &[TestResult]) {
        let task = self.task_id(lane);
        let mut found = None;
        for memory in self.state.memories.iter_mut().filter(|memory| memory.task == task) {
            let tree = memory.last.as_ref().map(|last| last.tree).unwrap_or_default();
            let circle = memory.trail.record_results(tree, tests);
            found = found.or(circle);
        }
        if let Some(circle) = found {
            self.record_detection(lane, CIRCLE, circle.sentence());
        }
    }

    /// Keeps the approach of a design; if the contract is guarded, first compares it with the failed ones.
    fn check_approach(&mut self, lane: Lane, at: usize, approach: &Approach) {
        let Some(contract) = seat_contract(self.program, self.lane_state(lane).phase, at) else {
            return;
        };
        let contract = self.program.contract(contract);
        if contract.guarded {
            let mut failed = self.state.approaches.clone();
            if !contract.states_approach {
                failed.extend(self.state.approach.clone());
            }
            if let Some(oscillation) = detect::oscillation(approach, &failed) {
                // A refused design was never tried, so it does not become the current approach.
                self.record_detection(lane, OSCILLATION, oscillation.sentence());
                return;
            }
        }
        if contract.states_approach {
            self.state.approach = Some(approach.clone());
        }
    }

    /// Whether a guarded role's design is refused because its approach failed before, according to a detector or to the
    /// role itself.
    pub(super) fn refuses_design(&self, lane: Lane, at: usize, verdict: SignalId) -> bool {
        let lane_state = self.lane_state(lane);
        let Some(contract) = seat_contract(self.program, lane_state.phase, at) else {
            return false;
        };
        let contract = self.program.contract(contract);
        let action = |signal| self.program.phase(lane_state.phase).route(signal).map(|route| &route.action);
        let is_repeated = lane_state.detected.as_ref().is_some_and(|(signal, _)| *signal == OSCILLATION)
            && action(OSCILLATION).is_some_and(|action| *action != Action::Ignore);
        let is_withdrawn =
            contract.says.first() != Some(&verdict) && !action(verdict).is_some_and(Action::is_accepting);
        contract.guarded && contract.states_approach && (is_repeated || is_withdrawn)
    }

    fn records_approach(&self, lane: Lane) -> bool {
        match &self.program.phase(self.lane_state(lane).phase).work {
            Work::Operation { operation } => self.program.operation(*operation).records_approach,
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Flow { .. }
            | Work::Ask { .. } => false,
        }
    }

    /// The memory of a phase's changes. New inputs, such as a revised design, start a new window.
    fn memory(&mut self, lane: Lane, phase: PhaseId) -> &mut Memory {
        let task = self.task(lane);
        let inputs = self
            .program
            .phase(phase)
            .reads
            .iter()
            .filter(|artifact| !self.program.phase(phase).writes.contains(artifact))
            .map(|artifact| (*artifact, self.state.digest(*artifact)))
            .collect();
        // The search starts at the end, because the most recent tasks of a batch are the active ones.
        let is_wanted = |memory: &Memory| memory.phase == phase && memory.task.as_deref() == task;
        let at = self.state.memories.iter().rposition(is_wanted).unwrap_or_else(|| {
            let (trail, task) = (detect::Trail::default(), self.task_id(lane));
            let inputs = alloc::vec::Vec::clone(&inputs);
            self.state.memories.push(Memory { phase, task, inputs, trail, last: None });
            self.state.memories.len() - 1
        });
        let memory = &mut self.state.memories[at];
        if memory.inputs != inputs {
            memory.inputs = inputs;
            memory.trail.clear();
            memory.last = None;
        }
        memory
    }

    /// Keeps the first detection of a visit, or the first one that the phase acts on.
    fn record_detection(&mut self, lane: Lane, signal: SignalId, sentence: String) {
        let phase = self.program.phase(self.lane_state(lane).phase);
        let detected = &self.lane_state(lane).detected;
        let is_new = match detected {
            None => true,
            Some((kept, _)) => !phase.acts_on_detection(*kept) && phase.acts_on_detection(signal),
        };
        if is_new {
            self.lane_state_mut(lane).detected = Some((signal, sentence));
        }
    }
}
