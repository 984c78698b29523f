//! Rust, by `Cargo.toml`.

use crate::checks::detect::Probe;
use crate::checks::spec::{Action, CheckSpec, Parser};
use remand_kernel::evidence::Tier;
use std::path::Path;

pub fn checks(root: &Path, _: &Probe<'_>) -> Vec<CheckSpec> {
    if !root.join("Cargo.toml").is_file() {
        return Vec::new();
    }
    let check = Action::argv(&["cargo", "check", "--workspace", "--all-targets"]);
    // All binaries run even after a failure: a test that was not reached would look gone.
    let test = Action::argv(&["cargo", "test", "--workspace", "--no-fail-fast"]);
    let colourless = |spec: CheckSpec| spec.with("CARGO_TERM_COLOR", "never");
    vec![
        colourless(CheckSpec::new("cargo-check", Tier::One, check)),
        colourless(CheckSpec::new("cargo-test", Tier::Two, test))
            .parsed_by(Parser::Cargo)
            .needing("cargo-check"),
    ]
}
