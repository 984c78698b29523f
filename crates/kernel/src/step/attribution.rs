//! A human corrects which phases injected a defect, overriding the reporter.

use super::{Refusal, Stepper};
use crate::ids::PhaseId;
use crate::ruling::{Disposition, Why};
use crate::signal::REATTRIBUTE;
use crate::state::{Attribution, FiledStatus, Stage};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Stepper<'_> {
    /// Attributes a finding to other phases, also after the end of the run. They decide the route of an open finding;
    /// for a settled one, only reports change. `from` must be the current attribution, so an attribution that the
    /// caller has not seen is not overridden.
    pub(super) fn reattribute(
        &mut self,
        at: u32,
        (from, to): (&[String], &[String]),
        by: &str,
        note: &str,
    ) -> Result<(), Refusal> {
        if self.state.stage == Stage::Fresh {
            return Err(Refusal::NotStarted);
        }
        let filed = self.state.findings.get(at as usize).ok_or(Refusal::NoSuchFinding(at))?;
        if filed.finding.injected_by != from {
            return Err(Refusal::AttributedSince(filed.finding.injected_by.join(", ")));
        }
        let named = self.origin_phases(to, filed.phase)?;
        let id = filed.finding.id.clone();
        let to: Vec<String> = named.iter().map(|phase| self.program.phase(*phase).name.clone()).collect();

        let filed = &mut self.state.findings[at as usize];
        filed.finding.injected_by.clone_from(&to);
        filed.attribution = Attribution::Human;
        if filed.status == FiledStatus::Open {
            self.redirect(at, &named);
        }
        let why = Why::Human { by: by.to_string(), note: note.to_string() };
        self.push_human_ruling(
            REATTRIBUTE,
            Disposition::Reattribute { finding: id, from: from.to_vec(), to },
            why,
        );
        Ok(())
    }

    /// Looks up these phases, earliest first. Each must be able to inject a defect that `found_by` can find. In a
    /// workflow without `injects`, every phase that writes something can inject defects.
    fn origin_phases(&self, names: &[String], found_by: PhaseId) -> Result<Vec<PhaseId>, Refusal> {
        let injects = |id: &PhaseId| match self.program.injects.is_empty() {
            true => !self.program.phase(*id).writes.is_empty(),
            false => self.program.injects.contains(id),
        };
        let is_aside = self.program.phase(found_by).aside;
        let possible: Vec<PhaseId> =
            self.program.phase_ids().filter(injects).filter(|id| is_aside || *id <= found_by).collect();
        let find_phase = |name: &String| {
            possible.iter().copied().find(|id| self.program.phase(*id).name == *name).ok_or_else(|| {
                let names: Vec<&str> =
                    possible.iter().map(|id| self.program.phase(*id).name.as_str()).collect();
                Refusal::NotAnOrigin { name: name.clone(), possible: names.join(", ") }
            })
        };
        let mut phases = names.iter().map(find_phase).collect::<Result<Vec<PhaseId>, Refusal>>()?;
        phases.sort_unstable();
        phases.dedup();
        match phases.is_empty() {
            true => Err(Refusal::NoOrigin),
            false => Ok(phases),
        }
    }

    /// Moves a finding that waits in a later inbox to the inboxes of the named phases that are still ahead. If none is
    /// ahead, the finding stays where it is, and the next ruling about it uses the new names.
    fn redirect(&mut self, at: u32, named: &[PhaseId]) {
        let here = self.state.main.phase;
        let is_under_way = self.state.inbox[here.index() + 1..].iter().any(|inbox| inbox.contains(&at));
        let ahead: Vec<PhaseId> = named.iter().copied().filter(|id| *id > here).collect();
        if !is_under_way || ahead.is_empty() {
            return;
        }
        for inbox in &mut self.state.inbox[here.index() + 1..] {
            inbox.retain(|waiting| *waiting != at);
        }
        for phase in ahead {
            self.add_to_inbox(phase, at);
        }
    }
}
