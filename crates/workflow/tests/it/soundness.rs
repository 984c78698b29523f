//! Workflows that were once accepted although the kernel could break their proven guarantees.

use crate::support::{feature, finding};
use remand_kernel::event::{Event, Item, Outcome, Report, Start, Usage};
use remand_kernel::ids::CommandId;
use remand_kernel::program::Confidence;
use remand_kernel::signal::Failure;
use remand_workflow::CheckedWorkflow;
use remand_workflow::check;
use remand_workflow::roles::Roles;
use remand_workflow::source::SourceText;
use remand_workflow::walk::{WalkStep, Walker};
use std::path::Path;

/// Roles that only have a contract.
fn roles() -> Roles {
    let mut roles = Roles::shipped();
    for (name, contract) in [
        ("w", "says: [ok, again, other, third]"),
        ("ed", "says: [ok]"),
        ("rv", "says: [yes, no]\nfindings: true"),
        ("kind", "says: [yes, no]\nfindings: true\nby-kind: true"),
        ("lst", "says: [ok]\nlists: [tasks]"),
        ("lst2", "says: [ok]\nlists: [gaps]"),
    ] {
        let text = format!("---\nabout: Does nothing.\n{contract}\n---\n");
        roles.add(name, &SourceText::new(format!("{name}.md"), text)).expect("contract");
    }
    roles
}

fn checked(text: &str) -> CheckedWorkflow {
    check(SourceText::new("probe.yaml", text), &roles())
}

fn items(count: usize) -> Vec<Item> {
    (0..count).map(|at| Item { id: format!("t{at}"), ..Item::default() }).collect()
}

// CORE-02 BY-03
#[test]
fn a_workflow_that_the_kernel_could_break_is_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/workflows/unsound");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("fixtures") {
        let path = entry.expect("entry").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let checked = checked(&text);
        assert!(!checked.accepted(), "{} is accepted", path.display());
        let codes: Vec<&str> = checked.diagnostics.iter().map(|problem| problem.code.id()).collect();
        // The file is refused by a rule, not because it cannot be parsed.
        assert!(
            codes.iter().all(|code| !code.starts_with('N') && *code != "S003"),
            "{}: {codes:?}",
            path.display()
        );
        seen += 1;
    }
    assert!(seen >= 12);
}

#[test]
fn a_budget_sized_by_a_list_grows_once() {
    let text = "name: x\nabout: X.\nsubject: request\nbudgets:\n  again: 2 or tasks / 1 per run, then fail\ndefaults: \
                {no-result: fail}\nphases:\n  plan: {role: lst, on: {ok: next}}\n  work:\n    role: w\n    on: {ok: done, \
                again: remand plan spending again, other: fail, third: fail}\n";
    let checked = checked(text);
    assert!(checked.accepted(), "{:#?}", checked.diagnostics);
    let program = &checked.compiled.as_ref().expect("compiled").program;
    let mut walker = Walker::start(program, Start::default(), Vec::new()).expect("starts");
    for round in 0..40 {
        if walker.state.end().is_some() {
            break;
        }
        let lists = vec![("tasks".to_string(), items(if round % 2 == 0 { 10 } else { 0 }))];
        walker.happen(&WalkStep { lists, ..WalkStep::new("plan", "ok") }).expect("planned");
        walker.happen(&WalkStep::new("work", "again")).expect("worked");
    }
    assert_eq!(walker.status(), "failed at work: again, with again exhausted");
    assert_eq!(walker.state.used.dispatches, 22);
}

#[test]
fn a_flow_without_a_phase_that_can_start_is_done() {
    let text = "name: x\nabout: X.\nsubject: request\nflags: {urgent: U.}\ndefaults: {no-result: fail}\nphases:\n  a: {when: \
                urgent, role: ed, on: {ok: done}}\n";
    let checked = checked(text);
    let program = &checked.compiled.as_ref().expect("compiled").program;
    let walker = Walker::start(program, Start::default(), Vec::new()).expect("starts");
    assert_eq!(walker.status(), "done");
}

#[test]
fn a_result_that_would_be_sent_back_now_is_not_reused() {
    let text = "name: x\nabout: X.\nsubject: request\nbudgets:\n  b: 1 per run, then fail\ndefaults: {no-result: fail, \
                security-blocker: fail, repeated: ignore}\nphases:\n  pre: {role: ed, on: {ok: next}}\n  make: {role: ed, \
                reads: [request], writes: code, on: {ok: next}}\n  review:\n    role: rv\n    reads: [code]\n    rounds: \
                2\n    on: {yes: next, no: remand make spending round, spent: next with blockers}\n  gate: {role: w, on: {ok: \
                done, again: remand pre spending b, other: fail, third: fail}}\n";
    let checked = checked(text);
    let program = &checked.compiled.as_ref().expect("compiled").program;
    let mut walker = Walker::start(program, Start::default(), Vec::new()).expect("starts");
    let no = WalkStep {
        findings: vec![finding("F1", "the retry count is wrong")],
        ..WalkStep::new("review", "no")
    };
    walker.until("review").expect("reached");
    walker.happen(&no).expect("sent back");
    walker.until("review").expect("reached");
    walker.happen(&no).expect("spent");
    walker.happen(&WalkStep::new("gate", "again")).expect("sent back");
    walker.happen(&WalkStep::new("pre", "ok")).expect("done");
    assert_eq!(walker.status(), "waiting for review");
}

// EP-32
#[test]
fn a_degraded_result_lowers_the_confidence_that_decides_which_phases_run() {
    let text = "name: x\nabout: X.\nsubject: request\ndefaults: {no-result: fail}\nphases:\n  make: {role: ed, on: {ok: \
                next}}\n  sure: {when: confidence is high, role: ed, on: {ok: done}}\n  doubtful: {role: ed, on: {ok: \
                done}}\n";
    let checked = checked(text);
    assert!(checked.accepted(), "{:#?}", checked.diagnostics);
    let program = &checked.compiled.as_ref().expect("compiled").program;
    for (degraded, level, standing) in
        [(false, Confidence::High, "waiting for sure"), (true, Confidence::Medium, "waiting for doubtful")]
    {
        let mut walker = Walker::start(program, Start::default(), Vec::new()).expect("starts");
        let id = walker.open.first().and_then(remand_kernel::Command::id).expect("open");
        let outcome = Outcome::Said(Box::new(Report { degraded, ..Report::saying("ok") }));
        let event = Event::Ended { id, outcome, usage: Usage::default() };
        walker.feed(event, "it is made".to_string()).expect("taken");
        assert_eq!((walker.state.confidence, walker.status().as_str()), (level, standing));
    }
}

#[test]
fn a_report_cannot_change_the_list_that_is_worked_through() {
    let mut run = crate::support::Setup::of(feature()).run();
    run.until("implement");
    let id = open(&run);
    let report = Report { lists: vec![("tasks".to_string(), Vec::new())], ..Report::saying("stuck") };
    let outcome = Outcome::Said(Box::new(report));
    let refused = run.walker.feed(Event::Ended { id, outcome, usage: Usage::default() }, String::new());
    assert!(refused.is_err());
}

#[test]
fn a_retry_during_a_hold_is_dispatched_when_the_hold_ends() {
    let mut run = crate::support::Setup::of(feature()).run();
    run.until("research");
    let first = open(&run);
    let fail = |seat: u16, failure: Failure| Event::Ended {
        id: CommandId { seat, ..first },
        outcome: Outcome::Failed { failure, detail: "no network".to_string(), in_a_row: 3 },
        usage: Usage::default(),
    };
    run.walker.feed(fail(0, Failure::Environment), String::new()).expect("held");
    run.walker.feed(fail(1, Failure::Malformed), String::new()).expect("held back");
    run.says("hold", "go-on");
    assert_eq!(run.commands().lines().count(), 2, "{}", run.trace());
    run.finish();
    assert_eq!(run.status(), "done");
}

fn open(run: &crate::support::Run) -> CommandId {
    run.walker.open.first().and_then(remand_kernel::Command::id).expect("open")
}
