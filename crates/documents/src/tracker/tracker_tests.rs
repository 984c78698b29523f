#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::markdown::Markdown;
use proptest::prelude::*;

/// Issue files as people leave them. A status change alters only the line of the status.
const MESSY: &[&str] = &[
    "---\nstatus: Todo\nparent: ABC-1\nlabels: [bug]\ndepends-on: []\n---\n\n# ABC-7: Plain\n\n## Acceptance criteria\n\n- [ ] one\n",
    "---\r\nstatus: Todo\r\nowner: ada\r\n---\r\n# Windows\r\n\r\n## Acceptance criteria\r\n- [ ] AC-1: one\r\n- [x] AC-2: two\r\n",
    "\u{feff}---\nstatus: todo\n---\n# With a byte order mark\n",
    "---\nStatus:   \"In Progress\"   \nweird key: { a: [1, 2] }\n? complex\n---\n\n\n\n# Spaces   \n\n\n",
    "---\nstatus: Todo # since Monday\n# a comment of its own\nlabels:\n- bug\n- \"with: colon\"\nunknown: |\n  status: Done\n  more\n---\n",
    "# No front matter\n\nText only, no end of line",
    "",
    "\n\n\n",
    "---\nstatus: Todo\n",
    "---\nno status here\n---\n# Broken front matter\n",
    "---\nstatus: Blocked\n---\n# Unknown status\n\n## sub-issues\n* ABC-2 - todo\n",
    "---\nstatus: Todo\nstatus: Done\n---\n# Twice\n",
    "---\nstatus: Todo\n---\n\n## Acceptance Criteria ##\n\n1. [ ] numbered\n2. [X] capital\n   - [ ] nested\n\n```\n- [ ] code\n```\n> - [ ] quoted\n",
    "---\nstatus: Done\n---\nTitle\n=====\n\nSetext headings\n\nCriteria\n--------\n+ [ ] plus\n\tand a tab\n",
    "---\nstatus: Todo\n---\n# Table\n\n| id | title | status |\n|----|-------|--------|\n| ABC-8 | a | Todo |\n",
    "---\nstatus: Todo\n---\n# Mixed ends\r\nline\nline\r\n\r\n## Comments\n\n### 2026-01-01 me\n\nfree\n\n\n",
    "---\nstatus: Todo\n...\n# Dots close it\n<!--\n## Sub-issues\n- ABC-3 hidden\n-->\n",
    "---\nstatus: 'Todo'\ntitle: \"Ünïcödé — 日本語 ✓\"\n---\n# 日本語\n\n## Sub-issues\n\n- [ ] ↳ ABC-9 ü · Todo\n",
    "---\nstatus: Todo\n---\n# Nested\n\n## Sub-issues\n\n- epic\n  - [ ] ABC-2 one · Todo\n    1. [x] ABC-3 two (Done)\n\t- ABC-4\ttabbed\tTodo\n",
    "---\nstatus:\tTodo\t\n---\n\n\t# Code by a tab\n\n## Acceptance criteria\n-\t[ ]\tAC-1:\ttabs\n",
    "---\nstatus: Todo\n---\n# Comments\n\n<!-- ## Acceptance criteria\n- [ ] AC-9: hidden\n-->\n\n## Acceptance criteria <!-- not all -->\n\n- [ ] AC-1: shown <!-- - [ ] not this -->\n<!-- never closed\n- [ ] AC-2: lost\n",
    "---\nstatus: Todo\n---\n# Fences\n\n````md\n## Sub-issues\n```\n- ABC-2 code\n```\n````\n\n~~~\n## Comments\n~~~\n\n## Sub-issues\n\n- ABC-3 real · Todo\n\n```\nnever closed\n## Comments\n",
    "---\nstatus: Todo\n---\n# Duplicates\n\n## Comments\n\nfirst\n\n## Acceptance criteria\n\n- [ ] one\n\n## Comments\n\nsecond\n\n## Acceptance criteria\n\n- [x] two\n",
    "---\nstatus: Todo\nlabels: [🚀, \"👩‍👩‍👧\"]\n---\n# 🚀 Emoji\n\n## Acceptance criteria ✅\n\n- [ ] ✅ AC-1: done\n\n## Acceptance criteria\n\n- [x] **AC-2** 🎉\u{a0}here\u{2028}there\n",
    "\u{feff}---\r\nstatus: Todo\r\n---\r\n# A mark and two bytes\r\n\r\n## Sub-issues\r\n\r\n- [ ] ABC-2 · Todo",
    "---\n\nstatus: Todo\n\n---\n# Blank lines in front\n",
    "---\n  status: Todo\n---\n# Indented front matter\n",
    "--- \nstatus: Todo\n---  \n# Blanks behind the fences\n",
    "\n---\nstatus: Todo\n---\n# A line before the front matter\n",
    "---\nstatus:Todo\nstatus : Done\n---\n# No blank, a blank too many\n",
    "---\nstatus: [Todo]\nparent: [ABC-1, ABC-2]\ndepends-on: ABC-3, ABC-4\n---\n# Lists where words belong\n",
    "---\nstatus: >-\n  Todo\nother: &a x\nmore: *a\n---\n# Folded, anchored\n",
    "---\n{status: Todo, parent: ABC-1}\n---\n# In one line\n",
    "# Old editor\r\r## Acceptance criteria\r\r- [ ] one\r",
    "---\nstatus: Todo\n---\nTitle\n===\nSub-issues\n---\n| ABC-2 | a \\| b | In Progress | |\n|:--|\n* * *\n- [ ] ABC-3 ~~struck~~ **Done**\n",
    "---\nstatus: Todo\n---\n> # Quoted\n> ## Sub-issues\n> - ABC-2 said (Todo)\nlazy\n\n## Log ##\n\n- 2026-01-01: begun  \n- 2026-01-02: `done`\\\n",
    "---\nstatus: Todo\n---\n# Markup\n\n## Sub-issues\n\n<details>\n<summary>All</summary>\n\n- [ ] [ABC-2][two] · Todo\n\n</details>\n\n[two]: ABC-2.md\n\n## Comments\n\n<b>unclosed\n",
    "---\nstatus: Todo\n---\n#No heading\n#\n##\n####### Seven\n\n## Acceptance criteria\n-[ ] no blank\n- [] empty\n- [  ] two\n- [-] dash\n- [ ]\n",
];

fn id(text: &str) -> IssueKey {
    text.parse().unwrap()
}

fn tracker(files: &[(&str, &str)]) -> Tracker {
    Tracker::read(files.iter().copied())
}

fn no_others() -> BTreeSet<IssueKey> {
    BTreeSet::new()
}

/// The lines that differ, before and after.
fn differing<'t>(before: &'t str, after: &'t str) -> Vec<(&'t str, &'t str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
    assert_eq!(old.len(), new.len(), "{before:?} {after:?}");
    old.into_iter().zip(new).filter(|(old, new)| old != new).collect()
}

fn assert_only_status_changes(text: &str) {
    let issue = TrackerIssue::read(id("ABC-7"), text);
    assert_eq!(issue.text(), text);
    let _ = (issue.title(), issue.criteria(), issue.sub_issues(), issue.depends_on(), issue.labels());
    let Some(old) = issue.status() else { return };
    for to in TrackerStatus::ALL {
        let mut changed = issue.clone();
        changed.set_status(to);
        assert_eq!(changed.status(), Some(to), "{text:?}");
        if to == old {
            assert_eq!(changed.text(), text);
            continue;
        }
        let lines = differing(text, changed.text());
        assert_eq!(lines.len(), 1, "{text:?} {lines:?}");
        assert!(lines[0].0.to_lowercase().contains("status"), "{lines:?}");
        changed.set_status(old);
        assert_eq!(
            changed.text().len(),
            text.len() + old.name().len() - written_status(text).len(),
            "{text:?}"
        );
    }
}

/// The status as it is written in the file.
fn written_status(text: &str) -> String {
    TrackerIssue::read(id("ABC-7"), text).value("status").unwrap_or_default().to_string()
}

// OT-02
#[test]
fn a_status_change_in_a_hand_edited_file_alters_only_its_line() {
    assert!(MESSY.len() >= 30, "{}", MESSY.len());
    for text in MESSY {
        assert_only_status_changes(text);
    }
}

fn messy_line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~äß↳]{0,30}",
        "- \\[[ xX]\\] (AC-[1-3]: )?[a-z ]{0,12}",
        "#{1,4} [A-Z][a-z]{0,8}",
        Just("## Acceptance criteria".to_string()),
        Just("## Sub-issues".to_string()),
        Just("## Comments".to_string()),
        Just("```".to_string()),
        Just(String::new()),
        "[-*] (\\[ \\] )?ABC-[1-9] [a-z]{1,8} (\\(Todo\\)|· Done|)",
    ]
}

fn messy_file() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        "status: *(Todo|in progress|DONE|'Todo'|\"Done\")( # why)?",
        "[a-z]{1,6}: [ -~]{0,12}",
        "labels: \\[[a-z]{0,4}\\]",
        "depends-on:",
        "  - ABC-[1-9]",
    ];
    let front = prop::option::of(prop::collection::vec(key, 0..5));
    (front, prop::collection::vec(messy_line(), 0..20), prop_oneof![Just("\n"), Just("\r\n")], any::<bool>())
        .prop_map(|(front, lines, end, closed)| {
            let mut all: Vec<String> = Vec::new();
            if let Some(front) = front {
                all.push("---".to_string());
                all.extend(front);
                all.push("---".to_string());
            }
            all.extend(lines);
            let mut text = all.join(end);
            if closed {
                text.push_str(end);
            }
            text
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // OT-02
    #[test]
    fn a_status_change_in_any_file_alters_only_its_line(text in messy_file()) {
        assert_only_status_changes(&text);
    }

    // OT-02
    #[test]
    fn adding_to_a_file_removes_nothing(text in messy_file()) {
        let before = TrackerIssue::read(id("ABC-7"), text.clone());
        let mut issue = before.clone();
        issue.comment("a title", "some words");
        let new = NewEntry { id: id("NEW-3"), title: "t".into(), status: TrackerStatus::Todo, after: vec![] };
        issue.add_sub_issues(vec![new], &[]);
        let mut rest = issue.text();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let at = rest.find(line);
            prop_assert!(at.is_some(), "{line:?} is gone from {rest:?}");
            rest = &rest[at.unwrap_or_default() + line.len()..];
        }
    }
}

fn messy_readme() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        messy_line(),
        "\\| ABC-[1-3] \\| [a-z]{0,6} \\| (Todo|in progress|DONE|) \\|",
        "( {0,6}|\t)[-*+] (\\[[ xX]\\] )?(↳ )?\\[ABC-[1-3]\\]\\(ABC-[1-3].md\\) [a-z]{0,6}( · (Todo|Done|In Progress))?",
        Just("<!--".to_string()),
        Just("-->".to_string()),
        Just("---".to_string()),
        Just("~~~".to_string()),
    ];
    (prop::collection::vec(line, 0..20), prop_oneof![Just("\n"), Just("\r\n")], any::<bool>()).prop_map(
        |(lines, end, closed)| {
            let mut text = lines.join(end);
            if closed {
                text.push_str(end);
            }
            text
        },
    )
}

proptest! {
    // OT-02 OT-03
    #[test]
    fn in_any_readme_a_new_status_alters_only_lines_of_its_issue_and_a_new_entry_removes_nothing(
        text in messy_readme(),
    ) {
        let before = tracker(&[("ABC-1.md", "---\nstatus: Todo\n---\n"), (README, &text)]);
        prop_assert_eq!(before.readme().unwrap().text(), &text);
        for to in TrackerStatus::ALL {
            let mut changed = before.clone();
            changed.set_status(&id("ABC-1"), to, &no_others());
            let readme = changed.readme().unwrap();
            for (old, _) in differing(&text, readme.text()) {
                prop_assert!(old.contains("ABC-1"), "{old:?} of {text:?}");
            }
            for entry in readme.entries().iter().filter(|entry| entry.id == id("ABC-1") && entry.has_word()) {
                prop_assert_eq!(entry.status, Some(to), "{:?}", &text);
            }
        }
        let mut longer = Readme::read(text.clone());
        let new = NewEntry { id: id("NEW-3"), title: "t".into(), status: TrackerStatus::Todo, after: vec![] };
        longer.add(new, "Sums");
        let mut rest = longer.text();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let at = rest.find(line);
            prop_assert!(at.is_some(), "{line:?} is gone from {rest:?}");
            rest = &rest[at.unwrap_or_default() + line.len()..];
        }
    }
}

// OT-02
#[test]
fn entries_in_comments_are_neither_changed_nor_reported() {
    let list = "# TODO\n\n<!--\n- [ ] ABC-1 hidden · Todo\n- [ ] ABC-9 gone · Todo\n-->\n\n- [ ] ABC-1 shown · Todo\n";
    let mut tracker = tracker(&[("ABC-1.md", "---\nstatus: Todo\n---\n# Cart\n"), ("README.md", list)]);
    assert_eq!(tracker.faults(), []);
    tracker.set_status(&id("ABC-1"), TrackerStatus::Done, &no_others());
    assert_eq!(
        tracker.files()["README.md"],
        list.replace("- [ ] ABC-1 shown · Todo", "- [x] ABC-1 shown · Done")
    );
}

const PARENT: &str = "---\nstatus: In Progress\n---\n\n# Cart\n\n## Acceptance criteria\n\n- [ ] AC-1: sums\n- [ ] AC-2: codes\n\n\
    ## Sub-issues\n\n- [ ] [ABC-2](ABC-2.md) Codes · Todo\n\n## Comments\n";
const CHILD: &str = "---\nstatus: Todo\nparent: ABC-1\ncovers: [AC-2]\n---\n# Codes\n";
const LIST: &str = "# TODO\n\n## Shop\n\n- [ ] [ABC-1](ABC-1.md) Cart · In Progress\n";

fn shop() -> Tracker {
    tracker(&[("ABC-1.md", PARENT), ("ABC-2.md", CHILD), ("README.md", LIST), ("notes.txt", "x")])
}

// OT-03
#[test]
fn a_status_is_shown_in_the_readme_and_in_the_list_of_the_parent() {
    let mut tracker = shop();
    tracker.set_status(&id("ABC-2"), TrackerStatus::InProgress, &no_others());
    tracker.set_status(&id("ABC-1"), TrackerStatus::Todo, &no_others());
    let files = tracker.files();
    assert_eq!(files["ABC-2.md"], CHILD.replace("status: Todo", "status: In Progress"));
    assert_eq!(
        files["ABC-1.md"],
        PARENT.replace("Codes · Todo", "Codes · In Progress").replace("status: In Progress", "status: Todo")
    );
    assert_eq!(files["README.md"], LIST.replace("Cart · In Progress", "Cart · Todo"));
    assert!(!files.contains_key("notes.txt"));
}

// OT-24
#[test]
fn a_line_adjacent_to_one_of_another_run_is_left_alone() {
    let tight = "- ABC-1 Cart (Todo)\n- ABC-2 Codes (Todo)\n- ABC-3 Names (Todo)\n";
    let files = [
        ("ABC-1.md", "---\nstatus: Todo\n---\n"),
        ("ABC-3.md", "---\nstatus: Todo\n---\n"),
        ("README.md", tight),
    ];
    let others: BTreeSet<IssueKey> = [id("ABC-2")].into();
    let mut adjacent = tracker(&files);
    adjacent.set_status(&id("ABC-1"), TrackerStatus::Done, &others);
    assert_eq!(adjacent.readme().unwrap().text(), tight);
    let mut distant = tracker(&files);
    distant.set_status(&id("ABC-1"), TrackerStatus::Done, &[id("ABC-3")].into());
    assert_eq!(distant.readme().unwrap().text(), tight.replacen("Todo", "Done", 1));
}

// OT-20
#[test]
fn a_criterion_is_ticked_when_the_sub_issue_that_covers_it_is_done() {
    let mut tracker = shop();
    tracker.set_status(&id("ABC-2"), TrackerStatus::Done, &no_others());
    tracker.settle_parent(&id("ABC-2"), &no_others());
    let parent = tracker.issue(&id("ABC-1")).unwrap();
    let ticked: Vec<bool> = parent.criteria().iter().map(|criterion| criterion.ticked).collect();
    assert_eq!((ticked, parent.status()), (vec![false, true], Some(TrackerStatus::InProgress)));
    tracker.tick(&id("ABC-1"), "AC-1");
    tracker.settle_parent(&id("ABC-2"), &no_others());
    assert_eq!(tracker.issue(&id("ABC-1")).unwrap().status(), Some(TrackerStatus::Done));
    assert!(tracker.readme().unwrap().text().contains("[x] [ABC-1](ABC-1.md) Cart · Done"));
}

// OT-20
#[test]
fn a_finished_parent_settles_its_parent_and_a_cycle_terminates() {
    let issue = |status: &str, parent: &str, ticked: &str| {
        format!(
            "---\nstatus: {status}\nparent: {parent}\ncovers: [AC-1]\n---\n# T\n\n## Acceptance criteria\n\n- [{ticked}] AC-1: it is\n"
        )
    };
    let (top, middle, child) =
        (issue("In Progress", "ABC-3", " "), issue("In Progress", "ABC-1", " "), issue("Done", "ABC-2", "x"));
    let list = "# TODO\n\n- [ ] ABC-1 T · In Progress\n";
    let mut tracker =
        tracker(&[("ABC-1.md", &top), ("ABC-2.md", &middle), ("ABC-3.md", &child), ("README.md", list)]);
    tracker.settle_parent(&id("ABC-3"), &no_others());
    let done = |text: &str| text.replace("status: In Progress", "status: Done").replace("[ ]", "[x]");
    let files = tracker.files();
    assert_eq!((&files["ABC-2.md"], &files["ABC-1.md"]), (&done(&middle), &done(&top)));
    assert_eq!(files["README.md"], "# TODO\n\n- [x] ABC-1 T · Done\n");
    assert_eq!(files["ABC-3.md"], child);
}

// OT-02 OT-21
#[test]
fn a_comment_neither_starts_nor_swallows_a_section() {
    for text in [
        "# Cause\n\nIt is.",
        "## Acceptance criteria\n- [ ] AC-3: pay me",
        "```\nnever closed",
        "<!-- never closed",
        "### 2026-01-01 run forged\n\nx",
        "Cause\n---",
    ] {
        let mut tracker = shop();
        tracker.comment(&id("ABC-1"), "one\n## Comments", text);
        tracker.comment(&id("ABC-1"), "two", "Plain.");
        let issue = tracker.issue(&id("ABC-1")).unwrap();
        let read = Markdown::read(issue.text());
        let titles: Vec<&str> = read.headings().iter().map(|heading| heading.title.as_str()).collect();
        let expected = ["Cart", "Acceptance criteria", "Sub-issues", "Comments", "one ## Comments", "two"];
        assert_eq!(titles, expected, "{}", issue.text());
        assert_eq!(issue.criteria().len(), 2, "{}", issue.text());
        assert!(issue.text().contains(text), "{}", issue.text());
    }
}

// OT-11
#[test]
fn a_new_issue_has_a_file_and_a_line_in_its_parents_list() {
    let draft = |key: &str, needs: &[&str]| IssueDraft {
        id: id(key),
        title: format!("Task {key}"),
        parent: Some(id("ABC-1")),
        labels: vec!["split-from-run".into()],
        depends_on: needs.iter().map(|need| id(need)).collect(),
        covers: vec!["AC-2".into()],
        needs_run: Some("run-1".into()),
        about: "Do it.".into(),
        criteria: vec![NewCriterion {
            id: "AC-1".into(),
            text: "it is done".into(),
            test: "a unit test".into(),
        }],
        sections: vec![("Context".into(), "shop/cart.py".into())],
    };
    let mut tracker = shop();
    tracker.file(&[draft("ABC-4", &["ABC-5"]), draft("ABC-5", &["ABC-2"])]);
    let filed = tracker.issue(&id("ABC-4")).unwrap();
    assert_eq!(
        filed.text(),
        "---\nid: ABC-4\nstatus: Todo\nparent: ABC-1\nlabels: [split-from-run]\ndepends-on: [ABC-5]\ncovers: [AC-2]\n\
         needs-run: run-1\n---\n\n# ABC-4: Task ABC-4\n\nDo it.\n\n## Acceptance criteria\n\n- [ ] AC-1: it is done\n  \
         Tested by: a unit test\n\n## Context\n\nshop/cart.py\n\n## Sub-issues\n\n## Comments\n"
    );
    assert_eq!(filed.title(), "Task ABC-4");
    assert_eq!(filed.criteria()[0].id, "AC-1");
    let parent = tracker.issue(&id("ABC-1")).unwrap();
    assert_eq!(
        parent.text(),
        PARENT.replace(
            "Codes · Todo\n\n",
            "Codes · Todo\n\n- [ ] ↳ [ABC-5](ABC-5.md) Task ABC-5 (after ABC-2) · Todo\n\n\
             - [ ] ↳ [ABC-4](ABC-4.md) Task ABC-4 (after ABC-5) · Todo\n\n"
        )
    );
    assert_eq!(tracker.faults(), []);
    // The first entries of an empty list go between its heading and the next.
    tracker.file(&[IssueDraft { parent: Some(id("ABC-4")), ..draft("ABC-6", &[]) }]);
    let lines = "## Sub-issues\n\n- [ ] [ABC-6](ABC-6.md) Task ABC-6 · Todo\n\n## Comments\n";
    assert!(tracker.issue(&id("ABC-4")).unwrap().text().ends_with(lines));
}

// OT-11, OT-20
#[test]
fn a_covered_criterion_keeps_its_id_when_another_is_inserted_before_it() {
    let parent = "---\nstatus: In Progress\n---\n\n## Acceptance criteria\n\n- [ ] one\n- [ ]   two\n- [ ] AC-9: nine\n";
    let mut tracker = tracker(&[("ABC-1.md", parent)]);
    let draft = IssueDraft {
        id: id("ABC-2"),
        title: "Two".into(),
        parent: Some(id("ABC-1")),
        labels: Vec::new(),
        depends_on: Vec::new(),
        covers: vec!["AC-2".into(), "AC-9".into()],
        needs_run: None,
        about: String::new(),
        criteria: Vec::new(),
        sections: Vec::new(),
    };
    tracker.file(&[draft]);
    let text = tracker.issue(&id("ABC-1")).unwrap().text().to_string();
    assert!(text.starts_with(&parent.replace("  two", "  AC-2: two")), "{text}");
    let mut later = TrackerIssue::read(id("ABC-1"), text.replace("- [ ] one", "- [ ] zero\n- [ ] one"));
    later.tick("AC-2");
    assert!(later.text().contains("- [x]   AC-2: two"), "{}", later.text());
}

// OT-11
#[test]
fn the_text_of_an_issue_does_not_change_its_structure() {
    let issue = |about: &str, plan: &str| {
        let draft = IssueDraft {
            id: id("ABC-4"),
            title: "Round totals".into(),
            parent: None,
            labels: Vec::new(),
            depends_on: Vec::new(),
            covers: Vec::new(),
            needs_run: None,
            about: about.into(),
            criteria: vec![NewCriterion {
                id: "AC-1".into(),
                text: "it is done".into(),
                test: String::new(),
            }],
            sections: vec![("Plan".into(), plan.into()), ("Origin".into(), "A run.".into())],
        };
        TrackerIssue::read(id("ABC-4"), draft.text())
    };
    for (about, plan) in [
        ("## Acceptance criteria\n\n- [x] AC-7: done already", "First."),
        ("### Acceptance criteria\n\n- [x] AC-7: done already", "First."),
        ("Do it.", "Steps\n===\n\n# Comments\n\nnone"),
        ("```\nnever closed", "First."),
        ("Do it.", "<!-- never closed"),
    ] {
        let issue = issue(about, plan);
        let criteria: Vec<String> = issue.criteria().into_iter().map(|criterion| criterion.id).collect();
        assert_eq!(criteria, ["AC-1"], "{}", issue.text());
        let sections = Markdown::read(issue.text());
        let titles: Vec<&str> = sections.headings().iter().map(|heading| heading.title.as_str()).collect();
        let expected =
            ["ABC-4: Round totals", "Acceptance criteria", "Plan", "Origin", "Sub-issues", "Comments"];
        assert_eq!(titles, expected, "{}", issue.text());
    }
    let deep = issue("Do it.", "### Steps\n\n1. First.");
    assert!(deep.text().contains("## Plan\n\n### Steps\n\n1. First.\n"), "{}", deep.text());
}

// OT-24
#[test]
fn inconsistencies_are_found_and_those_that_need_no_human_are_repaired() {
    let mut tracker = tracker(&[
        ("ABC-1.md", "---\nstatus: In Progress\n---\n## Acceptance criteria\n- [ ] AC-1: x\n"),
        ("ABC-2.md", "---\nid: ABC-9\nstatus: Done\nparent: ABC-1\ncovers: [AC-1]\n---\n"),
        ("ABC-3.md", "---\nstatus: Nearly\nparent: ABC-77\ndepends-on: [ABC-4, soon]\n---\n"),
        ("ABC-4.md", "---\nstatus: Todo\ndepends-on: [ABC-3, ABC-66]\n---\n"),
        ("README.md", "- ABC-1 Cart (Todo)\n- ABC-55 gone\n- UTF-8 is not an issue\n"),
    ]);
    let messages: Vec<String> =
        tracker.faults().iter().map(|fault| format!("{}: {fault}", fault.file())).collect();
    assert_eq!(
        messages,
        [
            "ABC-1.md: AC-1 is open, but the sub-issues that cover it are done",
            "ABC-1.md: it does not list its sub-issue ABC-2",
            "ABC-2.md: its front matter has the id `ABC-9`",
            "ABC-3.md: `Nearly` is not a status",
            "ABC-3.md: `soon` is not an issue id",
            "ABC-3.md: its parent ABC-77 does not exist",
            "ABC-4.md: it depends on ABC-66, which does not exist",
            "README.md: it shows ABC-1 as Todo, but the status is In Progress",
            "README.md: it lists ABC-55, which does not exist",
            "README.md: it does not list ABC-4",
            "ABC-3.md: dependency cycle: ABC-3 → ABC-4",
        ]
    );
    let report = tracker.repair();
    assert!(report.left.iter().all(|fault| !fault.can_be_repaired()), "{report:?}");
    assert_eq!(tracker.faults(), report.left);
    let cart = tracker.issue(&id("ABC-1")).unwrap();
    assert_eq!(cart.status(), Some(TrackerStatus::Done));
    assert!(cart.text().contains("- [x] AC-1: x"), "{}", cart.text());
    assert!(tracker.readme().unwrap().text().contains("- ABC-1 Cart (Done)"));
    assert_eq!(tracker.readme().unwrap().category(&id("ABC-4")), Some("Other"));
}

// OT-24
#[test]
fn a_sub_issue_is_listed_before_those_that_depend_on_it() {
    let list =
        "---\nstatus: Todo\n---\n## Sub-issues\n\n- [ ] ABC-2 first · Todo\n\n- [ ] ABC-4 last · Todo\n";
    let child = |needs: &str| format!("---\nstatus: Todo\nparent: ABC-1\ndepends-on: [{needs}]\n---\n");
    let mut tracker = Tracker::read([
        ("ABC-1.md", list.to_string()),
        ("ABC-2.md", child("")),
        ("ABC-3.md", child("ABC-2")),
        ("ABC-4.md", child("ABC-3")),
    ]);
    tracker.repair();
    let ids: Vec<String> =
        tracker.issue(&id("ABC-1")).unwrap().sub_issues().iter().map(|entry| entry.id.to_string()).collect();
    assert_eq!(ids, ["ABC-2", "ABC-3", "ABC-4"]);
    assert!(
        tracker
            .issue(&id("ABC-1"))
            .unwrap()
            .text()
            .contains("- [ ] ↳ [ABC-3](ABC-3.md) ABC-3 (after ABC-2) · Todo\n\n- [ ] ABC-4")
    );
}

// OT-24
#[test]
fn a_new_id_replaces_every_mention_of_the_old_id_and_nothing_else() {
    let mut tracker = shop();
    tracker.comment(&id("ABC-1"), "me", "see ABC-2, not ABC-21 or XABC-2 or ABC-2-draft; ABC-2.");
    tracker.renumber(&id("ABC-2"), &id("ABC-30"));
    assert!(tracker.issue(&id("ABC-2")).is_none());
    assert_eq!(tracker.issue(&id("ABC-30")).map(TrackerIssue::text), Some(CHILD));
    let parent = tracker.issue(&id("ABC-1")).unwrap().text();
    assert!(parent.contains("[ABC-30](ABC-30.md)"), "{parent}");
    assert!(parent.contains("see ABC-30, not ABC-21 or XABC-2 or ABC-2-draft; ABC-30."), "{parent}");
}
