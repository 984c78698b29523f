//! Go, detected by `go.mod`. A module does not include other modules below it, even if a workspace lists them.

use super::{Dependency, FilesBelow, Nested, Toolchain, Workspace, read};
use crate::action::CheckAction;
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use std::path::Path;

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &[MANIFEST],
    files: FilesBelow::Own,
    covers,
    name,
    dependencies,
    workspace: Workspace::None,
    checks,
};

const MANIFEST: &str = "go.mod";

fn checks(folder: &Path, _: &ToolProbe<'_>) -> Vec<CheckSpec> {
    if !folder.join(MANIFEST).is_file() {
        return Vec::new();
    }
    // Checks may write only to some folders, so the build cache is in one of them.
    let with_cache = |spec: CheckSpec| spec.with_variable("GOCACHE", &format!("{SCRATCH}/go"));
    let test = CheckAction::argv(&["go", "test", "-json", "./..."]);
    vec![
        with_cache(CheckSpec::new("go-vet", Tier::One, CheckAction::argv(&["go", "vet", "./..."]))),
        with_cache(CheckSpec::new("go-test", Tier::Two, test)).parsed_by(Parser::Go).needing("go-vet"),
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
fn dependencies(folder: &Path) -> Vec<Dependency> {
    let text = read(folder, MANIFEST).unwrap_or_default();
    let words =
        text.lines().map(|line| line.split("//").next().unwrap_or(line)).flat_map(str::split_whitespace);
    words
        .filter_map(|word| match word.trim_matches('"') {
            path if path.starts_with("./") || path.starts_with("../") => {
                Some(Dependency::Folder(path.to_string()))
            }
            module if module.contains('/') => Some(Dependency::Name(module.to_string())),
            _ => None,
        })
        .collect()
}
