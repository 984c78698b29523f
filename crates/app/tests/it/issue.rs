//! Runs on issues, end to end: the commit, the tracker, and what stops a run.

mod crash;
mod ends;
mod parallel;
mod rework;
mod rust;
mod sanity;

use crate::issue_script::{
    ISSUE, README, STUB, artifact, commits, finding, made, on_branch, one_task, operation_results, place,
    place_with, reviewed, run, split, subtraction, task, three_tasks,
};
use crate::place::{Place, shown};
use crate::rehearsed::{SUB, role};
use serde_json::json;
use std::fs;

/// The parts with this name in the briefs of the latest run.
fn inputs(place: &Place, name: &str) -> Vec<Vec<u8>> {
    let run = place.latest().run;
    let rows = place.reader().dispatches(&run).expect("dispatches");
    let parts = rows.iter().filter_map(|row| place.brief_part(&run, &row.command, name));
    parts.map(String::into_bytes).collect()
}

// OT-02 OT-03 OT-11 OT-19 OT-20 OT-22 OT-24
#[test]
fn a_split_issue_becomes_three_commits_and_two_sub_issues_and_nothing_else_changes() {
    let place = place();
    let remote = place.project().parent().expect("a folder").join("remote.git");
    place.git(&["init", "-q", "--bare", remote.to_str().expect("text")]);
    place.git(&["remote", "add", "origin", remote.to_str().expect("text")]);
    let before =
        place.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes"]);
    let shown = run(&place, "ABC-1", &three_tasks());
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let branch = place.latest().branch;
    assert_eq!(
        commits(&place),
        [
            "feat: scaffold ABC-1: More sums",
            "feat: implement ABC-1: More sums",
            "chore(todo): ABC-1 is In Progress, ABC-3 ABC-4 filed",
        ]
    );
    let files = |commit: &str| place.git(&["show", "--format=", "--name-only", commit]);
    assert_eq!(files(&format!("{branch}~2")), "sums/sub.py\n");
    assert_eq!(files(&format!("{branch}~1")), "sums/sub.py\ntests/test_sub.py\n");
    assert_eq!(files(&branch), "TODO/ABC-1.md\nTODO/ABC-3.md\nTODO/ABC-4.md\nTODO/README.md\n");
    assert_eq!(place.git(&["show", &format!("{branch}~2:sums/sub.py")]), STUB);
    assert_eq!(on_branch(&place, "sums/sub.py"), SUB);
    // In files that people wrote, only the necessary lines change.
    assert_eq!(
        on_branch(&place, "TODO/ABC-1.md"),
        ISSUE.replace("status: Todo", "status: In Progress").replace("- [ ] AC-1", "- [x] AC-1").replace(
            "## Sub-issues\n\n",
            "## Sub-issues\n\n- [ ] [ABC-3](ABC-3.md) Multiply · Todo\n\n\
             - [ ] ↳ [ABC-4](ABC-4.md) Raise to powers (after ABC-3) · Todo\n\n"
        )
    );
    assert_eq!(
        on_branch(&place, "TODO/README.md"),
        README.replace("More sums · Todo", "More sums · In Progress")
    );
    let run = place.latest().run;
    assert_eq!(
        on_branch(&place, "TODO/ABC-4.md"),
        format!(
            "---\nid: ABC-4\nstatus: Todo\nparent: ABC-1\nlabels: [split-from-run]\ndepends-on: [ABC-3]\nneeds-run: {run}\n---\n\n\
             # ABC-4: Raise to powers\n\nRaise to powers, in a module of its own.\n\n## Acceptance criteria\n\n- [ ] AC-1: It \
             does.\n  Tested by: a unit test\n\n## Covers\n\nNo criterion of ABC-1 is fully covered.\n\n## Context\n\n\
             sums/add.py shows the manner.\n\n- `sums/power.py`\n\n## Contracts\n\n- plain integers\n\n## Plan\n\nWrite the \
             module: Raise to powers.\n\n## Test design\n\nOne unit test.\n\n## Origin\n\nTask `task-3` of ABC-1, which run \
             `{run}` split on the branch `{branch}`.\n\nIt needs the work of that run: merge its commit into the base \
             first (`git merge {branch}`).\n\n## Sub-issues\n\n## Comments\n"
        )
    );
    assert!(on_branch(&place, "TODO/ABC-3.md").contains("\ncovers: [AC-2]\n"));
    // Only the branch of the run changes, nothing is pushed or merged, and the checkout is unchanged.
    let after =
        place.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes"]);
    let others: Vec<&str> = after.lines().filter(|line| !line.contains("refs/heads/remand/")).collect();
    assert_eq!(others, before.lines().collect::<Vec<_>>());
    assert_eq!(place.git_in(&remote, &["for-each-ref"]), "");
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    // Sub-issues are filed before the first test is written.
    let seq = |phase: &str| {
        let rows = place.reader().operations(&run).expect("operations");
        rows.into_iter().find(|row| row.phase == phase).map(|row| row.seq).expect("a row")
    };
    assert!(seq("file-rest") < seq("red"));
    let summary = artifact(&place, "summary");
    for part in
        ["**In Progress**", "- [x] AC-1: sub(3, 2) is 1", "ABC-3 Multiply", &format!("git merge {branch}")]
    {
        assert!(summary.contains(part), "{part} is not in {summary}");
    }
}

// OT-04
#[test]
fn plan_and_task_are_the_same_bytes_for_every_role_and_on_disk() {
    let place = place();
    let review = role("check/code")
        .round(1)
        .says(reviewed("needs-work", &[finding("F-1", "production", "sums/sub.py", "It is \"odd\" `so`.")]));
    let again =
        role("make").round(2).writes("sums/sub.py", &format!("# Sums.\n{SUB}")).says(made("The other way."));
    let shown = run(&place, "ABC-1", &three_tasks().with(review).with(again));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let laid_out = place.home().join("runs").join(&place.latest().run.0).join("artifacts");
    let on_disk = |name: &str| fs::read(laid_out.join(name)).unwrap_or_else(|_| panic!("no {name}"));
    for (input, file, least) in [
        ("plan.yaml", "plan@1.yaml", 4),
        ("task-1.yaml", "task-1@1.yaml", 4),
        ("task-fix-1.md", "task-fix@1.md", 1),
    ] {
        let given = inputs(&place, input);
        assert!(given.len() >= least, "{input} was given {} times", given.len());
        assert!(
            given.iter().all(|bytes| bytes.trim_ascii_end() == on_disk(file).trim_ascii_end()),
            "{input} differs from {file}"
        );
    }
    assert!(laid_out.join("task-3@1.yaml").is_file());
    assert!(String::from_utf8_lossy(&on_disk("summary@1.md")).contains("# ABC-1: More sums"));
    // The fix task contains the findings word for word.
    let fix = String::from_utf8_lossy(&on_disk("task-fix@1.md")).into_owned();
    for words in ["It is \"odd\" `so`.", "Line 1 of it.", "It is wrong.", "Put it right."] {
        assert!(fix.contains(words), "{fix}");
    }
}

// OT-07 OT-08
#[test]
fn a_plan_that_is_too_large_is_split_and_a_smaller_one_stays_whole() {
    let place = place();
    let mut large = subtraction();
    large["concerns"] = json!(["subtract", "multiply", "divide"]);
    let refused = role("plan/split").attempt(1).says(split(&[large], true));
    let shown = run(&place, "ABC-1", &three_tasks().with(refused));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let details: Vec<&str> = rows.iter().filter_map(|row| row.detail.as_deref()).collect();
    assert!(details.iter().any(|detail| detail.contains("3 concerns; at most 2 are allowed")), "{details:?}");
    let small = place_with(&[]);
    let needless = role("plan/split")
        .attempt(1)
        .says(split(&[subtraction(), task("task-2", "Multiply", &["sums/mul.py"], &[], &[])], true));
    let shown = run(&small, "ABC-1", &one_task().with(needless));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let rows = small.reader().dispatches(&small.latest().run).expect("dispatches");
    assert!(rows.iter().any(|row| {
        row.detail
            .as_deref()
            .is_some_and(|detail| detail.contains("one task: this plan is too small to split"))
    }));
    // A single task needs no split review, and nothing is filed.
    assert!(!rows.iter().any(|row| row.role == "check/split"));
    assert!(
        commits(&small)
            .last()
            .is_some_and(|subject| subject == "chore(todo): ABC-1 is In Progress, ABC-3 filed"),
        "{:?}",
        commits(&small)
    );
    assert!(on_branch(&small, "TODO/ABC-3.md").contains("labels: [followup]\n"));
    assert!(on_branch(&small, "TODO/ABC-3.md").contains("covers: [AC-2]\n"));
}

#[test]
fn the_demonstration_shows_a_plan_sent_back_and_a_split() {
    let place = Place::new();
    let into = place.project().with_file_name("shown");
    let mut command = place.command(&["demo", "issue", "--into", into.to_str().expect("text")]);
    command.env_remove("REMAND_STATE_DIR");
    let shown = shown(command);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    for part in [
        "↩ sent back to plan (plan-review.round 2 → 1)",
        "↩ sent back to test",
        "↩ sent back to make",
        "SHOP-4 A receipt",
    ] {
        assert!(shown.out.contains(part), "{part} is not in {}", shown.out);
    }
}

// OT-05
#[test]
fn make_changes_the_files_that_its_task_names_and_no_others() {
    let place = place();
    let outside_task = role("make")
        .attempt(1)
        .writes("sums/add.py", "def add(a, b):\n    return b + a\n")
        .says(made("Elsewhere."));
    let shown = run(&place, "ABC-1", &three_tasks().with(outside_task));
    let rows = place.reader().dispatches(&place.latest().run).expect("dispatches");
    let make = rows.iter().find(|row| row.role == "make").expect("a dispatch");
    assert_eq!(make.failure.as_deref(), Some("violation"), "{}{}", shown.out, shown.err);
    assert!(make.detail.as_deref().is_some_and(|detail| detail.contains("sums/add.py")), "{make:?}");
}

// OT-20
#[test]
fn an_issue_is_done_when_all_its_criteria_are_met_and_its_parent_is_updated() {
    let child = "---\nstatus: Todo\nparent: ABC-1\ncovers: [AC-1]\n---\n# Subtract\n\n## Acceptance criteria\n\n- [ ] AC-1: sub(3, 2) is 1\n";
    let parent = ISSUE
        .replace("status: Todo", "status: In Progress")
        .replace("## Sub-issues\n\n", "## Sub-issues\n\n- [ ] [ABC-3](ABC-3.md) Subtract · Todo\n\n");
    let place = place_with(&[("TODO/ABC-3.md", child), ("TODO/ABC-1.md", &parent)]);
    let shown = run(&place, "ABC-3", &one_task());
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(commits(&place).last().map(String::as_str), Some("chore(todo): ABC-3 is Done"));
    assert_eq!(on_branch(&place, "TODO/ABC-3.md"), child.replace("Todo", "Done").replace("- [ ]", "- [x]"));
    assert_eq!(
        on_branch(&place, "TODO/ABC-1.md"),
        parent
            .replace("- [ ] [ABC-3](ABC-3.md) Subtract · Todo", "- [x] [ABC-3](ABC-3.md) Subtract · Done")
            .replace("- [ ] AC-1", "- [x] AC-1")
    );
    assert_eq!(operation_results(&place, "close"), ["closed"]);
    // A review that points outside the diff ticks nothing.
    let place = place_with(&[("TODO/ABC-3.md", child), ("TODO/ABC-1.md", &parent)]);
    let mut empty = reviewed("acceptable", &[]);
    empty["criteria"][0]["place"] = json!({"file": "sums/add.py"});
    let shown = run(&place, "ABC-3", &one_task().with(role("check/code").says(empty)));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert!(on_branch(&place, "TODO/ABC-3.md").contains("- [ ] AC-1"));
    assert!(
        artifact(&place, "summary").contains("`AC-1` was judged met, but `sums/add.py` is not in the diff")
    );
}
