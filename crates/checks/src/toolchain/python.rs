//! Python, by its project files or by tests.

use super::{Below, Lean, Toolchain, Workspace, always, read, toml_file};
use crate::action::CheckAction;
use crate::installed;
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use std::path::Path;
use toml::Value;

/// A project finds all tests below it, even across other project files.
pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &["pyproject.toml", "setup.py", "setup.cfg"],
    below: Below::All,
    covers: always,
    name,
    leans,
    workspace: Workspace::None,
    checks,
};

const TEST_FOLDERS: [&str; 3] = ["", "tests", "test"];
const SKIPPED: &str = r"(^|/)(\.git|\.venv|venv|\.tox|node_modules|build|dist|target)/";

fn checks(folder: &Path, probe: &ToolProbe<'_>) -> Vec<CheckSpec> {
    let tests = TEST_FOLDERS.iter().find(|name| has_tests(&folder.join(name)));
    if !is_project(folder) && tests.is_none() {
        return Vec::new();
    }
    let python = installed::environment(folder)
        .map_or_else(|| "python3".to_string(), |environment| installed::program_of(environment, "python"));
    let compile = CheckAction::argv(&[&python, "-m", "compileall", "-q", "-f", "-x", SKIPPED, "."]);
    // A program of the checkout must not run outside the sandbox.
    let has_pytest = match installed::environment(folder) {
        Some(environment) => installed::has_package(&folder.join(environment), "pytest"),
        None => probe.runs(folder, &["python3", "-c", "import pytest"]),
    };
    let tested = if has_pytest {
        let argv = CheckAction::argv(&[&python, "-m", "pytest", "-rA", "-v", "-p", "no:cacheprovider"]);
        CheckSpec::new("pytest", Tier::Two, argv).parsed_by(Parser::Pytest)
    } else {
        let mut argv = vec![python.as_str(), "-m", "unittest", "discover", "-v"];
        // unittest finds a folder that is not a package only by name.
        if let Some(name) = tests.filter(|name| !name.is_empty())
            && !folder.join(name).join("__init__.py").is_file()
        {
            argv.extend(["-s", name]);
        }
        CheckSpec::new("unittest", Tier::Two, CheckAction::argv(&argv)).parsed_by(Parser::Unittest)
    };
    let tested = if folder.join("src").is_dir() { tested.with("PYTHONPATH", "src") } else { tested };
    let analysed = analyses(folder, probe).into_iter().chain([tested]);
    [CheckSpec::new("python-compile", Tier::One, compile)]
        .into_iter()
        .chain(analysed.map(|spec| spec.needing("python-compile")))
        .collect()
}

/// A program of the project's environment, or else of the machine; none if it is in neither.
fn tool(folder: &Path, name: &str, probe: &ToolProbe<'_>) -> Option<String> {
    let own = installed::environment(folder).map(|environment| installed::program_of(environment, name));
    let own = own.filter(|program| folder.join(program).is_file());
    own.or_else(|| probe.finds(name).then(|| name.to_string()))
}

/// Type checks and lints that the repository configures and whose tools are installed.
fn analyses(folder: &Path, probe: &ToolProbe<'_>) -> Vec<CheckSpec> {
    let cache = |tool: &str| format!("{SCRATCH}/{tool}");
    let mut specs = Vec::new();
    if is_configured(folder, "mypy", &["mypy.ini", ".mypy.ini"])
        && let Some(mypy) = tool(folder, "mypy", probe)
    {
        let argv = [&mypy, "--no-color-output", "--cache-dir", &cache("mypy"), "."];
        specs.push(CheckSpec::new("mypy", Tier::Two, CheckAction::argv(&argv)));
    }
    if is_configured(folder, "pyright", &["pyrightconfig.json"])
        && let Some(pyright) = tool(folder, "pyright", probe)
    {
        specs.push(CheckSpec::new("pyright", Tier::Two, CheckAction::argv(&[&pyright])));
    }
    if is_configured(folder, "ruff", &["ruff.toml", ".ruff.toml"])
        && let Some(ruff) = tool(folder, "ruff", probe)
    {
        let argv = [&ruff, "check", "--no-cache", "--output-format", "concise", "."];
        specs.push(CheckSpec::new("ruff", Tier::Two, CheckAction::argv(&argv)));
    }
    specs
}

fn is_configured(folder: &Path, tool: &str, files: &[&str]) -> bool {
    let has_section = |file: &str| {
        let section = format!("[{tool}]");
        read(folder, file).is_some_and(|text| text.lines().any(|line| line.trim() == section))
    };
    files.iter().any(|file| folder.join(file).is_file())
        || has_section("setup.cfg")
        || toml_file(folder, "pyproject.toml").get("tool").and_then(|tools| tools.get(tool)).is_some()
}

/// A `pyproject.toml` may contain only settings of tools.
fn is_project(folder: &Path) -> bool {
    let manifest = toml_file(folder, "pyproject.toml");
    let tools = manifest.get("tool");
    let has_tool = |tool: &str| tools.and_then(|tools| tools.get(tool)).is_some();
    manifest.contains_key("project")
        || manifest.contains_key("build-system")
        || has_tool("poetry")
        || ["setup.py", "setup.cfg", "requirements.txt"].iter().any(|file| folder.join(file).is_file())
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

fn name(folder: &Path) -> Option<String> {
    let manifest = toml_file(folder, "pyproject.toml");
    let poetry = || manifest.get("tool")?.get("poetry")?.get("name")?.as_str();
    let name = manifest.get("project").and_then(|project| project.get("name")?.as_str()).or_else(poetry)?;
    Some(plain(name))
}

/// All names and paths in the manifest; a wrong one only costs one run of a check.
fn leans(folder: &Path) -> Vec<Lean> {
    let mut found = Vec::new();
    let mut open: Vec<(String, Value)> = toml_file(folder, "pyproject.toml").into_iter().collect();
    while let Some((key, value)) = open.pop() {
        match value {
            Value::String(text) if key == "path" || key == "url" => {
                found.push(Lean::Folder(text.trim_start_matches("file:").to_string()));
            }
            Value::String(text) => found.push(Lean::Name(plain(required(&text)))),
            Value::Array(items) => open.extend(items.into_iter().map(|item| (key.clone(), item))),
            Value::Table(table) => {
                found.extend(table.keys().map(|name| Lean::Name(plain(name))));
                open.extend(table);
            }
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
        }
    }
    found
}

/// `shared-code[extra]>=1` as `shared-code`.
fn required(text: &str) -> &str {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).next().unwrap_or_default()
}

/// Names that differ only in their separators are the same.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}
