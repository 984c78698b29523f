//! A405 and C202: every declaration is used, and exceptions name phases that have their own route.

use super::questions::all_phases;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::program::Fact;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    check_flags(compiled, problems);
    check_exceptions(compiled, problems);
    for decl in all_phases(&compiled.file.phases) {
        if decl.repeats.is_some() && !decl.on.iter().any(|(name, _)| name.value.starts_with("repeated")) {
            let message = format!("`{}` counts repeated findings but has no route for them", decl.name.value);
            let remedy = "add `repeated: ROUTE`, or remove `repeats`";
            problems.push(Diagnostic::error(Code::Unused, decl.name.span, message, remedy));
        }
    }
}

fn check_flags(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for (flag, decl) in compiled.file.flags.iter().enumerate() {
        let is_tested = program
            .conditions()
            .flat_map(|(_, condition)| &condition.all)
            .any(|comparison| matches!(comparison.fact, Fact::Flag(id) if id.index() == flag));
        if !is_tested {
            let message = format!("no condition tests the flag `{}`", decl.value);
            problems.push(Diagnostic::error(
                Code::Unused,
                decl.span,
                message,
                "use it in a `when` or an option, or remove it",
            ));
        }
    }
}

/// An exception without its own route would leave the signal without a route, and an unused default hides an error.
fn check_exceptions(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for default in &compiled.file.defaults {
        let Some(signal) = program.signal_named(&default.signal.value) else {
            let message = format!("no phase can end with `{}`", default.signal.value);
            problems.push(Diagnostic::error(
                Code::UnknownSignal,
                default.signal.span,
                message,
                "remove this default",
            ));
            continue;
        };
        let is_used = program.phase_ids().any(|id| {
            program.phase(id).route(signal).is_some()
                && !default.except.iter().any(|except| except.value == program.phase(id).name)
        });
        if !is_used {
            let message = format!("no phase uses the default for `{}`", default.signal.value);
            problems.push(Diagnostic::error(
                Code::Unused,
                default.signal.span,
                message,
                "remove this default",
            ));
        }
        for except in &default.except {
            let has_route = all_phases(&compiled.file.phases)
                .into_iter()
                .find(|decl| decl.name.value == except.value)
                .map(|decl| {
                    let prefix = format!("{} ", default.signal.value);
                    decl.on.iter().any(|(name, _)| {
                        name.value == default.signal.value || name.value.starts_with(&prefix)
                    })
                });
            let message = match has_route {
                Some(true) => continue,
                Some(false) => {
                    format!("`{}` does not have its own route for `{}`", except.value, default.signal.value)
                }
                None => format!("there is no phase `{}`", except.value),
            };
            let remedy =
                format!("add `{}: ROUTE` to the phase, or remove the exception", default.signal.value);
            problems.push(Diagnostic::error(Code::Exception, except.span, message, remedy));
        }
    }
}
