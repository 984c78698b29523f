//! The tracker at the command line, word for word.

use crate::place::Place;
use crate::rehearsed::TRIVIAL;

const ISSUE: &str = "---\nstatus: In Progress\nlabels: [feature]\n---\n\n# More sums\n\n## Acceptance criteria\n\n- [ ] AC-1: sub(3, 2) is 1\n";
const CHILD: &str = "---\nstatus: Todo\nparent: ABC-1\ndepends-on: [ABC-3]\n---\n\n# Division\n";
const DONE: &str = "---\nstatus: Done\n---\n# Addition\n";

#[test]
fn the_tracker_has_a_help() {
    for words in [&["issues"][..], &["issues", "show"], &["issues", "new"], &["issues", "check"]] {
        let help: Vec<&str> = words.iter().copied().chain(["--help"]).collect();
        insta::assert_snapshot!(format!("help-{}", words.join("-")), crate::shown(&help));
    }
}

// OT-02
#[test]
fn issues_are_listed_shown_added_checked_and_repaired() {
    let place = Place::configured(TRIVIAL);
    insta::assert_snapshot!(
        "issues-none",
        place.transcript(&[&["issues"], &["issues", "new", "A first one"], &["issues", "check"]])
    );
    for (id, text) in [("ABC-1", ISSUE), ("ABC-2", CHILD), ("ABC-3", DONE)] {
        place.write(&format!("TODO/{id}.md"), text);
    }
    place.write("TODO/README.md", "# TODO\n\n- ABC-1 More sums (Todo)\n- ABC-9 gone\n");
    let lines: &[&[&str]] = &[
        &["issues"],
        &["issues", "--all"],
        &["issues", "show", "ABC-2"],
        &["issues", "show", "ABC-2", "--json"],
        &["issues", "show", "ABC-44"],
        &["issues", "show", "forty-four"],
        &["issues", "check"],
        &[
            "issues",
            "new",
            "Take roots",
            "--parent",
            "ABC-1",
            "--depends-on",
            "ABC-2",
            "--label",
            "feature",
            "--criterion",
            "root(4) is 2",
        ],
        &["issues", "new", "Print sums", "--category", "Output"],
        &["issues", "new", "Print", "--parent", "ABC-44"],
        &["issues", "check", "--repair"],
        &["issues", "check", "--json"],
        &["issues"],
    ];
    insta::assert_snapshot!("issues", place.transcript(lines));
    let read = |name: &str| std::fs::read_to_string(place.project().join("TODO").join(name)).expect("a file");
    insta::assert_snapshot!(
        "issues-files",
        format!("{}\n=====\n{}\n=====\n{}", read("README.md"), read("ABC-1.md"), read("ABC-4.md"))
    );
    place.write("TODO/ABC-5.md", "");
    std::fs::write(place.project().join("TODO/ABC-5.md"), [0xff, 0xfe]).expect("a file");
    insta::assert_snapshot!("issues-unread", place.transcript(&[&["issues"]]));
}

// OT-24
#[test]
fn an_id_that_another_clone_gave_to_another_issue_is_found_and_changed() {
    let place = Place::configured(TRIVIAL);
    place.write("TODO/ABC-1.md", ISSUE);
    place.write("TODO/README.md", "# TODO\n\n## Sums\n\n- [ ] [ABC-1](ABC-1.md) More sums · In Progress\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "The tracker"]);
    // A fetch gets the work of another clone.
    place.git(&["switch", "-q", "-c", "theirs"]);
    place.write("TODO/ABC-2.md", "---\nstatus: Todo\nparent: ABC-1\n---\n# Their issue\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Theirs"]);
    place.git(&["update-ref", "refs/remotes/origin/main", "theirs"]);
    place.git(&["switch", "-q", "work"]);
    place.git(&["branch", "-q", "-D", "theirs"]);
    place.write(
        "TODO/ABC-2.md",
        "---\nstatus: Todo\nparent: ABC-1\n---\n# Our issue\n\nSee ABC-2 and ABC-21.\n",
    );
    place.write(
        "TODO/ABC-1.md",
        &format!("{ISSUE}\n## Sub-issues\n\n- [ ] [ABC-2](ABC-2.md) Our issue · Todo\n"),
    );
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Ours"]);
    insta::assert_snapshot!(
        "issues-collision",
        place.transcript(&[&["issues", "check"], &["issues", "check", "--repair"], &["issues", "check"]])
    );
    let renamed = std::fs::read_to_string(place.project().join("TODO/ABC-3.md")).expect("a file");
    assert_eq!(renamed, "---\nstatus: Todo\nparent: ABC-1\n---\n# Our issue\n\nSee ABC-3 and ABC-21.\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "Another id"]);
    place.git(&["merge", "-q", "--no-edit", "origin/main"]);
}
