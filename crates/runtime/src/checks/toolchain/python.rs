//! Python, by its project files or by tests.

use crate::checks::detect::Probe;
use crate::checks::spec::{Action, CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use std::path::Path;

const MARKERS: [&str; 4] = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"];
const TEST_FOLDERS: [&str; 3] = ["", "tests", "test"];
const SKIPPED: &str = r"(^|/)(\.git|\.venv|venv|\.tox|node_modules|build|dist|target)/";

pub fn checks(root: &Path, probe: &Probe<'_>) -> Vec<CheckSpec> {
    let has_marker = MARKERS.iter().any(|marker| root.join(marker).is_file());
    let tests = TEST_FOLDERS.iter().find(|folder| has_tests(&root.join(folder)));
    if !has_marker && tests.is_none() {
        return Vec::new();
    }
    let compile = Action::argv(&["python3", "-m", "compileall", "-q", "-f", "-x", SKIPPED, "."]);
    // Compiled files go to a folder that is thrown away, so that the tree stays as it is.
    let clean = |spec: CheckSpec| spec.with("PYTHONPYCACHEPREFIX", &format!("{SCRATCH}/pycache"));
    let tested = if probe.runs(root, &["python3", "-c", "import pytest"]) {
        let argv = Action::argv(&["python3", "-m", "pytest", "-rA", "-p", "no:cacheprovider"]);
        CheckSpec::new("pytest", Tier::Two, argv).parsed_by(Parser::Pytest)
    } else {
        let mut argv = vec!["python3", "-m", "unittest", "discover", "-v"];
        // A folder that is no package is found only when it is named.
        if let Some(folder) = tests.filter(|folder| !folder.is_empty())
            && !root.join(folder).join("__init__.py").is_file()
        {
            argv.extend(["-s", folder]);
        }
        CheckSpec::new("unittest", Tier::Two, Action::argv(&argv)).parsed_by(Parser::Unittest)
    };
    let tested = if root.join("src").is_dir() { tested.with("PYTHONPATH", "src") } else { tested };
    vec![clean(CheckSpec::new("python-compile", Tier::One, compile)), clean(tested).needing("python-compile")]
}

fn has_tests(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.ends_with(".py") && (name.starts_with("test") || name.ends_with("_test.py"))
    })
}
