//! What a run used, and what is left of its limits. An unknown cost is said to be unknown, never zero (CORE-11).

use crate::table::{Fields, amount};
use remand_kernel::state::Used;
use remand_ledger::query::{RunLimits, RunRow, RunUsed};

/// Adds a line for each thing that a run uses.
pub fn add(fields: &mut Fields, row: &RunRow, granted: Option<Used>, untold: u64) {
    let (used, limits) = (&row.used, &row.limits);
    let granted = granted.unwrap_or_default();
    fields
        .add("dispatches", counted(used.dispatches, limits.dispatches, granted.dispatches, amount::grouped));
    fields.add("tokens", tokens(used, limits, granted.tokens, untold));
    fields.add("cost", cost(used, limits, granted.money));
    fields.add("time at work", counted(used.time, limits.time, granted.time, amount::time));
}

fn counted(used: u64, limit: Option<u64>, granted: u64, show: fn(u64) -> String) -> String {
    let Some(limit) = limit else {
        return format!("{}, no limit", show(used));
    };
    let since = used.saturating_sub(granted);
    let left = show(limit.saturating_sub(since));
    match granted {
        0 => format!("{} of {}, {left} left", show(used), show(limit)),
        // A human let the run go on past its limit, which holds anew from there.
        _ => {
            format!("{}; {} of {} since it was let go on, {left} left", show(used), show(since), show(limit))
        }
    }
}

/// Dispatches that did not tell their tokens may have used any number of them.
fn tokens(used: &RunUsed, limits: &RunLimits, granted: u64, untold: u64) -> String {
    let known = counted(used.tokens, limits.tokens, granted, amount::grouped);
    if untold == 0 {
        return known;
    }
    let of = format!("{} of {}", amount::grouped(untold), amount::counted(used.dispatches, "dispatch"));
    match (used.tokens, limits.tokens) {
        (0, None) => "unknown: no dispatch told its tokens, no limit".to_string(),
        (_, None) => format!("{known}; {of} did not tell"),
        (_, Some(_)) => format!("{known}; {of} did not tell, and the limit counts known tokens only"),
    }
}

fn cost(used: &RunUsed, limits: &RunLimits, granted: u64) -> String {
    if used.unpriced == 0 {
        return counted(used.money, limits.money, granted, amount::money);
    }
    let unknown =
        format!("{} of {}", amount::grouped(used.unpriced), amount::counted(used.dispatches, "dispatch"));
    let known = if used.unpriced >= used.dispatches && used.money == 0 {
        "unknown: no dispatch told its cost".to_string()
    } else {
        format!("{} known, the rest unknown: {unknown} did not tell", amount::money(used.money))
    };
    match limits.money {
        None => format!("{known}, no limit"),
        Some(limit) => {
            let limit = amount::money(limit);
            format!(
                "{known}; the limit of {limit} counts known costs only, tokens and dispatches count besides"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(money: u64, unpriced: u64) -> RunUsed {
        RunUsed { dispatches: 4, money, unpriced, tokens: 0, time: 0 }
    }

    // CORE-11
    #[test]
    fn an_unknown_cost_is_never_shown_as_zero() {
        let none = RunLimits::default();
        assert_eq!(cost(&used(0, 4), &none, 0), "unknown: no dispatch told its cost, no limit");
        let some = cost(&used(1_500_000, 1), &none, 0);
        assert_eq!(some, "1.50 known, the rest unknown: 1 of 4 dispatches did not tell, no limit");
        let limited = RunLimits { money: Some(2_000_000), ..none };
        assert!(cost(&used(0, 4), &limited, 0).contains("counts known costs only"));
        assert_eq!(cost(&used(500_000, 0), &limited, 0), "0.50 of 2.00, 1.50 left");
    }

    // CORE-11
    #[test]
    fn unknown_tokens_are_never_shown_as_none() {
        let none = RunLimits::default();
        let told = |tokens| RunUsed { tokens, ..used(0, 0) };
        assert_eq!(tokens(&told(0), &none, 0, 4), "unknown: no dispatch told its tokens, no limit");
        assert_eq!(tokens(&told(70), &none, 0, 1), "70, no limit; 1 of 4 dispatches did not tell");
        let limited = RunLimits { tokens: Some(100), ..none };
        assert!(tokens(&told(0), &limited, 0, 4).contains("counts known tokens only"));
        assert_eq!(tokens(&told(0), &limited, 0, 0), "0 of 100, 100 left");
    }

    #[test]
    fn a_limit_holds_anew_from_where_a_human_let_the_run_go_on() {
        let text = counted(12, Some(10), 10, amount::grouped);
        assert_eq!(text, "12; 2 of 10 since it was let go on, 8 left");
    }
}
