//! T307: a sub-flow spends only its own rounds, and leaves by its end, by `raise` or by `fail`.

use super::followed;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::ids::{PhaseId, SignalId};
use remand_kernel::program::{Action, Scope, TallyTest, Work};
use std::collections::BTreeSet;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for at in followed(program) {
        let span = compiled.places.route(at.phase, at.signal);
        let inside = program.phase(at.phase).owner.is_some();
        let problem = match at.route.action {
            Action::Raise(_) if !inside => {
                Some(("`raise` leaves a sub-flow, and this is none", "say where it leads"))
            }
            Action::Done | Action::Stop(_) | Action::Restore(_) | Action::RemandInjector | Action::Hold
                if inside =>
            {
                Some(("a task cannot do this for the whole run", "`raise` a signal and route it outside"))
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
        if !inside {
            continue;
        }
        for budget in &at.route.spends {
            let own = match program.budget(*budget).scope {
                Scope::Entry(of) => program.phase(of).owner.is_some(),
                Scope::Phase(_) | Scope::Run | Scope::Subject => false,
            };
            if !own {
                let message =
                    format!("a task spends `{}`, which all tasks share", program.budget(*budget).name);
                let remedy =
                    "spend `round` inside, or `raise` a signal and spend outside, once for all tasks";
                problems.push(Diagnostic::error(Code::SubFlow, span, message, remedy));
            }
        }
    }
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

/// What is raised is counted, and what is counted is raised.
fn check_exits(
    compiled: &Compiled,
    flow: PhaseId,
    counted: &BTreeSet<SignalId>,
    problems: &mut Vec<Diagnostic>,
) {
    let program = &compiled.program;
    let mut raised = BTreeSet::new();
    for at in followed(program) {
        if program.phase(at.phase).owner != Some(flow) {
            continue;
        }
        if let Action::Raise(signal) = at.route.action {
            raised.insert(signal);
            if !counted.contains(&signal) {
                let name = program.signal(signal);
                let message = format!(
                    "`{name}` is raised, and the tally of `{}` does not count it",
                    program.phase(flow).name
                );
                let remedy = format!("add a row such as `{name}: any {name}`");
                let span = compiled.places.route(at.phase, at.signal);
                problems.push(Diagnostic::error(Code::SubFlow, span, message, remedy));
            }
        }
    }
    for signal in counted.difference(&raised) {
        if *signal == remand_kernel::signal::COMPLETED {
            continue;
        }
        let message =
            format!("the tally counts `{}`, which no phase of the sub-flow raises", program.signal(*signal));
        let remedy = "remove the row, or raise the signal";
        problems.push(Diagnostic::error(Code::Tally, compiled.places.phase(flow), message, remedy));
    }
}
