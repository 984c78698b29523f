//! Parts of a program as written in the workflow file: routes, budgets, conditions, and who does a phase.

use remand_kernel::ids::{BudgetId, ContractId, PhaseId, SignalId};
use remand_kernel::program::{
    Budget, BudgetSize, Comparison, Condition, Confidence, Fact, Items, Nearest, Order, Phase, Program,
    Route, Scope, Work, is_detector,
};

use remand_kernel::view::action_words;

/// The name under which a phase spends its own rounds.
const ROUND: &str = "round";

/// A route as written in the file: `remand plan spending plan-rework, else fail`.
pub fn route_phrase(program: &Program, phase: PhaseId, route: &Route) -> String {
    route_at(program, Some(phase), route)
}

/// What happens when a budget is empty, as written in the file; `None` if the budget has no such route.
pub fn then_phrase(program: &Program, budget: &Budget) -> Option<String> {
    budget.then.as_ref().map(|route| route_at(program, None, route))
}

fn route_at(program: &Program, phase: Option<PhaseId>, route: &Route) -> String {
    let mut text = action_words(program, &route.action);
    if !route.spends.is_empty() {
        let names: Vec<&str> = route.spends.iter().map(|id| spent_name(program, phase, *id)).collect();
        text.push_str(&format!(" spending {}", names.join(", ")));
    }
    if let Some(effect) = route.effect {
        text.push_str(&format!(" with {}", effect.name()));
    }
    if let Some(otherwise) = &route.otherwise {
        text.push_str(&format!(", else {}", route_at(program, phase, otherwise)));
    }
    text
}

/// A budget's name as routes of this phase write it.
pub fn budget_name(program: &Program, phase: PhaseId, id: BudgetId) -> &str {
    spent_name(program, Some(phase), id)
}

fn spent_name(program: &Program, phase: Option<PhaseId>, id: BudgetId) -> &str {
    let is_round = phase.is_some_and(|phase| program.phase(phase).round == Some(id));
    if is_round { ROUND } else { &program.budget(id).name }
}

/// The size of a budget: `3`, or `10 or gaps / 2`.
pub fn size_phrase(program: &Program, size: BudgetSize) -> String {
    match size {
        BudgetSize::Fixed(size) => size.to_string(),
        BudgetSize::Share { floor, list, divisor, free } => {
            let list = program.lists.get(list.index()).map_or("?", String::as_str);
            let rounds = if free > 0 { " rounds" } else { "" };
            format!("{floor} or {list} / {divisor}{rounds}")
        }
    }
}

/// When a budget is refilled: `per run`, `per entry of plan-review`.
pub fn scope_phrase(program: &Program, scope: Scope) -> String {
    match scope {
        Scope::Entry(id) => format!("per entry of {}", program.phase(id).name),
        Scope::Phase(id) => format!("per {}", program.phase(id).name),
        Scope::Run => "per run".to_string(),
        Scope::Subject => "per subject".to_string(),
    }
}

/// A condition as written in the file: `tasks > 1 and confidence >= medium`.
pub fn condition_phrase(program: &Program, condition: &Condition) -> String {
    let parts: Vec<String> = condition.all.iter().map(|one| comparison_phrase(program, one)).collect();
    parts.join(" and ")
}

fn comparison_phrase(program: &Program, comparison: &Comparison) -> String {
    let value = comparison.value;
    let level =
        |names: [&str; 3]| names.get(usize::from(value)).map_or(value.to_string(), ToString::to_string);
    let (fact, value) = match comparison.fact {
        Fact::Flag(flag) => {
            let name = program.flags.get(flag.index()).map_or("?", String::as_str);
            return if comparison.holds(1) { name.to_string() } else { format!("not {name}") };
        }
        Fact::Count(list) => (program.lists.get(list.index()).map_or("?", String::as_str), value.to_string()),
        Fact::Left(budget) => (program.budget(budget).name.as_str(), value.to_string()),
        Fact::Confidence => {
            let names = [Confidence::Low, Confidence::Medium, Confidence::High].map(Confidence::name);
            ("confidence", level(names))
        }
        Fact::Mode => ("mode", level(["autonomous", "interactive", "?"])),
        Fact::Risk => ("risk", level(["green", "yellow", "red"])),
    };
    format!("{fact} {} {value}", order_sign(comparison.order))
}

fn order_sign(order: Order) -> &'static str {
    match order {
        Order::Below => "<",
        Order::AtMost => "<=",
        Order::Equal => "=",
        Order::Unequal => "!=",
        Order::AtLeast => ">=",
        Order::Above => ">",
    }
}

/// Who does a phase: `check/code`, `each of 4: researcher`, `panel: check; advisor: simplify`, `do: checks`.
pub fn who(program: &Program, phase: &Phase) -> String {
    match &phase.work {
        Work::Role { contract, nearest } => {
            let title = program.contract(*contract).title();
            match nearest {
                Nearest::Named => title,
                Nearest::Caller => format!("{title}, as caller"),
            }
        }
        Work::Each { contract, items, .. } => {
            let title = program.contract(*contract).title();
            match items {
                Items::Fixed(names) => format!("each of {}: {title}", names.len()),
                Items::Listed { list, up_to } => {
                    let list = program.lists.get(list.index()).map_or("?", String::as_str);
                    format!("each of {list}, up to {up_to}: {title}")
                }
            }
        }
        Work::Panel { members, advisors } => {
            let mut text = format!("panel: {}", titles(program, members));
            if !advisors.is_empty() {
                text.push_str(&format!("; advisor: {}", titles(program, advisors)));
            }
            text
        }
        Work::Flow { list, at_once, .. } => {
            let list = program.lists.get(list.index()).map_or("?", String::as_str);
            format!("each of {list}, {at_once} at once")
        }
        Work::Operation { operation } => format!("do: {}", program.operation(*operation).name),
        Work::Ask { default: Some(default), .. } => format!("human; default {}", program.signal(*default)),
        Work::Ask { default: None, .. } => "human".to_string(),
    }
}

fn titles(program: &Program, contracts: &[ContractId]) -> String {
    let titles: Vec<String> = contracts.iter().map(|id| program.contract(*id).title()).collect();
    titles.join(", ")
}

/// How often a phase may run per entry, from its `rounds`; `None` without a fixed number.
pub fn rounds(program: &Program, phase: &Phase) -> Option<u16> {
    match program.budget(phase.round?).size {
        BudgetSize::Fixed(remands) => Some(remands.saturating_add(1)),
        BudgetSize::Share { .. } => None,
    }
}

/// The condition and the rounds of a phase.
pub fn remarks(program: &Program, phase: &Phase) -> Vec<String> {
    let when = phase.when.as_ref().map(|when| format!("when {}", condition_phrase(program, when)));
    let rounds = rounds(program, phase).map(|rounds| format!("{rounds} rounds"));
    when.into_iter().chain(rounds).collect()
}

/// The name of a signal, with a star if a detector finds it.
pub fn signal_name(program: &Program, phase: &Phase, signal: SignalId) -> String {
    let star = if is_detector(phase, signal) { "*" } else { "" };
    format!("{}{star}", program.signal(signal))
}

/// The names of several signals, in the given order.
pub fn signal_names(program: &Program, phase: &Phase, signals: &[SignalId]) -> String {
    let names: Vec<String> = signals.iter().map(|signal| signal_name(program, phase, *signal)).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, PLAN, REVIEW, REWORK, ROUND, TASKS};
    use remand_kernel::ids::{FlagId, ListId};
    use remand_kernel::program::Action;
    use remand_kernel::program::Effect;

    #[test]
    fn a_route_reads_as_the_file_writes_it() {
        let program = sample::program();
        let otherwise = Some(Box::new(sample::route(Action::Fail)));
        let route = Route { otherwise, ..sample::spending_route(Action::Remand(PLAN), &[ROUND, REWORK]) };
        assert_eq!(route_phrase(&program, REVIEW, &route), "remand plan spending round, rework, else fail");
        assert_eq!(
            route_phrase(&program, TASKS, &route),
            "remand plan spending review.round, rework, else fail"
        );
    }

    #[test]
    fn an_effect_comes_after_the_budgets() {
        let program = sample::program();
        let effect = Some(Effect::Dissent);
        let route = Route { effect, ..sample::spending_route(Action::Restore(PLAN), &[REWORK]) };
        assert_eq!(route_phrase(&program, TASKS, &route), "restore plan spending rework with dissent");
    }

    #[test]
    fn a_stop_without_a_reason_is_one_word() {
        let program = sample::program();
        assert_eq!(route_phrase(&program, PLAN, &sample::route(Action::Stop(String::new()))), "stop");
    }

    #[test]
    fn conditions_read_as_the_file_writes_them() {
        let mut program = sample::program();
        program.flags.push("wanted".into());
        let test = |fact, order, value| Comparison { fact, order, value };
        let all = vec![
            test(Fact::Count(ListId(0)), Order::Above, 1),
            test(Fact::Confidence, Order::AtLeast, 1),
            test(Fact::Flag(FlagId(0)), Order::Equal, 0),
        ];
        let phrase = condition_phrase(&program, &Condition { all });
        assert_eq!(phrase, "tasks > 1 and confidence >= medium and not wanted");
    }

    #[test]
    fn rounds_count_runs_and_not_remands() {
        let program = sample::program();
        assert_eq!(rounds(&program, program.phase(REVIEW)), Some(2));
    }
}
