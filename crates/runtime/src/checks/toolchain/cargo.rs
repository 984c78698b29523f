//! Rust, by `Cargo.toml`.

use super::{Below, Lean, Nested, Toolchain, no_name, read, toml_file};
use crate::checks::detect::Probe;
use crate::checks::spec::{Action, CheckSpec, Parser};
use remand_kernel::evidence::Tier;
use std::path::Path;
use toml::{Table, Value};

pub const TOOLCHAIN: Toolchain =
    Toolchain { markers: &[MANIFEST], below: Below::Own, covers, name: no_name, leans, checks };

const MANIFEST: &str = "Cargo.toml";
const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

fn checks(folder: &Path, probe: &Probe<'_>) -> Vec<CheckSpec> {
    if !folder.join(MANIFEST).is_file() {
        return Vec::new();
    }
    let colourless = |name: &str, tier: Tier, argv: &[&str]| {
        CheckSpec::new(name, tier, Action::argv(argv)).with("CARGO_TERM_COLOR", "never")
    };
    let mut specs =
        vec![colourless("cargo-check", Tier::One, &["cargo", "check", "--workspace", "--all-targets"])];
    let mut add = |spec: CheckSpec| specs.push(spec.needing("cargo-check"));
    if has_lints(folder) && probe.finds("cargo-clippy") {
        let argv = ["cargo", "clippy", "--workspace", "--all-targets"];
        add(colourless("cargo-clippy", Tier::Two, &argv));
    }
    // All binaries run even after a failure: a test that was not reached would look gone.
    if folder.join(".config/nextest.toml").is_file() && probe.finds("cargo-nextest") {
        let argv = ["cargo", "nextest", "run", "--workspace", "--no-fail-fast", "--status-level", "all"];
        add(colourless("cargo-nextest", Tier::Two, &argv).parsed_by(Parser::Nextest));
        // Its runner leaves the tests in documentation out.
        let argv = ["cargo", "test", "--workspace", "--no-fail-fast", "--doc"];
        if folder.join("src/lib.rs").is_file() {
            add(colourless("cargo-doctest", Tier::Two, &argv).parsed_by(Parser::Cargo));
        }
    } else {
        let argv = ["cargo", "test", "--workspace", "--no-fail-fast"];
        add(colourless("cargo-test", Tier::Two, &argv).parsed_by(Parser::Cargo));
    }
    specs
}

/// Whether the repository says anything about lints itself.
fn has_lints(folder: &Path) -> bool {
    let manifest = toml_file(folder, MANIFEST);
    let lints = |table: Option<&Value>| {
        table.and_then(|table| table.get("lints")?.get("clippy")).is_some_and(Value::is_table)
    };
    ["clippy.toml", ".clippy.toml"].iter().any(|file| folder.join(file).is_file())
        || lints(Some(&Value::Table(manifest.clone())))
        || lints(manifest.get("workspace"))
}

/// Cargo itself takes every package below a workspace for a member, unless it is excluded or a workspace itself.
fn covers(nested: Nested<'_>) -> bool {
    let manifest = toml_file(nested.above, MANIFEST);
    let Some(workspace) = manifest.get("workspace") else { return false };
    let excluded = workspace.get("exclude").and_then(Value::as_array).into_iter().flatten();
    let is_excluded = excluded.filter_map(Value::as_str).any(|path| {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        Path::new(nested.way).starts_with(path)
    });
    !is_excluded && !toml_file(nested.folder, MANIFEST).contains_key("workspace")
}

fn leans(folder: &Path) -> Vec<Lean> {
    if read(folder, MANIFEST).is_some_and(|text| text.parse::<Table>().is_err()) {
        return vec![Lean::Anything];
    }
    let manifest = toml_file(folder, MANIFEST);
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let holders = targets
        .filter_map(|(_, target)| target.as_table())
        .chain(manifest.get("workspace").and_then(Value::as_table))
        .chain([&manifest]);
    let patches = manifest.get("patch").and_then(Value::as_table).into_iter().flatten();
    holders
        .flat_map(|holder| DEPENDENCIES.iter().filter_map(|kind| holder.get(*kind)?.as_table()))
        .chain(patches.filter_map(|(_, patched)| patched.as_table()))
        .flat_map(|dependencies| dependencies.values())
        .filter_map(|dependency| dependency.get("path")?.as_str())
        .map(|path| Lean::Folder(path.to_string()))
        .collect()
}
