//! Limits of a run: reached, a human is asked, and the question names the limit.

use crate::place::Place;
use crate::rehearsed::{SUB, Script, TRIVIAL, implemented, role};
use remand_ledger::query::GateKind;
use serde_json::{Value, json};

/// Runs into a limit, sees the hold, goes on, and returns the question.
fn held(place: &Place, script: &Script, flags: &[&str]) -> String {
    let shown = place.quick(script, flags);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    let gate = reader.open_gates().expect("gates").pop().expect("a hold");
    assert_eq!(gate.kind, GateKind::Hold);
    let names: Vec<_> = gate.options.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(names, ["go-on", "stop"]);
    let plain = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(&gate.question), "{plain}");
    let stands = place.remand(&["resume", &run.run.0]);
    assert_eq!(
        (stands.code, place.latest().used),
        (5, run.used),
        "a resume spends nothing and skips nothing"
    );
    // The limit holds anew from where it was lifted, so a small one is reached again.
    let ended = (0..10).map(|_| place.remand(&["answer", &run.run.0, "go-on"])).find(|shown| shown.code != 5);
    let shown = ended.expect("an end");
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(place.latest().used.dispatches, 2);
    let rulings = reader.rulings(&run.run, 0).expect("rulings");
    assert!(rulings.iter().any(|row| row.ruling.rule == "hold"), "{rulings:?}");
    gate.question
}

// CORE-07 CORE-11
#[test]
fn dispatches_and_tokens_are_limited() {
    let place = Place::configured(TRIVIAL);
    let question = held(&place, &Script::quick(), &["--budget-dispatches", "1"]);
    assert!(question.contains("dispatches"), "{question}");
    let question = held(&place, &Script::quick(), &["--budget-tokens", "50"]);
    assert!(question.contains("tokens"), "{question}");
}

// CORE-07 CORE-11
#[test]
fn money_is_limited_and_an_unknown_cost_is_unknown() {
    let place = Place::configured(TRIVIAL);
    let question = held(&place, &Script::quick(), &["--budget-money", "0.005"]);
    assert!(question.contains("money"), "{question}");
    assert_eq!(place.latest().used.money, 20_000);

    let free = role("implementer").unpriced().writes("sums/sub.py", SUB).says(implemented(""));
    let script = Script::quick().with(free);
    let question = held(&place, &script, &["--budget-money", "0.02"]);
    assert!(question.contains("money") && question.contains("unknown"), "{question}");
    let run = place.latest();
    assert_eq!((run.used.money, run.used.unpriced), (10_000, 1));
    assert_eq!(place.reader().dispatches(&run.run).expect("dispatches")[0].money, None);
    assert!(place.remand(&["evidence"]).out.contains("1 dispatches of unknown cost"));

    // Other limits take its place.
    let shown = place.quick(&script, &["--budget-money", "0.02", "--budget-tokens", "10k"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// CORE-07 CORE-11
#[test]
fn a_limit_on_tokens_is_kept_although_an_agent_does_not_tell_them() {
    let place = Place::configured(TRIVIAL);
    let silent = role("implementer").used(json!({})).writes("sums/sub.py", SUB).says(implemented(""));
    let script = Script::quick().with(silent);
    for flags in [&["--budget-tokens", "10k"][..], &["--budget-tokens", "10k", "--budget-money", "2"]] {
        let question = held(&place, &script, flags);
        assert!(question.contains("tokens (it cannot be kept: some are unknown"), "{question}");
    }
    let shown = place.quick(&script, &["--budget-tokens", "10k", "--budget-dispatches", "3", "--json"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let last: Value = serde_json::from_str(shown.out.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["used"]["tokens"], &last["untold"]), (&json!(100), &json!(1)), "{last}");
    assert_eq!(place.remand(&["audit"]).code, 0);
}

// CORE-07
#[test]
fn time_is_limited_and_stopping_names_the_limit() {
    let place = Place::configured(TRIVIAL);
    let question = held(&place, &Script::quick(), &["--budget-time", "1ms"]);
    assert!(question.contains("time"), "{question}");
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let shown = place.remand(&["answer", "latest", "stop"]);
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    let ended = place.latest().ended.expect("over");
    assert!(ended.contains("limit") && ended.contains("dispatches"), "{ended}");
    assert!(shown.out.contains(&ended), "{}", shown.out);
}
