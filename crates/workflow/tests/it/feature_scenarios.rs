//! `feature`: from a request to one verified, reviewed commit.

mod commits;
mod evidence;
mod failures;
mod gates;
mod research;
mod reviews;
mod rework;
mod tasks;
mod verification;

use crate::support::{Run, Setup, feature, finding, task};
use remand_kernel::Step;
use remand_kernel::command::{Command, Dispatch};
use remand_kernel::event::{Event, Item, Outcome, Report, Usage};
use remand_kernel::finding::{Finding, Location, Severity};
use remand_kernel::ids::CommandId;
use remand_workflow::walk::WalkError;

/// An autonomous run with tasks `t1`, `t2`, … that need nothing.
fn with_tasks(count: usize) -> Run {
    let tasks = (1..=count).map(|at| task(&format!("t{at}"), &[])).collect();
    Setup::of(feature()).tasks(tasks).run()
}

fn run_with(tasks: Vec<Item>) -> Run {
    Setup::of(feature()).tasks(tasks).run()
}

fn interactive() -> Run {
    Setup::of(feature()).interactive().run()
}

/// A finding about the file of a task.
fn finding_about(task: &str, id: &str, claim: &str) -> Finding {
    let place = Location { file: format!("src/{task}.rs"), symbol: "run".to_string(), line: 1 };
    Finding { place, ..finding(id, claim) }
}

fn with_severity(severity: Severity, finding: Finding) -> Finding {
    Finding { severity, ..finding }
}

/// Asserts that the last event led to this ruling.
fn ruled(run: &Run, line: &str) {
    let lines: Vec<String> =
        run.walker.records.last().expect("an event").rulings.iter().map(|ruling| ruling.line()).collect();
    assert!(lines.iter().any(|ruled| ruled == line), "no `{line}` in {lines:#?}\n{}", run.trace());
}

/// How often the run made this ruling.
fn times_ruled(run: &Run, line: &str) -> usize {
    run.rulings().lines().filter(|ruled| *ruled == line).count()
}

/// The current position of the run, for `since`.
fn mark(run: &Run) -> usize {
    run.walker.records.len()
}

/// All commands since a mark, in order.
fn since(run: &Run, mark: usize) -> Vec<String> {
    run.walker.records[mark..].iter().flat_map(|taken| taken.commands.iter().cloned()).collect()
}

/// All commands of the run that start with this text.
fn commands_like(run: &Run, start: &str) -> Vec<String> {
    since(run, 0).into_iter().filter(|command| command.starts_with(start)).collect()
}

/// The open dispatches of a phase.
fn open(run: &Run, phase: &str) -> Vec<Dispatch> {
    let phase = run.walker.program.phase_named(phase).expect("phase");
    let at = |command: &Command| match command {
        Command::Dispatch(dispatch) if dispatch.id.phase == phase => Some(dispatch.clone()),
        _ => None,
    };
    run.walker.open.iter().filter_map(at).collect()
}

/// The ids of the open commands of a phase, in order of seats and tasks.
fn ids(run: &Run, phase: &str) -> Vec<CommandId> {
    let phase = run.walker.program.phase_named(phase).expect("phase");
    run.walker.open.iter().filter_map(Command::id).filter(|id| id.phase == phase).collect()
}

fn ends(run: &mut Run, id: CommandId, outcome: Outcome) -> Result<Step, WalkError> {
    run.walker.feed(Event::Ended { id, outcome, usage: Usage::default() }, format!("{id} ends"))
}

/// Ends the open command of a phase with this report.
fn reports(run: &mut Run, phase: &str, report: Report) -> Result<Step, WalkError> {
    let id = *ids(run, phase).first().expect("waits");
    ends(run, id, Outcome::Said(Box::new(report)))
}

/// Ends the review with a verdict and findings of each reviewer.
fn review(run: &mut Run, phase: &str, members: Vec<(&str, Vec<Finding>)>) {
    run.until(phase);
    let ids = ids(run, phase);
    assert_eq!(ids.len(), members.len());
    for (id, (verdict, findings)) in ids.into_iter().zip(members) {
        let report = Report { findings, ..Report::saying(verdict) };
        ends(run, id, Outcome::Said(Box::new(report))).expect("taken");
    }
}

/// Two of three reviewers reject, and the first of them says why.
fn rejects(run: &mut Run, phase: &str, findings: Vec<Finding>) {
    review(run, phase, vec![("needs-revision", findings), ("needs-revision", vec![]), ("approve", vec![])]);
}

/// A task passes through its sub-flow until it reaches this phase, or to the end if it never does.
fn advance_task(run: &mut Run, task: &str, until: &str) {
    let flow = [("implement", "done"), ("cascade", "passed"), ("verify", "met"), ("merge", "merged")];
    for (phase, signal) in flow.into_iter().take_while(|(phase, _)| *phase != until) {
        run.says(&format!("{task}/{phase}"), signal);
    }
}

/// The checks of a task fail until its fixes are used up; the last failure has these findings.
fn fail_checks(run: &mut Run, task: &str, findings: Vec<Finding>) {
    for _ in 0..2 {
        run.says(&format!("{task}/cascade"), "failed").says(&format!("{task}/implement"), "done");
    }
    run.finds(&format!("{task}/cascade"), "failed", findings);
}
