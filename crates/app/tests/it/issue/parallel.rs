//! Two parallel runs on one repository: ids differ, and both branches merge.

use crate::issue_script::{OTHER, arguments, place_with, three_tasks};
use crate::place::Place;
use crate::rehearsed::Script;
use std::collections::BTreeSet;

/// [`three_tasks`] with other module names, so the code of both runs merges.
fn division() -> Script {
    let text = three_tasks().text();
    let text = text.replace("sums/sub.py", "sums/div.py").replace("test_sub.py", "test_div.py");
    let text = text
        .replace("def sub(", "def div(")
        .replace("import sub as", "import div as")
        .replace("module.sub(3, 2), 1", "module.div(6, 2), 3");
    let text = text
        .replace("return a - b", "return a // b")
        .replace("Multiply", "Halve")
        .replace("Raise to powers", "Take roots");
    Script::parse(&text)
}

/// Runs on both issues in parallel and returns their branches, that of ABC-2 first.
fn run_both(place: &Place) -> Vec<String> {
    let first = arguments(place, "ABC-1", &three_tasks());
    let second = arguments(place, "ABC-2", &division());
    let start = |words: &[String]| place.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let running = [start(&first), start(&second)];
    for child in running {
        let ended = child.wait_with_output().expect("an end");
        assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let mut rows = place.reader().runs().expect("runs");
    rows.sort_by_key(|row| std::cmp::Reverse(row.file.clone()));
    rows.into_iter().map(|row| row.branch).collect()
}

/// Merges the branches as a user does; a conflict fails the test.
fn merge(place: &Place, branches: &[String]) {
    for branch in branches {
        place.git(&["merge", "-q", "--no-edit", branch]);
    }
}

fn filed_ids(place: &Place, branch: &str) -> BTreeSet<String> {
    let names =
        place.git(&["diff", "--diff-filter=A", "--name-only", &format!("work...{branch}"), "--", "TODO"]);
    names.lines().map(str::to_string).collect()
}

// OT-24
#[test]
fn two_parallel_runs_file_different_ids_and_both_merge() {
    let place = place_with(&[]);
    let branches = run_both(&place);
    let (one, other) = (filed_ids(&place, &branches[0]), filed_ids(&place, &branches[1]));
    assert_eq!((one.len(), other.len()), (2, 2), "{one:?} {other:?}");
    assert!(one.is_disjoint(&other), "{one:?} {other:?}");
    merge(&place, &branches);
    let shown = place.remand(&["issues", "check"]);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let readme = std::fs::read_to_string(place.project().join("TODO/README.md")).expect("a file");
    assert!(readme.contains("More sums · In Progress"), "{readme}");
}

// OT-24
#[test]
fn lists_with_adjacent_changes_merge_too_and_are_repaired_on_request() {
    let tight = "# TODO\n\n- ABC-1 More sums (Todo)\n- ABC-2 Division (Todo)\n";
    let place = place_with(&[
        ("TODO/README.md", tight),
        ("TODO/ABC-2.md", &OTHER.replace("- [ ] AC-1", "- [ ] AC-2: x\n- [ ] AC-1")),
    ]);
    let branches = run_both(&place);
    merge(&place, &branches);
    let check = place.remand(&["issues", "check"]);
    assert_eq!(check.code, 1, "{}{}", check.out, check.err);
    // Which of the two issues it is depends on which run ended last.
    let stale =
        |issue: &str| format!("TODO/README.md: it shows {issue} as Todo, but the status is In Progress");
    assert!(["ABC-1", "ABC-2"].iter().any(|issue| check.out.contains(&stale(issue))), "{}", check.out);
    let repaired = place.remand(&["issues", "check", "--repair"]);
    assert_eq!(repaired.code, 0, "{}{}", repaired.out, repaired.err);
    let readme = std::fs::read_to_string(place.project().join("TODO/README.md")).expect("a file");
    assert_eq!(readme, tight.replace("Todo)", "In Progress)"));
}
