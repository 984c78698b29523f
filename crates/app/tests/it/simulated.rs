//! `remand simulate`: reports, variants, drawings, and parameters from the runs of the repository.

use crate::place::Place;
use crate::rehearsed::{SUB, Script, TEST_SUB, TRIVIAL, finding, implemented, review, role};
use crate::{run, shown};
use serde_json::{Value, json};

fn json_of(place: &Place, arguments: &[&str]) -> Value {
    let shown = place.remand(arguments);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    serde_json::from_str(&shown.out).expect("pure JSON")
}

// BY-05
#[test]
fn a_simulation_reports_cost_time_defects_budgets_and_what_matters() {
    insta::assert_snapshot!("simulate", shown(&["simulate", "feature", "--defaults", "--runs", "300"]));
    insta::assert_snapshot!(
        "simulate-limits",
        shown(&[
            "simulate",
            "tsp",
            "--defaults",
            "--runs",
            "300",
            "--no-sensitivity",
            "--interactive",
            "--set",
            "limit.money=5",
        ])
    );
}

// BY-05
#[test]
fn variants_are_compared_with_the_same_random_numbers() {
    insta::assert_snapshot!(
        "simulate-variants",
        shown(&[
            "simulate",
            "quick",
            "--defaults",
            "--runs",
            "300",
            "--vary",
            "reviewers=1..3",
            "--vary",
            "without=none,review,verify",
        ])
    );
    let (code, out, err) = run(&[
        "simulate",
        "quick",
        "feature",
        "--defaults",
        "--runs",
        "100",
        "--json",
        "--vary",
        "retries=1,1",
    ]);
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).expect("pure JSON");
    let variants = report["variants"].as_array().expect("variants");
    assert_eq!(variants.len(), 4);
    assert_eq!(variants[1]["difference"]["money"], json!({"mean": 0.0, "low": 0.0, "high": 0.0}));
    assert_eq!(variants[0]["summary"], variants[1]["summary"]);
    assert_eq!(variants[0]["bound"], 12);
}

#[test]
fn wrong_parameters_and_variations_are_explained() {
    let lines: &[&[&str]] = &[
        &["simulate", "quick", "--defaults", "--set", "recall=1"],
        &["simulate", "quick", "--defaults", "--set", "recall.major=2"],
        &["simulate", "quick", "--defaults", "--vary", "reviewers=3..1"],
        &["simulate", "quick", "--defaults", "--vary", "feedback=none"],
        &["simulate", "quick", "--defaults", "--vary", "recal=1,2"],
        &["simulate", "quick", "--defaults", "--vary", "budgets.replan=1"],
        &["simulate", "quick", "--defaults", "--vary", "without=implement"],
        &["simulate", "quick", "--defaults", "--vary", "reviewers=0"],
    ];
    let text: Vec<String> = lines.iter().map(|line| shown(line)).collect();
    insta::assert_snapshot!("simulate-errors", text.join("\n"));
}

#[test]
fn printed_parameters_can_be_used_as_a_file() {
    let place = Place::new();
    let printed = place.remand(&["simulate", "quick", "--print-parameters"]);
    assert!(printed.out.contains("recall.major = 0.7"), "{}", printed.out);
    let changed = printed.out.replace("recall.major = 0.7", "recall.major = 0.9");
    place.write("mine.txt", &changed);
    let of_file = ["simulate", "quick", "--runs", "50", "--json", "--parameters", "mine.txt"];
    let set = ["simulate", "quick", "--runs", "50", "--json", "--set", "recall.major=0.9"];
    let (of_file, set) = (json_of(&place, &of_file), json_of(&place, &set));
    assert_eq!(of_file["variants"], set["variants"]);
    assert_ne!(
        json_of(&place, &["simulate", "quick", "--runs", "50", "--json"])["variants"],
        set["variants"]
    );
}

#[test]
fn a_drawing_shows_spreads_or_lines_and_how_to_make_it_again() {
    let place = Place::new();
    let draw = |vary: &str| {
        let arguments = ["simulate", "quick", "--runs", "50", "--defaults", "--vary", vary, "-o", "out.svg"];
        let shown = place.remand(&arguments);
        assert_eq!(shown.code, 0, "{}", shown.err);
        let svg = std::fs::read_to_string(place.project().join("out.svg")).expect("a drawing");
        assert!(
            svg.contains(&format!("remand simulate quick --runs 50 --seed 1 --vary {vary} --defaults")),
            "{svg}"
        );
        svg
    };
    let lines = draw("reviewers=1..3");
    assert_eq!(lines.matches("<polyline").count(), 4, "{lines}");
    let spreads = draw("without=none,review");
    assert_eq!((spreads.matches("<polyline").count(), spreads.matches("class=\"bar\"").count()), (0, 8));
}

/// A run of `quick` whose review rejects the work this often.
fn recorded(place: &Place, rejections: u32, tokens: u64) {
    let usage = |tokens: u64| json!({"tokens": tokens, "money": format!("0.{tokens:06}")});
    let mut script = Script::quick();
    for round in 1..=rejections + 1 {
        let text = format!("{SUB}# round {round}\n");
        let work = role("implementer").round(round).used(usage(tokens)).writes("sums/sub.py", &text);
        let work = work.writes("tests/test_sub.py", TEST_SUB);
        let findings =
            [finding(&format!("R{round}"), "major", &format!("subtraction number {round} lacks a guard"))];
        let verdict = if round <= rejections { "needs-revision" } else { "approve" };
        let findings = if round <= rejections { &findings[..] } else { &[] };
        let reviewer = role("reviewer").round(round).used(usage(tokens / 2));
        script = script
            .with(work.says(implemented("")))
            .with(reviewer.says(review("code", "general", verdict, findings)));
    }
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
}

// BY-05
#[test]
fn parameters_fitted_from_the_ledger_reproduce_its_means() {
    let place = Place::configured(TRIVIAL);
    recorded(&place, 0, 1000);
    let few = json_of(&place, &["simulate", "quick", "--runs", "50", "--json"]);
    assert_eq!(few["parameters"]["quick"]["fitted-runs"], 0);
    let history =
        [(0, 1200), (1, 900), (0, 1100), (0, 800), (1, 1000), (0, 1000), (0, 1300), (0, 900), (1, 1000)];
    for (rejections, tokens) in history {
        recorded(&place, rejections, tokens);
    }
    let runs = place.reader().runs().expect("runs");
    let report = json_of(&place, &["simulate", "quick", "--runs", "2000", "--json"]);
    let parameters = &report["parameters"]["quick"];
    assert_eq!(parameters["fitted-runs"], 10);
    let implement = &parameters["values"]["tokens@implement"];
    assert_eq!(implement["basis"]["fitted"]["observations"], 10, "{implement}");
    let summary = &report["variants"][0]["summary"];
    #[allow(clippy::cast_precision_loss)]
    let check = |name: &str, values: Vec<f64>| {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let half = 2.26 * (variance / count).sqrt();
        let simulated = summary[name]["mean"].as_f64().expect("a mean");
        println!("{name}: ledger {mean:.5} ± {half:.5}, simulated {simulated:.5}");
        assert!((simulated - mean).abs() <= half, "{name}: ledger {mean} ± {half}, simulated {simulated}");
    };
    #[allow(clippy::cast_precision_loss)]
    let values = |value: fn(&remand_ledger::query::RunRow) -> u64| -> Vec<f64> {
        runs.iter().map(|row| value(row) as f64).collect()
    };
    check("dispatches", values(|row| row.used.dispatches));
    check("tokens", values(|row| row.used.tokens));
    check("money", values(|row| row.used.money).into_iter().map(|money| money / 1e6).collect());
    let defaults = json_of(&place, &["simulate", "quick", "--runs", "50", "--json", "--defaults"]);
    assert!(defaults["variants"][0]["summary"]["tokens"]["mean"].as_f64().expect("a mean") > 100_000.0);
}
