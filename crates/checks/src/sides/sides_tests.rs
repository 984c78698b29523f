#![allow(clippy::unwrap_used)]

use super::*;
use crate::action::CheckAction;
use remand_kernel::evidence::Tier;

struct Base(Vec<(&'static str, &'static str)>);

impl BaseSources for Base {
    fn text(&self, path: &str) -> Option<String> {
        self.0.iter().find(|(name, _)| *name == path).map(|(_, text)| text.to_string())
    }

    fn code(&self) -> Vec<BaseFile> {
        let is_code = |path: &str| Language::of(Path::new(path)).is_some_and(Language::is_code);
        let code = self.0.iter().filter(|(path, _)| is_code(path));
        code.map(|(path, text)| BaseFile { path: path.to_string(), text: text.to_string() }).collect()
    }
}

fn check(parser: Parser, command: &[&str]) -> CheckSpec {
    CheckSpec::new("test", Tier::Two, CheckAction::argv(command)).parsed_by(parser)
}

fn side(base: &Base, specs: &[CheckSpec], path: &str) -> Side {
    let text = base.text(path).map_or(FileVersion::Absent, FileVersion::Text);
    let head = FileVersion::Text("changed".to_string());
    let changed = ChangedFile { path: path.to_string(), base: text, head };
    Sides::find(vec![changed], specs, base).side(path).unwrap().clone()
}

// TE-02
#[test]
fn files_are_on_the_side_of_the_tests_by_place_and_name() {
    let base = Base(vec![]);
    let specs =
        [check(Parser::Unittest, &["python3", "-m", "unittest"]), check(Parser::Node, &["node", "--test"])];
    for path in [
        "tests/a.rs",
        "tests/common/mod.rs",
        "src/tests.rs",
        "tests/golden/out.bin",
        "pkg/testdata/a.txt",
        "a_test.go",
        "clocks/test_seconds.py",
        "clocks/tests.py",
        "testclocks.py",
        "conftest.py",
        "src/lru.test.js",
        "src/__snapshots__/lru.test.ts.snap",
        "lru-test.mjs",
        "test-lru.js",
    ] {
        assert_eq!(side(&base, &specs, path), Side::Tests(Reason::Place), "{path}");
    }
    for path in [
        "src/lib.rs",
        "src/latest.rs",
        "benches/a.rs",
        "clocks/attest.py",
        "src/contest.ts",
        "a.go",
        "README.md",
    ] {
        assert_eq!(side(&base, &specs, path), Side::Production, "{path}");
    }
}

// TE-02
#[test]
fn files_are_on_the_side_of_the_tests_by_the_settings_of_the_runner() {
    let base = Base(vec![
        (
            "pytest.ini",
            "[pytest]\npython_files = check_*.py\ntestpaths = verify\naddopts = -p support.plugin\n",
        ),
        (
            "vitest.config.ts",
            "export default defineConfig({ test: { include: ['specs/**/*.check.ts'], setupFiles: \"./boot.ts\", coverage: { include: ['src/**'] } } })",
        ),
        (
            "jest.config.js",
            "module.exports = { testMatch: ['<rootDir>/unit/**/?(*.)+(case|unit).[jt]s?(x)'], transform: { '\\\\.ts$': '<rootDir>/strip.js', '\\\\.css$': 'jest-css' } };",
        ),
        (
            "package.json",
            r#"{"scripts": {"test": "eslint src/*.js && c8 --include src/** node --import ./prepare.mjs --test checks/*.mjs"}, "jest": {"setupFiles": ["./env.js"]}}"#,
        ),
        ("Cargo.toml", "[package]\nname = \"a\"\n[[test]]\nname = \"t\"\npath = \"proof/t.rs\"\n"),
    ]);
    let specs = [
        check(Parser::Pytest, &["python3", "-m", "pytest"]),
        check(Parser::Jest, &["npx", "vitest"]),
        check(Parser::Cargo, &["cargo", "test"]),
        check(Parser::Tap, &["sh", "ci/run.sh"]),
    ];
    for path in [
        "app/check_sums.py",
        "strip.js",
        "verify/tables.py",
        "support/plugin.py",
        "specs/a/lru.check.ts",
        "boot.ts",
        "unit/deep/a.case.tsx",
        "unit/b.unit.js",
        "prepare.mjs",
        "checks/a.mjs",
        "env.js",
        "proof/t.rs",
        "ci/run.sh",
    ] {
        assert_eq!(side(&base, &specs, path), Side::Tests(Reason::Named), "{path}");
    }
    for path in ["src/lru.ts", "src/index.js", "app/sums.py", "src/lib.rs", "unit/a.ts"] {
        assert_eq!(side(&base, &specs, path), Side::Production, "{path}");
    }
    for path in [
        "pytest.ini",
        "vitest.config.mts",
        "jest.config.js",
        ".cargo/config.toml",
        "sitecustomize.py",
        "json.py",
    ] {
        assert_eq!(side(&base, &specs, path), Side::Tests(Reason::Settings), "{path}");
    }
}

// TE-02
#[test]
fn modules_that_are_declared_for_tests_are_on_their_side() {
    let base = Base(vec![
        ("src/lib.rs", "pub mod slug;\n#[cfg(test)]\nmod support;\n"),
        ("src/slug.rs", "#[cfg(test)]\nmod cases;\nmod shape;\n"),
        ("src/support/mod.rs", "pub mod deep;\n"),
        ("src/support/deep.rs", ""),
        ("src/whole.rs", "#![cfg(test)]\n"),
    ]);
    let specs = [check(Parser::Cargo, &["cargo", "test"])];
    for path in ["src/support/mod.rs", "src/support/deep.rs", "src/slug/cases.rs", "src/whole.rs"] {
        assert_eq!(side(&base, &specs, path), Side::Tests(Reason::Syntax), "{path}");
    }
    assert_eq!(side(&base, &specs, "src/slug/shape.rs"), Side::Production);
    assert_eq!(side(&base, &specs, "src/lib.rs"), Side::Both);
}

// TE-02
#[test]
fn helpers_and_data_that_only_tests_use_are_on_their_side() {
    let base = Base(vec![
        ("clocks/seconds.py", "import json\nRATES = json.load(open('data/rates.json'))\n"),
        ("data/cases.json", "{}"),
        ("data/other.json", "{}"),
        ("clocks/helpers.py", "def pad(x):\n    return x\n"),
        ("clocks/__init__.py", "from .helpers import pad\n"),
        ("compare.py", "import unittest\n\ndef same(a, b):\n    assert a == b\n"),
        ("support/build.py", "def build():\n    pass\n"),
        (
            "tests/test_seconds.py",
            "from clocks import seconds\nfrom compare import same\nimport support.build\nEXPECTED = open('answers/table.json')\nCASES = open('data/cases.json')\n",
        ),
        ("data/rates.json", "{}"),
        ("answers/table.json", "{}"),
        ("answers/notes.md", ""),
        ("requirements.txt", ""),
    ]);
    let specs = [check(Parser::Unittest, &["python3", "-m", "unittest"])];
    for path in ["compare.py", "support/build.py"] {
        assert_eq!(side(&base, &specs, path), Side::Tests(Reason::Helper), "{path}");
    }
    for path in ["answers/table.json", "answers/notes.md", "data/cases.json"] {
        assert_eq!(side(&base, &specs, path), Side::Tests(Reason::Data), "{path}");
    }
    for path in [
        "clocks/seconds.py",
        "clocks/helpers.py",
        "data/rates.json",
        "data/other.json",
        "requirements.txt",
        "data/new.json",
        "fake.py",
    ] {
        assert_eq!(side(&base, &specs, path), Side::Production, "{path}");
    }
}

// TE-01
#[test]
fn a_composition_exchanges_the_side_of_the_tests_and_keeps_the_production_code() {
    let base = Base(vec![]);
    let version =
        |text: &str| if text.is_empty() { FileVersion::Absent } else { FileVersion::Text(text.to_string()) };
    let file = |path: &str, base: &str, head: &str| ChangedFile {
        path: path.to_string(),
        base: version(base),
        head: version(head),
    };
    let code = |value: u8, expected: u8| {
        format!(
            "pub fn a() -> u8 {{ {value} }}\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn t() {{ assert_eq!(super::a(), {expected}); }}\n}}\n"
        )
    };
    let changed = vec![
        file("src/lib.rs", &code(1, 2), &code(3, 3)),
        file("src/new.rs", "", &code(4, 4)),
        file("src/gone.rs", &code(5, 5), ""),
        file("src/plain.rs", "fn a() {}\n", "fn b() {}\n"),
        file("tests/all.rs", "old", "new"),
        file("tests/added.rs", "", "new"),
        file("conftest.py", "", "new"),
        file(
            "Cargo.toml",
            "[package]\nname = \"a\"\n[dev-dependencies]\nc = \"1\"\n",
            "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\n[profile.test]\noverflow-checks = false\n",
        ),
    ];
    let sides = Sides::find(changed, &[check(Parser::Cargo, &["cargo", "test"])], &base);
    let tests = sides.with_tests_of(Half::Base);
    let paths: Vec<PathBuf> = ["conftest.py", "tests/added.rs", "tests/all.rs"].map(PathBuf::from).to_vec();
    assert_eq!(tests.whole.iter().cloned().collect::<Vec<_>>(), paths);
    assert_eq!(tests.mixed[Path::new("src/lib.rs")], code(3, 2));
    assert!(!tests.mixed[Path::new("src/new.rs")].contains("#[test]"));
    let manifest: toml::Table = tests.mixed[Path::new("Cargo.toml")].parse().unwrap();
    assert!(manifest.contains_key("dependencies") && manifest.contains_key("dev-dependencies"));
    assert!(!manifest.contains_key("profile"), "{manifest}");
    assert_eq!(tests.unplaced, [("src/gone.rs".to_string(), "tests::t".to_string())]);
    assert!(!tests.mixed.contains_key(Path::new("src/plain.rs")));
    let inverse = sides.with_tests_of(Half::Head);
    assert_eq!(inverse.mixed[Path::new("src/lib.rs")], code(1, 3));
    assert_eq!(inverse.whole, tests.whole);
}

// TE-01
#[test]
fn a_composed_manifest_has_new_dependencies_and_the_old_way_to_start_tests() {
    let before = r#"{"type": "module", "scripts": {"test": "vitest run"}, "jest": {"verbose": true}}"#;
    let after = r#"{"type": "module", "scripts": {"test": "true", "pretest": "node cheat.js"}, "vitest": {}, "dependencies": {"left-pad": "1"}}"#;
    let text = TestManifest::Package.with_test_settings(after, before);
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["scripts"], serde_json::json!({"test": "vitest run"}));
    assert_eq!(manifest["dependencies"]["left-pad"], "1");
    assert!(manifest.get("vitest").is_none() && manifest.get("jest").is_some());
    let before = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n";
    let after =
        "[project]\nname = \"a\"\ndependencies = [\"b\"]\n[tool.pytest.ini_options]\naddopts = \"-k none\"\n";
    let text = TestManifest::Pyproject.with_test_settings(after, before);
    assert!(text.contains("-q") && text.contains("\"b\"") && !text.contains("-k none"), "{text}");
    let plain = "[project]\nname = \"a\"\n# a comment\n";
    assert_eq!(TestManifest::Pyproject.with_test_settings(plain, "[project]\nname = \"b\"\n"), plain);
    let cargo = "[package]\nname = \"a\"\n[[example]]\nname = \"e\"\ntest = false\n";
    let text = TestManifest::Cargo.with_test_settings(cargo, &cargo.replace("false", "true"));
    assert!(text.contains("test = true"), "{text}");
}

// TE-01
#[test]
fn only_new_files_that_run_in_a_process_of_their_own_leave_the_other_tests_as_they_were() {
    let base = Base(vec![]);
    let file = |path: &str, base: FileVersion| ChangedFile {
        path: path.to_string(),
        base,
        head: FileVersion::Text("new".to_string()),
    };
    let isolated = |parser: Parser, path: &str, before: FileVersion| {
        let specs = [check(parser, &["run"])];
        let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n";
        let version = |code: &str| FileVersion::Text(format!("{code}\n{tests}"));
        let code = ChangedFile {
            path: "src/lib.rs".to_string(),
            base: version("fn a() {}"),
            head: version("fn b() {}"),
        };
        Sides::find(vec![code, file(path, before)], &specs, &base).adds_only_isolated_tests(&specs)
    };
    assert!(isolated(Parser::Cargo, "tests/new.rs", FileVersion::Absent));
    assert!(isolated(Parser::Node, "test/new.test.js", FileVersion::Absent));
    assert!(!isolated(Parser::Cargo, "tests/new.rs", FileVersion::Text("old".to_string())));
    assert!(!isolated(Parser::Cargo, "tests/common/mod.rs", FileVersion::Absent));
    assert!(!isolated(Parser::Unittest, "tests/test_new.py", FileVersion::Absent));
    assert!(!isolated(Parser::Node, "test/setup.js", FileVersion::Absent));
}
