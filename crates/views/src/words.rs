//! Words that all views share.

use crate::repository::RepositoryState;
use remand_kernel::Event;
use remand_kernel::ids::CommandId;
use remand_ledger::query::GateRow;
use remand_ledger::{LedgerError, Reader};
use remand_terminal::amount;

/// The name of a task after a phase.
pub fn of_task(phase: &str, task: Option<&str>) -> String {
    match task {
        Some(task) => format!("{phase}[{task}]"),
        None => phase.to_string(),
    }
}

/// The cost of all dispatches; an unknown part is named.
pub fn cost(money: u64, unpriced: u64, dispatches: u64) -> String {
    if dispatches == 0 {
        return amount::money(0);
    }
    amount::sum_or_unknown(amount::money(money), unpriced, dispatches)
}

/// An answer that no process has handled yet, and what follows.
pub fn given_answer(
    repository: &RepositoryState,
    reader: &Reader,
    gate: &GateRow,
) -> Result<Option<String>, LedgerError> {
    let Ok(command) = gate.command.parse::<CommandId>() else { return Ok(None) };
    let given = reader.requests(&gate.run)?.into_iter().find_map(|request| match request.event {
        Event::Answered { id, option, by, .. } if id == command => Some((option, by)),
        _ => None,
    });
    Ok(given.map(|(option, by)| {
        let follows = if repository.is_driven(&gate.run) {
            "the run continues with it now".to_string()
        } else {
            let folder = repository.checkout.as_deref();
            let folder = folder.map(|path| format!(" -C {}", path.display())).unwrap_or_default();
            format!("`remand{folder} resume {}` continues the run", gate.run)
        };
        format!("{by} answered {option}; {follows}")
    }))
}
