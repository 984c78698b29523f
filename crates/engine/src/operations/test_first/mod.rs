//! Test-first work, verified by the engine: stubs without logic, new tests that fail because the behaviour is missing,
//! and an otherwise unchanged suite.

mod entry;
mod red;
mod signatures;
mod stubs;
mod suite;

pub use entry::run as entry;
pub use red::run as red;
pub use signatures::findings as broken_signatures;
pub use stubs::run as stubs;
pub use suite::skipped_new_tests;

use super::finding;
use crate::site::{Job, Trouble};
use remand_git::TreeId;
use remand_kernel::finding::{Finding, FindingKind, Location, Severity};

/// The name under which the tree with the stubs is kept. It depends on the plan, so stubs of another plan do not count.
fn stub_tree_name(job: &Job) -> String {
    let plan = ["plan", "tasks"].iter().find_map(|name| job.program.artifact_named(name));
    format!("stubs-{:016x}", plan.map(|id| job.state.digest(id)).unwrap_or_default().0)
}

/// The tree with the stubs of the current plan; `None` if the plan has no stubs.
pub fn stub_tree(job: &Job) -> Result<Option<TreeId>, Trouble> {
    Ok(job.trees.remembered(&stub_tree_name(job))?)
}

/// A finding about a test.
fn test_finding(test: &str, claim: String, evidence: String) -> Finding {
    Finding {
        severity: Severity::Major,
        kind: Some(FindingKind::Test),
        ..finding(format!("red:{test}"), None, claim, evidence)
    }
}

/// The claim of a finding about a new test that does not run.
fn skipped_claim(test: &str) -> String {
    format!("the new test `{test}` is skipped or expected to fail, so it shows nothing")
}

/// A finding about a stub or a signature.
fn symbol_finding(file: &str, symbol: &str, claim: String) -> Finding {
    let place = Location { file: file.to_string(), symbol: symbol.to_string(), line: 0 };
    Finding { place, ..finding(format!("symbol:{file}:{symbol}"), None, claim, String::new()) }
}
