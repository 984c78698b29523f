//! The evidence bundle and the source's views, for runs with problems.

use crate::place::Place;
use crate::rehearsed::{Script, TRIVIAL, finding, review, role, subtracting, task};
use serde_json::json;

fn section<'b>(bundle: &'b str, title: &str) -> &'b str {
    let from =
        bundle.split(&format!("\n## {title}")).nth(1).unwrap_or_else(|| panic!("no {title} in {bundle}"));
    from.split("\n## ").next().unwrap_or_default()
}

// EP-23 EP-32 EP-27 EP-26 CORE-20
#[test]
fn the_bundle_says_how_far_to_trust_the_work_and_why() {
    let place = Place::configured(TRIVIAL);
    let dissent = [finding("SEC-1", "major", "sub takes any type")];
    let later = [finding("ARCH-1", "minor", "sub could live beside add")];
    let reviewer = |focus: &str| role("reviewer").phase("code-review").item(focus);
    let script =
        Script::feature(&[task("task-1", &[("sums/sub.py", "yellow"), ("tests/test_sub.py", "green")], &[])])
            .with(subtracting())
            .with(reviewer("security").says(review("code", "security", "needs-revision", &dissent)))
            .with(reviewer("architecture").says(review("code", "architecture", "needs-revision", &later)));

    let shown = place.feature(&script, &[]);

    assert_eq!(
        shown.code, 0,
        "minor findings count as approval, dissent is no veto: {}{}",
        shown.out, shown.err
    );
    let run = place.latest();
    assert_eq!(run.confidence, "medium");
    let bundle = place.remand(&["evidence"]).out;
    let page = place.home().join("runs").join(&run.run.0).join("evidence-bundle.md");
    let kept = std::fs::read_to_string(&page).expect("the page");
    assert_eq!(kept, bundle, "one page, made from the ledger");
    let confidence = section(&bundle, "Confidence: medium");
    assert!(confidence.contains("dissent") && confidence.contains("SEC-1"), "{confidence}");
    let checks = section(&bundle, "Checks that the engine ran");
    assert!(checks.contains("| task-1 | 2 | 0 | 0 | "), "{checks}");
    assert!(checks.contains("baseline") && checks.contains("`test -f sums/add.py`"), "{checks}");
    let reviews = section(&bundle, "Reviews");
    for focus in ["security", "architecture", "correctness"] {
        assert!(
            reviews.contains(&format!("review-code-{focus}"))
                && reviews.contains(&format!("review-design-{focus}")),
            "{reviews}"
        );
    }
    assert!(reviews.contains("needs-revision"), "{reviews}");
    let radius = section(&bundle, "Blast radius");
    assert!(
        radius.contains("`sums/sub.py`: yellow") && radius.contains("`tests/test_sub.py`: green"),
        "{radius}"
    );
    let issues = section(&bundle, "Known issues");
    assert!(issues.contains("SEC-1") && issues.contains("sub takes any type"), "{issues}");
    let follow_ups = issues.split("Follow-ups").nth(1).expect("follow-ups");
    assert!(follow_ups.contains("ARCH-1") && !follow_ups.contains("SEC-1"), "{issues}");
    let back = section(&bundle, "Undo");
    assert!(back.contains(&format!("git branch -D {}", run.branch)) && back.contains("git revert"), "{back}");
    let cost = section(&bundle, "Cost");
    assert!(
        cost.contains("16 dispatches") && cost.contains("1600 tokens") && cost.contains("cost: $0.16"),
        "{cost}"
    );
    let gates = section(&bundle, "Gates");
    assert!(gates.contains("approve-plan") && gates.contains("nobody was asked"), "{gates}");
}

// EP-08 EP-27 EP-32
#[test]
fn one_model_for_all_reviewers_is_a_recorded_degradation() {
    let place = Place::configured(TRIVIAL);
    let mut script = Script::subtraction();
    for focus in ["security", "architecture", "correctness"] {
        let same = role("reviewer").phase("code-review").item(focus).model("the-only-model");
        script = script.with(same.says(review("code", focus, "approve", &[])));
    }
    let shown = place.feature(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    let bundle = place.remand(&["evidence"]).out;
    let degraded = section(&bundle, "Degradations");
    assert!(degraded.contains("model"), "{bundle}");
    assert_eq!(run.confidence, "medium", "{bundle}");
}

// EP-08 EP-27
#[test]
fn reviewers_of_one_agent_that_names_no_model_are_a_recorded_degradation() {
    let place = Place::configured(TRIVIAL);
    let mut script = Script::subtraction();
    for focus in ["security", "architecture", "correctness"] {
        let reviewer = role("reviewer").phase("code-review").item(focus);
        script = script.with(reviewer.says(review("code", focus, "approve", &[])));
    }
    let shown = place.feature(&script, &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!(run.confidence, "medium");
    let bundle = place.remand(&["evidence"]).out;
    let degraded = section(&bundle, "Degradations");
    assert!(degraded.contains("used the same model, the default of rehearsal"), "{degraded}");
    let rows = place.reader().dispatches(&run.run).expect("dispatches");
    let named = rows.iter().filter(|row| row.phase == "code-review" && row.model.is_some()).count();
    assert_eq!(named, 0, "a model that nobody named has no name");
    assert_eq!(place.remand(&["audit"]).code, 0);
}

// EP-08
#[test]
fn reviewers_have_the_models_that_are_configured_for_their_focus() {
    let settings = |models: [&str; 3]| {
        let of = |(focus, model)| format!("[roles.\"reviewer:{focus}\"]\nmodel = \"{model}\"\n");
        let roles = ["security", "architecture", "correctness"].into_iter().zip(models).map(of);
        format!("{TRIVIAL}\n{}", roles.collect::<String>())
    };
    for (models, confidence) in [(["a", "b", "c"], "high"), (["a", "b", "a"], "medium")] {
        let place = Place::configured(&settings(models));
        let mut script = Script::subtraction();
        for focus in ["security", "architecture", "correctness"] {
            let reviewer = role("reviewer").phase("code-review").item(focus);
            script = script.with(reviewer.says(review("code", focus, "approve", &[])));
        }
        let shown = place.feature(&script, &[]);
        assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
        let run = place.latest();
        let rows = place.reader().dispatches(&run.run).expect("dispatches");
        let mut reviewers: Vec<(&str, &str)> = rows
            .iter()
            .filter(|row| row.phase == "code-review")
            .filter_map(|row| Some((row.item.as_deref()?, row.model.as_deref()?)))
            .collect();
        reviewers.sort_unstable();
        let [security, architecture, correctness] = models;
        let expected = [("architecture", architecture), ("correctness", correctness), ("security", security)];
        assert_eq!(reviewers, expected);
        assert_eq!(run.confidence, confidence, "{models:?}");
        let bundle = place.remand(&["evidence"]).out;
        let is_reported =
            bundle.contains("## Degradations") && section(&bundle, "Degradations").contains("model");
        assert_eq!(is_reported, confidence == "medium", "{bundle}");
    }
}

// EP-09 EP-32
#[test]
fn a_security_blocker_ends_the_run_whatever_the_verdict() {
    let place = Place::configured(TRIVIAL);
    let mut hole = finding("SEC-9", "blocker", "sub evaluates its arguments");
    hole["category"] = json!("security");
    let approving = role("reviewer").phase("code-review").item("correctness");
    let script =
        Script::subtraction().with(approving.says(review("code", "correctness", "approve", &[hole])));
    let shown = place.feature(&script, &[]);
    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!(place.git(&["branch", "--list", &run.branch]), "", "nothing was committed");
    let rulings = place.reader().rulings(&run.run, 0).expect("rulings");
    let last = &rulings.last().expect("a ruling").ruling;
    assert_eq!(
        (last.phase.as_str(), last.signal.as_str(), last.action.as_str()),
        ("code-review", "security-blocker", "fail")
    );
    assert!(last.why.contains("SEC-9"), "{last:?}");
}

// EP-23 CORE-09
#[test]
fn a_page_that_cannot_be_written_at_the_end_is_reported_and_a_resume_writes_it() {
    let place = Place::configured(TRIVIAL);
    let shown = place.feature(&Script::subtraction(), &["--interactive"]);
    assert_eq!(shown.code, 5, "{}{}", shown.out, shown.err);
    let run = place.latest().run;
    let folder = place.home().join("runs").join(&run.0);
    let page = folder.join("evidence-bundle.md");
    std::fs::create_dir_all(page.join("in-the-way")).expect("a folder in its place");

    let shown = place.remand(&["answer", "latest", "abort"]);

    assert_eq!(shown.code, 4, "{}{}", shown.out, shown.err);
    let reported = "the folder of the run is incomplete: evidence-bundle.md: ";
    assert!(shown.err.contains(reported), "{}", shown.err);
    assert!(shown.err.contains(&format!("then run `remand resume {run}`")), "{}", shown.err);
    assert!(folder.join("artifacts").is_dir(), "what could be laid out is there");

    std::fs::remove_dir_all(&page).expect("removed");
    let resumed = place.remand(&["resume"]);
    assert_eq!(resumed.code, 4, "{}{}", resumed.out, resumed.err);
    assert!(!resumed.err.contains(reported), "{}", resumed.err);
    assert!(page.is_file());
    let again = place.remand(&["resume"]);
    assert!(again.out.contains("no run to continue"), "{}{}", again.out, again.err);
}
