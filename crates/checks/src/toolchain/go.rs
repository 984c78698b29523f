//! Go, by `go.mod`. A module does not include other modules below it, even if a workspace lists them.

use super::{Below, Lean, Nested, Toolchain, Workspace, read};
use crate::action::CheckAction;
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use std::path::Path;

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &[MANIFEST],
    below: Below::Own,
    covers,
    name,
    leans,
    workspace: Workspace::None,
    checks,
};

const MANIFEST: &str = "go.mod";

fn checks(folder: &Path, _: &ToolProbe<'_>) -> Vec<CheckSpec> {
    if !folder.join(MANIFEST).is_file() {
        return Vec::new();
    }
    // The build cache goes to a folder that checks may write.
    let own = |spec: CheckSpec| spec.with("GOCACHE", &format!("{SCRATCH}/go"));
    let test = CheckAction::argv(&["go", "test", "-json", "./..."]);
    vec![
        own(CheckSpec::new("go-vet", Tier::One, CheckAction::argv(&["go", "vet", "./..."]))),
        own(CheckSpec::new("go-test", Tier::Two, test)).parsed_by(Parser::Go).needing("go-vet"),
    ]
}

fn covers(_: Nested<'_>) -> bool {
    false
}

fn name(folder: &Path) -> Option<String> {
    let text = read(folder, MANIFEST)?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    Some(line.split("//").next().unwrap_or(line).trim().trim_matches('"').to_string())
}

/// Every required module, and every folder that replaces one.
fn leans(folder: &Path) -> Vec<Lean> {
    let text = read(folder, MANIFEST).unwrap_or_default();
    let words =
        text.lines().map(|line| line.split("//").next().unwrap_or(line)).flat_map(str::split_whitespace);
    words
        .filter_map(|word| match word.trim_matches('"') {
            path if path.starts_with("./") || path.starts_with("../") => Some(Lean::Folder(path.to_string())),
            module if module.contains('/') => Some(Lean::Name(module.to_string())),
            _ => None,
        })
        .collect()
}
