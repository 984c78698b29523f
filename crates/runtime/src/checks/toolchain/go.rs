//! Go, by `go.mod`.

use crate::checks::detect::Probe;
use crate::checks::spec::{Action, CheckSpec, Parser};
use remand_kernel::evidence::Tier;
use std::path::Path;

pub fn checks(root: &Path, _: &Probe<'_>) -> Vec<CheckSpec> {
    if !root.join("go.mod").is_file() {
        return Vec::new();
    }
    let test = Action::argv(&["go", "test", "-json", "./..."]);
    vec![
        CheckSpec::new("go-vet", Tier::One, Action::argv(&["go", "vet", "./..."])),
        CheckSpec::new("go-test", Tier::Two, test).parsed_by(Parser::Go).needing("go-vet"),
    ]
}
