//! The measured workflows: the shipped `feature`, and one with as many rounds as the language allows.

use remand_engine::host::NewRun;
use remand_kernel::Program;
use remand_kernel::event::{Mode, Start};
use remand_ledger::fact::RunOpening;
use remand_ledger::{Blob, Facts, RunId};
use remand_terminal::{CommandFailure, ExitCode};
use remand_workflow::roles::Roles;
use remand_workflow::source::SourceText;
use remand_workflow::{CheckedWorkflow, check};
use serde_json::json;
use std::sync::Arc;

/// A workflow with the sub-flow of `feature`, in which every task uses up all its rounds.
const LONG: &str = "\
name: long
about: Tasks that are sent back as often as the language allows.
subject: request

defaults:
  no-result: fail
  circle:    ignore
  reversal:  ignore
  repeated:  ignore
  security-blocker: fail
  retries:   1

phases:
  plan:
    role: planner
    reads: [request]
    writes: plan
    on: {done: next, disputed: fail, needs-revision: fail}

  tasks:
    each: tasks
    at-once: 1
    phases:
      implement:
        role: implementer
        reads: [plan]
        writes: code
        on: {done: next, stuck: raise unverified}

      self-check:
        do: quick-checks
        reads: [code]
        on: {passed: next, failed: raise unverified}

      cascade:
        do: checks
        reads: [code]
        on: {passed: next, failed: raise unverified}

      verify:
        role: verifier
        reads: [code, plan]
        on: {met: next, unmet: raise unverified}

      merge:
        do: merge
        reads: [code]
        rounds: 250
        on: {merged: next, conflict: remand implement spending round, spent: raise unverified}

    tally: {unverified: any unverified, verified: otherwise}
    on: {verified: next, unverified: next with blockers}

  hand-over:
    do: hand-over
    on: {done: done}
";

/// The number of events of one task of the long workflow if nothing is ever merged.
pub const EVENTS_PER_LONG_TASK: u32 = 5 * 250;

/// The phase of the long workflow that never accepts.
pub const LONG_OBJECTING_PHASE: &str = "merge";

/// A workflow and the pinned files of its runs.
#[derive(Clone, Debug)]
pub struct Workload {
    pub program: Arc<Program>,
    pinned: Blob,
}

impl Workload {
    /// The shipped workflow `feature`.
    pub fn feature() -> Result<Workload, CommandFailure> {
        let text = remand_workflow::shipped::workflow("feature").unwrap_or_default();
        Workload::compile("feature", text)
    }

    /// The workflow with the longest runs.
    pub fn long() -> Result<Workload, CommandFailure> {
        Workload::compile("long", LONG)
    }

    fn compile(name: &str, text: &str) -> Result<Workload, CommandFailure> {
        let checked = check(SourceText::new(name, text), &Roles::shipped());
        let program = accepted_program(name, checked)?;
        let pinned = serde_json::to_vec(&json!({ "program": program })).map_err(|error| {
            bug(format!("the workflow {name} cannot be serialized")).caused_by(error.to_string())
        })?;
        Ok(Workload { program: Arc::new(program), pinned: Blob::of(pinned) })
    }

    /// The start of a run with this number.
    pub fn beginning(&self, number: u32, mode: Mode) -> NewRun {
        let run = RunId(format!("bench-{number:06}"));
        let opened = RunOpening {
            request: "Add a discount code to the cart.".to_string(),
            file: None,
            slug: "add-a-discount-code".to_string(),
            base: "0".repeat(40),
            branch: format!("remand/{run}"),
            pinned: self.pinned.id,
            version: env!("CARGO_PKG_VERSION").to_string(),
            by: None,
            checkout: None,
        };
        let facts = Facts { opened: Some(opened), ..Facts::default() };
        let start = Start { mode, ..Start::default() };
        NewRun { run, program: Arc::clone(&self.program), start, facts, blobs: vec![self.pinned.clone()] }
    }
}

fn accepted_program(name: &str, checked: CheckedWorkflow) -> Result<Program, CommandFailure> {
    let problems: Vec<String> = checked.diagnostics.iter().map(|problem| problem.message.clone()).collect();
    let refused = || {
        let failure = bug(format!("the workflow {name} is refused"));
        problems.iter().fold(failure, |failure, problem| failure.caused_by(problem.clone()))
    };
    if !checked.accepted() {
        return Err(refused());
    }
    checked.compiled.map(|compiled| compiled.program).ok_or_else(refused)
}

/// A failure of the measurement itself.
pub fn bug(what: String) -> CommandFailure {
    CommandFailure { exit: ExitCode::Internal, ..CommandFailure::user(what, "this is a bug in Remand") }
}
