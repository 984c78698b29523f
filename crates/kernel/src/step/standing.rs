//! Incremental rework: a result stands while what it rests on has not changed (BY-04).

use super::Stepper;
use crate::change::Digest;
use crate::event::Item;
use crate::ids::{ArtifactId, Lane, PhaseId, SignalId};
use crate::program::Work;
use crate::resolve;
use crate::state::LastResult;
use alloc::vec::Vec;

impl Stepper<'_> {
    /// The signal of the phase's last result, if that result still stands.
    pub(super) fn standing(&self, lane: Lane, id: PhaseId) -> Option<SignalId> {
        if lane != Lane::Main {
            return None;
        }
        let result = self.state.results[id.index()].as_ref()?;
        let fresh = result.accepted
            && self.can_stand(id)
            && self.state.inbox[id.index()].is_empty()
            && result
                .reads
                .iter()
                .chain(&result.wrote)
                .all(|(artifact, digest)| self.state.digest(*artifact) == *digest);
        // An exhausted route may have accepted then what would be sent back now.
        let left = |budget| self.left(lane, budget);
        let resolution = resolve::resolve(self.program, id, result.signal, left)?;
        (fresh && resolution.route.action.is_accepting()).then_some(result.signal)
    }

    /// A phase that reads nothing has nothing to stand on, unless it is an operation that may be repeated.
    fn can_stand(&self, id: PhaseId) -> bool {
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

    /// Remembers the result of the phase at the main desk.
    pub(super) fn remember(&mut self, lane: Lane, signal: SignalId) {
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
        // Work that is not accepted still has its findings before it.
        if accepted {
            self.state.inbox[id.index()].clear();
        }
    }

    /// Tells whether a finished task still stands: same specification, same needs, same inputs, nothing
    /// addressed to it.
    pub(super) fn task_stands(&self, item: &Item) -> bool {
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

    /// What the sub-flow reads, as it is now, apart from what it writes itself and from the artifact that
    /// brought the list: of that only the task's own specification counts.
    pub(super) fn flow_reads(&self) -> Vec<(ArtifactId, Digest)> {
        let flow = self.state.main.phase;
        let mut reads: Vec<ArtifactId> = self
            .program
            .flow(Some(flow))
            .flat_map(|id| self.program.phase(id).reads.iter().copied())
            .filter(|artifact| !self.written_in_flow(*artifact) && !self.brings_list(flow, *artifact))
            .collect();
        reads.sort_unstable();
        reads.dedup();
        reads.into_iter().map(|artifact| (artifact, self.state.digest(artifact))).collect()
    }

    /// Tells whether some sub-flow writes the artifact.
    pub(super) fn written_in_flow(&self, artifact: ArtifactId) -> bool {
        self.program.phases.iter().any(|phase| phase.owner.is_some() && phase.writes.contains(&artifact))
    }

    fn brings_list(&self, flow: PhaseId, artifact: ArtifactId) -> bool {
        let Work::Flow { list, .. } = &self.program.phase(flow).work else {
            return false;
        };
        self.program.phases.iter().filter(|phase| phase.writes.contains(&artifact)).any(|phase| {
            phase.contracts().iter().any(|contract| self.program.contract(*contract).lists.contains(list))
        })
    }
}
