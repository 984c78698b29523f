//! C205 and C206: a question can always be answered, and its default is consistent with its mode.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic, suggest};
use crate::file::{KindDecl, PhaseDecl};
use remand_kernel::ids::BudgetId;
use remand_kernel::program::Program;
use remand_kernel::resolve;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    for decl in all_phases(&compiled.file.phases) {
        let KindDecl::Ask { question, interactive, default, options } = &decl.kind else {
            continue;
        };
        let names = || options.iter().map(|option| option.name.value.as_str()).collect::<Vec<_>>();
        let has_certain_option = options.iter().any(|option| {
            option.offered.is_none() && is_followable(&compiled.program, &decl.name.value, &option.name.value)
        });
        if !has_certain_option {
            let message = format!("`{}` can run out of options", decl.name.value);
            let remedy = "add an option without `if` whose route spends nothing, such as `stop`";
            problems.push(Diagnostic::error(Code::Question, decl.name.span, message, remedy));
        }
        match (default, interactive) {
            (Some(default), true) => {
                let option = options.iter().find(|option| option.name.value == default.value);
                if option.is_none() {
                    let message = format!("the default `{}` is not among the options", default.value);
                    let remedy = suggest(&default.value, names());
                    problems.push(Diagnostic::error(Code::Default, default.span, message, remedy));
                } else if option.is_some_and(|option| option.offered.is_some())
                    || !is_followable(&compiled.program, &decl.name.value, &default.value)
                {
                    let message = format!("the default `{}` cannot always be followed", default.value);
                    let remedy = "choose an option without `if` whose route never runs out";
                    problems.push(Diagnostic::error(Code::Default, default.span, message, remedy));
                }
            }
            (None, true) => {
                let message = format!("`{}` is interactive and has no default", decl.name.value);
                let remedy =
                    "add `default: OPTION` for autonomous runs, or remove `mode` to ask in every mode";
                problems.push(Diagnostic::error(Code::Default, question.span, message, remedy));
            }
            (Some(default), false) => {
                let message =
                    format!("`{}` is asked in every mode, so its default is never used", decl.name.value);
                let remedy = "add `mode: interactive`, or remove `default`";
                problems.push(Diagnostic::error(Code::Default, default.span, message, remedy));
            }
            (None, false) => {}
        }
    }
}

/// All phases, including those of sub-flows.
pub fn all_phases(phases: &[PhaseDecl]) -> Vec<&PhaseDecl> {
    let mut found = Vec::new();
    for phase in phases {
        found.push(phase);
        if let KindDecl::Flow { phases, .. } = &phase.kind {
            found.extend(all_phases(phases));
        }
    }
    found
}

/// Whether an option can be followed even when every budget is empty.
fn is_followable(program: &Program, phase: &str, option: &str) -> bool {
    let (Some(phase), Some(signal)) = (program.phase_named(phase), program.signal_named(option)) else {
        return false;
    };
    resolve::can_follow(program, phase, signal, |_: BudgetId| 0)
}
