//! C and C++, detected by `CMakeLists.txt`; built outside the tree.

use super::{Dependency, FilesBelow, Toolchain, Workspace, always, no_name, read};
use crate::action::CheckAction;
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use std::path::Path;

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &[MANIFEST],
    files: FilesBelow::All,
    covers: always,
    name: no_name,
    dependencies,
    workspace: Workspace::None,
    checks,
};

const MANIFEST: &str = "CMakeLists.txt";

fn checks(folder: &Path, _: &ToolProbe<'_>) -> Vec<CheckSpec> {
    let Some(text) = read(folder, MANIFEST) else {
        return Vec::new();
    };
    let build = format!("{SCRATCH}/cmake");
    let configure = CheckAction::argv(&["cmake", "-S", ".", "-B", &build]);
    let compile = CheckAction::argv(&["cmake", "--build", &build]);
    let mut specs = vec![
        CheckSpec::new("cmake", Tier::One, configure),
        CheckSpec::new("cmake-build", Tier::Two, compile).needing("cmake"),
    ];
    let text = text.to_ascii_lowercase();
    if text.contains("enable_testing") || text.contains("include(ctest)") {
        let report = format!("{SCRATCH}/ctest.xml");
        let argv = ["ctest", "--test-dir", &build, "--output-on-failure", "--output-junit", &report];
        let test = CheckSpec::new("ctest", Tier::Two, CheckAction::argv(&argv)).parsed_by(Parser::Junit);
        specs.push(CheckSpec { report: Some(report), ..test.needing("cmake-build") });
    }
    specs
}

/// A project that mentions `..` may depend on anything: such a path can contain variables that only CMake can resolve.
fn dependencies(folder: &Path) -> Vec<Dependency> {
    let text = read(folder, MANIFEST).unwrap_or_default();
    if text.contains("..") { vec![Dependency::Anything] } else { Vec::new() }
}
