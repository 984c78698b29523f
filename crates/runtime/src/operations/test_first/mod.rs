//! Tests first, seen by the engine: stubs without logic, new tests that fail for want of the behaviour, and a suite
//! that is otherwise as it was (OT-12, OT-13, OT-15).

mod entry;
mod red;
mod seen;
mod signatures;
mod stubs;

pub use entry::run as entry;
pub use red::run as red;
pub use seen::not_run;
pub use signatures::findings as broken_signatures;
pub use stubs::run as stubs;

use super::finding;
use crate::git::TreeId;
use crate::workshop::{Job, Trouble};
use remand_kernel::finding::{Finding, FindingKind, Place, Severity};

/// The name under which the tree with nothing but stubs is remembered: those of another plan do not count, and a task
/// that is edited has the stubs of its plan.
fn stubs_of(job: &Job) -> String {
    let of = ["plan", "tasks"].iter().find_map(|name| job.program.artifact_named(name));
    format!("stubs-{:016x}", of.map(|id| job.state.digest(id)).unwrap_or_default().0)
}

/// The tree with nothing but the stubs of the plan as it stands, where it wants some.
pub fn stub_tree(job: &Job) -> Result<Option<TreeId>, Trouble> {
    Ok(job.trees.remembered(&stubs_of(job))?)
}

/// A defect of the tests.
fn of_tests(test: &str, claim: String, evidence: String) -> Finding {
    Finding {
        severity: Severity::Major,
        kind: Some(FindingKind::Test),
        ..finding(format!("red:{test}"), None, claim, evidence)
    }
}

/// A defect of a stub or a signature.
fn of_symbol(file: &str, symbol: &str, claim: String) -> Finding {
    let place = Place { file: file.to_string(), symbol: symbol.to_string(), line: 0 };
    Finding { place, ..finding(format!("symbol:{file}:{symbol}"), None, claim, String::new()) }
}
