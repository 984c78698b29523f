//! C and C++, by `CMakeLists.txt`; built outside the tree.

use super::{Below, Lean, Toolchain, Workspace, always, no_name, read};
use crate::checks::detect::Probe;
use crate::checks::spec::{Action, CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use std::path::Path;

pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &[MANIFEST],
    below: Below::All,
    covers: always,
    name: no_name,
    leans,
    workspace: Workspace::None,
    checks,
};

const MANIFEST: &str = "CMakeLists.txt";

fn checks(folder: &Path, _: &Probe<'_>) -> Vec<CheckSpec> {
    let Some(text) = read(folder, MANIFEST) else {
        return Vec::new();
    };
    let build = format!("{SCRATCH}/cmake");
    let configure = Action::argv(&["cmake", "-S", ".", "-B", &build]);
    let compile = Action::argv(&["cmake", "--build", &build]);
    let mut specs = vec![
        CheckSpec::new("cmake", Tier::One, configure),
        CheckSpec::new("cmake-build", Tier::Two, compile).needing("cmake"),
    ];
    let text = text.to_ascii_lowercase();
    if text.contains("enable_testing") || text.contains("include(ctest)") {
        let report = format!("{SCRATCH}/ctest.xml");
        let argv = ["ctest", "--test-dir", &build, "--output-on-failure", "--output-junit", &report];
        let test = CheckSpec::new("ctest", Tier::Two, Action::argv(&argv)).parsed_by(Parser::Junit);
        specs.push(CheckSpec { report: Some(report), ..test.needing("cmake-build") });
    }
    specs
}

/// Folders outside are put together from variables, which only CMake knows.
fn leans(folder: &Path) -> Vec<Lean> {
    let text = read(folder, MANIFEST).unwrap_or_default();
    if text.contains("..") { vec![Lean::Anything] } else { Vec::new() }
}
