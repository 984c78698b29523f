//! Steps of the implementer, the checks and the reviewer in scenarios of `ticket`.

use crate::support::{Run, Setup, finding, happening, ticket};
use remand_kernel::change::{Change, Digest, FileChange, Hunk, TestEnd, TestResult};
use remand_kernel::finding::Finding;
use remand_workflow::walk::WalkStep;

/// A run that waits for the implementer.
pub fn at_implement() -> Run {
    let mut run = Setup::of(ticket()).run();
    run.until("implement");
    run
}

/// The implementer ends with `done` and this change.
pub fn implements(run: &mut Run, change: Change) {
    ends_with(run, "done", change);
}

/// The implementer gives up half-way, with this change.
pub fn leaves_incomplete(run: &mut Run, change: Change) {
    ends_with(run, "incomplete", change);
}

fn ends_with(run: &mut Run, signal: &str, change: Change) {
    run.until("implement");
    run.happens(WalkStep { change: Some(change), ..happening("implement", signal) });
}

/// The checks fail with these tests.
pub fn checks_fail(run: &mut Run, tests: &[(&str, TestEnd)]) {
    run.until("quality-gate");
    run.happens(WalkStep {
        findings: vec![finding("Q1", "the cascade is red, see the rows of the ledger")],
        tests: results(tests),
        ..happening("quality-gate", "failed")
    });
}

pub fn results(tests: &[(&str, TestEnd)]) -> Vec<TestResult> {
    let result = |(name, end): &(&str, TestEnd)| TestResult { name: (*name).to_string(), end: *end };
    tests.iter().map(result).collect()
}

/// A change of one file.
pub fn change(tree: u64, path: &str, removed: &[&str], added: &[&str]) -> Change {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_string()).collect();
    Change {
        tree: Digest(tree),
        files: vec![FileChange {
            path: path.to_string(),
            hunks: vec![Hunk { removed: lines(removed), added: lines(added) }],
            generated: false,
        }],
        hypothesis: None,
        restored: false,
    }
}

/// A change with this hypothesis that replaces the line of the tree before.
pub fn tried(tree: u64, hypothesis: &str) -> Change {
    let line = |tree: u64| format!("apply_correction_{tree}(body);");
    let (before, now) = (line(tree - 1), line(tree));
    let change = change(tree, "src/corrections.cpp", &[before.as_str()], &[now.as_str()]);
    Change { hypothesis: Some(hypothesis.to_string()), ..change }
}

/// The implementer repeats a failed hypothesis on the lines that failed: the shortest real circle.
pub fn goes_in_a_circle(run: &mut Run) {
    let reason = "The warm start carries impulses of contacts that no longer exist into the next frame.";
    implements(run, tried(41, reason));
    checks_fail(run, &[("energy_stays_constant", TestEnd::Failed)]);
    implements(run, tried(42, reason));
}

/// A run at the revision gate after a real circle.
pub fn at_revision_gate() -> Run {
    let mut run = at_implement();
    goes_in_a_circle(&mut run);
    run.says("findings", "done");
    run
}

/// Answers *approve* and continues the revision until the implementer is dispatched again.
pub fn revise(run: &mut Run) {
    run.says("revision-gate", "approve").until("implement");
}

/// A finding on the solver.
pub fn on_solver(id: &str, claim: &str) -> Finding {
    let mut finding = finding(id, claim);
    finding.place.file = "src/block_pgs.cpp".to_string();
    finding.place.symbol = "BlockPgs::solve".to_string();
    finding
}

pub const ADDS_ENERGY: &str =
    "the block solve adds kinetic energy to resting stacks because the restitution bias enters twice";

/// How often a role was dispatched for a phase.
pub fn dispatched(run: &Run, phase: &str) -> usize {
    let suffix = format!(" for {phase}");
    let commands = run.walker.records.iter().flat_map(|taken| &taken.commands);
    let at_phase = |command: &&String| {
        let head = command.split([',', '[', '(']).next().unwrap_or_default();
        let head = head.split(" with ").next().unwrap_or_default().trim_end();
        head.starts_with("dispatch ") && head.ends_with(&suffix)
    };
    commands.filter(at_phase).count()
}
