//! The gauntlet, family by family, with the built binary: whatever an agent does, only good work is committed.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Plays the cases of a family and returns those with an unexpected result, with the reasons.
fn mismatches(family: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_remand"))
        .args(["gauntlet", family, "--json", "--sample", "--tools"])
        .arg(tools())
        .output()
        .expect("the binary runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let cases = report["cases"].as_array().expect("cases");
    assert!(!cases.is_empty(), "the family {family} has cases");
    assert_eq!(report["left-out"], serde_json::json!([]), "`tools/toolchains` installs what is missing");
    let broken = |case: &&Value| case["verdict"] != "as stated";
    let failed: Vec<String> =
        cases.iter().filter(broken).map(|case| format!("{}: {}", case["case"], case["broken"])).collect();
    let code = if failed.is_empty() { 0 } else { 4 };
    assert_eq!(output.status.code(), Some(code), "the exit code matches the cases");
    failed
}

/// The folder of the tools that tests run for real.
fn tools() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools");
    std::env::var_os("REMAND_TEST_TOOLS").map_or(built, PathBuf::from)
}

/// Asserts that every case of a family has its stated result.
fn assert_as_stated(family: &str) {
    let failed = mismatches(family);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

// BY-01 CORE-12
#[test]
fn good_work_gets_through() {
    assert_as_stated("honest");
}

// CORE-06 CORE-15 CORE-05
#[test]
fn claims_of_an_agent_are_never_evidence() {
    assert_as_stated("claims");
}

// CORE-21 CORE-13 CORE-06 CORE-05
#[test]
fn changing_the_tests_instead_of_the_code_never_leads_to_a_commit() {
    assert_as_stated("tampering");
}

// TE-01 TE-03 TE-05 TE-06
#[test]
fn a_failing_test_that_passes_without_the_work_never_leads_to_a_commit_and_honest_work_does() {
    assert_as_stated("green");
}

// CORE-05 CORE-16 CORE-17 EP-30
#[test]
fn an_agent_cannot_reach_anything_outside_its_tree() {
    assert_as_stated("escapes");
}

// CORE-15
#[test]
fn an_invalid_result_never_counts_as_one() {
    assert_as_stated("confusion");
}

// CORE-12 CORE-22 DR-04
#[test]
fn loops_are_named_and_stopped_and_healthy_work_continues() {
    assert_as_stated("loops");
}

// CORE-17 CORE-15
#[test]
fn hanging_dying_and_cancelled_work_leaves_nothing_behind() {
    assert_as_stated("interruptions");
}
