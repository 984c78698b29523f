//! T307: a sub-flow spends only its own rounds, and ends normally, by `raise` or by `fail`.

use super::followed_routes;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Action, Fact, Scope, TallyTest, Work};
use std::collections::BTreeSet;

/// The maximum number of different signals that a sub-flow may raise.
const MAX_EXITS: usize = 8;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for phase_route in followed_routes(program) {
        let span = compiled.spans.route(phase_route.phase, phase_route.signal);
        let is_inside = program.phase(phase_route.phase).owner.is_some();
        let problem = match phase_route.route.action {
            Action::Raise(_) if !is_inside => {
                Some(("`raise` is only allowed in a sub-flow", "write where this signal leads"))
            }
            Action::Done | Action::Stop(_) | Action::Restore(_) | Action::RemandInjector | Action::Hold
                if is_inside =>
            {
                Some((
                    "a task cannot end or hold the whole run",
                    "`raise` a signal and route it outside the sub-flow",
                ))
            }
            Action::Next
            | Action::To(_)
            | Action::Remand(_)
            | Action::RemandInjector
            | Action::Restore(_)
            | Action::Return
            | Action::Raise(_)
            | Action::Done
            | Action::Fail
            | Action::Stop(_)
            | Action::Hold
            | Action::Ignore => None,
        };
        if let Some((message, remedy)) = problem {
            problems.push(Diagnostic::error(Code::SubFlow, span, message, remedy));
        }
        if !is_inside {
            continue;
        }
        if phase_route.route.effect.is_some() {
            let message = "a task cannot lower the confidence of the whole run";
            let remedy = "`raise` a signal, and write `with …` where it is routed";
            problems.push(Diagnostic::error(Code::SubFlow, span, message, remedy));
        }
        for budget in &phase_route.route.spends {
            let is_own = match program.budget(*budget).scope {
                Scope::Entry(phase) => program.phase(phase).owner.is_some(),
                Scope::Phase(_) | Scope::Run | Scope::Subject => false,
            };
            if !is_own {
                let message =
                    format!("a task cannot spend `{}`, which all tasks share", program.budget(*budget).name);
                let remedy = "spend `round` here, or `raise` a signal and spend the budget outside the sub-flow, once for all tasks";
                problems.push(Diagnostic::error(Code::SubFlow, span, message, remedy));
            }
        }
    }
    check_inner(compiled, problems);
    for id in program.phase_ids() {
        if let Work::Flow { tally, .. } = &program.phase(id).work {
            let counted: BTreeSet<SignalId> = tally
                .iter()
                .filter_map(|row| match row.test {
                    TallyTest::Any(signal) | TallyTest::All(signal) | TallyTest::AtLeast(_, signal) => {
                        Some(signal)
                    }
                    TallyTest::Otherwise => None,
                })
                .collect();
            check_exits(compiled, id, &counted, problems);
        }
    }
}

/// Checks that no phase inside a sub-flow tests the confidence or changes the list of the sub-flow.
fn check_inner(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for (id, condition) in program.conditions() {
        let tests_confidence = condition.all.iter().any(|comparison| comparison.fact == Fact::Confidence);
        if tests_confidence && program.phase(id).owner.is_some() {
            let message = "a sub-flow cannot test the confidence of the run";
            let remedy = "test the confidence outside";
            problems.push(Diagnostic::error(Code::SubFlow, compiled.spans.phase(id), message, remedy));
        }
    }
    for id in program.phase_ids() {
        let phase = program.phase(id);
        let Some(Work::Flow { list, .. }) = phase.owner.map(|owner| &program.phase(owner).work) else {
            continue;
        };
        let by_role =
            phase.contracts().iter().any(|contract| program.contract(*contract).lists.contains(list));
        let by_operation = match &phase.work {
            Work::Operation { operation } => {
                let operation = program.operation(*operation);
                operation.gives_up || operation.lists.contains(list)
            }
            Work::Role { .. }
            | Work::Each { .. }
            | Work::Panel { .. }
            | Work::Flow { .. }
            | Work::Ask { .. } => false,
        };
        if by_role || by_operation {
            let message = format!("`{}` changes the list that its own sub-flow processes", phase.name);
            let remedy = "do that outside the sub-flow";
            problems.push(Diagnostic::error(Code::SubFlow, compiled.spans.phase(id), message, remedy));
        }
    }
}

/// Checks that every raised signal is counted, and that every counted signal is raised.
fn check_exits(
    compiled: &Compiled,
    flow: PhaseId,
    counted: &BTreeSet<SignalId>,
    problems: &mut Vec<Diagnostic>,
) {
    let program = &compiled.program;
    let mut raised = BTreeSet::new();
    for phase_route in followed_routes(program) {
        if program.phase(phase_route.phase).owner != Some(flow) {
            continue;
        }
        if let Action::Raise(signal) = phase_route.route.action {
            raised.insert(signal);
            if !counted.contains(&signal) {
                let name = program.signal(signal);
                let message = format!(
                    "`{name}` is raised, but the tally of `{}` does not count it",
                    program.phase(flow).name
                );
                let remedy = format!("add a row such as `{name}: any {name}`");
                let span = compiled.spans.route(phase_route.phase, phase_route.signal);
                problems.push(Diagnostic::error(Code::SubFlow, span, message, remedy));
            }
        }
    }
    if raised.len() > MAX_EXITS {
        let message = format!(
            "the sub-flow of `{}` raises {} different signals",
            program.phase(flow).name,
            raised.len()
        );
        let remedy = format!("raise at most {MAX_EXITS}");
        problems.push(Diagnostic::error(Code::SubFlow, compiled.spans.phase(flow), message, remedy));
    }
    for signal in counted.difference(&raised) {
        if *signal == remand_kernel::signal::COMPLETED {
            continue;
        }
        let message =
            format!("the tally counts `{}`, which no phase of the sub-flow raises", program.signal(*signal));
        let remedy = "remove the row, or raise the signal";
        problems.push(Diagnostic::error(Code::Tally, compiled.spans.phase(flow), message, remedy));
    }
}
