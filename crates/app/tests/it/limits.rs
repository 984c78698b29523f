//! Limits of a run: when one is reached, a human is asked, and the question names the limit.

use crate::place::Place;
use crate::rehearsed::{SUB, Script, TRIVIAL, implemented, role};
use remand_ledger::query::GateKind;
use serde_json::{Value, json};

/// Runs into a limit, asserts the hold, continues to the end, and returns the question.
fn pass_limit(place: &Place, script: &Script, flags: &[&str]) -> String {
    let shown = place.quick(script, flags);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    let gate = reader.open_gates().expect("gates").pop().expect("a hold");
    assert_eq!(gate.kind, GateKind::Hold);
    let names: Vec<_> = gate.options.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(names, ["go-on", "stop"]);
    let plain = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(&gate.question), "{plain}");
    let resumed = place.remand(&["resume", &run.run.0]);
    assert_eq!(
        (resumed.code, place.latest().used),
        (5, run.used),
        "a resume spends nothing and skips nothing"
    );
    // Each answer grants the limit once more, so a small limit is reached again.
    let ended = (0..10).map(|_| place.remand(&["answer", &run.run.0, "go-on"])).find(|shown| shown.code != 5);
    let shown = ended.expect("an end");
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(place.latest().used.dispatches, 2);
    let rulings = reader.rulings(&run.run, 0).expect("rulings");
    assert!(rulings.iter().any(|row| row.ruling.rule.to_string() == "hold"), "{rulings:?}");
    gate.question
}

// CORE-07 CORE-11
#[test]
fn dispatches_and_tokens_are_limited() {
    let place = Place::configured(TRIVIAL);
    let question = pass_limit(&place, &Script::quick(), &["--budget-dispatches", "1"]);
    assert!(question.contains("dispatches"), "{question}");
    let question = pass_limit(&place, &Script::quick(), &["--budget-tokens", "50"]);
    assert!(question.contains("tokens"), "{question}");
}

// CORE-07 CORE-11
#[test]
fn money_is_limited_and_an_unknown_cost_is_unknown() {
    let place = Place::configured(TRIVIAL);
    let question = pass_limit(&place, &Script::quick(), &["--budget-money", "0.005"]);
    assert!(question.contains("money"), "{question}");
    assert_eq!(place.latest().used.money, 20_000);

    let free = role("implementer").unpriced().writes("sums/sub.py", SUB).says(implemented(""));
    let script = Script::quick().with(free);
    let question = pass_limit(&place, &script, &["--budget-money", "0.02"]);
    assert!(question.contains("money") && question.contains("unknown"), "{question}");
    let run = place.latest();
    assert_eq!((run.used.money, run.used.unpriced), (10_000, 1));
    assert_eq!(place.reader().dispatches(&run.run).expect("dispatches")[0].money, None);
    assert!(place.remand(&["evidence"]).out.contains("1 dispatches of unknown cost"));

    // Other limits replace it.
    let shown = place.quick(&script, &["--budget-money", "0.02", "--budget-tokens", "10k"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// CORE-07 CORE-11
#[test]
fn a_limit_on_tokens_holds_although_an_agent_does_not_report_them() {
    let place = Place::configured(TRIVIAL);
    let silent = role("implementer").used(json!({})).writes("sums/sub.py", SUB).says(implemented(""));
    let script = Script::quick().with(silent);
    for flags in [&["--budget-tokens", "10k"][..], &["--budget-tokens", "10k", "--budget-money", "2"]] {
        let question = pass_limit(&place, &script, flags);
        assert!(question.contains("tokens (it cannot be kept: some are unknown"), "{question}");
    }
    let shown = place.quick(&script, &["--budget-tokens", "10k", "--budget-dispatches", "3", "--json"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let last: Value = serde_json::from_str(shown.out.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&last["used"]["tokens"], &last["untold"]), (&json!(100), &json!(1)), "{last}");
    assert_eq!(place.remand(&["audit"]).code, 0);
}

// CORE-07 CORE-11
#[test]
fn continuing_past_one_limit_lifts_no_other() {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1", "--budget-money", "0.005"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let asked = || place.reader().open_gates().expect("gates").pop().expect("a hold");
    assert_eq!(asked().limit(), Some("dispatches"));
    let gate = place.remand(&["gates", "--json"]);
    let gate: Value = serde_json::from_str(&gate.out).expect("JSON");
    let does = &gate["gates"][0]["answers"][0]["does"];
    let again =
        "continues, and grants the dispatches limit once more; `--grant AMOUNT` grants another amount";
    assert_eq!(does, again);
    let figures = &gate["gates"][0]["context"][0];
    assert_eq!(figures, "Used 1 so far. Limit 1; continuing grants another 1.");

    let shown = place.remand(&["answer", "latest", "go-on"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    assert_eq!(asked().limit(), Some("money"), "$0.01 of $0.005 are spent");
    let status = place.remand(&["status", "latest"]).out;
    assert!(status.contains("$0.01 of $0.005, $0.00 left"), "{status}");
    assert!(status.contains("0 of 1 since the last grant, 1 left"), "{status}");

    let shown = place.remand(&["answer", "latest", "go-on"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(place.remand(&["audit"]).code, 0);
}

// CORE-07
#[test]
fn an_agent_at_work_is_stopped_at_the_limit_on_time_and_a_human_is_asked() {
    let place = Place::configured(TRIVIAL);
    let hanging = role("implementer").attempt(1).writes("sums/sub.py", SUB).does(json!({"hang": true}));
    let shown = place.quick(&Script::quick().with(hanging), &["--budget-time", "5s"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let gate = place.reader().open_gates().expect("gates").pop().expect("a hold");
    assert!(gate.question.contains("time"), "{}", gate.question);
    let status = place.remand(&["status", "latest"]).out;
    assert!(status.contains(" of 5.0 s, 0 ms left"), "{status}");

    // Each answer grants the limit once more.
    let run = place.latest().run;
    let ended = (0..10).map(|_| place.remand(&["answer", &run.0, "go-on"])).find(|shown| shown.code != 5);
    let shown = ended.expect("an end");

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let dispatches = place.reader().dispatches(&run).expect("dispatches");
    let stopped = dispatches.first().map(|row| (row.failure.as_deref(), row.detail.as_deref()));
    assert_eq!(stopped, Some((Some("over-budget"), Some("time"))), "{dispatches:?}");
    assert_eq!(place.remand(&["audit"]).code, 0);
}

// CORE-07
#[test]
fn a_limit_that_is_too_small_for_an_agent_is_raised_with_the_answer() {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &["--budget-time", "1ms"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    for (option, amount) in [("go-on", "5 parsecs"), ("stop", "1h")] {
        let refused = place.remand(&["answer", "latest", option, "--grant", amount]);
        assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    }
    let shown = place.remand(&["answer", "latest", "go-on", "--grant", "1h"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(place.latest().limits.time, Some(3_600_000));
    let log = place.remand(&["log", "latest"]).out;
    assert!(log.contains("limit reached → hold"), "{log}");
    assert_eq!(place.remand(&["audit"]).code, 0);
}

// CORE-07
#[test]
fn parallel_agents_count_the_time_of_their_run_once() {
    let place = Place::configured(TRIVIAL);
    let script = ["architecture", "impact", "dependencies", "patterns"].into_iter().fold(
        Script::subtraction(),
        |script, focus| {
            let slow = role("researcher").item(focus).does(json!({"sleep": "1500ms"}));
            script.with(slow.says(crate::rehearsed::research(focus)))
        },
    );
    let shown = place.feature(&script, &["--autonomous"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    let events = place.reader().journal(&run.run, 0).expect("events");
    let mut counted = 0;
    for event in events.iter().map(|row| &row.event) {
        if let remand_kernel::Event::Ended { usage, .. } = event {
            counted += usage.wall.expect("the host records the time of the run");
        }
    }
    assert_eq!(run.used.time, counted);
    let (first, last) = (events.first().expect("an event").at, events.last().expect("an event").at);
    let lasted = u64::try_from(last.0 - first.0).expect("time passes");
    assert!(counted <= lasted + 1_000, "{counted} of {lasted}: no time is counted twice");
}

// CORE-07
#[test]
fn stopping_at_a_limit_names_it() {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &["--budget-dispatches", "1"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let shown = place.remand(&["answer", "latest", "stop"]);
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    let ended = place.latest().outcome();
    assert!(ended.contains("limit") && ended.contains("dispatches"), "{ended}");
    assert!(shown.out.contains(&ended), "{}", shown.out);
}
