//! `quick`: one implementer, the engine's checks, one reviewer.

use crate::place::Place;
use crate::rehearsed::{Script, TEST_SUB, TRIVIAL, finding, implemented, review, role};
use remand_kernel::evidence::RowPhase;
use remand_ledger::fact::NoteKind;
use remand_ledger::query::{CheckFilter, DispatchStatus, RunStage};
use serde_json::json;

// BY-01 EP-02 EP-13 CORE-19
#[test]
fn a_verified_change_becomes_one_commit_on_its_own_branch() {
    let place = Place::configured(TRIVIAL);
    place.git(&["switch", "-q", "main"]);
    place.git(&["merge", "-q", "work"]);
    let remote = place.write_outside("remote.git", "");
    std::fs::remove_file(&remote).expect("removed");
    place.git(&["init", "-q", "--bare", &remote]);
    place.git(&["remote", "add", "origin", &remote]);
    place.write("sums/add.py", "def add(a, b):\n    return b + a\n");
    place.write("notes.txt", "mine\n");
    let (head, status) = (place.git(&["rev-parse", "HEAD"]), place.git(&["status", "--porcelain"]));

    let shown = place.quick(&Script::quick(), &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!((run.confidence.as_str(), run.used.dispatches), ("high", 2));
    assert_eq!(run.base, head.trim());
    assert_eq!(run.branch, format!("remand/{}", run.run));
    let commits = place.git(&["rev-list", &format!("main..{}", run.branch)]);
    assert_eq!(commits.lines().count(), 1);
    let changed = place.git(&["diff", "--name-only", "main", &run.branch]);
    assert_eq!(changed, "sums/sub.py\ntests/test_sub.py\n");
    let tag = format!("refs/tags/pipeline-baseline-{}^{{commit}}", run.run);
    assert_eq!(place.git(&["rev-parse", &tag]), head);
    assert!(shown.out.contains(&format!("on {}", run.branch)), "{}", shown.out);

    assert_eq!(place.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(place.git(&["branch", "--show-current"]), "main\n");
    assert_eq!(place.git(&["status", "--porcelain"]), status);
    assert_eq!(place.git(&["ls-remote", &remote]), "");

    let notes = place.reader().notes(&run.run).expect("notes");
    let warned =
        |word: &str| notes.iter().any(|note| note.kind == NoteKind::Warning && note.text.contains(word));
    assert!(warned("notes.txt"), "the dirty checkout: {notes:?}");
    assert!(warned("default branch"), "{notes:?}");
    let bundle = place.remand(&["evidence"]).out;
    assert!(bundle.contains("uncommitted changes in the checkout are not included"), "{bundle}");
}

// BY-01 EP-24 EP-32 CORE-06
#[test]
fn work_that_no_round_completed_is_left_with_commands_that_take_or_discard_it() {
    let place = Place::configured(TRIVIAL);
    let rejecting = |round: u32, claim: &str| {
        let findings = [finding(&format!("R{round}"), "major", claim)];
        role("reviewer").round(round).says(review("code", "general", "needs-revision", &findings))
    };
    let script = Script::quick()
        .with(rejecting(1, "sub takes a from b"))
        .with(rejecting(2, "there is no test of negative numbers"))
        .with(
            role("implementer")
                .round(2)
                .writes("sums/neg.py", "def neg(a):\n    return -a\n")
                .says(implemented("")),
        );

    let shown = place.quick(&script, &[]);

    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!((run.stage, run.confidence.as_str()), (RunStage::LeftToYou, "low"));
    assert_eq!(run.used.dispatches, 4);
    let nothing = place.remand(&["rollback", "latest"]);
    assert!(nothing.out.contains("there is nothing to revert"), "{}{}", nothing.out, nothing.err);
    let (take, discard) =
        (format!("git merge --squash {}", run.branch), format!("git branch -D {}", run.branch));
    assert!(shown.out.contains(&take), "{}", shown.out);
    assert!(shown.out.contains(&discard), "{}", shown.out);
    place.git(&take.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(
        place.git(&["diff", "--cached", "--name-only"]),
        "sums/neg.py\nsums/sub.py\ntests/test_sub.py\n"
    );
    place.git(&["reset", "-q", "--hard"]);
    place.git(&discard.split(' ').skip(1).collect::<Vec<_>>());
    assert_eq!(place.git(&["branch", "--list", "remand/*"]), "");
}

// CORE-06 EP-16 EP-18 CORE-03
#[test]
fn a_claim_that_all_tests_pass_is_refuted_by_the_tests() {
    let place = Place::new();
    let wrong = "def sub(a, b):\n    return b - a\n";
    let lie = json!({
        "verdict": "done", "hypothesis": "Taking a from b will do.",
        "changes": [{"file": "sums/sub.py", "what": "sub"}],
        "self_check": [{"name": "tests", "command": "python3 -m unittest", "passed": true, "exit_code": 0}],
    });
    let first =
        role("implementer").round(1).writes("sums/sub.py", wrong).writes("tests/test_sub.py", TEST_SUB);
    let second = role("implementer").round(2).writes("sums/sub.py", crate::rehearsed::SUB);
    let script = Script::quick().with(first.does(json!({"print": "All tests pass."})).says(lie)).with(
        second.says(json!({
            "verdict": "done", "hypothesis": "The operands were the wrong way round.",
            "changes": [{"file": "sums/sub.py", "what": "operands swapped"}],
        })),
    );

    let shown = place.quick(&script, &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest().run, place.reader());
    let rulings: Vec<_> =
        reader.rulings(&run, 0).expect("rulings").into_iter().map(|row| row.ruling).collect();
    let back = rulings.iter().find(|ruling| ruling.signal == "failed").expect("the remand");
    assert_eq!((back.phase.as_str(), back.target.as_deref()), ("verify", Some("implement")));
    assert_eq!(back.budgets.iter().map(|charge| (charge.before, charge.after)).collect::<Vec<_>>(), [(2, 1)]);
    assert!(
        rulings.iter().all(|ruling| !ruling.rule.to_string().is_empty() && !ruling.why.is_empty()),
        "{rulings:?}"
    );

    let checks = reader.checks(&run, CheckFilter::default()).expect("checks");
    let tests: Vec<_> = checks.iter().filter(|row| row.name == "unittest" || row.name == "pytest").collect();
    let of = |phase: RowPhase| tests.iter().filter(move |row| row.phase == phase).collect::<Vec<_>>();
    let (before, after) = (of(RowPhase::Baseline), of(RowPhase::After));
    assert_eq!(before.iter().map(|row| (row.passed, row.collected)).collect::<Vec<_>>(), [(true, Some(1))]);
    let seen: Vec<_> =
        after.iter().map(|row| (row.passed, row.collected, row.iteration, row.superseded)).collect();
    assert_eq!(seen, [(false, Some(2), 1, true), (true, Some(2), 2, false)]);
    let failed = after[0];
    assert!(
        failed.exit_code.is_some_and(|code| code != 0) && failed.command.is_some() && failed.duration_ms > 0
    );
    assert!(failed.snippet.chars().count() <= 500);
    let whole = reader.blob(failed.output.expect("the whole output")).expect("blob");
    assert!(String::from_utf8_lossy(&whole).contains("test_subtracts"));
    assert!(!checks.iter().any(|row| row.name == "tests"), "a claim became a row: {checks:?}");
}

// UP-06 EP-18 BY-01
#[test]
fn a_run_without_any_check_is_refused_before_it_spends_and_never_commits() {
    let place = Place::configured("[checks]\ndetect = false\n");
    let refused = place.quick(&Script::quick(), &[]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    assert!(refused.err.contains("nothing can prove the work"), "{}", refused.err);
    assert!(refused.err.contains("[checks.test]"), "{}", refused.err);

    let shown = place.quick(&Script::quick(), &["--unproven"]);
    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let run = place.latest();
    assert_eq!((run.confidence.as_str(), run.used.dispatches), ("low", 2), "no doomed rounds");
    let degraded = place.reader().notes(&run.run).expect("notes");
    assert!(degraded.iter().any(|note| note.kind == NoteKind::Degradation && note.text.contains("[checks]")));
}

// EP-13 EP-18
#[test]
fn a_baseline_without_passing_checks_says_what_follows_and_what_to_do() {
    let stuck = role("implementer").says(json!({
        "verdict": "stuck", "hypothesis": "None is left.", "changes": [], "open": ["the check"],
    }));
    let said = |settings: &str| {
        let place = Place::configured(settings);
        let shown = place.quick(&Script::quick().with(stuck.clone()), &[]);
        let (before, _) = shown.err.split_once("implementer").expect("the agent comes after it");
        let warning = "! no build and no test passes before any change: unless the run repairs that";
        (before.contains("! `build` fails before any change"), before.contains(warning), shown)
    };
    let red = TRIVIAL.replace("sums/add.py", "sums/none.py");
    let (named, warned, shown) = said(&red);
    assert!(named && warned, "{}{}", shown.out, shown.err);
    assert!(shown.err.contains("`[checks]`"), "{}", shown.err);
    let (named, warned, shown) = said(&format!("{red}\n[checks.other]\ncommand = \"test -d tests\"\n"));
    assert!(named && !warned, "another one proves the work: {}", shown.err);
}

/// Settings with this check and two that always pass.
fn with_two_passing_checks(check: &str) -> String {
    format!("{TRIVIAL}\n[checks.other]\n{check}\n")
}

// EP-18 CORE-13
#[test]
fn a_failed_build_and_a_run_of_no_tests_are_not_outvoted() {
    let stuck = role("implementer").round(2).says(json!({
        "verdict": "stuck", "hypothesis": "None is left.", "changes": [], "open": ["the check"],
    }));
    let script = Script::quick().with(stuck);
    let build = Place::configured(&with_two_passing_checks("command = \"test ! -f sums/sub.py\""));
    let shown = build.quick(&script, &[]);
    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let reader = build.reader();
    let checks = reader
        .checks(&build.latest().run, CheckFilter { task: None, phase: Some(RowPhase::After) })
        .expect("checks");
    let seen: Vec<_> = checks.iter().map(|row| (row.name.as_str(), row.passed)).collect();
    assert!(
        seen.contains(&("shape", true))
            && seen.contains(&("build", true))
            && seen.contains(&("other", false)),
        "{seen:?}"
    );

    let none = "[checks]\ndetect = false\n\n[checks.shape]\ncommand = \"test -d sums\"\ntier = 1\n\n[checks.tests]\n\
                command = \"printf 'Ran 0 tests in 0.000s\\n\\nOK\\n' >&2\"\nparser = \"unittest\"\n";
    let empty = Place::configured(none);
    // A text file cannot be loaded, so no other tier replaces the tests.
    let prose =
        role("implementer").round(1).writes("notes.txt", "sub takes b from a\n").says(implemented(""));
    let shown = empty.quick(&script.with(prose), &[]);
    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let reader = empty.reader();
    let checks = reader
        .checks(&empty.latest().run, CheckFilter { task: None, phase: Some(RowPhase::After) })
        .expect("checks");
    let tests = checks.iter().find(|row| row.name == "tests").expect("a row");
    assert_eq!((tests.passed, tests.exit_code, tests.collected), (false, Some(0), Some(0)));
    assert!(!tests.reason.is_empty(), "{tests:?}");
}

#[test]
fn the_entry_that_a_rehearsal_lacks_is_shown_after_its_file_and_can_be_pasted() {
    let place = Place::configured(TRIVIAL);
    let shown = place.run("Add sub", "rehearsal: 1\ndispatches: []\n", &["--workflow", "quick"]);
    let file = place.project().with_file_name("rehearsal.yaml").display().to_string();
    let reported = format!("{file} has no entry for this dispatch; add this one to its `dispatches`:\n\n");
    let (before, rest) = shown.out.split_once(&reported).expect(&shown.out);
    assert!(before.ends_with("it was permanently refused: "), "{}", shown.out);
    let entry: Vec<&str> = rest.lines().take_while(|line| line.starts_with("  ")).collect();

    let pasted = format!("rehearsal: 1\ndispatches:\n{}\n", entry.join("\n"));
    let shown = place.run("Add sub", &pasted, &["--workflow", "quick"]);
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    assert_eq!(rows[0].status, DispatchStatus::Done, "{}{}", shown.out, shown.err);
}

// BY-07
#[test]
fn every_report_of_a_run_says_that_its_commit_was_undone() {
    let place = Place::configured(TRIVIAL);
    let shown = place.quick(&Script::quick(), &[]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let reported = |place: &Place| {
        let pages = [&["log"][..], &["status", "latest"], &["evidence"]].map(|words| place.remand(words).out);
        pages.map(|page| page.contains("undone"))
    };
    assert_eq!(reported(&place), [false; 3]);

    let page = place.remand(&["evidence"]).out;
    let written = format!("`remand rollback {}`", place.latest().run);
    assert!(page.contains(&written), "{page}");
    let shown = place.remand(&["rollback", &place.latest().run.0]);
    assert_eq!(shown.code, 0, "as the page writes it: {}{}", shown.out, shown.err);
    assert_eq!(reported(&place), [true; 3]);

    // A recorded undo is not recorded again.
    let events = place.latest().seq;
    assert_eq!(place.remand(&["rollback", "latest", "--yes"]).code, 0);
    assert_eq!(place.latest().seq, events);
    assert_eq!(place.latest().stage, RunStage::Committed);
    assert_eq!(place.remand(&["audit"]).code, 0);
}

#[test]
fn doctor_refuses_settings_of_an_unknown_role() {
    let place = Place::configured(&format!("{TRIVIAL}\n[roles.implementr]\nmodel = \"large\"\n"));
    let shown = place.remand(&["doctor"]);
    assert_eq!(shown.code, 1, "{}", shown.out);
    assert!(shown.out.contains("`[roles.implementr]` names an unknown role"), "{}", shown.out);
    assert!(shown.out.contains("did you mean `implementer`?"), "{}", shown.out);
}

// CORE-12
#[test]
fn a_reviewer_names_the_finding_that_it_repeats_and_no_other() {
    let place = Place::configured(TRIVIAL);
    let first = review("code", "general", "needs-revision", &[finding("R1", "major", "sub takes a from b")]);
    let again = |repeats: &str| {
        let mut found = finding("R2", "major", "negative numbers are lost");
        found["place"] = json!({"file": "sums/neg.py", "symbol": "neg"});
        found["repeats"] = json!(repeats);
        review("code", "general", "needs-revision", &[found])
    };
    let script = Script::quick()
        .with(role("reviewer").round(1).says(first))
        .with(role("reviewer").round(2).attempt(1).says(again("R9")))
        .with(role("reviewer").round(2).says(again("R1")))
        .with(
            role("implementer")
                .round(2)
                .writes("sums/neg.py", "def neg(a):\n    return -a\n")
                .says(implemented("")),
        );
    let shown = place.quick(&script, &[]);
    assert_eq!(shown.code, 6, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest().run, place.reader());
    let rows = reader.dispatches(&run).expect("dispatches");
    let details: Vec<_> = rows.iter().filter_map(|row| row.detail.clone()).collect();
    assert!(details[0].contains("payload.findings[0].repeats: expected `R1`, found `R9`"), "{details:?}");
    let rulings = reader.rulings(&run, 0).expect("rulings");
    let repeated = rulings.iter().find(|row| row.ruling.signal == "repeated").expect("a repetition");
    assert!(repeated.ruling.why.contains("it repeats R1"), "{}", repeated.ruling.why);
}
