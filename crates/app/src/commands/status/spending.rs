//! Describes what a run used, and what is left of its limits. An unknown amount is never shown as zero.

use remand_ledger::RunView;
use remand_ledger::query::RunUsed;
use remand_ledger::view::Allowance;
use remand_terminal::amount;
use remand_terminal::table::FieldList;

/// Adds one line each for dispatches, tokens, cost and time.
pub fn add(fields: &mut FieldList, view: &RunView) {
    let [dispatches, tokens, money, time] = view.allowances();
    fields.add("dispatches", used_and_left(&dispatches, amount::grouped));
    fields.add("tokens", describe_tokens(&tokens, &view.row.used, view.unreported_tokens));
    fields.add("cost", cost(&money, &view.row.used));
    fields.add("time", used_and_left(&time, amount::time));
}

fn used_and_left(allowance: &Allowance, show: fn(u64) -> String) -> String {
    let (used, since) = (allowance.used, allowance.used_since_grant);
    let (Some(limit), Some(left)) = (allowance.amount, allowance.left()) else {
        return format!("{}, no limit", show(used));
    };
    let left = show(left);
    if since == used {
        return format!("{} of {}, {left} left", show(used), show(limit));
    }
    format!("{}; {} of {} since the last grant, {left} left", show(used), show(since), show(limit))
}

/// Describes the used tokens. A dispatch that did not report its tokens may have used any number.
fn describe_tokens(allowance: &Allowance, used: &RunUsed, unreported: u64) -> String {
    let known = used_and_left(allowance, amount::grouped);
    if unreported == 0 {
        return known;
    }
    let silent =
        format!("{} of {}", amount::grouped(unreported), amount::counted(used.dispatches, "dispatch"));
    match (used.tokens, allowance.amount) {
        (0, None) => "unknown: no dispatch reported its tokens; no limit".to_string(),
        (_, None) => format!("{known}; {silent} did not report tokens"),
        (_, Some(_)) => {
            format!("{known}; {silent} did not report tokens, and the limit counts known tokens only")
        }
    }
}

fn cost(allowance: &Allowance, used: &RunUsed) -> String {
    if used.unpriced == 0 {
        return used_and_left(allowance, amount::money);
    }
    let unknown =
        format!("{} of {}", amount::grouped(used.unpriced), amount::counted(used.dispatches, "dispatch"));
    let known = if used.unpriced >= used.dispatches && used.money == 0 {
        "unknown: no dispatch reported its cost".to_string()
    } else {
        format!("{} known, the rest unknown: {unknown} did not report a cost", amount::money(used.money))
    };
    match allowance.amount {
        None => format!("{known}, no limit"),
        Some(limit) => {
            let limit = amount::money(limit);
            format!(
                "{known}; the limit of {limit} counts known costs only, limits on tokens and dispatches still apply"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use remand_ledger::LimitKind;

    fn used(money: u64, unpriced: u64) -> RunUsed {
        RunUsed { dispatches: 4, money, unpriced, tokens: 0, time: 0 }
    }

    fn allowance(limit: LimitKind, used: u64, amount: Option<u64>) -> Allowance {
        Allowance { limit, used, used_since_grant: used, amount }
    }

    // CORE-11
    #[test]
    fn an_unknown_cost_is_never_shown_as_zero() {
        let shown =
            |money, unpriced, limit| cost(&allowance(LimitKind::Money, money, limit), &used(money, unpriced));
        assert_eq!(shown(0, 4, None), "unknown: no dispatch reported its cost, no limit");
        let some = "$1.50 known, the rest unknown: 1 of 4 dispatches did not report a cost, no limit";
        assert_eq!(shown(1_500_000, 1, None), some);
        assert!(shown(0, 4, Some(2_000_000)).contains("counts known costs only"));
        assert_eq!(shown(500_000, 0, Some(2_000_000)), "$0.50 of $2.00, $1.50 left");
    }

    // CORE-11
    #[test]
    fn an_unknown_token_count_is_never_shown_as_zero() {
        let shown = |tokens, unreported, limit| {
            let used = RunUsed { tokens, ..used(0, 0) };
            describe_tokens(&allowance(LimitKind::Tokens, tokens, limit), &used, unreported)
        };
        assert_eq!(shown(0, 4, None), "unknown: no dispatch reported its tokens; no limit");
        assert_eq!(shown(70, 1, None), "70, no limit; 1 of 4 dispatches did not report tokens");
        assert!(shown(0, 4, Some(100)).contains("counts known tokens only"));
        assert_eq!(shown(0, 0, Some(100)), "0 of 100, 100 left");
    }

    #[test]
    fn a_limit_is_counted_from_the_last_grant() {
        let granted = Allowance { used_since_grant: 2, ..allowance(LimitKind::Dispatches, 12, Some(10)) };
        assert_eq!(used_and_left(&granted, amount::grouped), "12; 2 of 10 since the last grant, 8 left");
    }
}
