//! A405 and C202: everything declared is used, and exceptions name phases that have their own route.

use super::questions::all_phases;
use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic};
use remand_kernel::program::Fact;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    check_flags(compiled, problems);
    check_exceptions(compiled, problems);
    for decl in all_phases(&compiled.file.phases) {
        if decl.repeats.is_some() && !decl.on.iter().any(|(name, _)| name.it.starts_with("repeated")) {
            let message = format!("`{}` counts repeated findings but has no route for them", decl.name.it);
            let remedy = "add `repeated: ROUTE`, or remove `repeats`";
            problems.push(Diagnostic::error(Code::Unused, decl.name.span, message, remedy));
        }
    }
}

fn check_flags(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for (flag, decl) in compiled.file.flags.iter().enumerate() {
        let read = program
            .conditions()
            .flat_map(|(_, condition)| &condition.all)
            .any(|comparison| matches!(comparison.fact, Fact::Flag(id) if id.index() == flag));
        if !read {
            let message = format!("no condition tests the flag `{}`", decl.it);
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
        let Some(signal) = program.signal_named(&default.signal.it) else {
            let message = format!("no phase can end with `{}`", default.signal.it);
            problems.push(Diagnostic::error(
                Code::UnknownSignal,
                default.signal.span,
                message,
                "remove this default",
            ));
            continue;
        };
        let used = program.phase_ids().any(|id| {
            program.phase(id).route(signal).is_some()
                && !default.except.iter().any(|except| except.it == program.phase(id).name)
        });
        if !used {
            let message = format!("no phase uses the default for `{}`", default.signal.it);
            problems.push(Diagnostic::error(
                Code::Unused,
                default.signal.span,
                message,
                "remove this default",
            ));
        }
        for except in &default.except {
            let own = all_phases(&compiled.file.phases)
                .into_iter()
                .find(|decl| decl.name.it == except.it)
                .map(|decl| {
                    let prefix = format!("{} ", default.signal.it);
                    decl.on
                        .iter()
                        .any(|(name, _)| name.it == default.signal.it || name.it.starts_with(&prefix))
                });
            let message = match own {
                Some(true) => continue,
                Some(false) => {
                    format!("`{}` does not have its own route for `{}`", except.it, default.signal.it)
                }
                None => format!("there is no phase `{}`", except.it),
            };
            let remedy = format!("add `{}: ROUTE` to the phase, or remove the exception", default.signal.it);
            problems.push(Diagnostic::error(Code::Exception, except.span, message, remedy));
        }
    }
}
