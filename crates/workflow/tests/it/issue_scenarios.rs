//! `issue`: one issue to one reviewed change, one task per run.

mod making;
mod planning;
mod reviewing;
mod testing;

use crate::support::{Run, Setup, finding, issue, task};
use remand_kernel::Step;
use remand_kernel::command::Command;
use remand_kernel::event::{Event, Outcome, Report, Usage};
use remand_kernel::finding::{Finding, FindingKind};
use remand_kernel::ids::CommandId;
use remand_workflow::walk::WalkError;

/// A run with a plan of one task.
fn one_task() -> Run {
    Setup::of(issue()).run()
}

/// A run with a plan that splits into three tasks.
fn three_tasks() -> Run {
    Setup::of(issue()).tasks(vec![task("t1", &[]), task("t2", &["t1"]), task("t3", &[])]).run()
}

/// Asserts that the last event led to this ruling.
fn ruled(run: &Run, line: &str) {
    let lines: Vec<String> =
        run.walker.records.last().expect("an event").rulings.iter().map(|ruling| ruling.line()).collect();
    assert!(lines.iter().any(|ruled| ruled == line), "no `{line}` in {lines:#?}\n{}", run.trace());
}

/// All commands of the run that start with this text.
fn commands_like(run: &Run, start: &str) -> Vec<String> {
    let commands = run.walker.records.iter().flat_map(|taken| taken.commands.iter().cloned());
    commands.filter(|command| command.starts_with(start)).collect()
}

/// The current position of the run, for `since`.
fn mark(run: &Run) -> usize {
    run.walker.records.len()
}

/// All commands since a mark, in order.
fn since(run: &Run, mark: usize) -> Vec<String> {
    run.walker.records[mark..].iter().flat_map(|taken| taken.commands.iter().cloned()).collect()
}

/// The open commands of a phase, in order of seats.
fn open(run: &Run, phase: &str) -> Vec<Command> {
    let phase = run.walker.program.phase_named(phase).expect("phase");
    let at = |command: &&Command| command.id().is_some_and(|id| id.phase == phase);
    run.walker.open.iter().filter(at).cloned().collect()
}

fn ids(run: &Run, phase: &str) -> Vec<CommandId> {
    open(run, phase).iter().filter_map(Command::id).collect()
}

fn ends(run: &mut Run, id: CommandId, report: Report) -> Result<Step, WalkError> {
    let outcome = Outcome::Said(Box::new(report));
    run.walker.feed(Event::Ended { id, outcome, usage: Usage::default() }, format!("{id} ends"))
}

/// A finding of one kind.
fn finding_of_kind(kind: FindingKind, id: &str, claim: &str) -> Finding {
    Finding { kind: Some(kind), ..finding(id, claim) }
}

/// Ends the failure operations, one after the other.
fn end_failure_operations(run: &mut Run) {
    for operation in ["comment-issue", "back-to-todo", "discard-work-tree"] {
        run.says(operation, "done");
    }
}
