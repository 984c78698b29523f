//! Broken workflow files: each is refused with its diagnostics, none with a panic.

use remand_workflow::diagnostic::{Diagnostic, Style};
use remand_workflow::roles::Roles;
use remand_workflow::shipped::WORKFLOWS;
use remand_workflow::{CheckedWorkflow, check_bytes};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    files
}

fn rendered(checked: &CheckedWorkflow) -> String {
    let all: Vec<String> =
        checked.diagnostics.iter().map(|problem| problem.render(&checked.source, Style::Plain)).collect();
    all.join("\n\n")
}

// CORE-02 CORE-09
#[test]
fn each_broken_file_is_refused_with_its_diagnostics() {
    let files = fixtures("workflows/bad");
    assert!(files.len() >= 30);
    for path in files {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).expect("readable");
        let checked = check_bytes(&name, &bytes, &Roles::shipped());
        assert!(!checked.accepted(), "{name} is accepted");
        assert!(!checked.diagnostics.is_empty(), "{name} has no diagnostic");
        insta::with_settings!({ snapshot_path => "snapshots/refused", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.trim_end_matches(".yaml"), rendered(&checked));
        });
    }
}

// HO-06
#[test]
fn each_gap_in_the_flow_of_information_is_refused_with_its_path_and_a_remedy() {
    let files = fixtures("workflows/gaps");
    assert!(files.len() >= 12);
    let mut others = Vec::new();
    for path in files {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let checked = check_bytes(&name, &std::fs::read(&path).expect("readable"), &Roles::shipped());
        let [problem] = checked.diagnostics.as_slice() else {
            others.push(rendered(&checked));
            continue;
        };
        assert_eq!(problem.code.id(), "A406", "{name}: {}", rendered(&checked));
        assert!(!problem.path.is_empty() && !problem.remedy.is_empty(), "{name}: {problem:?}");
        insta::with_settings!({ snapshot_path => "snapshots/gaps", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.trim_end_matches(".yaml"), rendered(&checked));
        });
    }
    assert!(others.is_empty(), "{}", others.join("\n\n"));
}

/// A change to a shipped workflow, and what the role of a phase is no longer given.
struct Cut {
    workflow: &'static str,
    phase: &'static str,
    from: &'static str,
    to: &'static str,
    need: &'static str,
}

const fn cut(
    workflow: &'static str,
    phase: &'static str,
    from: &'static str,
    to: &'static str,
    need: &'static str,
) -> Cut {
    Cut { workflow, phase, from, to, need }
}

const CUTS: [Cut; 32] = [
    cut("feature", "spec", "reads: [request, research]", "reads: [request]", "research or subject"),
    cut("feature", "spec", "writes: spec", "writes: spec\n    afresh: true", "own work"),
    cut("feature", "more-research", "writes: research", "writes: research\n    afresh: true", "own work"),
    cut("feature", "design", "reads: [spec, research]", "reads: [research]", "spec or subject"),
    cut("feature", "design-review", "reads: [design, spec]", "reads: [design]", "spec or subject"),
    cut("feature", "design-review", "diverse: true", "afresh: true", "own work"),
    cut("feature", "plan", "reads: [design, spec]", "reads: [spec]", "design or subject"),
    cut("feature", "plan", "reads: [design, spec]", "reads: [design]", "spec or subject"),
    cut("feature", "implement", "reads: [plan, baseline]", "reads: [baseline]", "plan or subject"),
    cut("feature", "verify", "reads: [code, spec, plan]", "reads: [code, plan]", "spec or subject"),
    cut(
        "feature",
        "code-review",
        "reads: [code, spec, plan, design]",
        "reads: [code, spec, design]",
        "plan or subject",
    ),
    cut(
        "feature",
        "code-review",
        "reads: [code, spec, plan, design]",
        "reads: [code, spec, plan]",
        "design or subject",
    ),
    cut(
        "feature",
        "code-review",
        "reads: [code, spec, plan, design]",
        "reads: [code, plan, design]",
        "spec or subject",
    ),
    cut("feature", "code-review", "rounds: 2", "rounds: 2\n    afresh: true", "own work"),
    cut("issue", "plan-review", "reads: [plan]", "reads: [issue]", "plan"),
    cut("issue", "plan-review", "rounds: 3", "rounds: 3\n    afresh: true", "own work"),
    cut("issue", "make", "may-read: [manifest, task-fix]", "may-read: [task-fix]", "manifest if any"),
    cut("issue", "make", "may-read: [manifest, task-fix]", "may-read: [manifest]", "task-fix if any"),
    cut("issue", "diagnosis", "    may-read: [code]\n", "", "code if any"),
    cut("issue", "final-review", "    may-read: [manifest]\n", "", "manifest if any"),
    cut("issue", "final-review", "reads: [code, plan, tasks, tests]", "reads: [code, plan, tests]", "tasks"),
    cut("ticket", "design", "writes: design", "writes: design\n    afresh: true", "own work"),
    cut("ticket", "amend", "    may-read: [findings]\n", "", "findings if any"),
    cut("ticket", "design-review", "    may-read: [findings]\n", "", "findings if any"),
    cut("ticket", "implement", "    may-read: [findings]\n", "", "findings if any"),
    cut("ticket", "write-tests", "writes: tests", "writes: tests\n    afresh: true", "own work"),
    cut("ticket", "impl-review", "repeats: 3", "repeats: 3\n    afresh: true", "own work"),
    cut("spec", "engineer", "may-read: [decisions, reviews]", "may-read: [decisions]", "reviews if any"),
    cut("spec", "reviewer", "may-read: [proposals, decisions]", "may-read: [decisions]", "proposals if any"),
    cut(
        "tsp",
        "first-checks",
        "do: checks\n    reads: [code]\n    on:\n      passed: next\n      failed: remand code spending by-test, corrections, else to red",
        "do: prepare\n    on: {ready: next, concerns: next, refused: stop refused}",
        "evidence",
    ),
    cut(
        "tsp",
        "code-review",
        "reads: [plan, design, code]",
        "reads: [plan, design, code]\n    afresh: true",
        "own work",
    ),
    cut("tsp", "postmortem", "    may-read: [defects]\n", "", "defects if any"),
];

// HO-04 HO-06
#[test]
fn a_shipped_workflow_without_one_of_its_hand_overs_is_refused_with_the_path() {
    let mut wrong = Vec::new();
    for Cut { workflow, phase, from, to, need } in CUTS {
        let (_, text) = WORKFLOWS.iter().find(|(name, _)| *name == workflow).expect("a shipped workflow");
        let start = text.find(&format!("  {phase}:")).expect("the phase");
        let (before, rest) = text.split_at(start);
        assert!(rest.contains(from), "{workflow}: {phase} has no `{from}`");
        let changed = format!("{before}{}", rest.replacen(from, to, 1));
        let checked = check_bytes(workflow, changed.as_bytes(), &Roles::shipped());
        let named = |problem: &Diagnostic| {
            problem.code.id() == "A406"
                && problem.message.contains(&format!("needs `{need}` and"))
                && problem.path.last().is_some()
        };
        if !checked.diagnostics.iter().any(named) {
            wrong.push(format!("{workflow}, {phase} without {need}: {}", rendered(&checked)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

// CORE-09
#[test]
fn a_file_of_ten_megabytes_is_refused_immediately() {
    let start = Instant::now();
    let checked = check_bytes("large.yaml", &vec![b'a'; 10 << 20], &Roles::shipped());
    let text = rendered(&checked);
    assert!(
        text.starts_with("error[S002]: the file is larger than 512 KiB\n --> large.yaml:1:1\n"),
        "{text}"
    );
    assert!(start.elapsed() < Duration::from_secs(5), "not even looked at");
}

#[test]
fn a_diagnostic_on_a_very_long_line_shows_only_its_surroundings() {
    let text = format!(
        "name: small\nabout: {}\nsubjekt: request\nphases: {{{}}}\n",
        "x".repeat(5000),
        "y".repeat(3000)
    );
    let checked = check_bytes("long.yaml", text.as_bytes(), &Roles::shipped());
    assert!(!checked.accepted());
    assert!(rendered(&checked).lines().all(|line| line.chars().count() < 400));
}
