//! Broken workflow files: each is refused with its diagnostics, none with a panic.

use remand_workflow::diagnostic::Style;
use remand_workflow::roles::Roles;
use remand_workflow::{CheckedWorkflow, check_bytes};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("entry").path()).collect();
    files.sort();
    files
}

fn rendered(checked: &CheckedWorkflow) -> String {
    let all: Vec<String> =
        checked.diagnostics.iter().map(|problem| problem.render(&checked.source, Style::Plain)).collect();
    all.join("\n\n")
}

// CORE-02 CORE-09
#[test]
fn each_broken_file_is_refused_with_its_diagnostics() {
    let files = fixtures("workflows/bad");
    assert!(files.len() >= 30);
    for path in files {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).expect("readable");
        let checked = check_bytes(&name, &bytes, &Roles::shipped());
        assert!(!checked.accepted(), "{name} is accepted");
        assert!(!checked.diagnostics.is_empty(), "{name} has no diagnostic");
        insta::with_settings!({ snapshot_path => "snapshots/refused", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.trim_end_matches(".yaml"), rendered(&checked));
        });
    }
}

// HO-06
#[test]
fn each_gap_in_the_flow_of_information_is_refused_with_its_path_and_a_remedy() {
    let files = fixtures("workflows/gaps");
    assert!(files.len() >= 12);
    let mut others = Vec::new();
    for path in files {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let checked = check_bytes(&name, &std::fs::read(&path).expect("readable"), &Roles::shipped());
        let [problem] = checked.diagnostics.as_slice() else {
            others.push(rendered(&checked));
            continue;
        };
        assert_eq!(problem.code.id(), "A406", "{name}: {}", rendered(&checked));
        assert!(!problem.path.is_empty() && !problem.remedy.is_empty(), "{name}: {problem:?}");
        insta::with_settings!({ snapshot_path => "snapshots/gaps", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.trim_end_matches(".yaml"), rendered(&checked));
        });
    }
    assert!(others.is_empty(), "{}", others.join("\n\n"));
}

// CORE-09
#[test]
fn a_file_of_ten_megabytes_is_refused_immediately() {
    let start = Instant::now();
    let checked = check_bytes("large.yaml", &vec![b'a'; 10 << 20], &Roles::shipped());
    let text = rendered(&checked);
    assert!(
        text.starts_with("error[S002]: the file is larger than 512 KiB\n --> large.yaml:1:1\n"),
        "{text}"
    );
    assert!(start.elapsed() < Duration::from_secs(5), "not even looked at");
}

#[test]
fn a_diagnostic_on_a_very_long_line_shows_only_its_surroundings() {
    let text = format!(
        "name: small\nabout: {}\nsubjekt: request\nphases: {{{}}}\n",
        "x".repeat(5000),
        "y".repeat(3000)
    );
    let checked = check_bytes("long.yaml", text.as_bytes(), &Roles::shipped());
    assert!(!checked.accepted());
    assert!(rendered(&checked).lines().all(|line| line.chars().count() < 400));
}
