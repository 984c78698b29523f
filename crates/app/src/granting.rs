//! The amount that a person grants at a limit.

use crate::beginning;
use crate::workplace;
use remand_engine::config::Flag;
use remand_git::Repository;
use remand_kernel::event::Grants;
use remand_ledger::LimitKind;
use remand_ledger::query::GateRow;
use remand_terminal::CommandFailure;

/// Reads the amount that a person grants at a limit, written as in the configuration.
pub fn parse(
    repository: &Repository,
    gate: &GateRow,
    option: &str,
    amount: &str,
) -> Result<Grants, CommandFailure> {
    let limit = gate.limit_kind.filter(|limit| option == "go-on" && limit.has_amount());
    let amount = match limit {
        Some(limit) => {
            let key = format!("limits.{}", limit.name());
            let flags = vec![Flag { name: "--grant".to_string(), key, value: amount.to_string() }];
            let limits = beginning::limits(&workplace::config(repository, flags)?);
            match limit {
                LimitKind::Dispatches => limits.dispatches,
                LimitKind::Tokens => limits.tokens,
                LimitKind::Time => limits.time,
                LimitKind::Money => limits.money,
                LimitKind::UnknownTokens | LimitKind::UnknownCosts | LimitKind::AgentBudget => None,
            }
        }
        None => None,
    };
    let not_accepted = || {
        let what = "an amount is only granted with `go-on` at a gate about a limit".to_string();
        CommandFailure::user(what, "answer without it")
    };
    amount.map(Grants::Amount).ok_or_else(not_accepted)
}
