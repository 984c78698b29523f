//! Java, by `pom.xml`; offline, since a check must not change what it checks against.

use crate::checks::detect::Probe;
use crate::checks::spec::{Action, CheckSpec, Parser};
use remand_kernel::evidence::Tier;
use std::path::Path;

pub fn checks(root: &Path, _: &Probe<'_>) -> Vec<CheckSpec> {
    let Ok(text) = std::fs::read_to_string(root.join("pom.xml")) else {
        return Vec::new();
    };
    let compile = Action::argv(&["mvn", "-o", "-q", "-B", "test-compile"]);
    let test = CheckSpec::new("mvn-test", Tier::Two, Action::argv(&["mvn", "-o", "-q", "-B", "test"]));
    // The modules of a larger build write reports of their own, each in its folder.
    let test = if text.contains("<modules>") {
        test
    } else {
        CheckSpec { report: Some("target/surefire-reports".to_string()), ..test.parsed_by(Parser::Junit) }
    };
    vec![CheckSpec::new("mvn-compile", Tier::One, compile), test.needing("mvn-compile")]
}
