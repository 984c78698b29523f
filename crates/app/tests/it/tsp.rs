//! `tsp`: each defect goes back to the phase that injected it, and the ledger keeps count.

use crate::place::Place;
use crate::rehearsed::{SUB, Script, TRIVIAL, assessment, design, implemented, injected, plan, role, unit};
use crate::three_tasks::assert_sound;
use remand_ledger::query::DefectResolution;
use serde_json::{Value, json};

/// Subtracts the operands in the wrong order.
const WRONG: &str = "def sub(a, b):\n    return b - a\n";

fn units() -> [Value; 1] {
    [unit("unit-1", &[("sums/sub.py", "green"), ("tests/test_sub.py", "green")], &[])]
}

/// A defect of planning and one of code, both found in code review; then a dispute with the tester.
fn corrected() -> Script {
    let mut second = design();
    second["summary"] = json!("A module beside add, which takes b from a.");
    let mut replanned = plan(&units());
    replanned["summary"] = json!("Which is taken from which is said.");
    let found = [
        injected("CR-1", &["planning", "design"], "nobody says which is taken from which"),
        injected("CR-2", &["code"], "sub takes a from b"),
    ];
    let mut disputed = implemented("");
    disputed["changes"] = json!([]);
    disputed["disputes"] = json!([{"finding": "T-1", "reason": "the design says so"}]);
    Script::tsp(&units())
        .with(role("tsp-planner").round(2).says(replanned))
        .with(role("tsp-designer").round(2).says(second))
        .with(role("tsp-coder").round(1).writes("sums/sub.py", WRONG).says(implemented("")))
        .with(role("tsp-coder").round(3).says(disputed))
        .with(role("tsp-code-reviewer").round(1).says(assessment("fail", &found)))
        .with(
            role("tsp-tester")
                .round(1)
                .writes("tests/test_sub.py", crate::rehearsed::TEST_SUB)
                .says(assessment("fail", &[injected("T-1", &["code"], "sub is not symmetric")])),
        )
}

/// The code reviewer finds another defect in each of four rounds.
fn four_defects() -> Script {
    let mut script = Script::tsp(&units());
    for round in 1..=4 {
        let text = format!("{SUB}\n\nTRY = {round}\n");
        let claim = format!("constant number {round} is out of place");
        let found = [injected(&format!("CR-{round}"), &["code"], &claim)];
        let mut said = implemented("");
        said["hypothesis"] = json!(format!("Try number {round} will please."));
        script = script
            .with(role("tsp-coder").round(round).writes("sums/sub.py", &text).says(said))
            .with(role("tsp-code-reviewer").round(round).says(assessment("fail", &found)));
    }
    script
}

fn phases(place: &Place) -> Vec<String> {
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    rows.into_iter().map(|row| row.phase).collect()
}

fn json_of(place: &Place, arguments: &[&str]) -> Value {
    let shown = place.remand(&[arguments, &["--json"]].concat());
    assert_eq!(shown.code, 0, "{arguments:?}: {}{}", shown.out, shown.err);
    serde_json::from_str(&shown.out).expect("pure JSON")
}

// PF-01
#[test]
fn a_request_becomes_a_verified_commit_through_seven_roles() {
    let place = Place::new();

    let shown = place.tsp(&Script::tsp(&units()));

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest(), place.reader());
    assert_eq!(
        phases(&place),
        ["planning", "design", "design-review", "code", "code-review", "test", "postmortem"]
    );
    assert_eq!((run.outcome(), run.confidence.as_str()), ("committed".to_string(), "high"));
    let changed = place.git(&["diff", "--name-only", "work", &run.branch]);
    assert_eq!(changed, "sums/sub.py\ntests/test_sub.py\n");
    let analyst = reader.dispatches(&run.run).expect("dispatches").pop().expect("the analyst");
    let prompt = reader.blob(analyst.prompt.expect("a prompt")).expect("a blob");
    assert!(String::from_utf8_lossy(&prompt).contains("the defects"), "the log is among its inputs");
}

// PF-03 PF-04 PF-08
#[test]
fn a_planning_defect_found_in_code_review_is_corrected_through_the_chain_and_no_further() {
    let place = Place::new();

    let shown = place.tsp(&corrected());

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(
        phases(&place),
        [
            &["planning", "design", "design-review", "code", "code-review"][..],
            &["planning", "design", "design-review", "code", "code-review", "test"],
            // A dispute changes nothing, so neither the checks nor the code review are repeated.
            &["code", "test", "postmortem"],
        ]
        .concat()
    );
    let (run, reader) = (place.latest(), place.reader());
    let rulings = reader.rulings(&run.run, 0).expect("rulings");
    let stands: Vec<&str> = rulings
        .iter()
        .filter(|row| row.ruling.rule.to_string() == "stands")
        .map(|row| row.ruling.phase.as_str())
        .collect();
    assert_eq!(stands, ["first-checks", "code-review"]);
    let blob = place.git(&["show", &format!("{}:sums/sub.py", run.branch)]);
    assert_eq!(blob, SUB);
    assert_sound(&place);
}

// PF-07
#[test]
fn a_plan_that_cannot_be_worked_on_goes_back_to_its_planner_before_anybody_reads_it() {
    let place = Place::configured(TRIVIAL);
    let circular = plan(&[
        unit("unit-1", &[("sums/sub.py", "green")], &["unit-2"]),
        unit("unit-2", &[("tests/test_sub.py", "green")], &["unit-1"]),
    ]);
    let script = Script::tsp(&units()).with(role("tsp-planner").attempt(1).says(circular));

    let shown = place.tsp(&script);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest().run, place.reader());
    let rows = reader.dispatches(&run).expect("dispatches");
    let first: Vec<(&str, u16, Option<&str>)> =
        rows.iter().take(3).map(|row| (row.phase.as_str(), row.attempt, row.failure.as_deref())).collect();
    assert_eq!(first, [("planning", 1, Some("malformed")), ("planning", 2, None), ("design", 1, None)]);
    assert!(
        rows[0].detail.as_deref().is_some_and(|detail| detail.contains("without a cycle")),
        "{:?}",
        rows[0].detail
    );
    assert!(rows[1].started_at <= rows[2].started_at);
    let rulings = reader.rulings(&run, 0).expect("rulings");
    assert!(rulings.iter().all(|row| row.ruling.budgets.is_empty()), "no remand was spent: {rulings:?}");
}

// PF-02 PF-09
#[test]
fn the_defect_log_says_where_defects_came_from_and_what_correcting_them_cost() {
    let place = Place::configured(TRIVIAL);
    assert_eq!(place.tsp(&corrected()).code, 0);
    let (run, reader) = (place.latest().run, place.reader());

    let defects = reader.defects(&run).expect("defects");

    let reported: Vec<(&str, Vec<&str>, &str, DefectResolution)> = defects
        .iter()
        .map(|row| {
            let injected = row.injected.iter().map(String::as_str).collect();
            (row.id.as_str(), injected, row.detected.as_str(), row.resolution)
        })
        .collect();
    assert_eq!(
        reported,
        [
            ("CR-1", vec!["planning", "design"], "code-review", DefectResolution::Corrected),
            ("CR-2", vec!["code"], "code-review", DefectResolution::Corrected),
            ("T-1", vec!["code"], "test", DefectResolution::Withdrawn),
        ]
    );
    let attempts: Vec<(&str, u32)> =
        defects[0].attempts.iter().map(|one| (one.phase.as_str(), one.dispatches)).collect();
    let chain = ["planning", "design", "design-review", "code", "code-review"];
    assert_eq!(attempts, chain.map(|phase| (phase, 1)));
    // Every dispatch costs 100 tokens and a cent, and two defects share five dispatches.
    assert_eq!((defects[0].tokens, defects[0].money), (250, 25_000));
    assert_eq!((defects[2].tokens, defects[2].money), (200, 20_000));
    assert!(defects.iter().all(|row| row.time > 0), "{defects:?}");

    let findings = json_of(&place, &["findings"]);
    let recipients = ["CR-1", "CR-2"].map(|id| {
        let mut all = findings["findings"].as_array().expect("findings").iter();
        all.find(|finding| finding["id"] == id).expect(id)["sent_to"].clone()
    });
    assert_eq!(recipients, ["planning", "code"], "each finding went to the phase that injected it");

    let shown = json_of(&place, &["defects", "--injected", "planning"]);
    assert_eq!(shown["defects"].as_array().map(Vec::len), Some(1));
    assert_eq!(shown["defects"][0]["resolution"], "corrected");
    assert_eq!(json_of(&place, &["defects", "--open"])["defects"], json!([]));
    let groups =
        json!([{"phase": "planning", "defects": ["CR-1"]}, {"phase": "code", "defects": ["CR-2", "T-1"]}]);
    assert_eq!(json_of(&place, &["defects"])["by_phase"], groups);
    let reported = place.remand(&["defects"]).out;
    let at = |words: &str| reported.find(words).unwrap_or_else(|| panic!("{words} in {reported}"));
    let order = ["\nplanning: 1 defect\n", "\nCR-1 ", "\ncode: 2 defects\n", "\nCR-2 ", "\nT-1 "].map(at);
    assert!(order.is_sorted(), "{reported}");
    assert_sound(&place);
}

// CORE-11, PF-09
#[test]
fn a_correction_of_unknown_cost_is_not_shown_as_free() {
    let place = Place::configured(TRIVIAL);
    let mut replanned = plan(&units());
    replanned["summary"] = json!("Which is taken from which is said.");
    let script = corrected().with(role("tsp-planner").round(2).unpriced().says(replanned));
    assert_eq!(place.tsp(&script).code, 0);
    let defects = place.reader().defects(&place.latest().run).expect("defects");
    assert_eq!((defects[0].unpriced, defects[2].unpriced), (1, 0), "{defects:?}");
    let reported = place.remand(&["defects"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(reported.contains("0.02, some cost unknown"), "{reported}");
    assert!(place.remand(&["stats", "--csv"]).out.lines().any(|line| line.contains(",,")), "no number");
}

// CORE-11, PF-09, PF-11
#[test]
fn unreported_tokens_are_unknown_in_every_figure() {
    let place = Place::configured(TRIVIAL);
    let mut replanned = plan(&units());
    replanned["summary"] = json!("Which is taken from which is said.");
    let script = corrected().with(role("tsp-planner").round(2).used(json!({})).says(replanned));
    for _ in 0..3 {
        assert_eq!(place.tsp(&script).code, 0);
    }
    let defects = place.reader().defects(&place.latest().run).expect("defects");
    assert_eq!((defects[0].unmetered, defects[2].unmetered), (1, 0), "{defects:?}");
    let reported = |words: &[&str]| place.remand(words).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(reported(&["defects"]).contains("200 tokens, others unknown"), "{}", reported(&["defects"]));
    assert!(reported(&["stats"]).contains("200 tokens, others unknown"), "{}", reported(&["stats"]));
    let estimate = json_of(&place, &["estimate", "--size", "4", "--workflow", "tsp"]);
    assert_eq!(estimate["efforts"]["tokens"]["fit"]["too-few"]["points"], json!(0), "{estimate}");
}

// PF-12
#[test]
fn a_human_reattributes_a_settled_defect_and_history_keeps_both() {
    let place = Place::configured(TRIVIAL);
    assert_eq!(place.tsp(&corrected()).code, 0);
    let before = place.latest();

    let words =
        ["defects", "reattribute", "latest", "CR-2", "--to", "design", "--note", "The design was vague."];
    let said = json_of(&place, &words);

    assert_eq!((&said["from"], &said["to"]), (&json!(["code"]), &json!(["design"])));
    let after = place.latest();
    assert_eq!((after.stage, after.seq), (before.stage, before.seq + 1));
    let defects = place.reader().defects(&after.run).expect("defects");
    assert_eq!(defects[1].injected, ["design"]);
    let [kept] = defects[1].reattributions.as_slice() else { panic!("{:?}", defects[1]) };
    assert_eq!((kept.from.as_slice(), kept.by.as_str()), (&["code".to_string()][..], "ada"));
    assert!(place.remand(&["log"]).out.contains("attributed to design by ada: The design was vague."));
    assert_sound(&place);

    let refused = place.remand(&["defects", "reattribute", "latest", "CR-2", "--to", "test"]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.err.contains("possible origins are planning, design, code"), "{}", refused.err);
    let unknown = place.remand(&["defects", "reattribute", "latest", "CR-3", "--to", "code"]);
    assert!(unknown.code == 1 && unknown.err.contains("did you mean `CR-"), "{}", unknown.err);
}

// PF-12 PF-05
#[test]
fn an_open_defect_reattributed_at_the_gate_goes_to_the_new_phase() {
    let place = Place::configured(TRIVIAL);
    let script = four_defects();
    let mut replanned = plan(&units());
    replanned["summary"] = json!("Without constants.");
    let script = script.with(role("tsp-planner").round(2).says(replanned));

    let waiting = place.tsp(&script);
    assert_eq!(waiting.code, 5, "{}{}", waiting.out, waiting.err);
    let words = ["defects", "reattribute", "latest", "CR-4", "--to", "planning"];
    assert_eq!(place.remand(&words).code, 0);
    let answered = place.remand(&["answer", "latest", "try-again"]);

    assert_eq!(answered.code, 0, "{}{}", answered.out, answered.err);
    let reader = place.reader();
    let rulings = reader.rulings(&place.latest().run, 0).expect("rulings");
    let again = rulings.iter().find(|row| row.ruling.signal == "try-again").expect("the answer");
    assert_eq!(again.ruling.target.as_deref(), Some("planning"));
    assert_eq!(phases(&place).iter().filter(|phase| *phase == "planning").count(), 2);
}

// PF-10
#[test]
fn figures_cover_all_runs_of_a_workflow() {
    let place = Place::configured(TRIVIAL);
    assert_eq!(place.tsp(&corrected()).code, 0);
    assert_eq!(place.tsp(&Script::tsp(&units())).code, 0);
    assert_eq!(place.quick(&Script::quick(), &[]).code, 0);

    let stats = json_of(&place, &["stats"]);

    let workflows = stats["repositories"][0]["workflows"].as_array().expect("workflows");
    let names: Vec<&str> = workflows.iter().filter_map(|it| it["workflow"].as_str()).collect();
    assert_eq!(names, ["tsp", "quick"]);
    let phase = |name: &str| {
        let phases = workflows[0]["phases"].as_array().expect("phases");
        phases.iter().find(|it| it["phase"] == name).expect("the phase").clone()
    };
    // A withdrawn finding is not a defect. Planning injected one, code another; both were found in code review.
    assert_eq!((&workflows[0]["runs"], &workflows[0]["defects"]), (&json!(2), &json!(2)));
    let (planning, review) = (phase("planning"), phase("code-review"));
    assert_eq!(
        (&planning["injected"], &planning["entries"], &planning["remands"]),
        (&json!(1), &json!(3), &json!(1))
    );
    assert_eq!(
        (&review["removed"], &review["entering"], &review["yield"]),
        (&json!(2), &json!(2), &json!(1.0))
    );
    assert_eq!(phase("design-review")["yield"], json!(0.0));
    assert_eq!(planning["rates"], json!([0.5, 0.0]));
    assert_eq!(planning["correction"]["tokens"], json!(250));
    // Five dispatches corrected a planning defect and a code defect.
    assert_eq!(planning["correction"]["dispatches"], json!(2.5));
    assert_eq!(phase("code")["correction"]["dispatches"], json!(2.5));
    // Two runs, each with two lines of code and eight lines of tests.
    let lines = workflows[0]["changed_lines"].as_f64().expect("lines");
    assert_eq!(lines, 20.0);
    assert_eq!(workflows[0]["density"].as_f64(), Some(2000.0 / lines));

    let csv = place.remand(&["stats", "--csv", "--workflow", "tsp"]);
    assert_eq!(csv.code, 0, "{}", csv.err);
    let lines: Vec<&str> = csv.out.split("\r\n").collect();
    assert!(lines.len() > 2 && lines.iter().all(|line| !line.contains('\n')), "{lines:?}");
    assert!(lines[0].starts_with("repository,workflow,runs"), "{}", lines[0]);
    let planning = lines.iter().find(|line| line.contains(",planning,")).expect("a line");
    assert!(planning.contains(",tsp,2,20,planning,3,1,0.3333,1,0,0,0.0000,"), "{planning}");
    let all = json_of(&place, &["stats", "--all", "--last", "1"]);
    assert_eq!(all["repositories"][0]["workflows"][0]["runs"], json!(1));
}

// PF-11
#[test]
fn an_estimate_needs_at_least_three_runs_and_says_so() {
    let place = Place::configured(TRIVIAL);
    let files = [("sums/sub.py", "green"), ("tests/test_sub.py", "green"), ("README.md", "yellow")];
    // 100 tokens per dispatch; the planner uses more for a larger plan.
    for (count, tokens) in [(1, 300), (2, 400), (3, 600)] {
        let units = [unit("unit-1", &files[..count], &[])];
        let planner = role("tsp-planner").costs(tokens).says(plan(&units));
        assert_eq!(place.tsp(&Script::tsp(&units).with(planner)).code, 0);
        if count < 3 {
            let early = place.remand(&["estimate", "--size", "4", "--workflow", "tsp"]);
            assert_eq!(early.code, 0, "{}", early.err);
            assert!(early.out.contains("no estimate"), "{}", early.out);
        }
    }

    let estimate = json_of(&place, &["estimate", "--size", "4", "--workflow", "tsp"]);

    let tokens = &estimate["efforts"]["tokens"];
    assert!((tokens["fit"]["good"]["r2"].as_f64().expect("r²") - 1.0).abs() < 1e-9, "{estimate}");
    assert!((tokens["prediction"]["expected"].as_f64().expect("tokens") - 1100.0).abs() < 1e-6, "{estimate}");
    let of_run = json_of(&place, &["estimate"]);
    assert_eq!((&of_run["size"], &of_run["complexity"]["yellow"]), (&json!(5), &json!(1)));
    assert_eq!(of_run["efforts"]["tokens"]["fit"]["too-few"]["points"], json!(2));
}

// PF-12 PF-02 UP-11
#[test]
fn in_interactive_mode_a_human_confirms_or_changes_the_origin_before_a_defect_is_sent_back() {
    let place = Place::configured(TRIVIAL);
    let mut second = design();
    second["summary"] = json!("A module beside add, which takes b from a.");
    let found = [injected("CR-1", &["code"], "sub takes a from b")];
    let script = Script::tsp(&units())
        .with(role("tsp-designer").round(2).says(second))
        .with(role("tsp-coder").round(1).writes("sums/sub.py", WRONG).says(implemented("")))
        .with(role("tsp-code-reviewer").round(1).says(assessment("fail", &found)));

    let waiting =
        place.run(crate::rehearsed::REQUEST, &script.text(), &["--workflow", "tsp", "--interactive"]);

    assert_eq!(waiting.code, 5, "{}{}", waiting.out, waiting.err);
    let gate = place.reader().open_gates().expect("gates").pop().expect("a gate");
    assert_eq!((gate.phase.as_str(), gate.default), ("code-review", Some("go-on".to_string())));
    let run = place.latest().run;
    let text = waiting.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "Did these phases inject the defects?",
        "CR-1 (major), injected by code: sub takes a from b",
        "go-on sends each defect back to the phase that injected it",
        &format!("`remand defects reattribute {run} FINDING --to PHASE`"),
    ] {
        assert!(text.contains(expected), "{expected}: {}", waiting.out);
    }
    assert_eq!(phases(&place).len(), 5, "nothing runs before the answer");
    assert_eq!(place.remand(&["resume", &run.0]).code, 5, "the question stays open");

    assert_eq!(place.remand(&["defects", "reattribute", "latest", "CR-1", "--to", "design"]).code, 0);
    let asked = place.remand(&["gates"]).out;
    assert!(asked.contains("CR-1 (major), injected by design"), "{asked}");
    let answered = place.remand(&["answer", "latest", "go-on"]);

    assert_eq!(answered.code, 0, "{}{}", answered.out, answered.err);
    assert_eq!(phases(&place)[5], "design");
    let rulings = place.reader().rulings(&run, 0).expect("rulings");
    let sent = rulings
        .iter()
        .find(|row| row.ruling.signal == "fail" && row.ruling.target.is_some())
        .expect("the ruling");
    let budgets: Vec<&str> = sent.ruling.budgets.iter().map(|charge| charge.budget.as_str()).collect();
    assert_eq!(
        (sent.ruling.target.as_deref(), budgets),
        (Some("design"), vec!["by-code-review", "corrections"])
    );
    assert_sound(&place);
}

// PF-12
#[test]
fn in_autonomous_mode_nobody_is_asked_about_origins() {
    let place = Place::configured(TRIVIAL);
    assert_eq!(place.tsp(&corrected()).code, 0);
    assert!(place.reader().gates(&place.latest().run).expect("gates").is_empty());
}

// EP-23 PF-05 PF-09
#[test]
fn after_an_override_the_bundle_and_the_defect_log_agree_on_what_is_open() {
    let place = Place::configured(TRIVIAL);
    assert_eq!(place.tsp(&four_defects()).code, 5);
    let shown = place.remand(&["answer", "latest", "override"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let defects = json_of(&place, &["defects"]);
    let bundle = place.remand(&["evidence"]).out;
    let issues = bundle.split("## Known issues").nth(1).and_then(|rest| rest.split("\n## ").next());
    let issues = issues.expect("a section");
    for defect in defects["defects"].as_array().expect("defects") {
        let id = defect["id"].as_str().expect("an id");
        let is_open = defect["resolution"] != "corrected";
        assert_eq!(issues.contains(id), is_open, "{id}: {} in {issues}", defect["resolution"]);
    }
    assert!(issues.contains("CR-4"), "{issues}");
}
