//! Make, detected by a Makefile with targets that have the usual names; other targets may do anything.

use super::{Dependency, FilesBelow, Toolchain, Workspace, always, no_name, read};
use crate::action::CheckAction;
use crate::probe::ToolProbe;
use crate::spec::CheckSpec;
use remand_kernel::evidence::Tier;
use std::path::Path;

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &FILES,
    files: FilesBelow::All,
    covers: always,
    name: no_name,
    dependencies,
    workspace: Workspace::None,
    checks,
};

const FILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

fn checks(folder: &Path, _: &ToolProbe<'_>) -> Vec<CheckSpec> {
    let Some(text) = makefile(folder) else {
        return Vec::new();
    };
    let first = |names: &[&'static str]| names.iter().copied().find(|name| has_target(&text, name));
    let build = first(&["all", "build"]);
    let test = first(&["test", "check", "tests"]);
    let mut specs = Vec::new();
    if let Some(target) = build {
        specs.push(CheckSpec::new("make", Tier::Two, CheckAction::argv(&["make", target])));
    }
    if let Some(target) = test {
        let spec = CheckSpec::new("make-test", Tier::Two, CheckAction::argv(&["make", target]));
        specs.push(if build.is_some() { spec.needing("make") } else { spec });
    }
    specs
}

fn makefile(folder: &Path) -> Option<String> {
    FILES.iter().find_map(|file| read(folder, file))
}

fn dependencies(folder: &Path) -> Vec<Dependency> {
    if makefile(folder).is_some_and(|text| text.contains("..")) {
        vec![Dependency::Anything]
    } else {
        Vec::new()
    }
}

fn has_target(text: &str, name: &str) -> bool {
    text.lines()
        .filter(|line| !line.starts_with(['\t', '#', ' ']))
        .filter_map(|line| line.split_once(':').filter(|(_, rest)| !rest.starts_with('=')))
        .any(|(targets, _)| targets.split_whitespace().any(|target| target == name))
}
