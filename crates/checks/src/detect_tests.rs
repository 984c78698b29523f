//! Tests of the detected checks, and of the configuration that changes them.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::run_tests::Project;
use super::*;
use std::os::unix::fs::PermissionsExt;

const GUIDE: &str = include_str!("../../../docs/reference/configuration.md");

type Files = &'static [(&'static str, &'static str)];
type CheckLines = &'static [&'static str];

fn commands(specs: &[CheckSpec]) -> Vec<String> {
    let line = |spec: &CheckSpec| {
        let command = spec.action.typed().unwrap_or_else(|| "built in".to_string());
        format!("{} {} {command}", u8::from(spec.tier), spec.name)
    };
    specs.iter().map(line).collect()
}

// OT-23
#[test]
fn each_marker_file_adds_its_checks() {
    let cases: [(Files, CheckLines); 7] = [
        (&[("README.md", "text")], &[]),
        (
            &[("Cargo.toml", "")],
            &[
                "1 cargo-check cargo check --workspace --all-targets",
                "2 cargo-test cargo test --workspace --no-fail-fast",
            ],
        ),
        (
            &[(
                "package.json",
                "{\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}",
            )],
            &["1 node-check node --check"],
        ),
        (&[("go.mod", "")], &["1 go-vet go vet ./...", "2 go-test go test -json ./..."]),
        (
            &[("CMakeLists.txt", "enable_testing()"), ("Makefile", "test:\n")],
            &[
                "1 cmake cmake -S . -B {scratch}/cmake",
                "2 cmake-build cmake --build {scratch}/cmake",
                "2 ctest ctest --test-dir {scratch}/cmake --output-on-failure --output-junit {scratch}/ctest.xml",
            ],
        ),
        (
            &[("Makefile", "CHECK := 1\nbuild: a.c\n\techo deploy:\ncheck:\n\ttrue\n")],
            &["2 make make build", "2 make-test make check"],
        ),
        (
            &[("pom.xml", "<project/>")],
            &["1 mvn-compile mvn -o -q -B test-compile", "2 mvn-test mvn -o -q -B -fae test"],
        ),
    ];
    for (files, expected) in cases {
        let found = commands(&Project::new(files).detect());
        assert_eq!(found[0], "1 syntax built in");
        assert_eq!(found[1..], *expected, "{files:?}");
        for line in &found {
            let name = line.split(' ').nth(1).expect("a name");
            assert!(GUIDE.contains(&format!("`{name}`")), "the guide does not mention `{name}`");
        }
    }
}

// OT-23
#[test]
fn python_is_tested_by_pytest_if_pytest_can_be_imported() {
    let mut project = Project::new(&[("requirements.txt", ""), ("tests/test_a.py", ""), ("src/a.py", "")]);
    project.environment.insert("PATH".into(), project.tree().join("tools").into());
    let fake = |project: &Project, text: &str| {
        project.write("tools/python3", text);
        let path = project.tree().join("tools/python3");
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("a mode");
    };
    fake(&project, "#!/bin/sh\n[ \"$*\" = '-c import pytest' ]\n");
    let found = project.detect();
    assert_eq!(commands(&found)[2], "2 pytest python3 -m pytest -rA -v -p no:cacheprovider");
    assert_eq!((found[2].parser, found[2].environment["PYTHONPATH"].as_str()), (Parser::Pytest, "src"));
    fake(&project, "#!/bin/sh\nexit 1\n");
    assert_eq!(commands(&project.detect())[2], "2 unittest python3 -m unittest discover -v -s tests");
    project.write("tests/__init__.py", "");
    assert_eq!(commands(&project.detect())[2], "2 unittest python3 -m unittest discover -v");
}

// OT-23 UP-03
#[test]
fn django_is_tested_by_its_own_runner_unless_pytest_has_its_plugin() {
    let manage = "from django.core.management import execute_from_command_line\n";
    let mut project = Project::new(&[("manage.py", manage), ("shop/tests.py", "")]);
    project.environment.insert("PATH".into(), project.tree().join("tools").into());
    let fake = |text: &str| {
        project.write("tools/python3", text);
        let path = project.tree().join("tools/python3");
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("a mode");
    };
    fake("#!/bin/sh\n[ \"$*\" = '-c import pytest' ]\n");
    let found = project.detect();
    let last = found.last().expect("a check");
    assert_eq!(last.action.typed().as_deref(), Some("python3 manage.py test --noinput -v 2"));
    assert_eq!((last.name.as_str(), last.parser), ("django-test", Parser::Unittest));
    fake("#!/bin/sh\nexit 0\n");
    assert_eq!(project.detect().last().expect("a check").name, "pytest");
}

// OT-23
#[test]
fn a_flake_with_a_shell_wraps_the_commands_if_nix_is_installed() {
    let flake = ("flake.nix", "{ outputs = _: { devShells.x86_64-linux.default = 1; }; }");
    let mut project = Project::new(&[flake, ("go.mod", "")]);
    let tools = project.tree().join("tools");
    project.environment.insert("PATH".into(), tools.clone().into());
    assert_eq!(commands(&project.detect())[1], "1 go-vet go vet ./...");
    project.write("tools/nix", "#!/bin/sh\n");
    std::fs::set_permissions(tools.join("nix"), PermissionsExt::from_mode(0o755)).expect("a mode");
    let wrapped = project.detect();
    assert_eq!(commands(&wrapped)[1], "1 go-vet nix develop --no-write-lock-file -c go vet ./...");
    assert_eq!((wrapped[1].tool.as_str(), wrapped[0].tool.as_str()), ("go", "remand"));
    project.write("flake.nix", "{ outputs = _: { packages = 1; }; }");
    assert_eq!(commands(&project.detect())[1], "1 go-vet go vet ./...");
}

#[test]
fn configured_checks_change_replace_extend_and_remove_detected_ones() {
    let project = Project::new(&[("Cargo.toml", "")]);
    let settings = [
        ("checks.cargo-test.time", "1h"),
        ("checks.cargo-check.off", "true"),
        ("checks.clippy.command", "[\"cargo\", \"clippy\"]"),
        ("checks.clippy.tier", "1"),
        ("checks.deep.command", "make deep"),
        ("checks.deep.needs", "[\"cargo-test\"]"),
        ("checks.deep.folder", "sub"),
    ];
    let specs = project.configured(&settings).expect("checks");
    let expected = [
        "1 syntax built in",
        "1 clippy cargo clippy",
        "2 cargo-test cargo test --workspace --no-fail-fast",
        "2 deep make deep",
    ];
    assert_eq!(commands(&specs), expected);
    assert_eq!((specs[2].parser, specs[2].time.as_secs()), (Parser::Cargo, 3600));
    assert!(specs[2].needs.is_empty());
    assert_eq!((specs[3].tool.as_str(), specs[3].folder.as_str()), ("make", "sub"));
    let replaced = project.configured(&[("checks.cargo-test.command", "make test")]).expect("checks");
    assert_eq!(
        (replaced[2].parser, replaced[2].needs.as_slice()),
        (Parser::None, &["cargo-check".to_string()][..])
    );
    let none = project.configured(&[("checks.detect", "false")]).expect("checks");
    assert_eq!(commands(&none), ["1 syntax built in"]);
    let pinned = serde_json::to_string(&specs).expect("JSON");
    assert_eq!(serde_json::from_str::<Vec<CheckSpec>>(&pinned).expect("checks"), specs);
}

// CORE-09
#[test]
fn checks_that_cannot_run_as_configured_are_refused_with_a_remedy() {
    let project = Project::new(&[("go.mod", "")]);
    let refused = |settings: &[(&str, &str)]| project.configured(settings).expect_err("refused").to_string();
    assert_eq!(
        refused(&[("checks.go-tset.time", "1h")]),
        "`checks.go-tset` has no command, and no check with that name was detected; add `command`, or use one of: \
         `syntax`, `go-vet`, `go-test`"
    );
    assert_eq!(
        refused(&[("checks.a.command", "true"), ("checks.a.needs", "[\"b\"]")]),
        "`checks.a.needs` names `b`, which is not a check; use one of: `syntax`, `go-vet`, `go-test`, `a`"
    );
    let circle = [
        ("checks.a.command", "true"),
        ("checks.a.needs", "[\"b\"]"),
        ("checks.b.command", "true"),
        ("checks.b.needs", "[\"a\"]"),
    ];
    assert_eq!(refused(&circle), "the checks `a`, `b` need each other in a circle; remove one `needs`");
    assert_eq!(
        refused(&[("checks.syntax.command", "true")]),
        "`checks.syntax` is built into Remand and has no `command`; choose another name"
    );
}

fn names(specs: &[CheckSpec]) -> Vec<&str> {
    specs.iter().map(|spec| spec.name.as_str()).collect()
}

fn scope<'s>(specs: &'s [CheckSpec], name: &str) -> &'s CheckScope {
    &specs.iter().find(|spec| spec.name == name).unwrap_or_else(|| panic!("no {name}")).scope
}

fn folders(folders: &[&str]) -> CheckScope {
    CheckScope::Folders(folders.iter().map(|folder| folder.to_string()).collect())
}

// OT-23
#[test]
fn projects_in_folders_have_separate_checks_unless_a_project_above_covers_them() {
    let project = Project::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\"tools\"]\n"),
        ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"),
        (
            "crates/b/Cargo.toml",
            "[package]\nname = \"b\"\n[dependencies]\nt = { path = \"../../tools/t\" }\n",
        ),
        ("tools/t/Cargo.toml", "[package]\nname = \"t\"\n"),
        ("web/package.json", "{\"scripts\": {\"test\": \"node --test\"}}"),
        ("web/node_modules/x/package.json", "{}"),
        ("web/fixtures/y/package.json", "{}"),
        (".hidden/go.mod", "module h\n"),
        ("native/CMakeLists.txt", "enable_testing()\n"),
        ("native/sub/CMakeLists.txt", ""),
        ("docs/Makefile", "html:\n"),
        ("ops/Makefile", "test:\n"),
    ]);
    let specs = project.detect();
    assert_eq!(
        names(&specs),
        [
            "syntax",
            "cargo-check",
            "cargo-test",
            "cargo-check:tools/t",
            "cargo-test:tools/t",
            "node-check:web",
            "npm-test:web",
            "cmake:native",
            "cmake-build:native",
            "ctest:native",
        ]
    );
    let ctest = specs.last().expect("a check");
    assert_eq!(
        (ctest.folder.as_str(), ctest.needs.as_slice()),
        ("native", &["cmake-build:native".to_string()][..])
    );
    assert_eq!(ctest.report.as_deref(), Some("{scratch}/native/ctest.xml"));
    assert_eq!(*scope(&specs, "cargo-test"), folders(&["crates/a", "crates/b", "tools/t"]));
    assert_eq!(*scope(&specs, "cargo-test:tools/t"), folders(&["tools/t"]));
    assert_eq!(*scope(&specs, "npm-test:web"), folders(&["web"]));
    let settings = [("checks.cargo-test:tools/t.off", "true"), ("checks.npm-test:web.time", "1h")];
    let changed = project.configured(&settings).expect("checks");
    assert!(!names(&changed).contains(&"cargo-test:tools/t"));
}

// OT-23
#[test]
fn the_dependencies_of_a_project_are_read_from_its_manifest() {
    let project = Project::new(&[
        ("js/package.json", "{\"workspaces\": [\"packages/*\"]}"),
        (
            "js/packages/a/package.json",
            "{\"name\": \"@s/a\", \"dependencies\": {\"@s/b\": \"workspace:*\"}, \"scripts\": {\"test\": \"jest\"}}",
        ),
        ("js/packages/b/package.json", "{\"name\": \"@s/b\", \"devDependencies\": {\"c\": \"file:../c\"}}"),
        ("js/packages/c/package.json", "{\"name\": \"@s/c\"}"),
        ("go/a/go.mod", "module x.org/a\n\nrequire x.org/b v0.0.0\n\nreplace x.org/b => ../b\n"),
        ("go/b/go.mod", "module x.org/b // here\n"),
        (
            "java/pom.xml",
            "<project xmlns='http://maven.apache.org/POM/4.0.0'><artifactId>all</artifactId><modules><module>core</module></modules></project>",
        ),
        ("java/core/pom.xml", "<project><artifactId>core</artifactId></project>"),
        (
            "apart/pom.xml",
            "<project><artifactId>apart</artifactId><dependencies><dependency><artifactId>core</artifactId></dependency></dependencies></project>",
        ),
        ("py/a/pyproject.toml", "[project]\nname = \"A.a\"\ndependencies = [\"b_b>=1\"]\n"),
        ("py/b/pyproject.toml", "[project]\nname = \"b-b\"\n"),
        ("native/CMakeLists.txt", "add_subdirectory(../shared shared)\n"),
    ]);
    let specs = project.detect();
    let python =
        names(&specs).into_iter().find(|name| name.starts_with("pytest:") || name.starts_with("unittest:"));
    let python = python.expect("tests").split(':').next().expect("a name").to_string();
    assert_eq!(
        *scope(&specs, "jest:js/packages/a"),
        folders(&["js/packages/a", "js/packages/b", "js/packages/c"])
    );
    assert!(names(&specs).contains(&"node-check:js") && !names(&specs).contains(&"node-check:js/packages/a"));
    let jest = specs.iter().find(|spec| spec.name == "jest:js/packages/a").expect("a check");
    assert_eq!(jest.needs, ["node-check:js"]);
    assert_eq!(*scope(&specs, "go-test:go/a"), folders(&["go/a", "go/b"]));
    assert_eq!(*scope(&specs, "go-test:go/b"), folders(&["go/b"]));
    assert_eq!(*scope(&specs, "mvn-test:apart"), folders(&["apart", "java", "java/core"]));
    assert_eq!(*scope(&specs, &format!("{python}:py/a")), folders(&["py/a", "py/b"]));
    assert_eq!(*scope(&specs, "cmake:native"), CheckScope::Whole);
}

#[test]
fn checks_that_a_change_cannot_affect_are_left_out_with_the_reason() {
    let project = Project::new(&[
        ("a/go.mod", "module x.org/a\n"),
        ("b/go.mod", "module x.org/b\n\nrequire x.org/a v0.0.0\n"),
        ("c/go.mod", "module x.org/c\n"),
    ]);
    let specs = project.configured(&[("checks.custom.command", "true")]).expect("checks");
    let left_out_for = |specs: &[CheckSpec], files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| file.to_string()).collect();
        left_out(specs, TaskChange { by_task: &files, since_detection: &files })
    };
    let out = |files: &[&str]| left_out_for(&specs, files).names().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(out(&["a/x.go"]), ["go-test:c", "go-vet:c"]);
    assert_eq!(out(&["c/x.go", "README.md"]), ["go-test:a", "go-test:b", "go-vet:a", "go-vet:b"]);
    assert_eq!(
        left_out_for(&specs, &["a/x.go"]).get("go-test:c").map(String::as_str),
        Some("not affected: the change touches nothing in `c`")
    );
    assert!(out(&["c/x.go", "go.work"]).is_empty() && out(&["d/new.go"]).is_empty());
    let found = project.detect();
    // If no check covers the whole repository, a change of prose alone runs all checks.
    assert_eq!(left_out_for(&found, &["README.md"]), LeftOut::new());
    let mut needing = found.clone();
    let last = needing.len() - 1;
    needing[last].needs.push("go-test:a".to_string());
    let needed = left_out_for(&needing, &["c/x.go"]);
    assert!(needed.get("go-test:a").is_none() && needed.get("go-vet:a").is_none(), "{needed:?}");
}
