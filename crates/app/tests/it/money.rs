//! The cost of runs: reported by agents, computed from prices, or unknown.

use crate::place::Place;
use crate::rehearsed::{SUB, Script, TEST_SUB, TRIVIAL, implemented, review, role};
use serde_json::{Value, json};

/// An implementer and a reviewer that report tokens by kind, but no cost.
fn unpriced() -> Script {
    let kinds = json!({"tokens": {"input": 1000, "output": 200, "cached": 30_000}});
    let implementer = role("implementer").used(kinds).model("vendor/house-2-20260101");
    let work = implementer.writes("sums/sub.py", SUB).writes("tests/test_sub.py", TEST_SUB);
    let reviewer = role("reviewer").used(json!({"tokens": {"input": 1, "output": 0, "cached": 0}}));
    Script::quick().with(work.says(implemented(""))).with(reviewer.model("house-1").says(review(
        "code",
        "general",
        "approve",
        &[],
    )))
}

fn prices(input: &str) -> String {
    format!("{TRIVIAL}\n[prices.\"house-*\"]\ninput = {input}\noutput = 15.00\ncached = 0.3\n")
}

// CORE-11 CORE-18 EP-26
#[test]
fn an_unreported_cost_is_computed_from_the_prices_at_the_start_of_the_run() {
    let place = Place::configured(&prices("3.00"));
    let shown = place.quick(&unpriced(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    place.write("remand.toml", &prices("3000.00"));
    let shown = place.remand(&["answer", "latest", "go-on"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);

    let run = place.latest();
    let rows = place.reader().dispatches(&run.run).expect("dispatches");
    let costs: Vec<_> = rows.iter().map(|row| (row.money, row.price.as_deref())).collect();
    assert_eq!(costs, [(Some(15_000), Some("house-*")), (Some(3), Some("house-*"))]);
    assert_eq!((run.used.money, run.used.unpriced, run.used.tokens), (15_003, 0, 31_201));

    let shown = place.remand(&["costs", "--by", "model", "--json"]);
    let costs: Value = serde_json::from_str(&shown.out).expect("JSON");
    assert_eq!(costs["rows"][0]["name"], "vendor/house-2-20260101");
    assert_eq!(
        costs["rows"][0]["kinds"],
        json!({"input": 1000, "output": 200, "cached": 30_000, "stored": 0})
    );
    let total = &costs["total"];
    assert_eq!(
        (&total["said"], &total["reckoned"], &total["unpriced"]),
        (&json!(0), &json!(15_003), &json!(0))
    );
    assert_eq!(place.remand(&["audit"]).code, 0);
}

// CORE-07 CORE-11
#[test]
fn a_limit_on_money_counts_computed_costs() {
    let place = Place::configured(&prices("3.00"));
    let shown = place.quick(&unpriced(), &["--budget-money", "0.014"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let gate = place.reader().open_gates().expect("gates").pop().expect("a hold");
    assert!(gate.question.contains("money") && !gate.question.contains("unknown"), "{}", gate.question);
}

// CORE-11 EP-26
#[test]
fn unreported_tokens_are_unknown_wherever_they_are_shown() {
    let place = Place::configured(TRIVIAL);
    let silent = role("implementer").used(json!({})).writes("sums/sub.py", SUB).says(implemented(""));
    let shown = place.quick(&Script::quick().with(silent), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let said = |arguments: &[&str]| {
        let shown = place.remand(arguments);
        assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
        shown.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(said(&["status", "latest"]).contains("100, no limit; 1 of 2 dispatches did not report tokens"));
    assert!(said(&["log"]).contains("tokens unknown, cost unknown"));
    assert!(said(&["evidence"]).contains("100 tokens, without 1 dispatches that did not report theirs"));
    let costs = said(&["costs"]);
    assert!(costs.contains("the tokens of 1 of 2 dispatches are unknown"), "{costs}");
    assert!(costs.contains("implementer 1") && costs.contains("unknown unknown"), "{costs}");
    let row = &place.reader().dispatches(&place.latest().run).expect("dispatches")[0];
    assert_eq!((row.tokens, row.money), (None, None));
}
