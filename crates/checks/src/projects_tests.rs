//! Tests with real toolchains on the projects in `fixtures/projects/`: each has a sound base, and overlays that change it.
//!
//! In an overlay, the file `NAME.gone` removes the file `NAME` of the base.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::run_tests::{Project, after_rows, baseline_rows};
use super::*;
use remand_kernel::change::TestEnd;
use remand_kernel::evidence::{EvidenceRow, GateDemand, GateResult, TaskSize, rule};
use remand_kernel::finding::Severity;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Debian ships the packages that Maven needs in a local repository, so nothing is downloaded. The other options halve the
/// time of its short-lived virtual machines.
const MAVEN_OPTIONS: &str = "-Dmaven.repo.local=/usr/share/maven-repo -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
                             -DargLine=-XX:TieredStopAtLevel=1";

/// One kind of project.
struct Kind {
    folder: &'static str,
    /// The check that runs its tests.
    tests: &'static str,
    /// Programs that must be installed.
    tools: &'static [&'static str],
    /// How to install them.
    install: &'static str,
}

struct Bench {
    kind: Kind,
    project: Project,
    specs: Vec<CheckSpec>,
    baseline: Vec<CheckResult>,
}

/// The folder for the tools that `tools/toolchains` does not install for the whole machine.
fn installed() -> PathBuf {
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools");
    std::env::var_os("REMAND_TEST_TOOLS").map_or_else(built, PathBuf::from)
}

impl Bench {
    /// `None` if REMAND_TEST_WITHOUT names a tool that is missing; standard error says so.
    fn new(kind: Kind) -> Option<Bench> {
        let mut project = Project::new(&[]);
        let path = project.environment.get(std::ffi::OsStr::new("PATH")).cloned().expect("a path");
        let tools = [installed().join("venv/bin"), installed().join("npm/node_modules/.bin")];
        let path =
            std::env::join_paths(tools.into_iter().chain(std::env::split_paths(&path))).expect("a path");
        project.environment.insert("PATH".into(), path);
        let without = std::env::var("REMAND_TEST_WITHOUT").unwrap_or_default();
        if let Some(tool) = kind.tools.iter().find(|tool| !job::is_on_path(&project.environment, tool)) {
            if without.split(',').any(|left_out| left_out == *tool) {
                eprintln!(
                    "NOT TESTED: the projects in {}, since REMAND_TEST_WITHOUT names {tool}",
                    kind.folder
                );
                return None;
            }
            panic!(
                "`{tool}` is missing: `tools/toolchains` installs it ({}); REMAND_TEST_WITHOUT={tool} skips its tests",
                kind.install
            );
        }
        project.environment.insert("MAVEN_OPTS".into(), MAVEN_OPTIONS.into());
        let mut bench = Bench { kind, project, specs: Vec::new(), baseline: Vec::new() };
        bench.apply("base");
        let modules = installed().join("npm/node_modules");
        if bench.kind.tools.contains(&"npm") && modules.is_dir() {
            std::os::unix::fs::symlink(modules, bench.project.tree().join("node_modules")).expect("a link");
        }
        bench.specs = specs(bench.project.detect(), Detected::Used, &bench.choices()).expect("checks");
        bench.baseline = bench.project.run(&bench.specs);
        Some(bench)
    }

    /// The parsers that the repository's `remand.toml` names.
    fn choices(&self) -> BTreeMap<String, CheckChoice> {
        let text = fs::read_to_string(self.project.tree().join("remand.toml")).unwrap_or_default();
        let file: toml::Table = text.parse().expect("TOML");
        let checks = file.get("checks").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        let parser = |value: &toml::Value| value["parser"].as_str().expect("a parser").to_string();
        let choice = |value| CheckChoice { parser: Some(parser(value)), ..CheckChoice::default() };
        checks.iter().map(|(name, value)| (name.clone(), choice(value))).collect()
    }

    fn apply(&self, variant: &str) {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/projects");
        let folder = fixtures.join(self.kind.folder).join(variant);
        let files = tree_files::all(&folder);
        assert!(!files.is_empty(), "there is no {}", folder.display());
        for file in files {
            match file.strip_suffix(".gone") {
                Some(gone) => fs::remove_file(self.project.tree().join(gone)).expect("removed"),
                None => {
                    let text = fs::read_to_string(folder.join(&file)).expect("a file");
                    self.project.write(&file, &text);
                }
            }
        }
    }

    /// All results with an overlay on the base, and the result of the check that runs the tests.
    fn after(&self, variant: &str) -> (Vec<CheckResult>, CheckResult) {
        self.apply("base");
        self.apply(variant);
        let results = self.project.run(&self.specs);
        let tests = results.iter().find(|result| result.name == self.kind.tests);
        let tests = tests.unwrap_or_else(|| panic!("no `{}` in {results:#?}", self.kind.tests)).clone();
        (results, tests)
    }

    /// The findings against the baseline, as claims with their severity.
    fn findings(&self, after: &[CheckResult]) -> Vec<(Severity, String)> {
        let findings = compare(&self.baseline, after, &self.project.tree());
        findings.into_iter().map(|finding| (finding.severity, finding.claim)).collect()
    }

    fn gate(&self, after: &[CheckResult]) -> GateResult {
        let before = baseline_rows(&self.baseline);
        let all: Vec<EvidenceRow> = before.into_iter().chain(after_rows(after)).collect();
        rule(&all, TaskSize::Standard, GateDemand::Proof)
    }

    /// The result of a check with a failure planted for it.
    fn planted(&self, spec: &CheckSpec) -> CheckResult {
        let plant = plant(spec, &self.project.tree()).unwrap_or_else(|| panic!("no plant for {}", spec.name));
        let planted = plant.put(&self.project.tree()).expect("planted");
        let mut selected = vec![spec.clone()];
        for earlier in self.specs.iter().rev() {
            if selected.iter().any(|selected| selected.needs.contains(&earlier.name)) {
                selected.insert(0, earlier.clone());
            }
        }
        let files = [plant.file.clone()];
        let results = self.project.run_on(&selected, Selection::All, FileScope::Changed(&files));
        planted.pull().expect("pulled");
        results.into_iter().next_back().expect("a result")
    }

    fn end(result: &CheckResult, test: &str) -> Option<TestEnd> {
        let is_named = |name: &str| name.to_ascii_lowercase().contains(test);
        result.tests.iter().find(|found| is_named(&found.name)).map(|found| found.end)
    }
}

/// Tests a kind of project with its base and all overlays (EP-15, EP-18, EP-19, CORE-06, CORE-13).
fn prove(kind: Kind) {
    let Some(bench) = Bench::new(kind) else { return };
    let is_named = |result: &&CheckResult| result.name == bench.kind.tests;
    let base = bench.baseline.iter().find(is_named).expect("tests");
    assert_eq!((base.end, base.collected, base.exit_code), (CheckEnd::Passed, Some(2), Some(0)), "{base:#?}");
    assert_eq!(Bench::end(base, "subtracts"), Some(TestEnd::Passed), "{:?}", base.tests);
    assert_eq!(bench.gate(&bench.baseline), GateResult::Passed, "{:#?}", bench.baseline);

    for spec in &bench.specs {
        let planted = bench.planted(spec);
        assert_eq!(planted.end, CheckEnd::Failed, "{planted:#?}");
    }

    let (all, tests) = bench.after("fail");
    assert_eq!(
        (tests.end, Bench::end(&tests, "halves")),
        (CheckEnd::Failed, Some(TestEnd::Failed)),
        "{tests:#?}"
    );
    assert!(matches!(bench.gate(&all), GateResult::Failed(_)));
    let findings = bench.findings(&all);
    assert!(findings.iter().any(|(_, claim)| claim.to_ascii_lowercase().contains("halves")), "{findings:#?}");

    let (all, tests) = bench.after("regression");
    assert_eq!(
        (tests.end, Bench::end(&tests, "subtracts")),
        (CheckEnd::Failed, Some(TestEnd::Failed)),
        "{tests:#?}"
    );
    assert!(matches!(bench.gate(&all), GateResult::Failed(_)));
    let findings = bench.findings(&all);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(
        findings[0].0 == Severity::Critical && findings[0].1.ends_with("passed before and now fails"),
        "{findings:#?}"
    );

    let (all, tests) = bench.after("deleted-test");
    assert_eq!((tests.end, tests.collected), (CheckEnd::Passed, Some(1)), "{tests:#?}");
    let findings = bench.findings(&all);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(
        findings[0].0 == Severity::Critical && findings[0].1.ends_with("no longer runs"),
        "{findings:#?}"
    );

    let (all, tests) = bench.after("no-tests");
    assert!(!tests.passed() && tests.tests.is_empty(), "{tests:#?}");
    let findings = bench.findings(&all);
    assert!(findings.iter().any(|(severity, _)| *severity == Severity::Critical), "{findings:#?}");

    let (_, first) = bench.after("flaky");
    let second = bench.project.run(&bench.specs).into_iter().find(|result| result.name == bench.kind.tests);
    let ends = (Bench::end(&first, "flaky"), Bench::end(&second.expect("tests"), "flaky"));
    let differs = ends == (Some(TestEnd::Failed), Some(TestEnd::Passed));
    assert!(differs || ends.0 == Some(TestEnd::Flaky), "{ends:?} {first:#?}");
}

// EP-15 EP-19 CORE-13
#[test]
fn rust_projects_are_recognized_as_sound_failing_regressed_flaky_or_untested() {
    prove(Kind { folder: "rust", tests: "cargo-test", tools: &["cargo"], install: "rustup" });
}

// EP-15 EP-19 CORE-13
#[test]
fn python_projects_are_recognized_as_sound_failing_regressed_flaky_or_untested() {
    prove(Kind { folder: "python", tests: "pytest", tools: &["python3", "pytest"], install: "pip: pytest" });
}

// EP-15 EP-19 CORE-13
#[test]
fn node_projects_are_recognized_as_sound_failing_regressed_flaky_or_untested() {
    prove(Kind { folder: "node", tests: "npm-test", tools: &["node"], install: "apt: nodejs, npm" });
}

// EP-15 EP-19 CORE-13
#[test]
fn vitest_projects_are_recognized_as_sound_failing_regressed_flaky_or_untested() {
    prove(Kind { folder: "vitest", tests: "vitest", tools: &["npm", "vitest"], install: "npm: vitest" });
}

// EP-15 EP-19 CORE-13
#[test]
fn jest_projects_are_recognized_as_sound_failing_regressed_flaky_or_untested() {
    prove(Kind { folder: "jest", tests: "jest", tools: &["npm", "jest"], install: "npm: jest" });
}

// EP-15 EP-19 CORE-13
#[test]
fn go_projects_are_recognized_as_sound_failing_regressed_flaky_or_untested() {
    prove(Kind { folder: "go", tests: "go-test", tools: &["go"], install: "apt: golang-go" });
}

// EP-15 EP-19 CORE-13
#[test]
fn cmake_projects_are_recognized_as_sound_failing_regressed_flaky_or_untested() {
    prove(Kind { folder: "cmake", tests: "ctest", tools: &["cmake", "g++"], install: "apt: cmake, g++" });
}

// EP-15 EP-19 CORE-13
#[test]
fn make_projects_are_recognized_as_sound_failing_regressed_flaky_or_untested() {
    prove(Kind { folder: "make", tests: "make-test", tools: &["make", "g++"], install: "apt: make, g++" });
}

// EP-15 EP-19 CORE-13
#[test]
fn maven_projects_are_recognized_as_sound_failing_regressed_flaky_or_untested() {
    let install =
        "apt: maven, libsurefire-java, libmaven-compiler-plugin-java, libmaven-resources-plugin-java, junit4";
    prove(Kind { folder: "maven", tests: "mvn-test", tools: &["mvn"], install });
}

// EP-15
#[test]
fn a_planted_maven_test_uses_the_projects_version_of_junit() {
    let kind = Kind {
        folder: "maven",
        tests: "mvn-test",
        tools: &["mvn"],
        install: "apt: maven, libsurefire-java, junit5",
    };
    let Some(bench) = Bench::new(kind) else { return };
    let tests = bench.specs.iter().find(|spec| spec.name == "mvn-test").expect("tests");
    let planted = |bench: &Bench| {
        let result = bench.planted(tests);
        let ends: Vec<_> = result.tests.iter().map(|test| (test.name.clone(), test.end)).collect();
        // A test that does not compile fails the check too, and proves nothing.
        assert_eq!(Bench::end(&result, "planted"), Some(TestEnd::Failed), "{result:#?}");
        ends.into_iter().filter(|(_, end)| *end == TestEnd::Passed).count()
    };
    assert_eq!(planted(&bench), 2);

    let tree = bench.project.tree();
    for (file, old, new) in [
        ("pom.xml", "<groupId>junit</groupId>", "<groupId>org.junit.jupiter</groupId>"),
        ("pom.xml", "<artifactId>junit</artifactId>", "<artifactId>junit-jupiter</artifactId>"),
        ("pom.xml", "<version>4.x</version>", "<version>debian</version>"),
        ("src/test/java/demo/SumsTest.java", "org.junit.Test", "org.junit.jupiter.api.Test"),
        ("src/test/java/demo/SumsTest.java", "org.junit.Assert", "org.junit.jupiter.api.Assertions"),
    ] {
        let text = fs::read_to_string(tree.join(file)).expect("a file");
        assert!(text.contains(old), "{old} is not in {file}");
        bench.project.write(file, &text.replace(old, new));
    }
    assert_eq!(planted(&bench), 2);
}

// EP-15
#[test]
fn linters_and_type_checkers_of_node_fail_on_planted_code() {
    let tools = &["npm", "eslint", "tsc"];
    let Some(bench) =
        Bench::new(Kind { folder: "vitest", tests: "vitest", tools, install: "npm: eslint, typescript" })
    else {
        return;
    };
    bench.project.write("eslint.config.mjs", "export default [{ rules: { 'no-var': 'error' } }];\n");
    bench.project.write("tsconfig.json", "{\"compilerOptions\": {\"types\": []}, \"include\": [\"*.ts\"]}\n");
    bench.project.write("more.ts", "export const more: number = 1;\n");
    let specs = bench.project.detect();
    for (name, file) in [("eslint", "remand_planted.js"), ("tsc", "more.ts")] {
        let spec =
            specs.iter().find(|spec| spec.name == name).unwrap_or_else(|| panic!("no {name}: {specs:#?}"));
        let sound = |when: &str| {
            let results = bench.project.run(std::slice::from_ref(spec));
            assert!(results[0].passed(), "{when}: {results:#?}");
        };
        sound("before");
        let planted = bench.planted(spec);
        assert_eq!(planted.end, CheckEnd::Failed, "{planted:#?}");
        assert!(String::from_utf8_lossy(&planted.output).contains(file), "{planted:#?}");
        sound("afterwards");
    }
}
