//! G601 and G602: stated guarantees hold on every path, and refer only to existing names.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic, suggest};
use crate::explore::Scenario;
use crate::explore::guarantee::{Atom, Claim, Counterexample, EndKind, refute};
use crate::file::{AtomDecl, ClaimDecl, GuaranteeDecl};
use crate::source::Spanned;
use remand_kernel::program::{Effect, Program};

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for guarantee in &compiled.file.guarantees {
        let claim = match resolve_claim(program, guarantee, problems) {
            Some(claim) => claim,
            None => continue,
        };
        check_reuse(program, &claim, guarantee, problems);
        if let Some(when) = &guarantee.when {
            let message = format!("this guarantee cannot depend on the length of `{}`", when.list);
            let remedy = "remove `when`: only numbers of dispatches can depend on a length";
            problems.push(Diagnostic::error(Code::Vacuous, guarantee.span, message, remedy));
            continue;
        }
        let scenarios = Scenario::all(program);
        match refute(program, &scenarios, &claim) {
            Ok(None) => {}
            Ok(Some(path)) => problems.push(refutation(program, guarantee, &path)),
            Err(_) => {
                let message = format!("`{}` cannot be decided: there are too many states", guarantee.text);
                let remedy = "reduce budgets, or state a guarantee that does not depend on them";
                problems.push(Diagnostic::error(Code::TooManyStates, guarantee.span, message, remedy));
            }
        }
    }
}

fn refutation(program: &Program, guarantee: &GuaranteeDecl, path: &Counterexample) -> Diagnostic {
    let steps = path
        .iter()
        .map(|(phase, signal)| {
            let name = &program.phase(*phase).name;
            signal.map_or_else(|| name.clone(), |signal| format!("{name}: {}", program.signal(signal)))
        })
        .collect();
    let message = format!("`{}` does not hold", guarantee.text);
    let remedy = "change a route on this path, or state what the workflow really guarantees";
    Diagnostic::error(Code::Refuted, guarantee.span, message, remedy).with_path(steps)
}

fn resolve_claim(
    program: &Program,
    guarantee: &GuaranteeDecl,
    problems: &mut Vec<Diagnostic>,
) -> Option<Claim> {
    let mut atoms = |decls: &[AtomDecl]| -> Option<Vec<Atom>> {
        decls.iter().map(|decl| resolve_atom(program, decl, problems)).collect()
    };
    match &guarantee.claim {
        ClaimDecl::Unless { never, unless, since } => {
            let (never, unless, since) = (atoms(never), atoms(unless), atoms(since));
            Some(Claim::Unless { never: never?, unless: unless?, since: since? })
        }
        ClaimDecl::After { never, after, unless } => {
            let (never, after) = (atoms(never), atoms(after));
            let unless = match unless {
                Some(unless) => atoms(unless)?,
                None => Vec::new(),
            };
            Some(Claim::After { never: never?, after: after?, unless })
        }
        ClaimDecl::Leads { from, to } => {
            let (from, to) = (atoms(from), atoms(to));
            Some(Claim::Leads { from: from?, to: to? })
        }
        ClaimDecl::Happy { .. } | ClaimDecl::AtMost { .. } => None,
    }
}

fn resolve_atom(program: &Program, decl: &AtomDecl, problems: &mut Vec<Diagnostic>) -> Option<Atom> {
    match decl {
        AtomDecl::Change(name) => {
            let found = program
                .artifact_named(&name.value)
                .filter(|artifact| program.phases.iter().any(|phase| phase.writes.contains(artifact)));
            if found.is_none() {
                let known = program.artifacts.iter().map(String::as_str);
                report_vacuous(name, "no phase writes", suggest(&name.value, known), problems);
            }
            found.map(Atom::Change)
        }
        AtomDecl::Word(name) => {
            let found = resolve_word(program, &name.value);
            if found.is_none() {
                let known = program.phases.iter().map(|phase| phase.name.as_str());
                report_vacuous(
                    name,
                    "there is no phase, signal, effect or end named",
                    suggest(&name.value, known),
                    problems,
                );
            }
            found
        }
        AtomDecl::Pair(phase, signal) => {
            let Some(id) = program.phase_named(&phase.value) else {
                let known = program.phases.iter().map(|phase| phase.name.as_str());
                report_vacuous(phase, "there is no phase", suggest(&phase.value, known), problems);
                return None;
            };
            let routes = &program.phase(id).routes;
            let found =
                routes.iter().map(|(known, _)| *known).find(|known| program.signal(*known) == signal.value);
            if found.is_none() {
                let known = routes.iter().map(|(known, _)| program.signal(*known));
                report_vacuous(signal, "the phase never ends with", suggest(&signal.value, known), problems);
            }
            found.map(|signal| Atom::PhaseSignal(id, signal))
        }
    }
}

fn resolve_word(program: &Program, name: &str) -> Option<Atom> {
    let effect = Effect::ALL.into_iter().find(|effect| effect.name() == name);
    let end = match name {
        "done" => Some(EndKind::Done),
        "fail" => Some(EndKind::Fail),
        "stop" => Some(EndKind::Stop),
        _ => None,
    };
    let routed = program
        .signal_named(name)
        .filter(|signal| program.phases.iter().any(|phase| phase.route(*signal).is_some()));
    effect
        .map(Atom::Effect)
        .or(end.map(Atom::End))
        .or_else(|| program.phase_named(name).map(Atom::Phase))
        .or(routed.map(Atom::Signal))
}

fn report_vacuous(name: &Spanned<String>, message: &str, remedy: String, problems: &mut Vec<Diagnostic>) {
    problems.push(Diagnostic::error(Code::Vacuous, name.span, format!("{message} `{}`", name.value), remedy));
}

/// `B since change of X` has a meaning only if B reads X. Otherwise an old result of B could be reused.
fn check_reuse(program: &Program, claim: &Claim, guarantee: &GuaranteeDecl, problems: &mut Vec<Diagnostic>) {
    let Claim::Unless { unless, since, .. } = claim else {
        return;
    };
    for change in since {
        let Atom::Change(artifact) = change else {
            continue;
        };
        for atom in unless {
            let (Atom::Phase(phase) | Atom::PhaseSignal(phase, _)) = atom else {
                continue;
            };
            let phase = program.phase(*phase);
            let is_read = phase.reads.contains(artifact)
                || phase.may_read.contains(artifact)
                || matches!(phase.work, remand_kernel::program::Work::Ask { .. });
            if !is_read {
                let name = &program.artifacts[artifact.index()];
                let message = format!(
                    "`{}` does not read `{name}`, so an old result of it could be reused",
                    phase.name
                );
                let remedy = format!("add `{name}` to its `reads`");
                problems.push(Diagnostic::error(Code::Vacuous, guarantee.span, message, remedy));
            }
        }
    }
}
