//! The revision gate, the count of revisions, the revised design with its review, and the way back into implementation.

use super::attempts::{at_implement, at_revision_gate, dispatched, goes_in_a_circle, revise};
use crate::support::{Run, Setup, approach, finding, happening, ticket};
use remand_kernel::Program;
use remand_kernel::change::Digest;
use remand_kernel::command::Command;
use remand_kernel::event::{Event, Start};
use remand_workflow::roles::Roles;
use remand_workflow::source::SourceText;
use remand_workflow::walk::{WalkStep, Walker};

// DR-09
#[test]
fn the_revision_gate_is_asked_in_autonomous_mode_too() {
    let run = at_revision_gate();
    assert_eq!(run.last(), "findings: done → to revision-gate");
    assert_eq!(run.commands(), "ask revision-gate: approve, close");
    assert_eq!(run.status(), "waiting for revision-gate");
}

// DR-09
#[test]
fn the_revision_gate_is_asked_in_interactive_mode() {
    let mut run = Setup::of(ticket()).interactive().run();
    run.until("implement");
    goes_in_a_circle(&mut run);
    run.says("findings", "done");
    assert_eq!(run.commands(), "ask revision-gate: approve, close");
}

// DR-09
#[test]
fn the_revision_gate_has_no_default_that_could_answer_it() {
    let run = at_revision_gate();
    let Some(Command::Ask(question)) = run.walker.open.first() else {
        panic!("no question is open");
    };
    assert_eq!(question.default, None);
}

// DR-09
#[test]
fn at_the_revision_gate_nothing_moves_without_an_answer() {
    let mut run = at_revision_gate();
    let before = run.walker.state.clone();
    for event in [Event::Paused { by: "a human".to_string() }, Event::Resumed { by: "a human".to_string() }] {
        let step = run.walker.feed(event, "a human".to_string()).unwrap();
        assert_eq!(step.commands, []);
    }
    assert_eq!(run.walker.state, before);
}

// DR-09
#[test]
fn the_revision_gate_takes_only_approve_and_close() {
    let mut run = at_revision_gate();
    let refused = run.walker.happen(&happening("revision-gate", "changes"));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the kernel refuses this: `changes` is not offered; the options are approve, close"
    );
}

// DR-09, DR-22
#[test]
fn close_at_the_revision_gate_ends_the_run() {
    let mut run = at_revision_gate();
    run.says("revision-gate", "close");
    assert_eq!(run.last(), "revision-gate: close → stop closed");
    assert_eq!(run.status(), "stopped: closed");
    assert_eq!(run.left("revision"), 2);
}

// DR-09
#[test]
fn the_notes_of_the_human_are_in_the_ruling() {
    let mut run = at_revision_gate();
    run.happens(WalkStep {
        by: "ada".to_string(),
        note: "keep the broad phase".to_string(),
        ..happening("revision-gate", "approve")
    });
    assert_eq!(run.why(), "ada decided: keep the broad phase");
}

// DR-10
#[test]
fn approve_counts_the_revision_and_starts_the_record_in_one_step() {
    let mut run = at_revision_gate();
    run.says("revision-gate", "approve");
    assert_eq!(run.last(), "revision-gate: approve → remand record, revision 2 → 1");
    assert_eq!(run.commands(), "do record-approach");
}

// DR-10
#[test]
fn the_failed_approach_is_listed_and_not_the_proposed_one() {
    let mut run = Setup::of(ticket()).run();
    run.until("design");
    run.happens(designed("design", "Solve each contact block by a direct inverse of its effective mass."));
    run.until("implement");
    goes_in_a_circle(&mut run);
    run.happens(designed(
        "findings",
        "Visit normal rows before friction rows and clamp what a sweep may add.",
    ));
    run.says("revision-gate", "approve").says("record", "recorded");
    let failed: Vec<&str> =
        run.walker.state.approaches.iter().map(|approach| approach.text.as_str()).collect();
    assert_eq!(failed, ["Solve each contact block by a direct inverse of its effective mass."]);
}

// DR-10
#[test]
fn after_approval_the_ticket_is_ready_for_design() {
    let mut run = at_revision_gate();
    run.says("revision-gate", "approve").says("record", "recorded");
    let phase = run.walker.program.phase(run.walker.state.main.phase);
    assert_eq!((phase.name.as_str(), phase.status.as_str()), ("revise", "Ready for Design"));
}

// DR-10
#[test]
fn the_ticket_is_ready_for_implementation_once_the_revision_passed_its_review() {
    let mut run = at_revision_gate();
    revise(&mut run);
    let phase = run.walker.program.phase(run.walker.state.main.phase);
    assert_eq!(phase.status, "Ready for Implementation");
}

// DR-11
#[test]
fn at_two_revisions_the_gate_does_not_offer_approve_and_says_why() {
    let mut run = at_revision_gate();
    revise(&mut run);
    goes_in_a_circle(&mut run);
    run.says("findings", "done");
    revise(&mut run);
    assert_eq!(run.left("revision"), 0);
    goes_in_a_circle(&mut run);
    run.says("findings", "done");
    assert_eq!(run.commands(), "ask revision-gate: close; not offered: approve (revision is used up)");
}

// DR-11
#[test]
fn at_the_cap_approve_is_refused_and_no_architect_is_dispatched() {
    let mut run = spent_by_earlier_runs(2);
    run.until("implement");
    goes_in_a_circle(&mut run);
    run.says("findings", "done");
    let refused = run.walker.happen(&happening("revision-gate", "approve"));
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the kernel refuses this: `approve` is not offered; the options are close"
    );
    assert_eq!(dispatched(&run, "revise"), 0);
    assert_eq!(run.left("revision"), 0);
}

// DR-11, CORE-11
#[test]
fn a_revision_of_an_earlier_run_leaves_one_for_this_run() {
    let mut run = spent_by_earlier_runs(1);
    run.until("implement");
    goes_in_a_circle(&mut run);
    run.says("findings", "done").says("revision-gate", "approve");
    assert_eq!(run.last(), "revision-gate: approve → remand record, revision 1 → 0");
}

// DR-11, CORE-11
#[test]
fn a_count_above_the_cap_leaves_nothing() {
    let run = spent_by_earlier_runs(7);
    assert_eq!(run.left("revision"), 0);
}

// DR-11, CORE-11
#[test]
fn if_ticket_and_ledger_disagree_the_larger_count_holds() {
    let spent = vec![("revision".to_string(), 1), ("revision".to_string(), 2)];
    let run = Setup::of(ticket()).start(|start| start.spent = spent).run();
    assert_eq!(run.left("revision"), 0);
}

// DR-14
#[test]
fn the_architect_revises_the_design_only_after_approval() {
    let mut run = at_revision_gate();
    assert_eq!(dispatched(&run, "revise"), 0);
    run.says("revision-gate", "approve").says("record", "recorded");
    assert_eq!(run.commands(), "dispatch architect/revise for revise");
}

// DR-14
#[test]
fn the_architect_amends_the_design_after_its_review() {
    let mut run = Setup::of(ticket()).run();
    run.until("design-review").finds(
        "design-review",
        "needs-revision",
        vec![finding("F1", "the design does not say how friction is bounded")],
    );
    assert_eq!(run.commands(), "dispatch architect/amend for amend with 1 finding");
}

// DR-14
#[test]
fn without_a_trigger_the_revision_path_changes_no_command() {
    let stories: [&[(&str, &str)]; 6] = [
        &[],
        &[("design-review", "needs-revision")],
        &[("implement", "incomplete"), ("implement", "incomplete")],
        &[("quality-gate", "failed"), ("quality-gate", "failed")],
        &[
            ("impl-review", "changes-requested"),
            ("quality-gate", "failed"),
            ("impl-review", "not-within-design"),
        ],
        &[("impl-review", "changes-requested"), ("impl-review", "changes-requested")],
    ];
    let plain = without_revisions();
    for story in stories {
        for wanted in [false, true] {
            let flags = vec![("prototype-wanted".to_string(), wanted)];
            assert_eq!(commands_of(ticket(), &flags, story), commands_of(&plain, &flags, story), "{story:?}");
        }
    }
}

// DR-14
#[test]
fn a_run_without_a_trigger_never_dispatches_a_revision_or_findings() {
    let mut run = at_implement();
    run.finish();
    assert_eq!((dispatched(&run, "revise"), dispatched(&run, "findings")), (0, 0));
}

// DR-15
#[test]
fn the_review_of_a_revision_reads_the_findings_and_the_new_design() {
    let mut run = at_revision_gate();
    let old = run.walker.state.digest(artifact(&run, "design"));
    run.says("revision-gate", "approve").until("design-review");
    let reads = reads_of(&run, "design-review");
    assert_ne!(reads[0], ("design".to_string(), old));
    assert_eq!(reads[1].0, "findings");
    assert_ne!(reads[1].1, Digest::default());
}

// DR-15
#[test]
fn a_revision_gets_one_autonomous_iteration_and_then_a_human_decides() {
    let mut run = at_revision_gate();
    run.says("revision-gate", "approve").until("design-review").says("design-review", "needs-revision");
    assert_eq!(run.last(), "design-review: needs-revision → remand amend, design-review.round 1 → 0");
    run.says("amend", "done").says("design-review", "needs-revision");
    assert_eq!(run.last(), "design-review: needs-revision → to design-dispute");
    assert_eq!(run.commands(), "ask design-dispute: approve, changes, close");
}

// DR-03, DR-15
#[test]
fn a_design_approved_against_its_review_costs_confidence() {
    let mut run = Setup::of(ticket()).run();
    run.until("design-review").says("design-review", "needs-revision");
    run.until("design-review").says("design-review", "needs-revision").says("design-dispute", "approve");
    assert_eq!(run.last(), "design-dispute: approve → next (implement), with dissent: confidence medium");
}

// DR-16
#[test]
fn there_is_no_prototype_after_a_revision_unless_the_human_asks_for_one() {
    let mut run = at_revision_gate();
    revise(&mut run);
    assert_eq!(dispatched(&run, "prototype"), 0);
}

// DR-16
#[test]
fn the_human_may_ask_for_a_prototype_at_the_gate() {
    let mut run = at_revision_gate();
    run.happens(WalkStep {
        flags: vec![("prototype-wanted".to_string(), true)],
        ..happening("revision-gate", "approve")
    });
    run.until("implement");
    assert_eq!(dispatched(&run, "prototype"), 1);
}

// DR-16
#[test]
fn the_human_may_refuse_a_prototype_that_the_ticket_requests() {
    let mut run = run_requesting_a_prototype();
    run.until("implement");
    goes_in_a_circle(&mut run);
    run.says("findings", "done").happens(WalkStep {
        flags: vec![("prototype-wanted".to_string(), false)],
        ..happening("revision-gate", "approve")
    });
    run.until("implement");
    assert_eq!(dispatched(&run, "prototype"), 1);
}

// DR-16
#[test]
fn a_ticket_that_requests_a_prototype_gets_none_after_a_revision_unless_the_human_asks() {
    let mut run = run_requesting_a_prototype();
    run.until("implement");
    goes_in_a_circle(&mut run);
    run.says("findings", "done");
    revise(&mut run);
    assert_eq!(dispatched(&run, "prototype"), 1);
}

// DR-16
#[test]
fn a_negative_prototype_counts_toward_the_same_cap() {
    let mut run = Setup::of(ticket())
        .start(|start| {
            start.flags = vec![("prototype-wanted".to_string(), true)];
            start.spent = vec![("revision".to_string(), 2)];
        })
        .run();
    run.until("prototype").says("prototype", "negative").says("findings", "done");
    assert_eq!(run.commands(), "ask revision-gate: close; not offered: approve (revision is used up)");
}

// DR-17
#[test]
fn implementation_restarts_on_the_new_design_and_sees_the_findings() {
    let mut run = at_revision_gate();
    let old = run.walker.state.digest(artifact(&run, "design"));
    revise(&mut run);
    let new = run.walker.state.digest(artifact(&run, "design"));
    let findings = run.walker.state.digest(artifact(&run, "findings"));
    assert_ne!(old, new);
    assert_ne!(findings, Digest::default());
    let expected = [("design".to_string(), new), ("findings".to_string(), findings)];
    assert_eq!(reads_of(&run, "implement"), expected);
}

// DR-17
#[test]
fn the_tree_of_the_last_attempt_stays_when_the_design_is_revised() {
    let mut run = at_revision_gate();
    let code = run.walker.state.digest(artifact(&run, "code"));
    revise(&mut run);
    assert_eq!(run.walker.state.digest(artifact(&run, "code")), code);
    assert!(!run.trace().contains("! discard"), "{}", run.trace());
}

// DR-17
#[test]
fn after_a_revision_the_ticket_continues_to_its_commit() {
    let mut run = at_revision_gate();
    revise(&mut run);
    run.finish();
    assert_eq!(run.status(), "done");
    assert_eq!(run.last(), "commit: committed → done");
}

fn spent_by_earlier_runs(revisions: u16) -> Run {
    Setup::of(ticket()).start(|start| start.spent = vec![("revision".to_string(), revisions)]).run()
}

fn run_requesting_a_prototype() -> Run {
    Setup::of(ticket()).start(|start| start.flags = vec![("prototype-wanted".to_string(), true)]).run()
}

fn designed(phase: &str, text: &str) -> WalkStep {
    WalkStep { approach: Some(approach(text)), ..happening(phase, "done") }
}

fn artifact(run: &Run, name: &str) -> remand_kernel::ids::ArtifactId {
    run.walker.program.artifact_named(name).expect("artifact")
}

/// The artifacts that the open dispatch of a phase reads.
fn reads_of(run: &Run, phase: &str) -> Vec<(String, Digest)> {
    let program = run.walker.program;
    let dispatch = run.walker.open.iter().find_map(|command| match command {
        Command::Dispatch(dispatch) if program.phase(dispatch.id.phase).name == phase => Some(dispatch),
        _ => None,
    });
    let reads = dispatch.expect("open dispatch").reads.iter();
    reads.map(|(id, digest)| (program.artifacts[id.index()].clone(), *digest)).collect()
}

/// All commands of a run with these steps, in order; every other step succeeds.
fn commands_of(program: &Program, flags: &[(String, bool)], story: &[(&str, &str)]) -> Vec<String> {
    let start = Start { flags: flags.to_vec(), ..Start::default() };
    let mut walker = Walker::start(program, start, Vec::new()).expect("starts");
    for (phase, signal) in story {
        walker.until(phase).expect("reached");
        let findings = vec![finding(&format!("F{}", walker.records.len()), "this is not what was asked for")];
        let what = WalkStep { findings, ..happening(phase, signal) };
        walker.happen(&what).expect("happens");
    }
    walker.finish().expect("ends");
    let commands = walker.records.iter().flat_map(|taken| taken.commands.clone());
    // The operation that looks for a revision of an earlier run belongs to the revision path.
    commands.filter(|command| command != "do look-back").collect()
}

/// `ticket` without the revision path.
fn without_revisions() -> Program {
    let shipped = remand_workflow::shipped::workflow("ticket").expect("shipped");
    let gone = ["look-back", "record", "revise", "findings", "no-findings", "tried-before", "revision-gate"];
    let mut text = String::new();
    let mut skipping = false;
    for line in shipped.lines() {
        let key = line.strip_prefix("  ").filter(|rest| !rest.starts_with([' ', '-', '#']));
        if let Some(key) = key {
            skipping = gone.iter().any(|name| key.starts_with(&format!("{name}:")));
        }
        if !line.starts_with(' ') && !line.is_empty() {
            skipping = false;
        }
        let unwanted =
            ["  revision:", "    may-read: [findings]", "  - no revise", "  - no implement", "  - never"];
        if skipping || unwanted.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        text.push_str(line);
        text.push('\n');
    }
    let text = text
        .replace("to findings", "stop blocked")
        .replace("fail except findings", "fail")
        .replace("[another-round, revise, close]", "[another-round, close]")
        .replace("revise: stop blocked, ", "");
    let checked = remand_workflow::check(SourceText::new("plain.yaml", text), &Roles::shipped());
    assert!(checked.accepted(), "{:#?}", checked.diagnostics);
    let program = checked.compiled.expect("compiled").program;
    assert!(gone.iter().all(|name| program.phase_named(name).is_none()));
    program
}
