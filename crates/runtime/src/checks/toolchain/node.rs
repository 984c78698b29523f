//! JavaScript and TypeScript, by `package.json`.

use crate::checks::detect::Probe;
use crate::checks::spec::{Action, CheckSpec, Parser};
use remand_kernel::evidence::Tier;
use std::path::Path;

/// What `npm init` writes where there are no tests.
const NO_TESTS: &str = "no test specified";

pub fn checks(root: &Path, _: &Probe<'_>) -> Vec<CheckSpec> {
    let Ok(text) = std::fs::read_to_string(root.join("package.json")) else {
        return Vec::new();
    };
    let mut check = CheckSpec::new("node-check", Tier::One, Action::argv(&["node", "--check"]));
    check.each = ["js", "mjs", "cjs"].map(str::to_string).to_vec();
    let mut specs = vec![check];
    if root.join("tsconfig.json").is_file() && root.join("node_modules/.bin/tsc").exists() {
        let argv = Action::argv(&["node_modules/.bin/tsc", "--noEmit", "--pretty", "false"]);
        specs.push(CheckSpec::new("tsc", Tier::Two, argv));
    }
    let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let script = package.pointer("/scripts/test").and_then(serde_json::Value::as_str);
    if let Some(script) = script.filter(|script| !script.contains(NO_TESTS)) {
        let test = CheckSpec::new("npm-test", Tier::Two, Action::argv(&["npm", "test"]));
        specs.push(test.parsed_by(parser(script)).with("NO_COLOR", "1").needing("node-check"));
    }
    specs
}

fn parser(script: &str) -> Parser {
    let has = |word: &str| script.split_whitespace().any(|part| part == word);
    if has("--test") {
        Parser::Node
    } else if has("tap") || has("tape") {
        Parser::Tap
    } else {
        Parser::None
    }
}
