//! Manifests, in which settings of test runners are next to dependencies of production code.
//!
//! A composed manifest has the dependencies of the production code, so that it still builds, and the settings of the tests.

use serde_json::{Map, Value};

/// The kinds of manifests that are divided into two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestManifest {
    Cargo,
    Package,
    Pyproject,
}

/// Keys of `Cargo.toml` that decide how tests are built and run; `.` separates nested keys.
const CARGO: [&str; 14] = [
    "profile",
    "dev-dependencies",
    "test",
    "bench",
    "package.autotests",
    "package.autobenches",
    "package.metadata",
    "lib.test",
    "lib.doctest",
    "lib.harness",
    "workspace.members",
    "workspace.exclude",
    "workspace.default-members",
    "workspace.metadata",
];

/// Keys of a target of `Cargo.toml`, such as an example, that decide whether its tests run.
const CARGO_TARGET: [&str; 3] = ["test", "harness", "required-features"];

/// Keys of `package.json` that decide how tests are started.
const PACKAGE: [&str; 12] = [
    "scripts",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "nyc",
    "c8",
    "tape",
    "uvu",
    "wtr",
    "devDependencies",
];

/// Keys of `pyproject.toml` that decide how tests are started.
const PYPROJECT: [&str; 10] = [
    "tool.pytest",
    "tool.coverage",
    "tool.tox",
    "tool.nox",
    "tool.hatch.envs",
    "tool.pdm.scripts",
    "tool.poe",
    "tool.taskipy",
    "project.entry-points.pytest11",
    "dependency-groups",
];

impl TestManifest {
    /// The kind of a file, by its name.
    pub fn of(path: &str) -> Option<TestManifest> {
        match path.rsplit('/').next()? {
            "Cargo.toml" => Some(TestManifest::Cargo),
            "package.json" => Some(TestManifest::Package),
            "pyproject.toml" => Some(TestManifest::Pyproject),
            _ => None,
        }
    }

    /// The manifest `code` with the test settings of `tests`; unchanged if one of them cannot be read, or if these
    /// settings are equal.
    pub fn with_test_settings(self, code: &str, tests: &str) -> String {
        self.exchanged(code, tests).unwrap_or_else(|| code.to_string())
    }

    fn exchanged(self, code: &str, tests: &str) -> Option<String> {
        let (mut manifest, settings) = (self.read(code)?, self.read(tests)?);
        let before = manifest.clone();
        let keys: &[&str] = match self {
            TestManifest::Cargo => &CARGO,
            TestManifest::Package => &PACKAGE,
            TestManifest::Pyproject => &PYPROJECT,
        };
        for key in keys {
            let path: Vec<&str> = key.split('.').collect();
            exchange(&mut manifest, &settings, &path);
        }
        match self {
            TestManifest::Cargo => {
                restore_members(&mut manifest, &before);
                ["bin", "example"].iter().for_each(|kind| exchange_targets(&mut manifest, &settings, kind));
            }
            TestManifest::Package | TestManifest::Pyproject => {}
        }
        if manifest == before {
            return None;
        }
        match self {
            TestManifest::Cargo | TestManifest::Pyproject => toml::to_string(&manifest).ok(),
            TestManifest::Package => {
                serde_json::to_string_pretty(&manifest).ok().map(|text| format!("{text}\n"))
            }
        }
    }

    fn read(self, text: &str) -> Option<Value> {
        match self {
            TestManifest::Cargo | TestManifest::Pyproject => toml::from_str(text).ok(),
            TestManifest::Package => serde_json::from_str(text).ok(),
        }
    }
}

/// Gives a key the value that it has in the settings, or removes it.
fn exchange(manifest: &mut Value, settings: &Value, path: &[&str]) {
    let [key, rest @ ..] = path else { return };
    let wanted = settings.get(*key);
    let Some(table) = manifest.as_object_mut() else { return };
    if rest.is_empty() {
        match wanted {
            Some(value) => table.insert((*key).to_string(), value.clone()),
            None => table.remove(*key),
        };
        return;
    }
    let empty = Value::Object(Map::new());
    if wanted.is_some() || table.contains_key(*key) {
        let is_new = !table.contains_key(*key);
        let inner = table.entry((*key).to_string()).or_insert_with(|| empty.clone());
        exchange(inner, wanted.unwrap_or(&empty), rest);
        if is_new && inner == &empty {
            table.remove(*key);
        }
    }
}

/// Keeps members that only the production code has: other members may depend on them.
fn restore_members(manifest: &mut Value, before: &Value) {
    let listed = |value: &Value| value.pointer("/workspace/members").and_then(Value::as_array).cloned();
    let Some(added) = listed(before) else { return };
    if let Some(members) = manifest.pointer_mut("/workspace/members").and_then(Value::as_array_mut) {
        let missing: Vec<Value> = added.into_iter().filter(|member| !members.contains(member)).collect();
        members.extend(missing);
    }
}

/// Exchanges the keys about tests of each target of a kind.
fn exchange_targets(manifest: &mut Value, settings: &Value, kind: &str) {
    let empty = Value::Object(Map::new());
    let known = settings.get(kind).and_then(Value::as_array).cloned().unwrap_or_default();
    for target in manifest.get_mut(kind).and_then(Value::as_array_mut).into_iter().flatten() {
        let name = target.get("name").cloned();
        let wanted = known.iter().find(|known| known.get("name") == name.as_ref()).unwrap_or(&empty);
        CARGO_TARGET.iter().for_each(|key| exchange(target, wanted, &[key]));
    }
}
