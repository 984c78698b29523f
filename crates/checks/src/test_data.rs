//! Production code that names the data of tests, and new files that are loaded in the place of others.

use remand_source::tricks::new_literals;
use remand_source::{Language, is_test_file};
use std::collections::BTreeSet;
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
}
