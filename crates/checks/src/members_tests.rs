//! Tests of workspaces: only members that a change can affect run, and a test that did not run does not look removed.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use super::run_tests::{Project, after_rows, baseline_rows};
use super::*;
use remand_kernel::change::TestEnd;
use remand_kernel::evidence::{EvidenceRow, GateDemand, GateResult, TaskSize, rule};
use std::collections::{BTreeMap, BTreeSet};

fn left_out_for(specs: &[CheckSpec], files: &[&str]) -> LeftOut {
    let files: Vec<String> = files.iter().map(|file| file.to_string()).collect();
    left_out(specs, TaskChange { by_task: &files, since_detection: &files })
}

/// The narrowed command of a check for a change; `None` if the check runs for the whole workspace.
fn command(specs: &[CheckSpec], check: &str, files: &[&str]) -> Option<String> {
    let spec = specs.iter().find(|spec| spec.name == check).expect("a check");
    left_out_for(specs, files).narrowed(spec).and_then(|spec| spec.action.typed())
}

fn package(name: &str, more: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\ndoctest = false\n{more}"
    )
}

// EP-15
#[test]
fn cargo_runs_for_the_changed_members_and_all_that_depend_on_them() {
    let project = Project::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"top\"\n[dependencies]\nleaf = { path = \"crates/leaf\" }\n[workspace]\nmembers = [\"crates/*\"]\n\
             exclude = [\"crates/apart\"]\n[workspace.dependencies]\nold = { package = \"base\", path = \"crates/base\" }\n",
        ),
        ("crates/base/Cargo.toml", &package("base", "")),
        ("crates/base/inner/Cargo.toml", &package("inner", "")),
        ("crates/base/data.txt", ""),
        ("crates/mid/Cargo.toml", &package("mid", "[dev-dependencies]\nold.workspace = true\n")),
        (
            "crates/far/Cargo.toml",
            &package(
                "far",
                "[target.'cfg(unix)'.build-dependencies]\nm = { package = \"mid\", path = \"../mid\" }\n",
            ),
        ),
        ("crates/leaf/Cargo.toml", &package("leaf", "")),
        ("crates/reader/Cargo.toml", &package("reader", "")),
        (
            "crates/reader/src/lib.rs",
            "const A: &str = include_str!(\"../../base/data.txt\");\nconst B: &str = include_str!(\"../../../NOTES.md\");\n",
        ),
        ("crates/apart/Cargo.toml", "[package]\nname = \"apart\"\n"),
        ("NOTES.md", ""),
        ("web/go.mod", "module w\n"),
    ]);
    let specs = project.detect();
    let test = |files: &[&str]| command(&specs, "cargo-test", files);
    let of = |names: &str| Some(format!("cargo test {names} --no-fail-fast"));
    assert_eq!(test(&["crates/far/src/lib.rs"]), of("-p far"));
    assert_eq!(
        command(&specs, "cargo-check", &["crates/far/x"]).unwrap(),
        "cargo check -p far --all-targets"
    );
    assert_eq!(test(&["crates/mid/src/lib.rs"]), of("-p far -p mid"));
    assert_eq!(test(&["crates/base/src/lib.rs"]), of("-p base -p far -p mid"));
    assert_eq!(test(&["crates/base/data.txt"]), of("-p base -p far -p mid -p reader"));
    assert_eq!(test(&["crates/base/inner/src/lib.rs"]), of("-p inner"));
    assert_eq!(test(&["crates/leaf/src/lib.rs"]), of("-p leaf -p top"));
    assert_eq!(test(&["src/lib.rs", "README.md", "web/main.go"]), of("-p top"));
    for whole in [
        "Cargo.toml",
        "Cargo.lock",
        "build.rs",
        "rust-toolchain.toml",
        ".cargo/config.toml",
        "NOTES.md",
        "README.md",
        "crates/leaf/Cargo.toml",
        "crates/new/src/lib.rs",
    ] {
        assert_eq!(test(&[whole]), None, "{whole}");
    }
    assert_eq!(test(&["crates/leaf/src/lib.rs", "Cargo.lock"]), None);
    // A manifest differs in the tree that the task builds on, so no check is narrowed.
    let (by_task, since_detection) =
        (["crates/leaf/src/lib.rs".to_string()], ["crates/mid/Cargo.toml".to_string()]);
    let change = TaskChange { by_task: &by_task, since_detection: &since_detection };
    assert!(specs.iter().all(|spec| left_out(&specs, change).narrowed(spec).is_none()));
    let apart = specs.iter().find(|spec| spec.name == "cargo-test:crates/apart").expect("a check");
    assert_eq!(apart.members, None);
    let is_narrowed_with = |files: &[(&str, &str)]| {
        for (file, text) in files {
            project.write(file, text);
        }
        command(&project.detect(), "cargo-test", &["crates/leaf/src/lib.rs"]).is_some()
    };
    // A fixture is not a member; a member in an ignored folder may depend on anything.
    assert!(is_narrowed_with(&[("crates/leaf/fixtures/x/Cargo.toml", "[package]\nname = \"x\"\n")]));
    assert!(!is_narrowed_with(&[("crates/build/Cargo.toml", "[package]\nname = \"build\"\n")]));
}

// EP-15
#[test]
fn maven_and_node_run_for_the_members_that_a_change_can_affect() {
    let pom = |name: &str, more: &str| format!("<project><artifactId>{name}</artifactId>{more}</project>");
    let needs = "<dependencies><dependency><artifactId>core</artifactId></dependency></dependencies>";
    let modules = "<modules><module>core</module><module>web</module><module>cli</module></modules>";
    let package =
        |name: &str, needs: &str| format!("{{\"name\": \"{name}\", \"dependencies\": {{{needs}}}}}");
    let project = Project::new(&[
        ("java/pom.xml", &pom("all", modules)),
        ("java/core/pom.xml", &pom("core", "")),
        ("java/web/pom.xml", &pom("web", needs)),
        ("java/cli/pom.xml", &pom("cli", "")),
        (
            "js/package.json",
            "{\"workspaces\": [\"packages/*\"], \"scripts\": {\"test\": \"npm test --workspaces --if-present\"}}",
        ),
        ("js/packages/a/package.json", &package("@s/a", "")),
        ("js/packages/b/package.json", &package("@s/b", "\"@s/a\": \"*\"")),
        ("js/packages/c/package.json", &package("@s/c", "")),
        ("js/packages/b/inner.js", ""),
        ("js/packages/c/x.test.js", "import '../b/inner.js';\n"),
        (
            "hooked/package.json",
            "{\"workspaces\": [\"packages/*\"], \"scripts\": {\"test\": \"npm test -ws\", \"pretest\": \"x\"}}",
        ),
        ("hooked/packages/a/package.json", "{}"),
        ("hooked/packages/b/package.json", "{}"),
        ("one/package.json", "{\"workspaces\": [\"packages/*\"], \"scripts\": {\"test\": \"jest\"}}"),
        ("one/packages/a/package.json", "{}"),
        ("one/packages/b/package.json", "{}"),
    ]);
    let specs = project.detect();
    let java = |file: &str| command(&specs, "mvn-test:java", &[file]);
    assert_eq!(java("java/core/src/A.java").unwrap(), "mvn -o -q -B -fae test -pl core,web -am");
    assert_eq!(java("java/cli/src/A.java").unwrap(), "mvn -o -q -B -fae test -pl cli -am");
    assert_eq!((java("java/pom.xml"), java("java/checkstyle.xml")), (None, None));
    let node = |file: &str| command(&specs, "npm-test:js", &[file]);
    let of = |names: &str| Some(format!("npm test {names} --if-present"));
    assert_eq!(node("js/packages/a/index.js"), of("-w ./packages/a -w ./packages/b"));
    assert_eq!(node("js/packages/b/README.md"), of("-w ./packages/b"));
    assert_eq!(node("js/packages/b/inner.js"), of("-w ./packages/b -w ./packages/c"));
    assert_eq!((node("js/package-lock.json"), node("js/packages/b/package.json")), (None, None));
    for (check, file) in [("npm-test:hooked", "hooked/packages/a/x.js"), ("jest:one", "one/packages/a/x.js")]
    {
        assert_eq!(command(&specs, check, &[file]), None, "{check}");
    }
}

const CRATES: usize = 20;

/// Twenty crates; the second and the third depend on the first.
fn workspace() -> Project {
    let project =
        Project::new(&[("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n")]);
    for at in 1..=CRATES {
        let name = format!("c{at:02}");
        let needs = if at == 2 || at == 3 { "[dependencies]\nc01 = { path = \"../c01\" }\n" } else { "" };
        project.write(&format!("crates/{name}/Cargo.toml"), &package(&name, needs));
        project.write(&format!("crates/{name}/src/lib.rs"), &code("1"));
    }
    project
}

fn code(number: &str) -> String {
    format!(
        "pub fn number() -> u32 {{\n    {number}\n}}\n\n#[test]\nfn is_one() {{\n    assert_eq!(number(), 1);\n}}\n"
    )
}

/// The results of the checks for a change of these files.
fn check_change(
    project: &Project,
    specs: &[CheckSpec],
    files: &[&str],
    before: &[CheckResult],
) -> Vec<CheckResult> {
    let (environment, tools) = (BTreeMap::new(), ToolVersions::default());
    let (environment, tools) = (&environment, &tools);
    let conditions =
        Conditions { tree: "t", base: "b", files: FileScope::Whole, environment, tools, installed: "" };
    let (left_out, suspects) = (&left_out_for(specs, files), &BTreeSet::new());
    let request = CheckRequest { specs, selection: Selection::All, left_out, before, suspects };
    let plan = CheckPlan::new(request, &conditions, &BTreeMap::new());
    project.run_planned(&plan, FileScope::Whole)
}

// EP-15 EP-18 EP-19
#[test]
fn a_change_in_a_workspace_of_twenty_crates_runs_what_it_can_affect_and_no_other_test_looks_removed() {
    let project = workspace();
    let specs = project.detect();
    let baseline = project.run(&specs);
    let before = baseline.clone();
    let tests = |results: &[CheckResult]| {
        let result = results.iter().find(|result| result.name == "cargo-test").expect("tests").clone();
        (result.command.clone().expect("a command"), result.collected, result)
    };
    let claims = |results: &[CheckResult]| {
        let findings = compare(&before, results, &project.tree());
        findings.into_iter().map(|finding| finding.claim).collect::<Vec<_>>()
    };
    let gate = |results: &[CheckResult]| {
        let rows: Vec<EvidenceRow> =
            baseline_rows(&baseline).into_iter().chain(after_rows(results)).collect();
        rule(&rows, TaskSize::Standard, GateDemand::Proof)
    };
    assert_eq!(tests(&baseline).1, Some(20), "{baseline:#?}");

    project.write("crates/c20/src/lib.rs", &code("3 - 2"));
    let leaf = check_change(&project, &specs, &["crates/c20/src/lib.rs"], &before);
    let (command, collected, result) = tests(&leaf);
    assert_eq!((command.as_str(), collected), ("cargo test -p c20 --no-fail-fast", Some(1)), "{leaf:#?}");
    assert!(!String::from_utf8_lossy(&result.output).contains("c19"));
    assert_eq!(
        result.tests.iter().map(|test| test.name.as_str()).collect::<Vec<_>>(),
        ["c20 src/lib.rs is_one"]
    );
    assert_eq!((claims(&leaf), gate(&leaf)), (Vec::new(), GateResult::Passed));

    project.write("crates/c01/src/lib.rs", &code("2 - 1"));
    let shared = check_change(&project, &specs, &["crates/c01/src/lib.rs"], &before);
    let (command, collected, _) = tests(&shared);
    assert_eq!((command.as_str(), collected), ("cargo test -p c01 -p c02 -p c03 --no-fail-fast", Some(3)));
    assert_eq!((claims(&shared), gate(&shared)), (Vec::new(), GateResult::Passed));

    project.write("crates/c20/src/lib.rs", &code("2"));
    let failing = check_change(&project, &specs, &["crates/c20/src/lib.rs"], &before);
    let (command, _, result) = tests(&failing);
    assert_eq!((command.as_str(), result.end), ("cargo test -p c20 --no-fail-fast", CheckEnd::Failed));
    assert!(result.tests.iter().any(|test| test.end == TestEnd::Failed));
    assert_eq!(
        claims(&failing),
        ["the test `c20 src/lib.rs is_one` of `cargo-test` passed before and now fails"]
    );

    // The affected member has no test left, so the whole workspace runs and shows the lost test.
    project.write("crates/c20/src/lib.rs", "pub fn number() -> u32 {\n    1\n}\n");
    let emptied = check_change(&project, &specs, &["crates/c20/src/lib.rs"], &before);
    let (command, collected, _) = tests(&emptied);
    assert_eq!((command.as_str(), collected), ("cargo test --workspace --no-fail-fast", Some(19)));
    assert_eq!(
        claims(&emptied),
        ["the test `c20 src/lib.rs is_one` of `cargo-test` passed before and no longer runs"]
    );

    project.write("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n");
    project.write("crates/c20/src/lib.rs", &code("1"));
    let (command, collected, _) = tests(&check_change(&project, &specs, &["Cargo.toml"], &before));
    assert_eq!((command.as_str(), collected), ("cargo test --workspace --no-fail-fast", Some(20)));
}
