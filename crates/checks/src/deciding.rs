//! Settings that decide whether tests run at all: settings of runners, builds and continuous integration.
//!
//! Only the relevant parts of a file count: a new dependency in a manifest does not change the tests.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Prefixes of the names of files that only configure tests or checks.
const CONFIG_FILES: [&str; 41] = [
    ".eslintrc",
    "eslint.config.",
    "mypy.ini",
    ".mypy.ini",
    "ruff.toml",
    ".ruff.toml",
    "pyrightconfig.json",
    "clippy.toml",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "jest.config.",
    "vitest.config.",
    "vitest.workspace.",
    ".mocharc",
    "karma.conf.",
    "playwright.config.",
    "cypress.config.",
    "ava.config.",
    "pytest.ini",
    ".pytest.ini",
    "pytest.toml",
    ".pytest.toml",
    "unittest.cfg",
    "nose2.cfg",
    "babel.config.",
    ".babelrc",
    ".swcrc",
    "jest.setup.",
    "setupTests.",
    "vitest.setup.",
    "bunfig.toml",
    "tox.ini",
    "noxfile.py",
    "nextest.toml",
    "rust-toolchain",
    ".npmrc",
    ".env.test",
    ".pnpmfile.",
    "go.work",
    ".gitlab-ci.yml",
    "Jenkinsfile",
];

/// Prefixes of the paths of files that configure continuous integration or commit hooks.
const PIPELINES: [&str; 8] = [
    ".husky/",
    ".github/workflows/",
    ".github/actions/",
    ".circleci/",
    ".buildkite/",
    "azure-pipelines",
    ".travis.yml",
    "bitbucket-pipelines",
];

/// Python modules that start or control test runners. A module of the project with the same name replaces them.
const RUNNERS: [&str; 6] = ["unittest", "pytest", "_pytest", "sitecustomize", "usercustomize", "runpy"];

/// Modules of Python's standard library, except built-in ones and `test`. A module of the project with the same
/// name replaces them if it is in the folder where Python starts.
const STANDARD_LIBRARY: &str = include_str!("standard_library.txt");

/// Extensions of files that Python loads as modules.
const MODULE_EXTENSIONS: [&str; 4] = ["py", "pyc", "so", "pyd"];

/// Extensions of compiled code that a runtime loads without its source.
const COMPILED: [&str; 8] = ["pyc", "pyo", "pyd", "so", "node", "class", "rlib", "rmeta"];

/// Folders into which package managers install.
const INSTALLED: [&str; 3] = ["node_modules", "site-packages", "dist-packages"];

/// What a changed file decides about the tests, as a clause of a message; `None` if it decides nothing. Checks start in
/// `folders`.
pub fn decided_by(
    path: &str,
    before: Option<&str>,
    after: Option<&str>,
    folders: &BTreeSet<String>,
) -> Option<&'static str> {
    let name = Path::new(path).file_name()?.to_str()?;
    if PIPELINES.iter().any(|start| path.starts_with(start)) {
        return Some("what continuous integration and hooks run");
    }
    if folders.iter().any(|folder| replaces_runner(path, folder)) {
        return Some("which test runner Python loads");
    }
    if before.is_none() && folders.iter().any(|folder| replaces_standard_module(path, folder)) {
        return Some("what Python loads instead of a module of its standard library");
    }
    if path.split('/').any(|part| INSTALLED.contains(&part)) {
        return Some("what is loaded as an installed package");
    }
    if COMPILED.contains(&name.rsplit_once('.').map_or("", |(_, extension)| extension)) {
        return Some("which compiled code runs, whatever the source says");
    }
    if path.ends_with(".cargo/config.toml") || path.ends_with(".cargo/config") {
        return Some("how cargo runs tests");
    }
    if path.ends_with(".mvn/maven.config") || path.ends_with(".mvn/jvm.config") {
        return Some("how Maven runs tests");
    }
    if CONFIG_FILES.iter().any(|start| name.starts_with(start)) {
        return Some("which tests run, and how");
    }
    let (relevant, decided): (fn(&str) -> BTreeSet<String>, &str) = match name {
        "Cargo.toml" if cargo_profiles(before) != cargo_profiles(after) => {
            return Some("with which checks of arithmetic and assertions cargo builds the tests");
        }
        "Cargo.toml" if cargo_loses_tests(before, after) => return Some("which tests cargo builds"),
        "Cargo.toml" => return patches_test_crates(before, after).then_some("which crates the tests use"),
        "package.json" => (package, "how the tests are started"),
        "pyproject.toml" => (pyproject, "which tests pytest collects"),
        "setup.cfg" => (sections, "which tests pytest collects"),
        "conftest.py" => (conftest, "which tests pytest collects"),
        "pom.xml" => (|text| lines(text, &MAVEN), "which tests Maven runs"),
        "build.gradle" | "build.gradle.kts" => {
            (|text| lines(text, &["test", "Test"]), "which tests Gradle runs")
        }
        "CMakeLists.txt" => (|text| lines(text, &CMAKE), "which tests ctest knows"),
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" => {
            (recipes, "what the test target does")
        }
        name if name.starts_with("vite.config.") => {
            (|text| lines(text, &["test", "exclude"]), "which tests vitest runs")
        }
        _ => return None,
    };
    (relevant(before.unwrap_or_default()) != relevant(after.unwrap_or_default())).then_some(decided)
}

fn replaces_runner(path: &str, folder: &str) -> bool {
    top_module(path, folder).is_some_and(|(module, _)| RUNNERS.contains(&module))
}

/// Whether Python loads a file instead of a module of its standard library. A folder without `__init__` replaces no module.
fn replaces_standard_module(path: &str, folder: &str) -> bool {
    let is_whole = |rest: &str| rest.is_empty() || rest.starts_with("__init__.");
    let is_standard = |module: &str| STANDARD_LIBRARY.lines().any(|known| known == module);
    top_module(path, folder).is_some_and(|(module, rest)| is_whole(rest) && is_standard(module))
}

/// The top-level module that a file belongs to if Python starts in `folder`, and the file's path inside the module.
fn top_module<'p>(path: &'p str, folder: &str) -> Option<(&'p str, &'p str)> {
    let inside = if folder.is_empty() { path } else { path.strip_prefix(folder)?.strip_prefix('/')? };
    let inside = inside.strip_prefix("src/").unwrap_or(inside);
    let (top, rest) = inside.split_once('/').unwrap_or((inside, ""));
    let file = if rest.is_empty() { top } else { rest };
    let (_, extension) =
        file.rsplit_once('.').filter(|(_, extension)| MODULE_EXTENSIONS.contains(extension))?;
    // An extension module has the platform in its name: `json.cpython-311-x86_64-linux-gnu.so`.
    let name = if extension == "so" {
        top.split('.').next()?
    } else {
        top.strip_suffix(&format!(".{extension}")).unwrap_or(top)
    };
    Some((name, rest))
}

const MAVEN: [&str; 7] =
    ["skipTests", "maven.test", "surefire", "failsafe", "testFailureIgnore", "<exclude", "<include"];
const CMAKE: [&str; 7] = [
    "add_test",
    "enable_testing",
    "CTest",
    "gtest_discover_tests",
    "catch_discover_tests",
    "set_tests_properties",
    "add_subdirectory",
];

/// What the profiles of a manifest say about the behaviour of the program under test.
fn cargo_profiles(text: Option<&str>) -> BTreeSet<String> {
    let manifest = text.and_then(|text| toml::from_str::<toml::Value>(text).ok());
    let profiles = manifest.as_ref().and_then(|manifest| manifest.get("profile")?.as_table());
    let mut found = BTreeSet::new();
    for (name, profile) in profiles.into_iter().flatten() {
        for key in ["overflow-checks", "debug-assertions", "panic", "inherits"] {
            found.extend(profile.get(key).map(|value| format!("{name} {key} {value}")));
        }
    }
    found
}

/// Whether a manifest loses tests: it switches off targets, or removes members.
fn cargo_loses_tests(before: Option<&str>, after: Option<&str>) -> bool {
    let read = |text: Option<&str>| text.and_then(|text| toml::from_str::<toml::Value>(text).ok());
    let (Some(before), Some(after)) = (read(before), read(after)) else { return false };
    let (old, new) = (CargoTests::of(&before), CargoTests::of(&after));
    !new.removing.is_subset(&old.removing) || !old.adding.is_subset(&new.adding)
}

/// Whether a manifest puts another crate in the place of one that only tests use.
fn patches_test_crates(before: Option<&str>, after: Option<&str>) -> bool {
    let read = |text: Option<&str>| text.and_then(|text| toml::from_str::<toml::Value>(text).ok());
    let (before, after) = (read(before), read(after));
    let patches = |manifest: &Option<toml::Value>| -> BTreeSet<String> {
        let tables = ["patch", "replace"].iter().filter_map(|key| manifest.as_ref()?.get(*key)?.as_table());
        let sources = tables.flat_map(|table| table.iter());
        let named = sources.flat_map(|(name, value)| {
            let inner = value.as_table().map(|table| table.keys().cloned().collect::<Vec<_>>());
            inner.unwrap_or_default().into_iter().chain([name.split(':').next().unwrap_or(name).to_string()])
        });
        named.collect()
    };
    let (known, new) = (patches(&before), patches(&after));
    let for_tests = before.as_ref().and_then(|manifest| manifest.get("dev-dependencies")?.as_table());
    for_tests.is_some_and(|crates| new.iter().any(|name| !known.contains(name) && crates.contains_key(name)))
}

/// The settings of a manifest that remove tests, and those that add tests.
#[derive(Default)]
struct CargoTests {
    removing: BTreeSet<String>,
    adding: BTreeSet<String>,
}

impl CargoTests {
    fn of(manifest: &toml::Value) -> CargoTests {
        let mut found = CargoTests::default();
        let at = |path: &[&str]| path.iter().try_fold(manifest, |value, key| value.get(*key));
        for path in [["package", "autotests"], ["lib", "test"], ["lib", "doctest"], ["lib", "harness"]] {
            if at(&path).and_then(toml::Value::as_bool) == Some(false) {
                found.removing.insert(path.join("."));
            }
        }
        for kind in ["test", "bin", "example"] {
            for target in at(&[kind]).and_then(toml::Value::as_array).into_iter().flatten() {
                let name = target.get("name").and_then(toml::Value::as_str).unwrap_or_default();
                if kind == "test" {
                    found.adding.insert(format!("test {name}"));
                }
                for key in ["test", "harness"] {
                    if target.get(key).and_then(toml::Value::as_bool) == Some(false) {
                        found.removing.insert(format!("{kind} {name} {key}"));
                    }
                }
                if let Some(features) = target.get("required-features") {
                    found.removing.insert(format!("{kind} {name} {features}"));
                }
            }
        }
        let listed =
            |key: &str| at(&["workspace", key]).and_then(toml::Value::as_array).into_iter().flatten();
        found.adding.extend(listed("members").map(|member| format!("member {member}")));
        found.removing.extend(listed("exclude").map(|member| format!("exclude {member}")));
        if let Some(members) = at(&["workspace", "default-members"]) {
            found.removing.insert(format!("default-members {members}"));
        }
        found
    }
}

fn package(text: &str) -> BTreeSet<String> {
    let Ok(manifest) = serde_json::from_str::<Value>(text) else { return BTreeSet::new() };
    let runners = ["jest", "vitest", "mocha", "ava", "tap", "workspaces", "babel", "imports"].iter();
    let settings = runners.filter_map(|key| Some(format!("{key} {}", manifest.get(*key)?)));
    let scripts = manifest.get("scripts").and_then(Value::as_object).into_iter().flatten();
    let scripts = scripts.map(|(name, text)| (name.clone(), text.to_string())).collect();
    settings.chain(reachable(scripts, |name| name.contains("test"))).collect()
}

/// The scripts that start tests, and all scripts that these refer to, directly or indirectly.
fn reachable(scripts: BTreeMap<String, String>, is_start: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut pending: Vec<&str> = scripts.keys().map(String::as_str).filter(|name| is_start(name)).collect();
    let mut found: BTreeSet<&str> = pending.iter().copied().collect();
    while let Some(name) = pending.pop() {
        let text = scripts.get(name).map_or("", String::as_str);
        let is_name = |c: char| c.is_alphanumeric() || "_-:.".contains(c);
        for word in text.split(|c| !is_name(c)) {
            if let Some((script, _)) = scripts.get_key_value(word)
                && found.insert(script)
            {
                pending.push(script);
            }
        }
    }
    found.into_iter().map(|name| format!("{name} {}", scripts.get(name).map_or("", String::as_str))).collect()
}

fn pyproject(text: &str) -> BTreeSet<String> {
    let Ok(project) = toml::from_str::<toml::Value>(text) else { return BTreeSet::new() };
    let tools = ["pytest", "tox", "nox", "hatch", "mypy", "ruff", "pyright"].iter();
    let plugins = project.get("project").and_then(|it| it.get("entry-points")?.get("pytest11"));
    let plugins = plugins.map(|plugins| format!("plugins {plugins}"));
    tools
        .filter_map(|tool| Some(format!("{tool} {}", project.get("tool")?.get(*tool)?)))
        .chain(plugins)
        .collect()
}

/// The sections of an INI file that test runners read.
fn sections(text: &str) -> BTreeSet<String> {
    let mut name = "";
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix('[') {
            name = head.trim_end_matches(']');
        } else if name.contains("pytest") || name.starts_with("testenv") || name.starts_with("tox") {
            found.insert(format!("{name} {}", line.trim()));
        }
    }
    found
}

/// The lines of a `conftest.py` that can skip tests: hooks of pytest, and other lines with certain words. Fixtures do not
/// count.
fn conftest(text: &str) -> BTreeSet<String> {
    let mut in_hook = false;
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !line.starts_with([' ', '\t']) {
            in_hook = line.starts_with("def pytest_") || line.starts_with("async def pytest_");
        }
        let skipping_words = ["collect_ignore", "skip", "xfail", "_exit", "sys.exit", "pytest_plugins"];
        // A hook may also come by assignment or import.
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let names_hook = words.clone().any(|word| word.starts_with("pytest_"));
        let imports = line.contains("import") && (names_hook || line.contains("import *"));
        if in_hook
            || imports
            || (names_hook && line.contains('='))
            || skipping_words.iter().any(|word| line.contains(word))
        {
            found.insert(line.trim().to_string());
        }
    }
    found
}

/// The test and check targets of a makefile, with the rules and variables that they refer to.
fn recipes(text: &str) -> BTreeSet<String> {
    let mut parts: BTreeMap<String, String> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if !line.starts_with([' ', '\t']) {
            let end = line.find([':', '=', '?', '+', ' ']).unwrap_or(line.len());
            name = line[..end].trim().to_string();
        }
        let part = parts.entry(name.clone()).or_default();
        part.push_str(line.trim());
        part.push('\n');
    }
    reachable(parts, |name| name.starts_with("test") || name.starts_with("check"))
}

fn lines(text: &str, words: &[&str]) -> BTreeSet<String> {
    let has_word = |line: &&str| words.iter().any(|word| line.contains(word));
    text.lines().map(str::trim).filter(has_word).map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // CORE-21 TE-05 TE-06
    #[test]
    fn only_settings_that_decide_whether_tests_run_count() {
        let table = [
            (".cargo/config.toml", "", "[target.x86_64-unknown-linux-gnu]\nrunner = \"true\"\n", true),
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n",
                "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\n",
                false,
            ),
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\n",
                "[package]\nname = \"a\"\n[lib]\ntest = false\n",
                true,
            ),
            ("Cargo.toml", "[[test]]\nname = \"it\"\n", "[[test]]\nname = \"it\"\nharness = false\n", true),
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"a\", \"b\"]\n",
                "[workspace]\nmembers = [\"a\"]\n",
                true,
            ),
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"a\"]\n",
                "[workspace]\nmembers = [\"a\", \"b\"]\n",
                false,
            ),
            (
                "package.json",
                "{\"scripts\": {\"test\": \"jest\"}}",
                "{\"scripts\": {\"test\": \"true\"}}",
                true,
            ),
            (
                "package.json",
                "{\"scripts\": {\"test\": \"jest\"}}",
                "{\"scripts\": {\"test\": \"jest\", \"lint\": \"x\"}}",
                false,
            ),
            ("pyproject.toml", "[project]\nname = \"a\"\n", "[project]\nname = \"b\"\n", false),
            ("pyproject.toml", "", "[tool.pytest.ini_options]\naddopts = \"--ignore=tests\"\n", true),
            ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -k nothing\n", true),
            ("tests/conftest.py", "", "@pytest.fixture\ndef a():\n    return 1\n", false),
            ("tests/conftest.py", "", "def pytest_collection_modifyitems(items):\n    items.clear()\n", true),
            ("tests/conftest.py", "", "pytest_collection_modifyitems = lambda items: items.clear()\n", true),
            ("tests/conftest.py", "", "from hooks import pytest_runtest_call\n", true),
            ("tests/conftest.py", "", "from hooks import *\n", true),
            (
                "tests/conftest.py",
                "",
                "from app import make\n\n\n@pytest.fixture\ndef a():\n    return make()\n",
                false,
            ),
            ("pytest.toml", "", "[pytest]\naddopts = [\"-k\", \"none\"]\n", true),
            ("babel.config.js", "", "module.exports = { plugins: ['./strip'] }\n", true),
            ("pyproject.toml", "", "[project.entry-points.pytest11]\nown = \"own\"\n", true),
            ("pyproject.toml", "", "[project.entry-points.console]\nown = \"own\"\n", false),
            ("Cargo.toml", "", "[profile.test]\noverflow-checks = false\n", true),
            ("Cargo.toml", "", "[profile.dev]\ndebug-assertions = false\n", true),
            ("Cargo.toml", "", "[profile.release]\nlto = true\n", false),
            ("conftest.py", "", "collect_ignore = ['tests']\n", true),
            ("jest.config.js", "module.exports = {}\n", "module.exports = { testMatch: [] }\n", true),
            ("Makefile", "all:\n\tcc a.c\ntest:\n\t./run\n", "all:\n\tcc b.c\ntest:\n\t./run\n", false),
            ("Makefile", "test:\n\t./run\n", "test:\n\ttrue\n", true),
            ("CMakeLists.txt", "add_test(NAME a COMMAND a)\n", "", true),
            ("pom.xml", "<project/>", "<skipTests>true</skipTests>", true),
            (".github/workflows/ci.yml", "on: push\n", "on: never\n", true),
            (".github/actions/test/action.yml", "run: pytest\n", "run: true\n", true),
            (".npmrc", "", "script-shell=/bin/true\n", true),
            ("web/.npmrc", "", "node-options=--require=./x.cjs\n", true),
            (".mvn/maven.config", "", "-DskipTests\n", true),
            ("service/.mvn/jvm.config", "", "-Dmaven.test.skip\n", true),
            ("rust-toolchain.toml", "", "[toolchain]\npath = \"/tmp/own\"\n", true),
            ("rust-toolchain", "stable\n", "nightly\n", true),
            ("src/lib.rs", "", "fn a() {}\n", false),
        ];
        for (path, before, after, expected) in table {
            let decided = decided_by(path, Some(before), Some(after), &BTreeSet::new());
            assert_eq!(decided.is_some(), expected, "{path}: {after}");
        }
    }

    // CORE-21
    #[test]
    fn scripts_and_targets_that_a_test_script_refers_to_count_too() {
        let no_folders = BTreeSet::new();
        let scripts = |unit: &str| {
            format!(r#"{{"scripts": {{"test": "npm run unit", "unit": "{unit}", "build": "tsc"}}}}"#)
        };
        let decided = |before: &str, after: &str| {
            decided_by("package.json", Some(before), Some(after), &no_folders).is_some()
        };
        assert!(decided(&scripts("node --test"), &scripts("true")));
        assert!(!decided(&scripts("x"), &scripts("x").replace("tsc", "tsc -b")));
        let makefile = |runner: &str| {
            format!("RUN = {runner}\n\ntest: unit\n\nunit:\n\t$(RUN) tests\n\nall:\n\tcc a.c\n")
        };
        let decided = |before: &str, after: &str| {
            decided_by("Makefile", Some(before), Some(after), &no_folders).is_some()
        };
        assert!(decided(&makefile("pytest"), &makefile("true")));
        assert!(!decided(&makefile("x"), &makefile("x").replace("cc", "gcc")));
    }

    // TE-05
    #[test]
    fn compiled_code_installed_packages_and_crates_of_tests_that_are_replaced_count() {
        let none = BTreeSet::new();
        for path in [
            "app/_fast.pyc",
            "app/fast.cpython-311-x86_64-linux-gnu.so",
            "node_modules/a/index.js",
            ".env.test",
        ] {
            assert!(decided_by(path, None, Some(""), &none).is_some(), "{path}");
        }
        for path in ["app/fast.py", "src/modules/a.js", ".env.example"] {
            assert_eq!(decided_by(path, None, Some(""), &none), None, "{path}");
        }
        let manifest = |patched: &str| {
            format!(
                "[dev-dependencies]\nchecks = \"1\"\n\n[patch.crates-io]\n{patched} = {{ path = \"own\" }}\n"
            )
        };
        let before = "[dev-dependencies]\nchecks = \"1\"\n";
        let decided = |patched: &str| decided_by("Cargo.toml", Some(before), Some(&manifest(patched)), &none);
        assert_eq!(decided("checks"), Some("which crates the tests use"));
        assert_eq!(decided("other"), None);
    }

    // CORE-21
    #[test]
    fn modules_that_replace_modules_of_python_count_in_folders_where_checks_start() {
        let folders = BTreeSet::from([String::new(), "packages/p".to_string()]);
        let table = [
            ("unittest.py", true),
            ("argparse.py", true),
            ("src/argparse.py", true),
            ("json/__init__.py", true),
            ("packages/p/unittest/__main__.py", true),
            ("packages/p/decimal.py", true),
            ("packages/p/math.cpython-311-x86_64-linux-gnu.so", true),
            // Python does not load these instead of a module of its standard library.
            ("json/more.py", false),
            ("app/argparse.py", false),
            ("packages/other/argparse.py", false),
            ("packages/p/app/unittest.py", false),
            ("test/test_sums.py", false),
            ("time.py", false),
            ("logging.md", false),
        ];
        for (path, expected) in table {
            assert_eq!(decided_by(path, None, Some(""), &folders).is_some(), expected, "{path}");
        }
        assert_eq!(
            decided_by("argparse.py", Some("a = 1"), Some("a = 2"), &folders),
            None,
            "it existed before"
        );
    }
}
