//! Benchmarks: steps of the kernel, memory of a run, and the proof of a workflow.
//!
//! `items/s` of `steps` is the number of events per second and core; `max alloc` of `state` is the memory of one
//! run.

#![allow(clippy::expect_used)]

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher};
use remand_kernel::event::{Event, Item, Start};
use remand_kernel::{Program, State, step};
use remand_workflow::walk::{WalkStep, Walker};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

fn program(name: &str) -> Program {
    let checked = remand_workflow::check_shipped(name).expect("shipped");
    assert!(checked.accepted(), "{name} is refused");
    checked.compiled.expect("compiled").program
}

/// The events of a run with six tasks, one failing verification, a replan and a review that sends work back.
fn journal(program: &Program) -> Vec<Event> {
    let tasks = (1..=6).map(|at| Item { id: format!("t{at}"), ..Item::default() }).collect();
    let lists = vec![
        ("tasks".to_string(), tasks),
        ("gaps".to_string(), vec![Item { id: "GAP-FLOW-001".to_string(), ..Item::default() }]),
        ("batches".to_string(), vec![Item { id: "b1".to_string(), ..Item::default() }]),
    ];
    let mut walker = Walker::start(program, Start::default(), lists).expect("starts");
    if program.name == "feature" {
        walker.until("verify").expect("reached");
        walker.happen(&WalkStep::new("verify", "unmet")).expect("taken");
        walker.until("code-review").expect("reached");
        walker.happen(&WalkStep::new("code-review", "needs-revision")).expect("taken");
    }
    let _ = walker.finish();
    walker.records.into_iter().map(|taken| taken.event).collect()
}

#[divan::bench(args = ["feature", "quick", "issue", "ticket", "tsp"])]
fn steps(bencher: Bencher, name: &str) {
    let program = program(name);
    let journal = journal(&program);
    bencher.counter(ItemsCount::new(journal.len())).bench(|| {
        let mut state = State::new(&program);
        for event in &journal {
            divan::black_box(step(&program, &mut state, event).is_ok());
        }
        state.used.dispatches
    });
}

#[divan::bench(args = ["feature", "issue", "ticket"])]
fn state(bencher: Bencher, name: &str) {
    let program = program(name);
    let journal = journal(&program);
    let mut state = State::new(&program);
    for event in &journal[..journal.len() / 2] {
        step(&program, &mut state, event).expect("legal");
    }
    bencher.bench(|| state.clone());
}

#[divan::bench(args = ["feature", "quick", "issue", "ticket", "spec", "tsp"])]
fn proof(bencher: Bencher, name: &str) {
    bencher.bench(|| remand_workflow::check_shipped(name).map(|checked| checked.accepted()));
}
