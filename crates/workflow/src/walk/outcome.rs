//! Creates the outcomes for a step of a walk: a verdict per seat, with everything that the engine would observe.

use super::combination::verdicts_for;
use super::walk_step::{Says, WalkError, WalkStep};
use super::walker::Walker;
use remand_kernel::change::Digest;
use remand_kernel::command::Command;
use remand_kernel::event::{Outcome, Report};
use remand_kernel::ids::{CommandId, PhaseId, SignalId};
use remand_kernel::program::Work;
use remand_kernel::signal::{Failure, SPENT};

/// In a walk, an environment failure counts as the last of a series, so that it leads to a hold.
const ENVIRONMENT_IN_A_ROW: u16 = 3;

impl Walker<'_> {
    /// One outcome per seat.
    pub(super) fn outcomes(
        &mut self,
        step: &WalkStep,
        seats: &[Command],
    ) -> Result<Vec<(Outcome, String)>, WalkError> {
        let members = seats.iter().filter(|seat| !is_advisory(seat)).count();
        let verdicts: Vec<String> = match &step.says {
            Says::Members(verdicts) => {
                if verdicts.len() != members {
                    let (phase, given) = (step.phase.clone(), verdicts.len());
                    return Err(WalkError::WrongCount { phase, given, members });
                }
                verdicts.clone()
            }
            Says::Signal(signal) if members == 1 => vec![signal.clone()],
            Says::Signal(signal) => self.member_verdicts(step, signal, seats, members)?,
        };
        // Findings belong to the members that object, or to the first if none does.
        let objects = |index: usize| {
            let happy = seats
                .get(index)
                .and_then(Command::id)
                .and_then(|id| self.possible_results(id).first().copied());
            happy.is_some_and(|happy| self.program.signal(happy) != verdicts[index])
        };
        let objecting: Vec<bool> = (0..verdicts.len()).map(objects).collect();
        let nobody_objects = !objecting.contains(&true);
        let mut verdicts = verdicts.into_iter();
        let mut outcomes = Vec::new();
        for (index, seat) in seats.iter().enumerate() {
            let Some(id) = seat.id() else {
                continue;
            };
            let says = if is_advisory(seat) {
                let happy = self.possible_results(id).first().copied();
                happy.map_or_else(String::new, |signal| self.program.signal(signal).to_string())
            } else {
                verdicts.next().unwrap_or_default()
            };
            let has_findings =
                objecting.get(index).is_some_and(|objects| *objects || (nobody_objects && index == 0));
            let mut details = if is_advisory(seat) { WalkStep::default() } else { step.clone() };
            if !has_findings {
                details.findings.clear();
            }
            let outcome = self.outcome(id, &says, &details, index)?;
            outcomes.push((outcome, says));
        }
        Ok(outcomes)
    }

    /// Member verdicts that combine into a signal.
    pub(super) fn member_verdicts(
        &self,
        step: &WalkStep,
        signal: &str,
        seats: &[Command],
        members: usize,
    ) -> Result<Vec<String>, WalkError> {
        let phase = seats.first().and_then(Command::id).map_or(PhaseId(0), |id| id.phase);
        let wanted = self.program.signal_named(signal);
        if let Some(wanted) = wanted
            && let Some(verdicts) = verdicts_for(self.program, phase, members, wanted)
        {
            return Ok(verdicts.iter().map(|verdict| self.program.signal(*verdict).to_string()).collect());
        }
        if failure(signal).is_some()
            || wanted.is_some_and(|wanted| self.program.phase(phase).route(wanted).is_some())
        {
            return Ok(vec![signal.to_string(); members]);
        }
        Err(self.not_possible(&step.phase, signal, phase))
    }

    pub(super) fn outcome(
        &mut self,
        id: CommandId,
        says: &str,
        step: &WalkStep,
        seat: usize,
    ) -> Result<Outcome, WalkError> {
        let signal = self.program.signal_named(says);
        // `conflict` is both a result of merging and a failure; a possible result takes precedence.
        if signal.is_some_and(|signal| self.possible_results(id).contains(&signal)) {
            return Ok(Outcome::Said(Box::new(self.report(id, says, step, seat))));
        }
        if let Some(failure) = failure(says) {
            // A hold shows its cause, so the detail must not be empty.
            let needs_detail = step.note.is_empty() && failure == Failure::Environment;
            let detail = if needs_detail { "stated by the walk".to_string() } else { step.note.clone() };
            return Ok(Outcome::Failed { failure, detail, in_a_row: ENVIRONMENT_IN_A_ROW });
        }
        // `spent` follows from a budget; it is never a result.
        let routed =
            |signal: &SignalId| *signal != SPENT && self.program.phase(id.phase).route(*signal).is_some();
        match signal.filter(routed) {
            Some(signal) => Ok(Outcome::Supposed(signal)),
            // Any result is possible for a failure operation.
            None if id.visit == 0 => Ok(Outcome::Said(Box::new(Report::saying(says)))),
            None => Err(self.not_possible(&self.program.phase(id.phase).name, says, id.phase)),
        }
    }

    pub(super) fn report(&mut self, id: CommandId, says: &str, step: &WalkStep, seat: usize) -> Report {
        let phase = self.program.phase(id.phase);
        let mut wrote = Vec::new();
        for artifact in &phase.writes {
            let digest = if step.unchanged { self.state.digest(*artifact) } else { self.new_digest() };
            wrote.push((self.program.artifacts[artifact.index()].clone(), digest));
        }
        let produced: Vec<&String> = match &phase.work {
            Work::Operation { operation } => self
                .program
                .operation(*operation)
                .lists
                .iter()
                .map(|list| &self.program.lists[list.index()])
                .collect(),
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Flow { .. }
            | Work::Ask { .. } => phase
                .contracts()
                .iter()
                .flat_map(|contract| self.program.contract(*contract).lists.iter())
                .map(|list| &self.program.lists[list.index()])
                .collect(),
        };
        let lists = produced
            .into_iter()
            .filter_map(|name| {
                let from_step = step.lists.iter().find(|(list, _)| list == name);
                from_step.or_else(|| self.lists.iter().find(|(list, _)| list == name)).cloned()
            })
            .collect();
        Report {
            says: says.to_string(),
            findings: step.findings.clone(),
            wrote,
            change: step.change.clone(),
            tests: step.tests.clone(),
            approach: step.approach.clone(),
            lists,
            flags: step.flags.clone(),
            disputes: step.disputes,
            model: step.models.get(seat).cloned(),
            ..Report::default()
        }
    }

    pub(super) fn new_digest(&mut self) -> Digest {
        self.last_digest += 1;
        Digest(self.last_digest)
    }

    pub(super) fn possible_results(&self, id: CommandId) -> Vec<SignalId> {
        match &self.program.phase(id.phase).work {
            Work::Operation { operation } if id.visit > 0 => {
                self.program.operation(*operation).results.clone()
            }
            Work::Role { contract, .. } | Work::Each { contract, .. } => {
                self.program.contract(*contract).says.clone()
            }
            Work::Panel { members, advisors } => {
                let contract = members.iter().chain(advisors).nth(usize::from(id.seat));
                contract.map_or_else(Vec::new, |contract| self.program.contract(*contract).says.clone())
            }
            Work::Operation { .. } | Work::Flow { .. } | Work::Ask { .. } => Vec::new(),
        }
    }

    pub(super) fn not_possible(&self, phase: &str, signal: &str, id: PhaseId) -> WalkError {
        let routes = &self.program.phase(id).routes;
        WalkError::NotPossible {
            phase: phase.to_string(),
            signal: signal.to_string(),
            possible: routes
                .iter()
                .map(|(signal, _)| *signal)
                .filter(|signal| *signal != SPENT)
                .map(|signal| self.program.signal(signal).to_string())
                .collect(),
        }
    }
}

fn is_advisory(command: &Command) -> bool {
    matches!(command, Command::Dispatch(dispatch) if dispatch.advisory)
}

fn failure(name: &str) -> Option<Failure> {
    Failure::ALL.into_iter().find(|failure| failure.name() == name)
}
