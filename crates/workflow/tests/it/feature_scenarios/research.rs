//! Setup, pushback and research.

use super::{commands_like, interactive, mark, ruled, since, with_tasks};

// EP-03
#[test]
fn concerns_at_setup_are_logged_in_autonomous_mode() {
    let mut run = with_tasks(1);
    run.says("setup", "concerns");
    ruled(&run, "setup: concerns → to early-pushback");
    ruled(&run, "early-pushback: proceed → next (research)");
    assert_eq!(run.why(), "the run is autonomous, so the default answer applies");
}

// EP-03
#[test]
fn concerns_at_setup_are_asked_about_in_interactive_mode() {
    let mut run = interactive();
    run.says("setup", "concerns");
    assert_eq!(run.commands(), "ask early-pushback: proceed, modify, abandon");
    assert_eq!(run.status(), "waiting for early-pushback");
}

// EP-03
#[test]
fn a_request_modified_at_setup_is_checked_again_without_a_dispatch() {
    let mut run = interactive();
    run.says("setup", "concerns").says("early-pushback", "modify");
    assert_eq!(run.last(), "early-pushback: modify → remand setup, modify 3 → 2");
    assert_eq!(run.commands(), "do prepare");
    assert_eq!(run.dispatches(), 0);
}

// EP-03
#[test]
fn a_request_can_be_abandoned_at_setup() {
    let mut run = interactive();
    run.says("setup", "concerns").says("early-pushback", "abandon");
    assert_eq!(run.status(), "stopped: abandoned");
}

// EP-03
#[test]
fn a_refused_setup_stops_before_any_dispatch() {
    let mut run = with_tasks(1);
    run.says("setup", "refused");
    assert_eq!(run.status(), "stopped: refused");
    assert_eq!(run.dispatches(), 0);
}

// EP-03
#[test]
fn concerns_of_the_spec_are_logged_in_autonomous_mode() {
    let mut run = with_tasks(1);
    run.until("spec").says("spec", "concerns");
    ruled(&run, "spec: concerns → to pushback");
    ruled(&run, "pushback: proceed → next (design)");
    assert_eq!(run.commands(), "dispatch designer for design");
}

// EP-03
#[test]
fn concerns_of_the_spec_never_end_an_autonomous_run() {
    let mut run = with_tasks(1);
    run.says("setup", "concerns").until("spec").says("spec", "concerns").finish();
    assert_eq!(run.status(), "done");
    assert_eq!(run.confidence(), "high");
}

// EP-03
#[test]
fn concerns_of_the_spec_are_asked_about_in_interactive_mode() {
    let mut run = interactive();
    run.until("spec").says("spec", "concerns");
    assert_eq!(run.commands(), "ask pushback: proceed, modify, abandon");
    run.says("pushback", "proceed");
    assert_eq!(run.last(), "pushback: proceed → next (design)");
}

// EP-03
#[test]
fn a_request_modified_after_the_spec_is_specified_again() {
    let mut run = interactive();
    run.until("spec").says("spec", "concerns").says("pushback", "modify");
    assert_eq!(run.last(), "pushback: modify → remand spec, modify 3 → 2");
    assert_eq!(run.commands(), "dispatch spec for spec");
}

// EP-03
#[test]
fn a_request_can_be_abandoned_after_the_spec() {
    let mut run = interactive();
    run.until("spec").says("spec", "concerns").says("pushback", "abandon");
    assert_eq!(run.status(), "stopped: abandoned");
}

// EP-03, CORE-02
#[test]
fn a_request_is_modified_three_times_at_most() {
    let mut run = interactive();
    for _ in 0..3 {
        run.says("setup", "concerns").says("early-pushback", "modify");
    }
    run.says("setup", "concerns");
    assert_eq!(
        run.commands(),
        "ask early-pushback: proceed, abandon; not offered: modify (modify is used up)"
    );
}

// EP-04
#[test]
fn four_focuses_are_researched_in_parallel() {
    let mut run = with_tasks(1);
    run.says("setup", "ready");
    let expected = [
        "dispatch researcher for research (architecture)",
        "dispatch researcher for research (impact)",
        "dispatch researcher for research (dependencies)",
        "dispatch researcher for research (patterns)",
    ];
    assert_eq!(run.commands(), expected.join("\n"));
}

// EP-04, EP-27
#[test]
fn two_of_four_focuses_are_enough_and_recorded_as_degradation() {
    let mut run = with_tasks(1);
    run.until("research").say("research", &["done", "denied", "denied", "done"]);
    ruled(&run, "research: thin → next (approve-research), with degradation: confidence medium");
    let thin = run.walker.records.last().expect("taken").rulings[0].why.clone();
    assert_eq!(thin, "architecture: done, impact: no result, dependencies: no result, patterns: done");
}

// EP-04
#[test]
fn one_result_from_four_focuses_fails_the_run() {
    let mut run = with_tasks(1);
    run.until("research").say("research", &["denied", "denied", "denied", "done"]);
    assert_eq!(run.status(), "failed at research: no-result");
    assert_eq!(run.why(), "three of four researchers failed, the first because: it was permanently refused");
}

// EP-04, EP-25
#[test]
fn a_failed_focus_is_tried_once_more_and_then_nothing_is_degraded() {
    let mut run = with_tasks(1);
    run.until("research").say("research", &["done", "timeout", "done", "done"]);
    assert_eq!(run.status(), "waiting for research");
    assert_eq!(commands_like(&run, "dispatch researcher for research (impact)").len(), 2);
    run.says("research", "done");
    ruled(&run, "research: complete → next (approve-research)");
    assert_eq!(run.confidence(), "high");
}

// EP-04
#[test]
fn only_the_failed_focuses_are_tried_once_more() {
    let mut run = with_tasks(1);
    run.until("research");
    let from = mark(&run);
    run.say("research", &["malformed", "done", "crashed", "done"]);
    let again = [
        "dispatch researcher for research (architecture)",
        "dispatch researcher for research (dependencies)",
    ];
    assert_eq!(since(&run, from), again);
    run.say("research", &["malformed", "crashed"]);
    ruled(&run, "research: thin → next (approve-research), with degradation: confidence medium");
}
