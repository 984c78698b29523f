//! Routing is a pure function of the file and the events, and a file that cannot be trusted is refused.

use crate::support::{Setup, feature, finding, issue, quick, spec, task, ticket, tsp};
use remand_kernel::state::State;
use remand_kernel::view::RuleView;
use remand_kernel::{Command, Event, Outcome, Report};
use remand_workflow::diagnostic::{Code, Diagnostic};
use remand_workflow::roles::Roles;
use remand_workflow::source::SourceText;

// CORE-01, EP-28
#[test]
fn the_same_events_give_the_same_rulings_commands_and_state() {
    for program in [feature(), quick(), issue(), ticket(), spec(), tsp()] {
        let mut run = Setup::of(program).tasks(vec![task("t1", &[]), task("t2", &["t1"])]).run();
        run.finish();
        let mut state = State::new(program);
        for taken in &run.walker.records {
            let step = remand_kernel::step(program, &mut state, &taken.event).expect("taken");
            let lines: Vec<String> = step
                .rulings
                .iter()
                .map(|ruling| remand_kernel::view::ruling(program, &state, ruling).line())
                .collect();
            let before: Vec<String> =
                taken.rulings.iter().map(remand_kernel::view::RulingView::line).collect();
            assert_eq!(lines, before);
        }
        assert_eq!(state, run.walker.state);
    }
}

// CORE-01
#[test]
fn a_verdict_outside_the_contract_decides_nothing() {
    let mut run = Setup::of(quick()).run();
    run.until("review");
    let before = run.walker.state.clone();
    let id = run.walker.open.first().and_then(Command::id).expect("open");
    let event = Event::Ended {
        id,
        outcome: Outcome::Said(Box::new(Report::saying("commit"))),
        usage: remand_kernel::event::Usage::default(),
    };
    let refused = run.walker.feed(event, "a reviewer ends".to_string()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the kernel refuses this: `commit` is not a possible result here; possible are approve, needs-revision, blocker"
    );
    assert_eq!(run.walker.state, before);
}

// CORE-02
#[test]
fn the_small_workflow_of_these_tests_is_accepted() {
    assert_eq!(problems(SMALL), []);
}

// CORE-02
#[test]
fn a_remand_that_spends_nothing_is_refused_with_line_and_remedy() {
    let text = SMALL.replace("remand implement spending again", "remand implement");
    let found = problems(&text);
    let unpaid = found.iter().find(|problem| problem.code == Code::Unpaid).expect("found");
    assert_eq!(line_of(&text, unpaid), "    on: {passed: next, failed: remand implement}");
    assert!(!unpaid.remedy.is_empty());
}

// CORE-02
#[test]
fn a_signal_without_a_route_is_refused_and_named() {
    let text = SMALL.replace("passed: next, ", "");
    let found = problems(&text);
    assert_eq!(codes(&found), [Code::NoRoute]);
    assert!(found[0].message.contains("passed"), "{}", found[0].message);
    assert!(!found[0].remedy.is_empty());
}

// CORE-02
#[test]
fn a_phase_that_nothing_reaches_is_refused() {
    let text = format!("{SMALL}\n  lost:\n    aside: true\n    do: hand-over\n    on: {{done: done}}\n");
    let found = problems(&text);
    assert_eq!(codes(&found), [Code::Unreachable]);
    assert_eq!(line_of(&text, &found[0]).trim_end(), "  lost:");
}

// CORE-02
#[test]
fn a_loop_through_a_human_needs_a_budget_too() {
    let asking = "\n  ask-again:\n    ask: Once more?\n    options: [again, enough]\n    on: {again: remand implement, enough: done}\n";
    let text = format!("{}{asking}", SMALL.replace("committed: done", "committed: next"));
    let found = problems(&text);
    assert_eq!(codes(&found), [Code::Unpaid]);
}

// CORE-02
#[test]
fn a_loop_that_refills_its_own_budget_is_refused() {
    let text = SMALL.replace("  again: 1 per run, then fail", "  again: 1 per implement, then fail");
    let refused = problems(&text);
    // A remand never refills the budget that it spends; another loop would have to refill it.
    assert_eq!(codes(&refused), []);
    let second = "\n  late:\n    do: bundle\n    on: {done: done}\n";
    let text = format!("{}{second}", text.replace("committed: done", "committed: next"))
        .replace("stuck: fail", "stuck: remand implement spending other")
        .replace("budgets:\n", "budgets:\n  other: 1 per implement, then fail\n");
    assert_eq!(codes(&problems(&text)), [Code::Endless]);
}

// CORE-02
#[test]
fn a_budget_that_can_run_out_must_say_what_happens_next() {
    let text = SMALL.replace("1 per run, then fail", "1 per run");
    assert_eq!(codes(&problems(&text)), [Code::NoThen]);
}

// CORE-02
#[test]
fn a_refusal_names_file_line_and_remedy() {
    let text = SMALL.replace("remand implement spending again", "remand imlement spending again");
    let checked = remand_workflow::check(SourceText::new("small.yaml", text.as_str()), &Roles::shipped());
    assert!(!checked.accepted());
    let json = checked.diagnostics[0].json(&checked.source);
    assert_eq!(json["file"], "small.yaml");
    assert_eq!(json["line"], 20);
    assert!(json["remedy"].as_str().is_some_and(|remedy| remedy.contains("implement")), "{json}");
}

// CORE-03
#[test]
fn a_ruling_records_phase_action_rule_budgets_and_reason() {
    let mut run = Setup::of(quick()).run();
    run.until("verify").finds("verify", "failed", vec![finding("C1", "one test is red")]);
    let ruling = run.walker.records.last().and_then(|taken| taken.rulings.first()).expect("ruling");
    let charges: Vec<(&str, u16, u16)> =
        ruling.budgets.iter().map(|charge| (charge.budget.as_str(), charge.before, charge.after)).collect();
    assert_eq!((ruling.phase.as_str(), ruling.signal.as_str()), ("verify", "failed"));
    assert_eq!(ruling.action, "remand implement");
    assert_eq!(ruling.target.as_deref(), Some("implement"));
    assert_eq!(charges, [("fixes", 2, 1)]);
    assert_eq!(ruling.why, "the operation's result");
}

// CORE-03
#[test]
fn the_rule_of_a_ruling_is_the_line_of_the_file() {
    let mut run = Setup::of(quick()).run();
    run.until("verify").says("verify", "failed");
    let ruling = run.walker.records.last().and_then(|taken| taken.rulings.first()).expect("ruling");
    let RuleView::Route { line } = ruling.rule else { panic!("{:?}", ruling.rule) };
    assert_eq!(ruling.rule.source("quick"), format!("quick.yaml:{line}"));
    let text = remand_workflow::shipped::workflow("quick").expect("shipped");
    let line = text.lines().nth(line as usize - 1).expect("exists");
    assert!(line.contains("failed: remand implement spending fixes"), "{line}");
}

// CORE-03, CORE-11
#[test]
fn a_ruling_names_the_empty_budgets() {
    let mut run = Setup::of(quick()).run();
    for _ in 0..3 {
        run.until("verify").finds("verify", "failed", vec![finding("C1", "one test is red")]);
    }
    let ruling = run.walker.records.last().and_then(|taken| taken.rulings.first()).expect("ruling");
    assert_eq!(ruling.exhausted, ["fixes"]);
    assert_eq!(ruling.action, "to hand-over");
}

// CORE-03
#[test]
fn every_event_that_moves_a_run_leaves_a_ruling() {
    for program in [feature(), quick(), issue(), ticket(), spec(), tsp()] {
        let mut run = Setup::of(program).run();
        run.finish();
        for taken in &run.walker.records[1..] {
            assert!(taken.commands.is_empty() || !taken.rulings.is_empty(), "{}", taken.happened);
        }
    }
}

const SMALL: &str = "\
name: small
about: A small workflow.
subject: request
budgets:
  again: 1 per run, then fail
defaults:
  no-result: fail
  circle:    ignore
  reversal:  ignore
  repeated:  ignore
phases:
  implement:
    role: implementer
    reads: [request]
    writes: code
    on: {done: next, stuck: fail}
  verify:
    do: checks
    reads: [code]
    on: {passed: next, failed: remand implement spending again}
  commit:
    do: commit
    on: {committed: done, hook-refused: fail}
";

fn problems(text: &str) -> Vec<Diagnostic> {
    remand_workflow::check(SourceText::new("small.yaml", text), &Roles::shipped()).diagnostics
}

fn codes(problems: &[Diagnostic]) -> Vec<Code> {
    problems.iter().map(|problem| problem.code).collect()
}

fn line_of<'t>(text: &'t str, problem: &Diagnostic) -> &'t str {
    let line = SourceText::new("small.yaml", text).line_of(problem.span) as usize;
    text.lines().nth(line - 1).unwrap_or_default()
}
