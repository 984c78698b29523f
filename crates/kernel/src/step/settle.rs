//! Settles a phase: combines its members' results into one signal.

use super::Stepper;
use super::follow::RuledSignal;
use crate::detect;
use crate::ids::{Lane, PhaseId, SignalId};
use crate::program::{Action, Effect, TallyRow, TallyTest, Work, is_detector};
use crate::ruling::{FailedMember, Rule, Why};
use crate::signal::{DETECTORS, KIND_FINDINGS, NO_RESULT, REPEATED, SECURITY_BLOCKER};
use crate::state::{Attribution, Derived, FiledStatus, SeatProgress, SeatResult};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The combined result of a phase's members.
struct Combined {
    signal: SignalId,
    verdict: SignalId,
    why: Why,
}

impl Stepper<'_> {
    /// Settles a lane's phase. A missing result takes precedence, then a security blocker, then a detection, then the
    /// verdict.
    pub(super) fn settle(&mut self, lane: Lane) {
        let phase = self.lane_state(lane).phase;
        let mut combined = self.combine_members(lane);
        let outranks_detection = combined.signal == NO_RESULT || combined.signal == SECURITY_BLOCKER;
        if !outranks_detection && let Some((signal, sentence)) = self.detection(lane, phase, &combined) {
            combined.signal = signal;
            combined.why = Why::Detected { sentence };
        }
        if combined.signal != NO_RESULT {
            self.remember_result(lane, combined.signal);
        }
        if self.is_refused_commit(lane, combined.signal) {
            self.set_retry_point(combined.signal);
        }
        let line = self.program.phase(phase).route(combined.signal).map_or(0, |route| route.line);
        self.settle_with(
            lane,
            RuledSignal { signal: combined.signal, rule: Rule::Route { line }, why: combined.why },
        );
    }

    /// The open findings of the members whose verdict counts, as indexes.
    pub(super) fn findings_at(&self, lane: Lane) -> Vec<u32> {
        let mut all = self.all_findings_at(lane);
        all.retain(|at| {
            let status = self.state.findings.get(*at as usize).map(|filed| filed.status);
            matches!(status, Some(FiledStatus::Open | FiledStatus::PassedOn))
        });
        all
    }

    /// The findings that go back with rejected work: the open ones or, if there are none, all.
    pub(super) fn findings_to_send(&self, lane: Lane) -> Vec<u32> {
        let open = self.findings_at(lane);
        if open.is_empty() { self.all_findings_at(lane) } else { open }
    }

    fn all_findings_at(&self, lane: Lane) -> Vec<u32> {
        self.lane_state(lane)
            .seats
            .iter()
            .filter(|seat| !seat.advisory)
            .filter_map(|seat| match &seat.progress {
                SeatProgress::Said(result) => Some(result),
                SeatProgress::Open | SeatProgress::Held | SeatProgress::Failed { .. } => None,
            })
            .flat_map(|result| result.findings.iter().copied())
            .collect()
    }

    /// The degradation if members that should have run on different models did not.
    pub(super) fn diversity_effect(&self, lane: Lane) -> Option<Effect> {
        let lane_state = self.lane_state(lane);
        let Work::Each { diverse: true, .. } = &self.program.phase(lane_state.phase).work else {
            return None;
        };
        let mut models: Vec<&str> = Vec::new();
        for seat in &lane_state.seats {
            if let SeatProgress::Said(SeatResult { model: Some(model), .. }) = &seat.progress {
                if models.contains(&model.as_str()) {
                    return Some(Effect::Degradation);
                }
                models.push(model);
            }
        }
        None
    }

    fn combine_members(&self, lane: Lane) -> Combined {
        let lane_state = self.lane_state(lane);
        let members: Vec<&SeatProgress> =
            lane_state.seats.iter().filter(|seat| !seat.advisory).map(|seat| &seat.progress).collect();
        match &self.program.phase(lane_state.phase).work {
            Work::Each { tally, quorum, .. } => self.combine_by_tally(&members, tally, *quorum),
            Work::Role { .. }
            | Work::Panel { .. }
            | Work::Operation { .. }
            | Work::Ask { .. }
            | Work::Flow { .. } => self.most_severe(lane_state.phase, &members),
        }
    }

    /// The signal of a single member, or the most severe of a panel.
    fn most_severe(&self, phase: PhaseId, members: &[&SeatProgress]) -> Combined {
        let mut worst: Option<&SeatResult> = None;
        for member in members {
            match member {
                SeatProgress::Failed { failure, detail } => {
                    let why = Why::Failed { failure: *failure, detail: detail.clone() };
                    return Combined { signal: NO_RESULT, verdict: NO_RESULT, why };
                }
                SeatProgress::Said(result) => {
                    let is_worse = worst.is_none_or(|known| {
                        self.severity_rank(phase, result.signal) > self.severity_rank(phase, known.signal)
                    });
                    if is_worse {
                        worst = Some(result);
                    }
                }
                SeatProgress::Open | SeatProgress::Held => {}
            }
        }
        match worst {
            Some(result) => {
                Combined { signal: result.signal, verdict: result.verdict, why: self.why(result) }
            }
            None => Combined {
                signal: NO_RESULT,
                verdict: NO_RESULT,
                why: Why::BelowQuorum { have: 0, need: 1, failed: None },
            },
        }
    }

    /// Ranks a signal, most severe first: security, detectors, findings by kind, verdicts from severe to mild.
    fn severity_rank(&self, phase: PhaseId, signal: SignalId) -> usize {
        if signal == SECURITY_BLOCKER {
            return 3000;
        }
        if is_detector(self.program.phase(phase), signal) {
            return 2000;
        }
        if let Some(at) = KIND_FINDINGS.iter().position(|kind| *kind == signal) {
            return 1000 - at;
        }
        self.program
            .phase(phase)
            .contracts()
            .iter()
            .filter_map(|id| self.program.contract(*id).says.iter().position(|verdict| *verdict == signal))
            .max()
            .unwrap_or(0)
    }

    fn combine_by_tally(
        &self,
        members: &[&SeatProgress],
        tally: &[TallyRow],
        quorum: Option<u16>,
    ) -> Combined {
        let signals: Vec<Option<SignalId>> = members
            .iter()
            .map(|member| match member {
                SeatProgress::Said(result) => Some(result.signal),
                SeatProgress::Failed { .. } | SeatProgress::Open | SeatProgress::Held => None,
            })
            .collect();
        let have: Vec<SignalId> = signals.iter().flatten().copied().collect();
        let need = quorum.map_or(members.len(), usize::from);
        if have.len() < need {
            let why = Why::BelowQuorum {
                have: u16::try_from(have.len()).unwrap_or(u16::MAX),
                need: u16::try_from(need).unwrap_or(u16::MAX),
                failed: first_failed(members),
            };
            return Combined { signal: NO_RESULT, verdict: NO_RESULT, why };
        }
        let overriding =
            have.iter().copied().find(|signal| *signal == SECURITY_BLOCKER || DETECTORS.contains(signal));
        if let Some(signal) = overriding {
            let why = members.iter().find_map(|member| match member {
                SeatProgress::Said(result) if result.signal == signal => Some(self.why(result)),
                SeatProgress::Said(_)
                | SeatProgress::Failed { .. }
                | SeatProgress::Open
                | SeatProgress::Held => None,
            });
            return Combined { signal, verdict: signal, why: why.unwrap_or(Why::Supposed) };
        }
        let signal = tally_of(tally, &have);
        Combined { signal, verdict: signal, why: Why::Tally { members: signals } }
    }

    fn why(&self, result: &SeatResult) -> Why {
        match result.derived {
            Derived::Plainly => Why::Said,
            Derived::OnlyMinor => Why::OnlyMinor { verdict: result.verdict },
            Derived::ByKind { assumed } => Why::ByKind { verdict: result.verdict, assumed },
            Derived::Supposed => Why::Supposed,
            Derived::SecurityBlocker => Why::SecurityBlocker {
                finding: result
                    .findings
                    .iter()
                    .filter_map(|at| self.state.findings.get(*at as usize))
                    .find(|filed| filed.finding.is_security_blocker())
                    .map_or_else(String::new, |filed| filed.finding.id.clone()),
            },
        }
    }

    /// The first detection that has a route here. A repeated finding counts only when the work is not accepted.
    fn detection(&mut self, lane: Lane, phase: PhaseId, combined: &Combined) -> Option<(SignalId, String)> {
        let found = self.lane_state(lane).detected.clone();
        let counted =
            found.and_then(|(signal, sentence)| self.routed_detection(phase, signal, combined, sentence));
        if counted.is_some() {
            return counted;
        }
        let route = self.program.phase(phase).route(combined.signal)?;
        if route.action.is_accepting() {
            return None;
        }
        let sentence = self.find_repetition(lane, phase)?;
        self.routed_detection(phase, REPEATED, combined, sentence)
    }

    fn routed_detection(
        &self,
        phase: PhaseId,
        detector: SignalId,
        combined: &Combined,
        sentence: String,
    ) -> Option<(SignalId, String)> {
        let phase = self.program.phase(phase);
        let signal = phase.detection_signal(detector, combined.verdict);
        let route = phase.route(signal)?;
        (route.action != Action::Ignore).then_some((signal, sentence))
    }

    /// Compares new findings with the open ones of the same phase. A finding is repeated when it was sent back and
    /// something has changed since.
    fn find_repetition(&mut self, lane: Lane, phase: PhaseId) -> Option<String> {
        let needed = self.program.phase(phase).repeats;
        let mut repeated = None;
        for at in self.findings_at(lane) {
            let at = at as usize;
            let Some((earlier, how)) = self.earlier_report(phase, at) else {
                continue;
            };
            let before = &self.state.findings[earlier];
            let worked_on = before.sent_at.is_some_and(|sent| sent < self.state.changes);
            let count = before.count.saturating_add(u8::from(worked_on));
            let earlier_id = before.finding.id.clone();
            let sent_to = before.sent_to;
            let origin = before.finding.injected_by.clone();
            let is_human = before.attribution == Attribution::Human;
            self.state.findings[earlier].status = FiledStatus::Superseded;
            let now = &mut self.state.findings[at];
            now.count = count;
            now.sent_to = sent_to;
            if is_human {
                now.finding.injected_by = origin;
                now.attribution = Attribution::Human;
            }
            if worked_on && count >= needed && repeated.is_none() {
                let finding = &self.state.findings[at].finding;
                repeated = Some(format!(
                    "finding {} was reported for the {} time, after it had been worked on; it repeats {earlier_id}: {how}",
                    finding.id,
                    ordinal(count),
                ));
            }
        }
        repeated
    }

    fn earlier_report(&self, phase: PhaseId, at: usize) -> Option<(usize, String)> {
        let finding = &self.state.findings[at].finding;
        let task = &self.state.findings[at].task;
        self.state.findings[..at].iter().enumerate().rev().find_map(|(earlier, filed)| {
            let is_comparable = filed.phase == phase
                && filed.task == *task
                && filed.sent_at.is_some()
                && filed.status == FiledStatus::Open;
            if !is_comparable {
                return None;
            }
            detect::same_finding(&filed.finding, finding).map(|sameness| (earlier, sameness.sentence()))
        })
    }
}

/// The first member that failed.
fn first_failed(members: &[&SeatProgress]) -> Option<FailedMember> {
    let of = u16::try_from(members.len()).unwrap_or(u16::MAX);
    members.iter().find_map(|member| match member {
        SeatProgress::Failed { failure, detail } => {
            Some(FailedMember { of, failure: *failure, detail: detail.clone() })
        }
        SeatProgress::Said(_) | SeatProgress::Open | SeatProgress::Held => None,
    })
}

/// The signal of the first tally row that holds for these signals.
pub fn tally_of(tally: &[TallyRow], have: &[SignalId]) -> SignalId {
    let count = |signal: SignalId| have.iter().filter(|member| **member == signal).count();
    tally
        .iter()
        .find(|row| match row.test {
            TallyTest::Any(signal) => count(signal) > 0,
            TallyTest::All(signal) => !have.is_empty() && count(signal) == have.len(),
            TallyTest::AtLeast(min, signal) => count(signal) >= usize::from(min),
            TallyTest::Otherwise => true,
        })
        .map_or(NO_RESULT, |row| row.signal)
}

fn ordinal(count: u8) -> String {
    match count {
        2 => String::from("second"),
        3 => String::from("third"),
        4 => String::from("fourth"),
        more => {
            let suffix = match (more % 10, more % 100) {
                (_, 11..=13) => "th",
                (1, _) => "st",
                (2, _) => "nd",
                (3, _) => "rd",
                _ => "th",
            };
            format!("{more}{suffix}")
        }
    }
}
