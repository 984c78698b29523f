//! Reuses results: a result stays valid while everything it depends on is unchanged.

use super::Stepper;
use crate::change::Digest;
use crate::event::Item;
use crate::ids::{ArtifactId, Lane, PhaseId, SignalId};
use crate::program::Work;
use crate::resolve;
use crate::state::LastResult;
use alloc::vec::Vec;

impl Stepper<'_> {
    /// The signal of the phase's last result, if that result is still valid.
    pub(super) fn reusable_signal(&self, lane: Lane, id: PhaseId) -> Option<SignalId> {
        if lane != Lane::Main {
            return None;
        }
        let result = self.state.results[id.index()].as_ref()?;
        let is_valid = result.accepted
            && self.is_reusable(id)
            && self.state.inbox[id.index()].is_empty()
            && result
                .reads
                .iter()
                .chain(&result.wrote)
                .all(|(artifact, digest)| self.state.digest(*artifact) == *digest);
        // A result that was accepted because a budget was empty may be sent back now that the budget is refilled.
        let left = |budget| self.left(lane, budget);
        let resolution = resolve::resolve(self.program, id, result.signal, left)?;
        (is_valid && resolution.route.action.is_accepting()).then_some(result.signal)
    }

    /// Whether results of a phase can be reused. A result that depends on nothing cannot, unless an idempotent
    /// operation returned it.
    fn is_reusable(&self, id: PhaseId) -> bool {
        let phase = self.program.phase(id);
        match &phase.work {
            Work::Operation { operation } => {
                !phase.reads.is_empty() || self.program.operation(*operation).idempotent
            }
            Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Ask { .. } => {
                !phase.reads.is_empty()
            }
            Work::Flow { .. } => false,
        }
    }

    /// Remembers the result of the main line's phase.
    pub(super) fn remember_result(&mut self, lane: Lane, signal: SignalId) {
        if lane != Lane::Main {
            return;
        }
        let id = self.state.main.phase;
        let phase = self.program.phase(id);
        let left = |budget| self.left(lane, budget);
        let accepted = resolve::resolve(self.program, id, signal, left)
            .is_some_and(|resolution| resolution.route.action.is_accepting());
        let wrote = phase.writes.iter().map(|artifact| (*artifact, self.state.digest(*artifact))).collect();
        let reads = self.state.main.reads.clone();
        self.state.results[id.index()] = Some(LastResult { signal, accepted, reads, wrote });
        // After a rejection, the findings still have to be dealt with.
        if accepted {
            self.state.inbox[id.index()].clear();
        }
    }

    /// Whether a finished task is still valid: same specification, same needs, same inputs, and no finding addressed to
    /// it.
    pub(super) fn task_is_reusable(&self, item: &Item) -> bool {
        let Some(finished) = self.state.finished.get(&item.id) else {
            return false;
        };
        finished.spec == item.spec
            && !self.state.task_inbox.contains_key(&item.id)
            && finished.needs == self.patches(&item.needs)
            && finished.reads == self.flow_reads()
    }

    /// The current patches of these tasks.
    pub(super) fn patches(&self, needs: &[alloc::string::String]) -> Vec<(alloc::string::String, Digest)> {
        needs
            .iter()
            .map(|need| {
                let patch = self.state.finished.get(need).map(|finished| finished.patch).unwrap_or_default();
                (need.clone(), patch)
            })
            .collect()
    }

    /// The artifacts that the sub-flow reads, with their current digests. Artifacts that a sub-flow writes are left
    /// out. So is the artifact that the list comes from: a task depends only on its own entry, which `spec` covers.
    pub(super) fn flow_reads(&self) -> Vec<(ArtifactId, Digest)> {
        let flow = self.state.main.phase;
        let mut reads: Vec<ArtifactId> = self
            .program
            .flow(Some(flow))
            .flat_map(|id| self.program.phase(id).reads.iter().copied())
            .filter(|artifact| !self.is_written_in_flow(*artifact) && !self.produces_list(flow, *artifact))
            .collect();
        reads.sort_unstable();
        reads.dedup();
        reads.into_iter().map(|artifact| (artifact, self.state.digest(artifact))).collect()
    }

    /// Whether some sub-flow writes the artifact.
    pub(super) fn is_written_in_flow(&self, artifact: ArtifactId) -> bool {
        self.program.phases.iter().any(|phase| phase.owner.is_some() && phase.writes.contains(&artifact))
    }

    fn produces_list(&self, flow: PhaseId, artifact: ArtifactId) -> bool {
        let Work::Flow { list, .. } = &self.program.phase(flow).work else {
            return false;
        };
        self.program.phases.iter().filter(|phase| phase.writes.contains(&artifact)).any(|phase| {
            phase.contracts().iter().any(|contract| self.program.contract(*contract).lists.contains(list))
        })
    }
}
