//! Tests with outputs of real runners from `fixtures/test-output/`.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use insta::assert_snapshot;

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../fixtures/test-output/", $name))
    };
}

fn summary(report: &ParsedOutput) -> String {
    let collected = report.collected.map_or("unknown".to_string(), |count| count.to_string());
    let mut text = format!("{collected} collected\n");
    for test in &report.tests {
        let end = match test.end {
            TestEnd::Passed => "passed",
            TestEnd::Failed => "failed",
            TestEnd::Flaky => "flaky",
            TestEnd::Skipped => "skipped",
        };
        text.push_str(&format!("{end} {}\n", test.name));
    }
    text
}

fn read(parser: Parser, text: &str) -> String {
    summary(&parse(parser, text, &[]))
}

// EP-19
#[test]
fn pytest_tests_are_read_from_the_summary_alone() {
    assert_snapshot!(read(Parser::Pytest, sample!("pytest-summary.txt")), @r"
    5 collected
    passed tests/test_sums.py::TestGroup::test_inside
    passed tests/test_sums.py::test_adds
    skipped tests/test_sums.py::test_expected_failure
    failed tests/test_sums.py::test_with_fixture
    failed tests/test_sums.py::test_words[a - b]
    passed tests/test_sums.py::test_words[c]
    ");
}

#[test]
fn pytest_tests_are_read_from_verbose_lines() {
    // Only these lines name skipped tests.
    let verbose = read(Parser::Pytest, sample!("pytest-verbose.txt"));
    assert_eq!(
        verbose.replace("skipped tests/test_sums.py::test_skipped\n", ""),
        read(Parser::Pytest, sample!("pytest-summary.txt"))
    );
    assert!(verbose.contains("test_skipped"), "{verbose}");
}

// CORE-13
#[test]
fn pytest_without_tests_collects_zero() {
    assert_eq!(read(Parser::Pytest, sample!("pytest-empty.txt")), "0 collected\n");
}

// OT-12
#[test]
fn pytest_names_skipped_tests_in_verbose_lines_only() {
    let text = "test_a.py::test_adds PASSED [ 50%]\ntest_a.py::test_later SKIPPED (why) [100%]\n\n\
                ==== short test summary info ====\nPASSED test_a.py::test_adds\nSKIPPED [1] test_a.py:3: why\n\
                ==== 1 passed, 1 skipped in 0.01s ====\n";
    assert_eq!(
        read(Parser::Pytest, text),
        "1 collected\npassed test_a.py::test_adds\nskipped test_a.py::test_later\n"
    );
}

// EP-19
#[test]
fn nextest_tests_are_read_and_a_pass_in_a_retry_is_flaky() {
    assert_snapshot!(read(Parser::Nextest, sample!("nextest.txt")), @r"
    5 collected
    failed demo bad
    failed demo flaky
    passed demo good
    skipped demo skipped
    failed demo::it aborts
    passed demo::it whole
    ");
    assert_snapshot!(read(Parser::Nextest, sample!("nextest-retries.txt")), @r"
    5 collected
    failed demo bad
    flaky demo flaky
    passed demo good
    skipped demo skipped
    failed demo::it aborts
    passed demo::it whole
    ");
}

// EP-19
#[test]
fn jest_and_vitest_tests_and_failing_files_are_read() {
    let read = |text: &str| summary(&parse(Parser::Jest, "", &[text.to_string()]));
    assert_snapshot!(read(sample!("vitest.json")), @r"
    4 collected
    passed src/a.test.js > sums > adds
    failed src/a.test.js > sums > fails
    flaky src/a.test.js > sums > flaky
    skipped src/a.test.js > sums > later
    failed src/b.test.js
    ");
    assert_snapshot!(read(sample!("jest.json")), @r"
    4 collected
    passed a.test.js > sums > adds
    failed a.test.js > sums > fails
    flaky a.test.js > sums > flaky
    skipped a.test.js > sums > later
    skipped a.test.js > sums > more
    failed b.test.js
    ");
    assert_eq!(parse(Parser::Jest, "", &[]).collected, None);
}

#[test]
fn go_tests_and_failing_packages_are_read() {
    let report = parse(Parser::Go, sample!("go-test.json"), &[]);
    assert_snapshot!(summary(&report), @r"
    5 collected
    passed example.test/demo.TestAdds
    skipped example.test/demo.TestLater
    failed example.test/demo.TestTable
    failed example.test/demo.TestTable/bad
    passed example.test/demo.TestTable/good
    failed example.test/demo/sub
    ");
    let readable = report.readable.expect("text for people");
    assert!(readable.contains("    sums_test.go:13: got 4\n--- FAIL: TestTable/bad"), "{readable}");
}

#[test]
fn node_tap_and_spec_give_the_same_tests() {
    let tap = read(Parser::Node, sample!("node-tap.txt"));
    assert_snapshot!(tap, @r"
    5 collected
    passed adds
    failed fails
    failed group > deeper > bad
    passed group > inside
    skipped later
    passed prints what looks like a result
    skipped to do
    ");
    assert_eq!(read(Parser::Node, sample!("node-spec.txt")), tap);
}

#[test]
fn tap_diagnostics_are_ignored_and_skips_are_read() {
    assert_snapshot!(read(Parser::Tap, sample!("tap-13.txt")), @r"
    5 collected
    passed 6
    failed Bail out!
    passed issue #12 is closed
    passed opens
    failed reads
    skipped renames
    skipped writes
    ");
    assert_eq!(read(Parser::Tap, "1..0\n"), "0 collected\n");
    assert_eq!(read(Parser::Tap, "nothing of the kind\n"), "unknown collected\n");
}

#[test]
fn a_tap_group_that_fails_although_its_tests_passed_is_a_failed_test() {
    let text =
        "# Subtest: group\n    # Subtest: inside\n    ok 1 - inside\n    1..1\nnot ok 1 - group\n1..1\n";
    assert_eq!(read(Parser::Tap, text), "2 collected\nfailed group\npassed group > inside\n");
}

#[test]
fn junit_reads_surefire_and_ctest() {
    let reports = [sample!("junit-surefire.xml").to_string(), sample!("junit-ctest.xml").to_string()];
    assert_snapshot!(summary(&parse(Parser::Junit, "", &reports)), @r"
    6 collected
    failed bad
    passed demo.SumsTest.adds
    failed demo.SumsTest.breaks
    failed demo.SumsTest.fails
    flaky demo.SumsTest.flickers
    skipped demo.SumsTest.later
    passed good
    skipped later
    ");
    assert_eq!(summary(&parse(Parser::Junit, "", &[])), "unknown collected\n");
    assert_eq!(summary(&parse(Parser::Junit, "", &["<testsuite".to_string()])), "unknown collected\n");
}

#[test]
fn libtest_names_include_the_binary_and_ignored_tests_are_skipped() {
    let text = "\
   Compiling demo v0.1.0 (/work)
     Running unittests src/lib.rs (target/debug/deps/demo-0a1b2c3d4e5f6071)

running 4 tests
test tests::adds ... ok
test tests::fails ... FAILED
test tests::later ... ignored, too slow
test tests::panics - should panic ... ok

failures:

---- tests::fails stdout ----
test tests::never_there ... ok
thread 'tests::fails' panicked at src/lib.rs:9:9:

failures:
    tests::fails

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/whole.rs (/elsewhere/debug/deps/whole-00ff)

running 1 test
test tests::adds ... it says something
ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests demo

running 2 tests
test src/lib.rs - add (line 3) ... ok
test src/lib.rs - add (line 12) - compile ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.30s
";
    assert_snapshot!(read(Parser::Cargo, text), @r"
    6 collected
    passed demo doc src/lib.rs - add
    passed demo doc src/lib.rs - add - compile
    passed demo src/lib.rs tests::adds
    failed demo src/lib.rs tests::fails
    skipped demo src/lib.rs tests::later
    passed demo src/lib.rs tests::panics
    passed whole tests/whole.rs tests::adds
    ");
}

// CORE-06
#[test]
fn a_test_that_is_listed_as_both_passed_and_failed_counts_as_failed() {
    let text = "running 2 tests\ntest a ... ok\ntest a ... FAILED\n";
    assert_eq!(read(Parser::Cargo, text), "unknown collected\nfailed a\n");
}

#[test]
fn unittest_lines_are_read_in_all_their_forms() {
    let text = "\
test_adds (test_sums.Sums.test_adds) ... ok
test_titled (test_sums.Sums.test_titled)
A sentence about it. ... ok
test_lies (test_sums.Sums.test_lies) ... ok
FAIL
test_later (test_sums.Sums.test_later) ... skipped 'later'
test_known (test_sums.Sums.test_known) ... expected failure
test_odd (test_sums.Sums.test_odd) ... unexpected success
test_old (test_sums.Sums) ... ok
test_parts (test_sums.Sums.test_parts) ... 
  test_parts (test_sums.Sums.test_parts) (i=1) ... FAIL
test_gone (unittest.loader._FailedTest.test_gone) ... ERROR

======================================================================
ERROR: test_gone (unittest.loader._FailedTest.test_gone)
----------------------------------------------------------------------
ImportError: Failed to import test module: test_gone

======================================================================
FAIL: test_lies (test_sums.Sums.test_lies)
----------------------------------------------------------------------
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 9 tests in 0.001s

FAILED (failures=2, errors=1, skipped=1, expected failures=1, unexpected successes=1)
";
    assert_snapshot!(read(Parser::Unittest, text), @r"
    7 collected
    passed test_sums.Sums.test_adds
    skipped test_sums.Sums.test_known
    skipped test_sums.Sums.test_later
    failed test_sums.Sums.test_lies
    failed test_sums.Sums.test_odd
    passed test_sums.Sums.test_old
    failed test_sums.Sums.test_parts
    passed test_sums.Sums.test_titled
    failed unittest.loader._FailedTest.test_gone
    ");
}

#[test]
fn truncated_output_is_read_as_far_as_it_goes() {
    let samples = [
        sample!("pytest-summary.txt"),
        sample!("go-test.json"),
        sample!("node-tap.txt"),
        sample!("node-spec.txt"),
        sample!("tap-13.txt"),
        sample!("junit-surefire.xml"),
    ];
    for text in samples {
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(7).collect();
        for (parser, end) in
            Parser::ALL.into_iter().flat_map(|parser| ends.iter().map(move |end| (parser, *end)))
        {
            let report = parse(parser, &text[..end], &[text[..end].to_string()]);
            assert!(report.tests.windows(2).all(|pair| pair[0].name < pair[1].name));
        }
    }
}
