//! Runs are recorded, and the recordings are played on a fresh copy of the same repository.

use super::place::{Place, Shown};
use super::three_tasks::{self, Outcome, REHEARSAL, outcome};
use remand_ledger::query::DispatchRow;

/// A file outside the task, no result, a result that breaks its contract, an end by a signal after some output, and a
/// change with every kind of entry that a tree can have.
const TROUBLE: &str = r##"
  - role: implementer
    task: task-3
    phase: implement
    round: 1
    attempt: 1
    do:
      - write: {path: sums/stolen.py, text: "stolen = True\n"}
      - append: {path: README.md, text: "\nThere are add, sub and mul.\n"}
      - result: {payload: {verdict: done, task: task-3, hypothesis: More., changes: []}}

  - role: spec
    phase: spec
    round: 1
    attempt: 1
    do:
      - result-text: "verdict: [done\n"

  - role: verifier
    task: task-2
    phase: verify
    round: 1
    attempt: 1
    do:
      - error: the ground shook
      - crash: 11

  - role: designer
    phase: design
    round: 1
    attempt: 1
    do:
      - print: no time for this
      - error: out of ideas
      - exit: 3

  - role: implementer
    task: task-1
    phase: implement
    round: 1
    attempt: 1
    usage: {tokens: 500, money: 0.05}
    do:
      - write: {path: sums/sub.py, text: "def sub(a, b):\n    return a - b  # FIXME\n"}
      - write: {path: run.sh, text: "#!/bin/sh\nexec true\n"}
      - chmod: {path: run.sh, mode: "755"}
      - symlink: {path: sums/minus.py, target: sub.py}
      - delete: sums/__init__.py
      - symlink: {path: sums/__init__.py, target: add.py}
      - write: {path: sums/bytes.bin, base64: AAEC/w==}
      - result:
          payload:
            verdict: done
            task: task-1
            hypothesis: A minus sign does it.
            changes: [{file: sums/sub.py, what: sub., why: AC-1}]

  - role: implementer
    task: task-1
    phase: implement
    round: 2
    attempt: 1
    usage: {tokens: 250, money: 0.025}
    do:
      - patch: {path: sums/sub.py, find: "  # FIXME", replace: ""}
      - chmod: {path: sums/sub.py, mode: "755"}
      - chmod: {path: run.sh, mode: "644"}
      - result:
          payload:
            verdict: done
            task: task-1
            hypothesis: The remark has to go.
            changes: [{file: sums/sub.py, what: No remark., why: the check}]

  # The first batch is sent back by the verifier, so that the tasks come a second time.
  - role: verifier
    task: task-1
    phase: verify
    round: 1
    do:
      - result:
          payload:
            verdict: unmet
            task: task-1
            criteria: [{criterion: AC-1, met: not met, place: {file: sums/sub.py, symbol: sub, line: 2}, reason: It lacks a word.}]
            findings:
              - id: V-1
                severity: major
                category: correctness
                place: {file: sums/sub.py, symbol: sub, line: 2}
                claim: Nobody is told what it does.
                evidence: There is no docstring.
                impact: Readers guess.
                recommendation: Say it.

  - role: implementer
    task: task-1
    phase: implement
    round: 3
    attempt: 1
    usage: {tokens: 50}
    do:
      - patch: {path: sums/sub.py, find: "    return", replace: "    \"\"\"a less b.\"\"\"\n    return"}
      - result:
          payload:
            verdict: done
            task: task-1
            hypothesis: A docstring says it.
            changes: [{file: sums/sub.py, what: A docstring., why: V-1}]
"##;

/// The plan, which differs each time.
const PLAN: &str = r##"
  - role: planner
    phase: plan
    round: ROUND
    usage: {tokens: 400, money: 0.04}
    do:
      - result:
          payload:
            verdict: done
            summary: sub with all that a tree can hold.
            overall_risk: green
            tasks:
              - id: task-1
                title: sub
                description: sub(a, b) in a module of its own, in round ROUND.
                files: [{path: sums/, risk: green, change: new modules}, {path: run.sh, risk: green, change: a script}]
                size: standard
                type: code
                depends_on: []
                acceptance_criteria: [{id: AC-1, text: 3 less 2 is 1., test: reading}]
                relevant_context: ["spec#payload.requirements[id='FR-1']"]
              - id: task-2
                title: mul
                description: mul(a, b) in a module of its own.
                files: [{path: sums/mul.py, risk: green, change: new module}]
                size: standard
                type: code
                depends_on: [task-1]
                acceptance_criteria: [{id: AC-2, text: 3 times 2 is 6., test: reading}]
                relevant_context: ["spec#payload.requirements[id='FR-2']"]
              - id: task-3
                title: README
                description: The README names sub and mul.
                files: [{path: README.md, risk: green, change: one line}]
                size: standard
                type: documentation
                depends_on: []
                acceptance_criteria: [{id: AC-3, text: The README names sub and mul., test: reading}]
                relevant_context: ["spec#payload.requirements[id='FR-3']"]
            decisions: []
"##;

/// Records the run of a rehearsal, then plays the recording in another repository.
fn record_and_replay(rehearsal: &str) -> (Place, Outcome, Place, Outcome) {
    let first = three_tasks::place();
    let recording = first.project().with_file_name("recording.yaml").display().to_string();
    let shown = three_tasks::run(&first, rehearsal, &["--record", &recording]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let text = std::fs::read_to_string(&recording).expect("the recording");
    let second = three_tasks::place();
    let again = three_tasks::run(&second, &text, &[]);
    assert_eq!(again.code, 0, "{again:?}\n{text}");
    let (original, replayed) = (outcome(&first), outcome(&second));
    (first, original, second, replayed)
}

fn dispatches(place: &Place) -> Vec<DispatchRow> {
    place.reader().dispatches(&place.latest().run).expect("dispatches")
}

// EP-28, BY-06
#[test]
fn a_recording_gives_the_same_rulings() {
    let (_, original, _, replayed) = record_and_replay(REHEARSAL);
    assert_eq!(replayed, original);
}

// EP-28, BY-06
#[test]
fn a_recording_of_a_run_with_trouble_gives_the_same_trouble() {
    let (first, original, second, replayed) = record_and_replay(&format!(
        "{REHEARSAL}{TROUBLE}{}{}",
        PLAN.replace("ROUND", "1"),
        PLAN.replace("ROUND", "2")
    ));
    let failures: Vec<String> = dispatches(&first).into_iter().filter_map(|row| row.failure).collect();
    for failure in ["violation", "malformed", "crashed"] {
        assert!(failures.iter().any(|seen| seen == failure), "{failure} is missing in {failures:?}");
    }
    let failing = first.reader().checks(&first.latest().run, remand_ledger::query::CheckFilter::default());
    assert!(failing.expect("checks").iter().any(|row| row.tier.is_some() && !row.passed));
    assert!(dispatches(&first).iter().any(|row| row.command.contains(".b2t")), "no second batch");
    assert_eq!(replayed, original);
    let tree = |place: &Place| place.git(&["ls-tree", "-r", &place.latest().branch]);
    assert_eq!(tree(&second), tree(&first));
}

/// Runs a rehearsal interactively, chooses the default at each gate, and continues in another process each time.
fn run_with_default_answers(place: &Place, rehearsal: &str, more: &[&str]) -> Shown {
    let mut shown = place.run(
        three_tasks::REQUEST,
        rehearsal,
        &[&["--workflow", "feature", "--interactive"], more].concat(),
    );
    while shown.code == 5 {
        let gate = place.reader().open_gates().expect("gates").pop().expect("a gate");
        let parked = place.remand(&["answer", &gate.run.0, &gate.default.expect("a default"), "--park"]);
        assert_eq!(parked.code, 0, "{parked:?}");
        shown = place.remand(&["resume", &gate.run.0]);
    }
    shown
}

// EP-28, BY-06
#[test]
fn a_run_that_other_processes_finished_is_recorded_afterwards() {
    let first = three_tasks::place();
    let recording = first.project().with_file_name("recording.yaml");
    let file = recording.display().to_string();
    let shown = first.run(
        three_tasks::REQUEST,
        REHEARSAL,
        &["--workflow", "feature", "--interactive", "--record", &file],
    );
    assert_eq!(shown.code, 5, "{shown:?}");
    let run = first.latest().run;
    assert!(shown.err.contains(&format!("remand record {run} {file}")), "{shown:?}");
    assert!(!recording.exists(), "nothing is in the way of a recording");
    let begun = first.project().with_file_name("begun.yaml").display().to_string();
    let shown = first.remand(&["record", "latest", &begun]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let text = std::fs::read_to_string(&begun).expect("the recording");
    assert!(text.contains("role: researcher") && !text.contains("role: planner"), "{text}");
    let shown = first.remand(&["cancel", "latest"]);
    assert_eq!(shown.code, 0, "{shown:?}");

    assert_eq!(run_with_default_answers(&first, REHEARSAL, &["--record", &file]).code, 0);
    let shown = first.remand(&["record", "latest", &file]);
    assert_eq!((shown.code, shown.out), (0, format!("recorded in {file}\n")), "{}", shown.err);
    let shown = first.remand(&["record", "latest", &file]);
    assert_eq!(shown.code, 1, "nothing is overwritten");

    let second = three_tasks::place();
    let text = std::fs::read_to_string(&recording).expect("the recording");
    assert_eq!(run_with_default_answers(&second, &text, &[]).code, 0, "{text}");
    assert_eq!(outcome(&second), outcome(&first));
}
