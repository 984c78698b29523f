//! C204: a tally ends with `otherwise` and counts verdicts that its role has.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic, suggest};
use crate::file::{ItemsDecl, KindDecl, PhaseDecl, TallyDecl, TallyTestDecl};
use crate::source::Span;
use remand_kernel::program::Program;

/// The maximum number of members of a phase.
const MAX_MEMBERS: usize = 12;

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    for decl in &compiled.file.phases {
        match &decl.kind {
            KindDecl::Each { tally, items, quorum, .. } => {
                check_shape(decl, tally, problems);
                check_verdicts(&compiled.program, decl, tally, problems);
                let members = match items {
                    ItemsDecl::Fixed(names) => names.len(),
                    ItemsDecl::Listed { up_to, .. } => usize::from(*up_to),
                };
                if members > MAX_MEMBERS || members == 0 {
                    let message = format!("this phase has {members} members");
                    let remedy = format!("use 1 to {MAX_MEMBERS} members");
                    problems.push(error(decl.name.span, message, remedy));
                }
                if let ItemsDecl::Fixed(names) = items {
                    check_counts(names.len(), tally, problems);
                    if let Some(quorum) = quorum
                        && (usize::from(quorum.value) > names.len() || quorum.value == 0)
                    {
                        let message =
                            format!("the quorum is {}, but there are {} members", quorum.value, names.len());
                        let remedy = format!("write a number from 1 to {}", names.len());
                        problems.push(error(quorum.span, message, remedy));
                    }
                }
            }
            KindDecl::Flow { tally, .. } => {
                check_shape(decl, tally, problems);
                for row in tally.iter().filter(|row| matches!(row.test, TallyTestDecl::AtLeast { .. })) {
                    let message = "the number of tasks is not known here".to_string();
                    problems.push(error(row.span, message, "write `any SIGNAL` or `all SIGNAL`"));
                }
            }
            KindDecl::Role { .. }
            | KindDecl::Panel { .. }
            | KindDecl::Do { .. }
            | KindDecl::Ask { .. }
            | KindDecl::Unknown => {}
        }
    }
}

fn error(span: Span, message: String, remedy: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::Tally, span, message, remedy)
}

fn check_shape(decl: &PhaseDecl, tally: &[TallyDecl], problems: &mut Vec<Diagnostic>) {
    let Some((last, before)) = tally.split_last() else {
        let message = format!("`{}` has several members but no tally", decl.name.value);
        let remedy =
            "add `tally:` with rows such as `approved: all approve` and a last row `SIGNAL: otherwise`";
        problems.push(error(decl.name.span, message, remedy));
        return;
    };
    if !matches!(last.test, TallyTestDecl::Otherwise) {
        let message = "the last row of a tally must be `otherwise`".to_string();
        problems.push(error(last.span, message, "add a row `SIGNAL: otherwise` at the end"));
    }
    for row in before {
        if matches!(row.test, TallyTestDecl::Otherwise) {
            let message = "rows after `otherwise` never apply".to_string();
            problems.push(error(row.span, message, "move this row to the end"));
        }
    }
}

fn check_verdicts(program: &Program, decl: &PhaseDecl, tally: &[TallyDecl], problems: &mut Vec<Diagnostic>) {
    let says: Vec<&str> = program
        .phase_named(&decl.name.value)
        .map(|id| program.phase(id).contracts())
        .unwrap_or_default()
        .iter()
        .flat_map(|contract| program.contract(*contract).says.iter())
        .map(|signal| program.signal(*signal))
        .collect();
    for row in tally {
        let verdict = match &row.test {
            TallyTestDecl::Any(verdict)
            | TallyTestDecl::All(verdict)
            | TallyTestDecl::AtLeast { verdict, .. } => verdict,
            TallyTestDecl::Otherwise => continue,
        };
        if !says.contains(&verdict.value.as_str()) {
            let message = format!("the role has no verdict `{}`", verdict.value);
            problems.push(error(verdict.span, message, suggest(&verdict.value, says.iter().copied())));
        }
    }
}

fn check_counts(members: usize, tally: &[TallyDecl], problems: &mut Vec<Diagnostic>) {
    for row in tally {
        if let TallyTestDecl::AtLeast { count, members: stated, .. } = row.test
            && (usize::from(stated) != members || count > stated || count == 0)
        {
            let message = format!("`{count} of {stated}`, but there are {members} members");
            problems.push(error(row.span, message, format!("write `N of {members} VERDICT`")));
        }
    }
}
