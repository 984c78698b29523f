//! Random agents: what a dispatch costs, what it produces, and what it reports.

use crate::defects::{DefectState, Desk, Injection, desk_key};
use crate::draws::{Drawn, normal_quantile};
use crate::model::{FAILURES, Production, SEVERITIES, whole};
use crate::run::{DispatchCost, FindingTruth, SimulatedRun, pick};
use remand_kernel::command::Dispatch;
use remand_kernel::event::{Item, Outcome, Report};
use remand_kernel::finding::{Category, Finding, Location, Severity};
use remand_kernel::ids::{CommandId, PhaseId, SignalId};
use remand_kernel::program::Contract;
use remand_kernel::signal::{Failure, NO_RESULT};

/// The lists that the work of agents and of the board produces.
const TASKS: &str = "tasks";
const GAPS: &str = "gaps";

impl SimulatedRun<'_, '_> {
    /// What tells this dispatch from all others.
    fn dispatch_key(&self, dispatch: &Dispatch) -> [u64; 5] {
        let id = dispatch.id;
        let desk = desk_key(self.desk(dispatch.task.as_deref()));
        let phase = self.model.phase(id.phase).key;
        [phase, desk, u64::from(id.visit), u64::from(id.seat), u64::from(id.attempt)]
    }

    pub(crate) fn cost(&self, dispatch: &Dispatch) -> DispatchCost {
        let phase = self.model.phase(dispatch.id.phase);
        let key = self.dispatch_key(dispatch);
        let is_repeated = dispatch.id.visit > 1;
        let (more_tokens, more_time) =
            if is_repeated { (phase.rework_tokens, phase.rework_time) } else { (1.0, 1.0) };
        // Long dispatches use many tokens.
        let own = self.draws.normal(Drawn::Usage, &key);
        let of_run = phase.tokens_run_spread * self.draws.normal(Drawn::RunUsage, &[]);
        let variance = phase.tokens_spread.powi(2) + phase.tokens_run_spread.powi(2);
        let tokens =
            phase.tokens * more_tokens * libm::exp(phase.tokens_spread * own + of_run - variance / 2.0);
        let time =
            phase.time * more_time * libm::exp(phase.time_spread * own - phase.time_spread.powi(2) / 2.0);
        let to_u64 = |value: f64| whole(value).unwrap_or_default();
        DispatchCost { tokens: to_u64(tokens), money: to_u64(tokens * phase.price), time: to_u64(time) }
    }

    /// How a dispatch ends.
    pub(crate) fn perform(&mut self, dispatch: &Dispatch) -> Outcome {
        let key = self.dispatch_key(dispatch);
        let parameters = self.model.phase(dispatch.id.phase);
        if let Some(at) = self.draws.choose(parameters.failures.iter().copied(), Drawn::Failure, &key) {
            let failure = match FAILURES[at] {
                "malformed" => Failure::Malformed,
                "timeout" => Failure::Timeout,
                "crashed" => Failure::Crashed,
                "violation" => Failure::Violation,
                _ => Failure::Environment,
            };
            return Outcome::Failed { failure, detail: String::new(), in_a_row: 1 };
        }
        let contract = self.model.program.contract(dispatch.contract);
        if dispatch.advisory {
            let success = contract.says.first().copied();
            return said(success.map_or_else(Report::default, |signal| self.saying(signal)));
        }
        let mut report = self.verdict(dispatch, contract, &key);
        self.fill(dispatch, contract, &mut report);
        said(report)
    }

    fn saying(&self, signal: SignalId) -> Report {
        Report::saying(self.model.program.signal(signal))
    }

    fn verdict(&mut self, dispatch: &Dispatch, contract: &Contract, key: &[u64; 5]) -> Report {
        let phase = dispatch.id.phase;
        let desk = self.desk(dispatch.task.as_deref());
        let success = contract.says.first().copied().unwrap_or(NO_RESULT);
        let production = self.model.phase(phase).production;
        if production == Some(Production::Code) && !contract.findings && !self.can_do(phase, desk, key) {
            let claims =
                self.draws.happens(self.model.phase(phase).claims_success, Drawn::ClaimsSuccess, key);
            if !claims && contract.says.len() > 1 {
                let others = &contract.says[1..];
                let other = pick(others, self.draws.uniform(Drawn::Verdict, key)).unwrap_or(success);
                return self.saying(other);
            }
            let injection = Injection { phase, desk, mean: 1.0, key: &key[2..] };
            self.defects.add_missing_work(self.model, self.draws, injection);
        }
        self.produce(dispatch, desk);
        if contract.findings {
            return self.review(dispatch, contract, desk);
        }
        if contract.lists.iter().any(|list| self.model.program.lists[list.index()] == GAPS) {
            let at = usize::from(self.board.open == 0).min(contract.says.len().saturating_sub(1));
            return self.saying(contract.says.get(at).copied().unwrap_or(success));
        }
        if production == Some(Production::Code) {
            return self.saying(success);
        }
        let others = &self.model.phase(phase).others;
        let other = self.draws.choose(others.iter().copied(), Drawn::Verdict, key);
        let signal = other.and_then(|at| contract.says.get(at + 1)).copied().unwrap_or(success);
        self.saying(signal)
    }

    /// Whether an agent manages its task. What it managed once, it manages again.
    fn can_do(&self, phase: PhaseId, desk: Desk, key: &[u64; 5]) -> bool {
        let fails = self.draws.happens(self.model.phase(phase).cannot, Drawn::CannotDo, key);
        self.produced.contains(&(phase, desk)) || !fails
    }

    /// Injects and removes the defects that come with the work of a dispatch.
    fn produce(&mut self, dispatch: &Dispatch, desk: Desk) {
        let (model, draws, phase) = (self.model, self.draws, dispatch.id.phase);
        let parameters = model.phase(phase);
        // Several seats of a phase produce one thing together.
        let (Some(production), 0) = (parameters.production, dispatch.id.seat) else { return };
        self.has_new_tests |= production == Production::Tests;
        let mean = parameters.inject * self.size(desk) / model.size;
        let visit = u64::from(dispatch.id.visit);
        if self.produced.insert((phase, desk)) {
            self.defects.inject(model, draws, Injection { phase, desk, mean, key: &[0] });
        } else if dispatch.findings.is_empty() {
            let renews = parameters.rework_renews;
            for defect in self.defects.of_phase(phase, desk) {
                if draws.happens(renews, Drawn::Renewal, &[defect.key, visit]) {
                    defect.state = DefectState::Gone;
                }
            }
            let injection = Injection { phase, desk, mean: mean * renews, key: &[1, visit] };
            self.defects.inject(model, draws, injection);
        }
        let mut worked_on = Vec::new();
        for (number, at) in (0_u64..).zip(&dispatch.findings) {
            let Some(filed) = self.state.findings.get(*at as usize) else { continue };
            let truth = self.truths.get(&filed.finding.id).copied();
            if let Some(FindingTruth::Defect(defect)) = truth {
                if worked_on.contains(&defect) {
                    continue;
                }
                worked_on.push(defect);
                self.defects.work_on(model, draws, defect, phase);
            }
            let injection = Injection { phase, desk, mean: parameters.fix_breaks, key: &[2, visit, number] };
            self.defects.inject(model, draws, injection);
        }
    }

    /// The number of lines of a task, or of all.
    pub(crate) fn size(&self, desk: Desk) -> f64 {
        match desk {
            Some(task) => self.sizes.get(usize::from(task)).copied().unwrap_or(self.model.size),
            None => self.sizes.iter().sum(),
        }
    }

    fn review(&mut self, dispatch: &Dispatch, contract: &Contract, desk: Desk) -> Report {
        let phase = dispatch.id.phase;
        let is_author = !contract.judges();
        let mut findings = self.real_findings(dispatch, desk, is_author);
        findings.extend(self.false_findings(dispatch, desk));
        let worst = findings.iter().map(|(severity, _)| *severity).max();
        let says = match worst.and_then(|severity| SEVERITIES.get(severity)) {
            None | Some(Severity::Minor) => contract.says.first(),
            Some(Severity::Major | Severity::Critical) if !is_author => contract.says.get(1),
            Some(_) => contract.says.last(),
        };
        let mut report = says.map_or_else(Report::default, |signal| self.saying(*signal));
        let latest = self.latest_origin(dispatch);
        for (severity, truth) in findings {
            let finding = self.finding(phase, contract, (severity, truth), latest);
            report.findings.push(finding);
        }
        report
    }

    fn latest_origin(&self, dispatch: &Dispatch) -> PhaseId {
        let lane = self.state.lane_state(dispatch.id.lane);
        lane.and_then(|lane| lane.caller).unwrap_or(dispatch.id.phase).max(dispatch.id.phase)
    }

    /// The defects that a reviewer finds, with their severities.
    fn real_findings(&self, dispatch: &Dispatch, desk: Desk, is_author: bool) -> Vec<(usize, FindingTruth)> {
        let phase = dispatch.id.phase;
        let parameters = self.model.phase(phase);
        let latest = self.latest_origin(dispatch);
        let scale = self.findings_scale(dispatch.id);
        let lines = (self.size(desk) / self.model.size).max(1.0);
        let size = libm::pow(lines, -parameters.recall_size);
        let thresholds = parameters.recall.map(|recall| normal_quantile(scaled_odds(recall * size, scale)));
        let (common, own) = (parameters.common_cause.sqrt(), (1.0 - parameters.common_cause).sqrt());
        let look = [parameters.key, u64::from(dispatch.id.visit), u64::from(dispatch.id.seat)];
        let is_found = |(at, defect): (usize, &crate::defects::Defect)| {
            let is_here = desk.is_none() || defect.desk.is_none() || defect.desk == desk;
            let is_before = if is_author { defect.origin < phase } else { defect.origin <= latest };
            if defect.state != DefectState::Present || !is_here || !is_before {
                return None;
            }
            let key = [defect.key, look[0], look[1], look[2]];
            let sight = common * defect.difficulty + own * self.draws.normal(Drawn::Look, &key);
            (sight < thresholds[defect.severity]).then_some((defect.severity, FindingTruth::Defect(at)))
        };
        self.defects.all.iter().enumerate().filter_map(is_found).collect()
    }

    /// How much more likely a review or check is to find something.
    pub(crate) fn findings_scale(&self, id: CommandId) -> f64 {
        let parameters = self.model.phase(id.phase);
        let later = if id.visit > 1 { parameters.findings_later } else { 1.0 };
        parameters.findings_scale * later
    }

    fn false_findings(&self, dispatch: &Dispatch, desk: Desk) -> Vec<(usize, FindingTruth)> {
        let parameters = self.model.phase(dispatch.id.phase);
        let lines = (self.size(desk) / self.model.size).max(1.0);
        let scale = self.findings_scale(dispatch.id) * libm::pow(lines, parameters.false_alarm_size);
        let key = self.dispatch_key(dispatch);
        let mut findings = Vec::new();
        for (severity, mean) in parameters.false_alarms.iter().enumerate() {
            let key = [&key[..], &[severity as u64]].concat();
            for _ in 0..self.draws.count(mean * scale, Drawn::FalseAlarm, &key) {
                findings.push((severity, FindingTruth::FalseAlarm));
            }
        }
        findings
    }

    /// The report of a defect, or of nothing.
    pub(crate) fn finding(
        &mut self,
        phase: PhaseId,
        contract: &Contract,
        (severity, truth): (usize, FindingTruth),
        latest: PhaseId,
    ) -> Finding {
        let number = self.truths.len() + 1;
        let id = format!("F{number}");
        let key = match truth {
            FindingTruth::Defect(at) => self.defects.all[at].key,
            FindingTruth::FalseAlarm => number as u64,
        };
        let origin = self.named_origin(phase, truth, key, latest);
        let defect = match truth {
            FindingTruth::Defect(at) => self.defects.all.get(at),
            FindingTruth::FalseAlarm => None,
        };
        let is_security = defect.is_some_and(|defect| defect.is_security);
        let task = defect.and_then(|defect| defect.desk).and_then(|task| self.tasks.get(usize::from(task)));
        let task = task.map(|item| item.id.clone());
        let repeats = match truth {
            FindingTruth::Defect(at) => self.last_reports.insert((at, phase), id.clone()),
            FindingTruth::FalseAlarm => None,
        };
        self.truths.insert(id.clone(), truth);
        let kind = origin.and_then(|origin| self.model.phase(origin).production).map(Production::kind);
        Finding {
            severity: SEVERITIES[severity],
            category: if is_security { Category::Security } else { Category::Correctness },
            kind: kind.filter(|_| contract.by_kind),
            injected_by: origin
                .filter(|origin| self.model.program.injects.contains(origin))
                .map(|origin| vec![self.model.program.phase(origin).name.clone()])
                .unwrap_or_default(),
            task,
            // Different defects are in different files, so only a named repetition is one.
            place: Location { file: format!("file-{key}"), symbol: id.clone(), line: 0 },
            claim: String::new(),
            evidence: String::new(),
            impact: String::new(),
            recommendation: String::new(),
            patch: None,
            repeats,
            id,
        }
    }

    /// The origin that a reviewer names: the real one, another one, or none.
    fn named_origin(
        &self,
        phase: PhaseId,
        truth: FindingTruth,
        key: u64,
        latest: PhaseId,
    ) -> Option<PhaseId> {
        let parameters = self.model.phase(phase);
        let key = [key, parameters.key];
        if self.draws.happens(parameters.attribution_unknown, Drawn::OriginKnown, &key) {
            return None;
        }
        let real = match truth {
            FindingTruth::Defect(at) => self.defects.all.get(at).map(|defect| defect.origin),
            FindingTruth::FalseAlarm => None,
        };
        let possible = self.model.origins().into_iter().filter(|origin| *origin <= latest);
        let others: Vec<PhaseId> = possible.filter(|origin| Some(*origin) != real).collect();
        let drawn = self.draws.uniform(Drawn::Origin, &key);
        let error = parameters.attribution_error;
        match real {
            Some(real) if drawn >= error || others.is_empty() => Some(real),
            Some(_) => pick(&others, drawn / error.max(f64::EPSILON)),
            None => pick(&others, drawn),
        }
    }

    /// Adds what a dispatch writes, the lists that it produces, and flags.
    fn fill(&mut self, dispatch: &Dispatch, contract: &Contract, report: &mut Report) {
        let program = self.model.program;
        let phase = program.phase(dispatch.id.phase);
        for artifact in &phase.writes {
            let digest = self.fresh_digest();
            report.wrote.push((program.artifacts[artifact.index()].clone(), digest));
        }
        for list in &contract.lists {
            let name = &program.lists[list.index()];
            let items = match name.as_str() {
                TASKS => self.tasks.clone(),
                GAPS => items(name, self.board.open),
                _ => items(name, 2),
            };
            report.lists.push((name.clone(), items));
        }
        let key = self.dispatch_key(dispatch);
        report.flags = self.flags(phase.sets.iter().map(|flag| program.flags[flag.index()].as_str()), &key);
    }
}

/// Items of a list.
pub(crate) fn items(list: &str, count: u16) -> Vec<Item> {
    (1..=count).map(|at| Item { id: format!("{list}-{at}"), ..Item::default() }).collect()
}

pub(crate) fn said(report: Report) -> Outcome {
    Outcome::Said(Box::new(report))
}

/// A probability whose odds are multiplied.
pub(crate) fn scaled_odds(probability: f64, scale: f64) -> f64 {
    let odds = probability * scale;
    (odds / (odds + 1.0 - probability).max(f64::EPSILON)).clamp(1e-9, 1.0 - 1e-9)
}
