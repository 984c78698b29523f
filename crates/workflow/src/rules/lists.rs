//! N107: every list that is processed or counted is produced by an earlier role or operation.

use crate::compile::Compiled;
use crate::diagnostic::{Code, Diagnostic, suggest};
use remand_kernel::ids::{ListId, PhaseId};
use remand_kernel::program::{BudgetSize, Fact, Items, Program, Work};

pub fn check(compiled: &Compiled, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    for id in program.phase_ids() {
        let phase = program.phase(id);
        let processed = match &phase.work {
            Work::Flow { list, .. } | Work::Each { items: Items::Listed { list, .. }, .. } => Some(*list),
            Work::Role { .. }
            | Work::Each { items: Items::Fixed(_), .. }
            | Work::Panel { .. }
            | Work::Operation { .. }
            | Work::Ask { .. } => None,
        };
        if let Some(list) = processed
            && !program.phase_ids().any(|earlier| earlier < id && produces(program, earlier, list))
        {
            report(compiled, compiled.spans.phase(id), list, problems);
        }
        for comparison in phase.when.iter().flat_map(|when| &when.all) {
            if let Fact::Count(list) = comparison.fact
                && !program.phase_ids().any(|any| produces(program, any, list))
            {
                report(compiled, compiled.spans.phase(id), list, problems);
            }
        }
    }
    for (index, budget) in program.budgets.iter().enumerate() {
        if let BudgetSize::Share { list, .. } = budget.size
            && !program.phase_ids().any(|any| produces(program, any, list))
        {
            report(compiled, compiled.spans.budgets[index], list, problems);
        }
    }
}

/// Whether a phase's result produces a list.
fn produces(program: &Program, id: PhaseId, list: ListId) -> bool {
    let phase = program.phase(id);
    let by_operation = match &phase.work {
        Work::Operation { operation } => program.operation(*operation).lists.contains(&list),
        Work::Role { .. } | Work::Each { .. } | Work::Panel { .. } | Work::Flow { .. } | Work::Ask { .. } => {
            false
        }
    };
    by_operation || phase.contracts().iter().any(|contract| program.contract(*contract).lists.contains(&list))
}

fn report(compiled: &Compiled, span: crate::source::Span, list: ListId, problems: &mut Vec<Diagnostic>) {
    let program = &compiled.program;
    let name = &program.lists[list.index()];
    let mut known: Vec<&str> = vec!["confidence", "mode", "risk"];
    let is_produced = |index: &usize| {
        let id = ListId(u16::try_from(*index).unwrap_or(u16::MAX));
        program.phase_ids().any(|any| produces(program, any, id))
    };
    known.extend((0..program.lists.len()).filter(is_produced).map(|index| program.lists[index].as_str()));
    let message = format!("no phase before this one produces a list or fact `{name}`");
    problems.push(Diagnostic::error(Code::UnknownList, span, message, suggest(name, known)));
}
