//! The full output of the demonstration. Tasks run in parallel, so the lines of each task are compared separately.

use super::redaction::redact;
use crate::place::{Place, shown};

/// Splits the story into paragraphs of lines that belong together.
fn paragraphs(story: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut open = false;
    for line in story.lines().filter(|line| !line.is_empty()) {
        if open {
            let last = blocks.last_mut().expect("a paragraph");
            last.push_str(&format!("\n{line}"));
        } else {
            blocks.push(line.to_string());
        }
        open = line.starts_with('✗') || (open && !line.starts_with("  ↩"));
    }
    blocks
}

/// The task that a paragraph is about, such as `task-1`; `None` for the run as a whole.
fn task(paragraph: &str) -> Option<&str> {
    paragraph.lines().next()?.split_whitespace().find(|word| word.starts_with("task-"))
}

/// Sorts the findings, because panel members end in any order.
fn sort_findings(paragraph: &str) -> String {
    let mut lines: Vec<&str> = paragraph.lines().collect();
    if lines.len() > 3 {
        let last = lines.len() - 1;
        lines[1..last].sort_unstable();
    }
    lines.join("\n")
}

/// Orders the story of each batch by task.
fn sort_by_task(story: &str) -> String {
    let blocks = paragraphs(story);
    let mut text = String::new();
    for batch in blocks.chunk_by(|one, other| task(one).is_some() == task(other).is_some()) {
        let mut batch: Vec<&String> = batch.iter().collect();
        batch.sort_by_key(|paragraph| task(paragraph));
        for paragraph in batch {
            text.push_str(&format!("{}\n", sort_findings(paragraph)));
        }
    }
    text
}

/// Tasks run in parallel, so it varies which one starts from the other's work and which results are cached.
fn normalize_order(bundle: &str) -> String {
    let is_task_baseline = |line: &&str| line.starts_with("| task-") && line.contains("| baseline |");
    let normalize = |line: &str| {
        let line = line.replace(", reused from the same tree", "");
        let cells: Vec<&str> = line.split('|').collect();
        match cells.as_slice() {
            [head @ .., _, end, last] if line.contains("| syntax |") => {
                format!("{}| N |{end}|{last}", head.join("|"))
            }
            _ => line,
        }
    };
    bundle.lines().filter(|line| !is_task_baseline(line)).map(normalize).collect::<Vec<_>>().join("\n")
}

/// Plays a demonstration in a separate folder, and returns the folder and the story.
fn play(place: &Place, name: &str) -> (String, String) {
    let folder = place.folder_of_test().join("demo").display().to_string();
    let mut command = place.command(&["demo", name, "--into", &folder]);
    command.env_remove("REMAND_STATE_DIR").env_remove("NO_COLOR").env("TERM", "xterm-256color");
    let demo = shown(command);
    assert_eq!((demo.code, demo.err.as_str()), (0, ""), "{}", demo.out);
    let (story, _) = demo.out.split_once("\n────").expect("the bundle is set apart");
    let (_, story) = story.split_once("are real.\n\n").expect("the introduction");
    (folder, story.to_string())
}

/// The output of commands in the project of a demonstration.
fn run_inside(place: &Place, checkout: &str, lines: &[&[&str]]) -> String {
    let transcript = |words: &&[&str]| {
        let mut command = place.command(&[&["-C", checkout], *words].concat());
        command.env_remove("REMAND_STATE_DIR");
        format!("$ remand {}\n{}\n", words.join(" "), shown(command).out)
    };
    redact(&lines.iter().map(transcript).collect::<String>(), &place.folder_of_test())
}

#[test]
fn the_demonstration_of_quick_refutes_a_claim_and_follows_a_reviewer() {
    let place = Place::new();
    let (_, story) = play(&place, "quick");
    insta::assert_snapshot!("demo-quick", story);
}

// PF-03 PF-04 PF-09 PF-10 PF-11
#[test]
fn the_demonstration_of_tsp_sends_a_planning_defect_through_the_chain() {
    let place = Place::new();
    let (folder, story) = play(&place, "tsp");
    insta::assert_snapshot!("demo-tsp", story);
    let lines: &[&[&str]] = &[
        &["defects"],
        &[
            "defects",
            "reattribute",
            "latest",
            "CR-1",
            "--to",
            "planning",
            "--note",
            "The design had to follow.",
        ],
        &["defects", "--injected", "planning"],
        &["stats"],
        &["estimate"],
    ];
    insta::assert_snapshot!("demo-tsp-defects", run_inside(&place, &format!("{folder}/notes"), lines));
}

#[test]
fn the_demonstration_shows_what_was_caught_and_where_it_was_sent() {
    let place = Place::new();
    let folder = place.folder_of_test().join("demo").display().to_string();
    let mut command = place.command(&["demo", "--into", &folder]);
    command.env_remove("REMAND_STATE_DIR").env_remove("NO_COLOR").env("TERM", "xterm-256color");

    let demo = shown(command);

    assert_eq!((demo.code, demo.err.as_str()), (0, ""), "{}", demo.out);
    assert!(!demo.out.contains('\u{1b}'), "{:?}", demo.out);
    let (story, rest) = demo.out.split_once("\n────").expect("the bundle is set apart");
    let (head, story) = story.split_once("are real.\n\n").expect("the introduction");
    insta::assert_snapshot!("demo-head", redact(head, &place.folder_of_test()));
    insta::assert_snapshot!("demo-story", sort_by_task(story));
    insta::assert_snapshot!(
        "demo-bundle",
        normalize_order(&redact(&format!("────{rest}"), &place.folder_of_test()))
    );
    let lines: &[&[&str]] = &[&["demo", "--into", &folder], &["demo", "featur"]];
    insta::assert_snapshot!("demo-again", place.transcript(lines));
    let list = place.remand(&["demo", "--list"]);
    assert!(list.out.starts_with("demo") && list.out.contains("\nfeature "), "{}", list.out);

    let shop = format!("{folder}/shop");
    let mut findings = place.command(&["-C", &shop, "findings"]);
    findings.env_remove("REMAND_STATE_DIR");
    insta::assert_snapshot!("demo-findings", redact(&shown(findings).out, &place.folder_of_test()));
}
