//! Incremental rework: a result stays valid while what it depends on is unchanged.

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
        let fresh = result.accepted
            && self.is_reusable(id)
            && self.state.inbox[id.index()].is_empty()
            && result
                .reads
                .iter()
                .chain(&result.wrote)
                .all(|(artifact, digest)| self.state.digest(*artifact) == *digest);
        // With an empty budget, the result may have been accepted although it would be sent back now.
        let left = |budget| self.left(lane, budget);
        let resolution = resolve::resolve(self.program, id, result.signal, left)?;
        (fresh && resolution.route.action.is_accepting()).then_some(result.signal)
    }

    /// A result that depends on nothing is never reused, except that of an idempotent operation.
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
        // Work that is not accepted still has to deal with its findings.
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

    /// The current versions of what the sub-flow reads, without what it writes itself and without the artifact that
    /// brought the list, of which only the task's own specification matters.
    pub(super) fn flow_reads(&self) -> Vec<(ArtifactId, Digest)> {
        let flow = self.state.main.phase;
        let mut reads: Vec<ArtifactId> = self
            .program
            .flow(Some(flow))
            .flat_map(|id| self.program.phase(id).reads.iter().copied())
            .filter(|artifact| !self.written_in_flow(*artifact) && !self.produces_list(flow, *artifact))
            .collect();
        reads.sort_unstable();
        reads.dedup();
        reads.into_iter().map(|artifact| (artifact, self.state.digest(artifact))).collect()
    }

    /// Whether some sub-flow writes the artifact.
    pub(super) fn written_in_flow(&self, artifact: ArtifactId) -> bool {
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
