//! Finds the checks of a repository by its marker files.

use super::action::{BuiltIn, CheckAction};
use super::probe::ToolProbe;
use super::project;
use super::spec::CheckSpec;
use super::toolchain::nix;
use remand_kernel::evidence::Tier;
use std::path::Path;

/// The checks of the repository at `root`, which has these files. `syntax` is always among them; if it is the only one,
/// nothing was detected.
pub fn detect(root: &Path, files: &[String], probe: &ToolProbe<'_>) -> Vec<CheckSpec> {
    let projects = project::projects(root, files, probe);
    let mut found = project::checks(root, projects);
    if nix::has_shell(root, probe) {
        found = found.into_iter().map(nix::run_in_shell).collect();
    }
    found.insert(0, CheckSpec::new("syntax", Tier::One, CheckAction::BuiltIn(BuiltIn::Syntax)));
    found
}
