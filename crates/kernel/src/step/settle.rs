//! The end of a phase: its members' answers become one signal, in the order of precedence of the law.

use super::Stepper;
use super::follow::Ruled;
use crate::detect;
use crate::ids::{Lane, PhaseId, SignalId};
use crate::program::{Action, Effect, TallyRow, TallyTest, Work, is_detector};
use crate::ruling::{Rule, Why};
use crate::signal::{DETECTORS, KIND_FINDINGS, NO_RESULT, REPEATED, SECURITY_BLOCKER};
use crate::state::{Answer, Attribution, Derived, FiledStatus, Progress};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What the members of a phase amount to.
struct Sum {
    signal: SignalId,
    verdict: SignalId,
    why: Why,
}

impl Stepper<'_> {
    /// Settles the phase at a desk: no-result, then a security blocker, then the detectors, then the verdict.
    pub(super) fn settle(&mut self, lane: Lane) {
        let phase = self.desk(lane).phase;
        let mut sum = self.sum_up(lane);
        let final_word = sum.signal == NO_RESULT || sum.signal == SECURITY_BLOCKER;
        if !final_word && let Some((signal, sentence)) = self.detection(lane, phase, &sum) {
            sum.signal = signal;
            sum.why = Why::Detected { sentence };
        }
        if sum.signal != NO_RESULT {
            self.remember(lane, sum.signal);
        }
        let line = self.program.phase(phase).route(sum.signal).map_or(0, |route| route.line);
        self.settle_as(lane, Ruled { signal: sum.signal, rule: Rule::Route { line }, why: sum.why });
    }

    /// The open findings of the members that have a say, as positions.
    pub(super) fn findings_at(&self, lane: Lane) -> Vec<u32> {
        let mut all = self.all_findings_at(lane);
        all.retain(|at| {
            let status = self.state.findings.get(*at as usize).map(|filed| filed.status);
            matches!(status, Some(FiledStatus::Open | FiledStatus::PassedOn))
        });
        all
    }

    /// What goes back with rejected work: the open findings, or the minor ones when there are no others.
    pub(super) fn findings_to_send(&self, lane: Lane) -> Vec<u32> {
        let open = self.findings_at(lane);
        if open.is_empty() { self.all_findings_at(lane) } else { open }
    }

    fn all_findings_at(&self, lane: Lane) -> Vec<u32> {
        self.desk(lane)
            .seats
            .iter()
            .filter(|seat| !seat.advisory)
            .filter_map(|seat| match &seat.progress {
                Progress::Said(answer) => Some(answer),
                Progress::Open | Progress::Held | Progress::Failed { .. } => None,
            })
            .flat_map(|answer| answer.findings.iter().copied())
            .collect()
    }

    /// Members that should have run on different models but did not: a degradation (EP-08).
    pub(super) fn lacks_diversity(&self, lane: Lane) -> Option<Effect> {
        let desk = self.desk(lane);
        let Work::Each { diverse: true, .. } = &self.program.phase(desk.phase).work else {
            return None;
        };
        let mut models: Vec<&str> = Vec::new();
        for seat in &desk.seats {
            if let Progress::Said(Answer { model: Some(model), .. }) = &seat.progress {
                if models.contains(&model.as_str()) {
                    return Some(Effect::Degradation);
                }
                models.push(model);
            }
        }
        None
    }

    fn sum_up(&self, lane: Lane) -> Sum {
        let desk = self.desk(lane);
        let members: Vec<&Progress> =
            desk.seats.iter().filter(|seat| !seat.advisory).map(|seat| &seat.progress).collect();
        match &self.program.phase(desk.phase).work {
            Work::Each { tally, quorum, .. } => self.sum_up_tally(&members, tally, *quorum),
            Work::Role { .. }
            | Work::Panel { .. }
            | Work::Operation { .. }
            | Work::Ask { .. }
            | Work::Flow { .. } => self.gravest(desk.phase, &members),
        }
    }

    /// Of a single member its signal; of a panel the gravest.
    fn gravest(&self, phase: PhaseId, members: &[&Progress]) -> Sum {
        let mut gravest: Option<&Answer> = None;
        for member in members {
            match member {
                Progress::Failed { failure, detail } => {
                    let why = Why::Failed { failure: *failure, detail: detail.clone() };
                    return Sum { signal: NO_RESULT, verdict: NO_RESULT, why };
                }
                Progress::Said(answer) => {
                    let graver = gravest.is_none_or(|known| {
                        self.gravity(phase, answer.signal) > self.gravity(phase, known.signal)
                    });
                    if graver {
                        gravest = Some(answer);
                    }
                }
                Progress::Open | Progress::Held => {}
            }
        }
        match gravest {
            Some(answer) => Sum { signal: answer.signal, verdict: answer.verdict, why: self.why(answer) },
            None => Sum { signal: NO_RESULT, verdict: NO_RESULT, why: Why::BelowQuorum { have: 0, need: 1 } },
        }
    }

    /// How grave a signal is: security first, then detectors, then findings by kind, then verdicts as listed.
    fn gravity(&self, phase: PhaseId, signal: SignalId) -> usize {
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
            .filter_map(|id| self.program.contract(*id).says.iter().position(|said| *said == signal))
            .max()
            .unwrap_or(0)
    }

    fn sum_up_tally(&self, members: &[&Progress], tally: &[TallyRow], quorum: Option<u16>) -> Sum {
        let signals: Vec<Option<SignalId>> = members
            .iter()
            .map(|member| match member {
                Progress::Said(answer) => Some(answer.signal),
                Progress::Failed { .. } | Progress::Open | Progress::Held => None,
            })
            .collect();
        let have: Vec<SignalId> = signals.iter().flatten().copied().collect();
        let need = quorum.map_or(members.len(), usize::from);
        if have.len() < need {
            let why = Why::BelowQuorum {
                have: u16::try_from(have.len()).unwrap_or(u16::MAX),
                need: u16::try_from(need).unwrap_or(u16::MAX),
            };
            return Sum { signal: NO_RESULT, verdict: NO_RESULT, why };
        }
        let supposed =
            have.iter().copied().find(|signal| *signal == SECURITY_BLOCKER || DETECTORS.contains(signal));
        if let Some(signal) = supposed {
            let blocker = members.iter().find_map(|member| match member {
                Progress::Said(answer) if answer.signal == signal => Some(self.why(answer)),
                Progress::Said(_) | Progress::Failed { .. } | Progress::Open | Progress::Held => None,
            });
            return Sum { signal, verdict: signal, why: blocker.unwrap_or(Why::Supposed) };
        }
        let signal = tally_of(tally, &have);
        Sum { signal, verdict: signal, why: Why::Tally { members: signals } }
    }

    fn why(&self, answer: &Answer) -> Why {
        match answer.derived {
            Derived::Plainly => Why::Said,
            Derived::OnlyMinor => Why::OnlyMinor { verdict: answer.verdict },
            Derived::ByKind { assumed } => Why::ByKind { verdict: answer.verdict, assumed },
            Derived::Supposed => Why::Supposed,
            Derived::SecurityBlocker => Why::SecurityBlocker {
                finding: answer
                    .findings
                    .iter()
                    .filter_map(|at| self.state.findings.get(*at as usize))
                    .find(|filed| filed.finding.is_security_blocker())
                    .map_or_else(String::new, |filed| filed.finding.id.clone()),
            },
        }
    }

    /// The first detector that counts here. One about findings counts only when the work is not accepted.
    fn detection(&mut self, lane: Lane, phase: PhaseId, sum: &Sum) -> Option<(SignalId, String)> {
        let found = self.desk(lane).detected.clone();
        let counted = found.and_then(|(signal, sentence)| self.counting(phase, signal, sum, sentence));
        if counted.is_some() {
            return counted;
        }
        let route = self.program.phase(phase).route(sum.signal)?;
        if route.action.is_accepting() {
            return None;
        }
        let sentence = self.repetition(lane, phase)?;
        self.counting(phase, REPEATED, sum, sentence)
    }

    fn counting(
        &self,
        phase: PhaseId,
        detector: SignalId,
        sum: &Sum,
        sentence: String,
    ) -> Option<(SignalId, String)> {
        let phase = self.program.phase(phase);
        let signal = phase.detected(detector, sum.verdict);
        let route = phase.route(signal)?;
        (route.action != Action::Ignore).then_some((signal, sentence))
    }

    /// Sets new findings against the open ones of the same phase. A finding counts as reported again when work
    /// was addressed to it and something changed since (CORE-12).
    fn repetition(&mut self, lane: Lane, phase: PhaseId) -> Option<String> {
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
            let first = before.finding.id.clone();
            let sent_to = before.sent_to;
            let origin = before.finding.injected_by.clone();
            let by_human = before.attribution == Attribution::Human;
            self.state.findings[earlier].status = FiledStatus::Superseded;
            let now = &mut self.state.findings[at];
            now.count = count;
            now.sent_to = sent_to;
            if by_human {
                now.finding.injected_by = origin;
                now.attribution = Attribution::Human;
            }
            if worked_on && count >= needed && repeated.is_none() {
                let finding = &self.state.findings[at].finding;
                repeated = Some(format!(
                    "finding {} is reported for the {} time after work addressed to it: the same as {first}, {how}",
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
            let comparable = filed.phase == phase
                && filed.task == *task
                && filed.sent_at.is_some()
                && filed.status == FiledStatus::Open;
            if !comparable {
                return None;
            }
            detect::same_finding(&filed.finding, finding).map(|sameness| (earlier, sameness.sentence()))
        })
    }
}

/// The first row of a tally that holds for the signals that came back.
pub fn tally_of(tally: &[TallyRow], have: &[SignalId]) -> SignalId {
    let count = |signal: SignalId| have.iter().filter(|said| **said == signal).count();
    tally
        .iter()
        .find(|row| match row.test {
            TallyTest::Any(signal) => count(signal) > 0,
            TallyTest::All(signal) => !have.is_empty() && count(signal) == have.len(),
            TallyTest::AtLeast(least, signal) => count(signal) >= usize::from(least),
            TallyTest::Otherwise => true,
        })
        .map_or(NO_RESULT, |row| row.signal)
}

fn ordinal(count: u8) -> String {
    match count {
        2 => String::from("second"),
        3 => String::from("third"),
        4 => String::from("fourth"),
        more => format!("{more}th"),
    }
}
