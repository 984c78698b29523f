//! Production code that names the data of tests, and files that are loaded in the place of others.

use remand_source::tricks::new_literals;
use remand_source::{Language, is_test_file};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Scripts of projects that steer tools.
const TOOL_SCRIPTS: [&str; 7] =
    ["setup.py", "noxfile.py", "fabfile.py", "tasks.py", "conftest.py", "gulpfile.js", "Gruntfile.js"];

/// A changed file: its path, and its text before and after the change.
type ChangedText<'t> = (&'t str, Option<&'t str>, Option<&'t str>);

/// The lines of a changed file that name data of the tests of the base, which has these files.
pub fn named_test_data((path, before, after): ChangedText<'_>, base: &[String]) -> Vec<(usize, String)> {
    let (name, path) = (file_name(path), Path::new(path));
    let is_tool = TOOL_SCRIPTS.contains(&name) || name.contains(".config.");
    let language = Language::of(path).filter(|language| language.is_code());
    let (Some(language), Some(after), false) = (language, after, is_test_file(path) || is_tool) else {
        return Vec::new();
    };
    let (tests, production): (Vec<&str>, Vec<&str>) =
        base.iter().map(String::as_str).partition(|path| is_test_file(Path::new(path)));
    let names = |files: &[&str]| -> BTreeSet<String> {
        files.iter().map(|path| file_name(path).to_string()).collect()
    };
    let data: BTreeSet<String> = names(&tests).into_iter().filter(|name| is_data(name)).collect();
    let (data, production) = (data, names(&production));
    let folders: BTreeSet<&str> =
        tests.iter().filter_map(|path| path.split('/').find(|part| is_folder(part))).collect();
    let is_named = |text: &str| {
        let last = file_name(text);
        let is_file = data.contains(last) && !production.contains(last);
        let is_folder = text.contains('/') && text.split('/').any(|part| folders.contains(part));
        is_file || is_folder
    };
    new_literals(language, before.unwrap_or_default(), after)
        .into_iter()
        .filter(|(_, text)| !text.contains("://") && !text.contains(char::is_whitespace) && is_named(text))
        .collect()
}

/// The file of the base in whose place a new file is loaded, because an import names neither's extension.
pub fn shadowed<'b>(
    (path, before, after): ChangedText<'_>,
    base: &'b [String],
    removed: &BTreeSet<&str>,
) -> Option<&'b String> {
    if before.is_some() || after.is_none() {
        return None;
    }
    let twin = |old: &&String| {
        let module = |path: &str| -> Option<String> {
            let (stem, extension) = path.rsplit_once('.')?;
            let is_script = matches!(extension, "js" | "jsx" | "ts" | "tsx") && !stem.ends_with(".d");
            match extension {
                "py" => Some(stem.strip_suffix("/__init__").unwrap_or(stem).to_string()),
                _ => is_script.then(|| stem.to_string()),
            }
        };
        module(path).is_some_and(|name| module(old).as_ref() == Some(&name))
    };
    base.iter().filter(|old| !removed.contains(old.as_str())).find(twin)
}

/// The file of the base from which a changed manifest leads those who load the package to another file; the old one is still
/// there.
pub fn redirected<'b>(
    (path, before, after): ChangedText<'_>,
    base: &'b [String],
    removed: &BTreeSet<&str>,
) -> Option<&'b String> {
    let (Some(before), Some(after)) = (before, after) else { return None };
    let (old, new) = (targets(path, before)?, targets(path, after)?);
    let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let file_at = |target: &str| {
        let target = format!("{folder}{}", target.trim_start_matches("./"));
        let is_it = |file: &&String| {
            let rest = file.strip_prefix(target.as_str());
            let whole = rest.is_some_and(|rest| {
                ["", ".js", ".mjs", ".cjs", ".ts", "/index.js", "/index.ts"].contains(&rest)
            });
            whole && !removed.contains(file.as_str())
        };
        base.iter().find(is_it)
    };
    let moved = old.iter().filter(|(key, target)| new.get(*key).is_some_and(|now| now != *target));
    moved.filter_map(|(_, target)| file_at(target)).next()
}

/// The files that a manifest names as those that are loaded, by their keys.
fn targets(path: &str, text: &str) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    match file_name(path) {
        "package.json" => {
            let manifest: Value = serde_json::from_str(text).ok()?;
            for key in ["main", "module", "browser", "exports", "imports"] {
                manifest.get(key).into_iter().for_each(|value| add_texts(key, value, &mut found));
            }
        }
        "Cargo.toml" => {
            let manifest: Value = toml::from_str(text).ok()?;
            let path = manifest.get("lib").and_then(|library| library.get("path")).and_then(Value::as_str);
            let path = path.unwrap_or("src/lib.rs");
            found.insert("lib.path".to_string(), path.to_string());
        }
        name if name.starts_with("tsconfig") || name == "jsconfig.json" => {
            let manifest: Value = serde_json::from_str(text).ok()?;
            let options = manifest.get("compilerOptions")?;
            options.get("paths").into_iter().for_each(|value| add_texts("paths", value, &mut found));
        }
        _ => return None,
    }
    Some(found)
}

fn add_texts(key: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            found.insert(key.to_string(), text.clone());
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| add_texts(&format!("{key} {at}"), item, found));
        }
        Value::Object(entries) => {
            entries.iter().for_each(|(name, item)| add_texts(&format!("{key} {name}"), item, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_data(name: &str) -> bool {
    Language::of(Path::new(name)).is_none_or(|language| !language.is_code())
}

fn is_folder(part: &str) -> bool {
    matches!(part, "test" | "tests" | "__tests__" | "__snapshots__" | "testdata" | "spec")
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: [&str; 5] =
        ["src/lib.rs", "src/text.ts", "app/a.py", "tests/data/titles.json", "tests/data/package.json"];

    fn base() -> Vec<String> {
        BASE.iter().map(|path| path.to_string()).chain(["package.json".to_string()]).collect()
    }

    fn new<'t>(path: &'t str, text: &'t str) -> ChangedText<'t> {
        (path, None, Some(text))
    }

    fn named(path: &str, text: &str) -> Vec<String> {
        named_test_data(new(path, text), &base()).into_iter().map(|(_, text)| text).collect()
    }

    // TE-06
    #[test]
    fn production_code_that_names_test_data_is_found_and_its_twins_are_not() {
        assert_eq!(
            named("src/a.rs", "const A: &str = include_str!(\"../tests/data/a.txt\");\n"),
            ["../tests/data/a.txt"]
        );
        assert_eq!(named("app/b.py", "import x\nx.glob(\"*/*/titles.json\")\n"), ["*/*/titles.json"]);
        assert_eq!(named("src/b.ts", "read(\"titles.json\");\n"), ["titles.json"]);
        for (path, honest) in [
            ("src/b.ts", "read(\"package.json\");\n"),
            ("src/b.ts", "read(\"./data/names.json\");\n"),
            ("src/b.ts", "get(\"https://a.test/tests/titles\");\n"),
            ("tests/b.ts", "read(\"tests/data/titles.json\");\n"),
            ("vite.config.ts", "read(\"tests/data/titles.json\");\n"),
            (
                "src/a.rs",
                "#[cfg(test)]\nmod tests {\n    const A: &str = include_str!(\"../tests/data/a.txt\");\n}\n",
            ),
        ] {
            assert_eq!(named(path, honest), Vec::<String>::new(), "{honest}");
        }
    }

    #[test]
    fn a_new_file_that_is_loaded_in_the_place_of_another_is_found() {
        let shadow = |path: &str| shadowed(new(path, ""), &base(), &BTreeSet::new()).cloned();
        assert_eq!(shadow("src/text.js"), Some("src/text.ts".to_string()));
        assert_eq!(shadow("app/a/__init__.py"), Some("app/a.py".to_string()));
        for honest in ["src/text.d.ts", "src/text.json", "src/text.test.ts", "src/other.js", "app/b.py"] {
            assert_eq!(shadow(honest), None, "{honest}");
        }
        assert_eq!(shadowed(new("src/text.js", ""), &base(), &BTreeSet::from(["src/text.ts"])), None);
    }

    // TE-05
    #[test]
    fn a_manifest_that_leads_to_another_file_is_found_unless_the_old_one_is_gone() {
        let package = |main: &str, more: &str| {
            format!("{{\"main\": \"{main}\", \"exports\": {{\".\": \"./src/text.ts\"{more}}}}}")
        };
        let from = |before: &str, after: &str, removed: &[&str]| {
            let removed: BTreeSet<&str> = removed.iter().copied().collect();
            redirected(("package.json", Some(before), Some(after)), &base(), &removed).cloned()
        };
        let (old, new) = (package("src/text", ""), package("lib/text", ""));
        assert_eq!(from(&old, &new, &[]), Some("src/text.ts".to_string()));
        assert_eq!(from(&old, &new, &["src/text.ts"]), None);
        assert_eq!(from(&old, &package("src/text", ", \"./b\": \"./src/b.ts\""), &[]), None);
        let library = |path: &str| format!("[lib]\npath = \"{path}\"\n");
        let (old, new) = (library("src/lib.rs"), library("src/other.rs"));
        let moved = redirected(("Cargo.toml", Some(&old), Some(&new)), &base(), &BTreeSet::new()).cloned();
        assert_eq!(moved, Some("src/lib.rs".to_string()));
    }
}
