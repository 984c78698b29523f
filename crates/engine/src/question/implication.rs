//! What follows from each option of a gate, for someone who has never seen the workflow.

use super::counted::counted;
use super::plan::PlanOverview;
use remand_kernel::ids::{BudgetId, PhaseId};
use remand_kernel::program::{Action, Effect, Items, Program, Route, Work};
use remand_kernel::resolve;
use remand_ledger::query::{GateKind, GateOption, GateRow};
use remand_ledger::view::BudgetLeft;
use remand_ledger::{LimitKind, RunDetail};

/// What the implications of a gate are computed from.
pub(super) struct Implications<'r> {
    pub program: &'r Program,
    /// `None` if the ledger has no details of the run.
    pub detail: Option<&'r RunDetail>,
    /// The plan that the gate asks about.
    pub plan: Option<&'r PlanOverview>,
}

/// What an option of a hold does.
pub(super) fn of_hold(option: &GateOption, gate: &GateRow) -> String {
    if gate.kind == GateKind::Origin && option.name == "go-on" {
        return "sends each defect back to the phase that injected it; what depends on it runs again"
            .to_string();
    }
    of_limit(option, gate.limit_kind)
}

fn of_limit(option: &GateOption, limit: Option<LimitKind>) -> String {
    match (option.name.as_str(), limit) {
        ("go-on", Some(limit)) if limit.has_amount() => format!(
            "continues, and grants the {} limit once more; `--grant AMOUNT` grants another amount",
            limit.name()
        ),
        ("go-on", Some(LimitKind::UnknownTokens | LimitKind::UnknownCosts)) => {
            "continues although some usage is unknown; no limit changes".to_string()
        }
        ("go-on", Some(_) | None) => "continues the run".to_string(),
        ("stop", _) => "ends the run; the work so far is kept".to_string(),
        (other, _) => other.to_string(),
    }
}

impl Implications<'_> {
    /// What follows if this option is chosen.
    pub(super) fn of(&self, gate: &GateRow, option: &GateOption) -> String {
        let route = match gate.kind {
            GateKind::Hold | GateKind::Origin => None,
            GateKind::Phase => self.program.phase_named(&gate.phase).and_then(|phase| {
                let signal = self.program.signal_named(&option.name)?;
                Some((phase, self.program.phase(phase).route(signal)?))
            }),
        };
        match route {
            Some((phase, route)) => self.of_route(phase, route),
            None => of_hold(option, gate),
        }
    }

    fn of_route(&self, phase: PhaseId, route: &Route) -> String {
        let mut parts = vec![self.of_action(phase, &route.action)];
        parts.extend(route.effect.map(of_effect).map(str::to_string));
        parts.extend(route.spends.iter().filter_map(|budget| self.of_budget(*budget)));
        parts.join("; ")
    }

    fn of_action(&self, phase: PhaseId, action: &Action) -> String {
        match action {
            Action::Next => match self.ahead(phase) {
                Some(ahead) => format!("continues with {ahead}"),
                None => "continues with the next phase".to_string(),
            },
            Action::To(target) => format!("continues with {}", self.from(*target)),
            Action::Remand(target) => format!(
                "sends the work and your note back to {}; what depends on it runs again",
                self.from(*target)
            ),
            Action::RemandInjector => {
                "sends the findings and your note back to the phase that caused them; what depends on it runs again"
                    .to_string()
            }
            Action::Restore(target) => {
                format!("undoes this round, and starts it again at {}", self.phase(*target))
            }
            Action::Return => "continues after the phase that led to this question".to_string(),
            Action::Raise(signal) => format!("ends the task with {}", self.program.signal(*signal)),
            Action::Done => "ends the run: done".to_string(),
            Action::Fail => "ends the run as failed; the work so far is kept".to_string(),
            Action::Stop(why) if why.is_empty() => "ends the run; the work so far is kept".to_string(),
            Action::Stop(why) => format!("ends the run: {why}; the work so far is kept"),
            Action::Hold => "stops here until you resume; then the same question is asked again".to_string(),
            Action::Ignore => "changes nothing".to_string(),
        }
    }

    fn of_budget(&self, budget: BudgetId) -> Option<String> {
        let name = &self.program.budget(budget).name;
        let BudgetLeft { left, full, .. } = self.detail?.budgets.iter().find(|row| row.budget == *name)?;
        Some(format!("leaves {} of {full} in budget {name}", left.saturating_sub(1)))
    }

    /// The phases that follow, up to the first one with agents or a question. The list ends before a phase with a
    /// condition, because the condition can change.
    fn ahead(&self, from: PhaseId) -> Option<String> {
        let mut names = Vec::new();
        let mut at = from;
        while let Some(next) = resolve::following(self.program, at, |_| true) {
            let phase = self.program.phase(next);
            if phase.when.is_some() {
                break;
            }
            names.push(self.phase(next));
            if !matches!(phase.work, Work::Operation { .. }) {
                break;
            }
            at = next;
        }
        (!names.is_empty()).then(|| names.join(", then "))
    }

    /// A phase and, if it is an operation that leads to an aside, the aside.
    fn from(&self, id: PhaseId) -> String {
        let phase = self.program.phase(id);
        let aside = match &phase.work {
            Work::Operation { operation } => {
                let success = self.program.operation(*operation).results.first();
                match success.and_then(|signal| phase.route(*signal)).map(|route| &route.action) {
                    Some(Action::To(aside)) => Some(*aside),
                    _ => None,
                }
            }
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Flow { .. }
            | Work::Ask { .. } => None,
        };
        match aside {
            Some(aside) => format!("{}, then {}", self.phase(id), self.phase(aside)),
            None => self.phase(id),
        }
    }

    /// A phase with the number of agents that it starts.
    fn phase(&self, id: PhaseId) -> String {
        let phase = self.program.phase(id);
        let work = match &phase.work {
            Work::Role { .. } => Some("1 agent".to_string()),
            Work::Each { items: Items::Fixed(items), .. } => Some(counted(items.len(), "agent")),
            Work::Each { items: Items::Listed { up_to, .. }, .. } => Some(format!("up to {up_to} agents")),
            Work::Panel { members, advisors } => Some(counted(members.len() + advisors.len(), "agent")),
            Work::Flow { at_once, .. } => Some(match self.plan {
                Some(plan) => format!("{}, at most {at_once} at once", counted(plan.tasks.len(), "task")),
                None => format!("at most {at_once} tasks at once"),
            }),
            Work::Operation { .. } | Work::Ask { .. } => None,
        };
        match work {
            Some(work) => format!("{} ({work})", phase.name),
            None => phase.name.clone(),
        }
    }
}

fn of_effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Dissent => "open findings are recorded as dissent, and the confidence is at most medium",
        Effect::Degradation => "the confidence is at most medium",
        Effect::Constraints => "open findings bind the next phase, and the confidence is at most medium",
        Effect::Blockers => "open findings become known issues, and the confidence is low",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CORE-07
    #[test]
    fn continuing_past_a_limit_says_how_much_it_grants() {
        let option = GateOption { name: "go-on".to_string(), action: None };
        assert_eq!(
            of_limit(&option, Some(LimitKind::Money)),
            "continues, and grants the money limit once more; `--grant AMOUNT` grants another amount"
        );
        assert_eq!(
            of_limit(&option, Some(LimitKind::UnknownTokens)),
            "continues although some usage is unknown; no limit changes"
        );
        assert_eq!(of_limit(&option, Some(LimitKind::AgentBudget)), "continues the run");
        assert_eq!(of_limit(&option, None), "continues the run");
    }
}
