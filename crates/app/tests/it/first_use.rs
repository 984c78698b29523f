//! `tools/first-use` on each project of the corpus: what a newcomer does, and what they must get.

use std::path::Path;
use std::process::Command;

/// What a project needs from `tools/toolchains` and `tools/agents`, as REMAND_TEST_WITHOUT names it.
pub fn is_left_out(needs: &[&str]) -> bool {
    let without = std::env::var("REMAND_TEST_WITHOUT").unwrap_or_default();
    let left_out = without.split(',').any(|name| needs.contains(&name));
    if left_out {
        eprintln!("NOT TESTED: needs {}, and REMAND_TEST_WITHOUT is {without}", needs.join(", "));
    }
    left_out
}

fn first_use(project: &str, needs: &[&str]) {
    if is_left_out(&[needs, &["agents"]].concat()) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let programs = Path::new(env!("CARGO_BIN_EXE_remand")).parent().expect("a folder");
    let mut command = Command::new(root.join("tools/first-use"));
    command.arg("--programs").arg(programs).arg(project);
    let done = command.output().expect("tools/first-use starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{}{}", text(&done.stdout), text(&done.stderr));
    assert!(text(&done.stdout).contains(&format!("ok    {project}")), "{}", text(&done.stdout));
}

macro_rules! projects {
    ($($test:ident: $name:literal, $needs:expr;)*) => {
        $(
            // UP-02 UP-03
            #[test]
            fn $test() {
                first_use($name, &$needs);
            }
        )*

        #[test]
        fn every_project_of_the_corpus_has_a_test() {
            let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/corpus");
            let folders = std::fs::read_dir(corpus).expect("the corpus").map(|entry| entry.expect("an entry"));
            let mut found: Vec<String> =
                folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            found.sort();
            assert_eq!(found, [$($name),*]);
        }
    };
}

projects! {
    c_with_sanitizers: "c-sanitizers", ["make", "gcc"];
    an_ignored_folder_of_packages: "composer-packages", [];
    a_library_in_a_submodule: "git-submodule", [];
    go_with_cgo: "go-cgo", ["go"];
    go_with_a_build_that_asks_git: "go-vendored", ["go"];
    jest_with_workers: "jest-workers", ["npm"];
    maven_with_junit: "maven-junit", ["mvn"];
    node_on_low_ports: "node-low-ports", [];
    node_with_postgres: "node-postgres", ["npm"];
    npm_workspaces: "npm-workspaces", [];
    python_with_its_own_scripts: "python-console", ["make"];
    python_that_writes_to_the_home: "python-home", [];
    python_with_hypothesis: "python-hypothesis", [];
    python_with_poetry: "python-poetry", [];
    python_with_process_pools: "python-pools", [];
    python_with_a_generated_version: "python-scm", [];
    python_with_servers: "python-server", [];
    python_that_looks_at_the_system: "python-system", [];
    python_with_another_environment: "python-tox", [];
    python_with_xdist: "python-xdist", [];
    python_with_a_time_zone: "python-zone", [];
    rust_that_builds_elsewhere: "rust-elsewhere", [];
    rust_with_a_build_that_asks_git: "rust-quirks", [];
    rust_workspace: "rust-workspace", [];
    typescript_with_references: "ts-references", ["npm"];
    vitest_with_a_dom: "vitest-dom", ["npm"];
}
