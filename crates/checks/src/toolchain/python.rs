//! Python, detected by project files or test files.

use super::{Dependency, FilesBelow, Toolchain, Workspace, always, read, toml_file};
use crate::action::CheckAction;
use crate::environments::{Environment, USUAL_NAMES};
use crate::probe::ToolProbe;
use crate::spec::{CheckSpec, Parser, SCRATCH};
use remand_kernel::evidence::Tier;
use std::path::Path;
use toml::Value;

/// The checks of a project find all tests below it, even those of projects below.
pub const TOOLCHAIN: Toolchain = Toolchain {
    markers: &["pyproject.toml", "setup.py", "setup.cfg"],
    files: FilesBelow::All,
    covers: always,
    name,
    dependencies,
    workspace: Workspace::None,
    checks,
};

const TEST_FOLDERS: [&str; 3] = ["", "tests", "test"];
const SKIPPED: &str = r"\.git|\.venv|venv|\.tox|node_modules|build|dist|target";

fn checks(folder: &Path, probe: &ToolProbe<'_>) -> Vec<CheckSpec> {
    let tests = TEST_FOLDERS.iter().find(|name| has_tests(&folder.join(name)));
    if !is_project(folder) && tests.is_none() && !is_django(folder) {
        return Vec::new();
    }
    let environment = Environment::nearest(folder);
    let python = environment
        .as_ref()
        .map_or_else(|| "python3".to_string(), |environment| environment.program("python"));
    let skipped = skipped(environment.as_ref());
    let compile = CheckAction::argv(&[&python, "-m", "compileall", "-q", "-f", "-x", &skipped, "."]);
    // Programs in the checkout must not run outside the sandbox, so the package is searched for, not imported.
    let has = |package: &str| match &environment {
        Some(environment) => environment.has_package(package),
        None => probe.succeeds(folder, &["python3", "-c", &format!("import {package}")]),
    };
    let test = if is_django(folder) && !has("pytest_django") {
        // Only Django's own runner makes a database for the tests.
        let argv = CheckAction::argv(&[&python, "manage.py", "test", "--noinput", "-v", "2"]);
        CheckSpec::new("django-test", Tier::Two, argv).parsed_by(Parser::Unittest)
    } else if has("pytest") {
        let argv = CheckAction::argv(&[&python, "-m", "pytest", "-rA", "-v", "-p", "no:cacheprovider"]);
        CheckSpec::new("pytest", Tier::Two, argv).parsed_by(Parser::Pytest)
    } else {
        let mut argv = vec![python.as_str(), "-m", "unittest", "discover", "-v"];
        // unittest finds tests in a folder that is not a package only if the folder is named.
        if let Some(name) = tests.filter(|name| !name.is_empty())
            && !folder.join(name).join("__init__.py").is_file()
        {
            argv.extend(["-s", name]);
        }
        CheckSpec::new("unittest", Tier::Two, CheckAction::argv(&argv)).parsed_by(Parser::Unittest)
    };
    let test = if folder.join("src").is_dir() { test.with_variable("PYTHONPATH", "src") } else { test };
    let later = analyses(folder, probe).into_iter().chain([test]);
    [CheckSpec::new("python-compile", Tier::One, compile)]
        .into_iter()
        .chain(later.map(|spec| spec.needing("python-compile")))
        .collect()
}

/// A pattern for the folders that are not compiled.
fn skipped(environment: Option<&Environment>) -> String {
    let other = environment.map(|environment| environment.path.as_str());
    let other = other.filter(|path| !USUAL_NAMES.contains(path) && !path.starts_with("../"));
    format!("(^|/)({SKIPPED}{})/", other.map_or_else(String::new, |path| format!("|{}", regex::escape(path))))
}

/// The path of a tool in the project's environment, or its name if it is on the PATH; `None` if it is in neither.
fn tool(folder: &Path, name: &str, probe: &ToolProbe<'_>) -> Option<String> {
    let environment = Environment::nearest(folder).filter(|environment| environment.has_program(name));
    environment
        .map(|environment| environment.program(name))
        .or_else(|| probe.has_program(name).then(|| name.to_string()))
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

/// Whether the folder is a project. A `pyproject.toml` alone is not enough: it may contain only settings of tools.
fn is_project(folder: &Path) -> bool {
    let manifest = toml_file(folder, "pyproject.toml");
    let tools = manifest.get("tool");
    let has_tool = |tool: &str| tools.and_then(|tools| tools.get(tool)).is_some();
    manifest.contains_key("project")
        || manifest.contains_key("build-system")
        || has_tool("poetry")
        || ["setup.py", "setup.cfg", "requirements.txt"].iter().any(|file| folder.join(file).is_file())
}

/// Whether Django made the folder's `manage.py`.
fn is_django(folder: &Path) -> bool {
    read(folder, "manage.py").is_some_and(|text| text.contains("django"))
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
    Some(normalize(name))
}

/// All names and paths in the manifest; a wrong one costs only an extra run of a check.
fn dependencies(folder: &Path) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut pending: Vec<(String, Value)> = toml_file(folder, "pyproject.toml").into_iter().collect();
    while let Some((key, value)) = pending.pop() {
        match value {
            Value::String(text) if key == "path" || key == "url" => {
                found.push(Dependency::Folder(text.trim_start_matches("file:").to_string()));
            }
            Value::String(text) => found.push(Dependency::Name(normalize(package_name(&text)))),
            Value::Array(items) => pending.extend(items.into_iter().map(|item| (key.clone(), item))),
            Value::Table(table) => {
                found.extend(table.keys().map(|name| Dependency::Name(normalize(name))));
                pending.extend(table);
            }
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
        }
    }
    found
}

/// The package of a requirement: `shared-code` for `shared-code[extra]>=1`.
fn package_name(text: &str) -> &str {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).next().unwrap_or_default()
}

/// Package names that differ only in case and separators are the same.
fn normalize(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}
