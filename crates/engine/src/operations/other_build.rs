//! Another build of Rust tests: without debug assertions and checks of arithmetic. Code that sees whether these are on could do
//! the work for tests only.

use remand_checks::{BaseFile, CheckEnd, CheckResult, CheckSpec, Parser, TestInQuestion};
use remand_kernel::change::TestEnd;
use remand_source::{Language, ParsedSource};
use std::path::Path;

/// What shows code whether the build checks anything: a failed check can be caught, and an assertion has effects.
const SEES: [&str; 8] = [
    "catch_unwind",
    "debug_assert",
    "panicking",
    ".join()",
    "set_hook",
    "impl Drop",
    "extern \"",
    "overflow",
];

/// Why a test proves nothing that passes only in the ordinary build.
pub const FAILS_IN_OTHER_BUILD: &str = "it fails in a build without debug assertions and overflow checks";

/// Whether a change of Rust code may see the checks of the build.
pub fn may_see_checks(before: &str, after: &str) -> bool {
    SEES.iter().any(|word| after.matches(word).count() > before.matches(word).count())
}

/// The check with the other build; `None` if cargo does not build its tests.
pub fn in_other_build(spec: &CheckSpec) -> Option<CheckSpec> {
    if !matches!(spec.parser, Parser::Cargo | Parser::Nextest) {
        return None;
    }
    let mut spec = spec.clone();
    for profile in ["DEV", "TEST"] {
        for check in ["DEBUG_ASSERTIONS", "OVERFLOW_CHECKS"] {
            spec.environment.insert(format!("CARGO_PROFILE_{profile}_{check}"), "false".to_string());
        }
    }
    Some(spec)
}

/// Whether a test, as the runner names it, expects a panic in the code before the change: checks of the build may be what it
/// is about.
pub fn expects_panic(test: &str, code: &[BaseFile]) -> bool {
    let is_named = |path: &str| {
        test.strip_suffix(path)
            .is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    code.iter().filter(|file| file.text.contains("should_panic")).any(|file| {
        let language = Language::of(Path::new(&file.path)).filter(|language| *language == Language::Rust);
        let source = language.and_then(|language| ParsedSource::parse(language, &file.text));
        let tests = source.map(|source| source.tests()).unwrap_or_default();
        tests.iter().any(|test| !test.inverted.is_empty() && is_named(&test.full_name()))
    })
}

/// The tests that did not pass, in their own check. A cancelled check shows nothing.
pub fn not_passing<'t>(tests: Vec<&'t TestInQuestion>, results: &[CheckResult]) -> Vec<&'t TestInQuestion> {
    let fails = |test: &&TestInQuestion| {
        let Some(result) = results.iter().find(|result| result.name == test.check) else { return true };
        let is_passed = |end: TestEnd| matches!(end, TestEnd::Passed | TestEnd::Flaky);
        result.end != CheckEnd::Cancelled
            && !result.tests.iter().any(|now| now.name == test.name && is_passed(now.end))
    };
    tests.into_iter().filter(fails).collect()
}

/// Whether a check lists any test, so that its code was built.
pub fn has_tests(check: &str, results: &[CheckResult]) -> bool {
    results.iter().any(|result| result.name == check && !result.tests.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use remand_kernel::change::TestResult;
    use remand_ledger::proof::TestOrigin;
    use std::collections::BTreeSet;

    fn fixed(check: &str, name: &str) -> TestInQuestion {
        TestInQuestion {
            check: check.to_string(),
            name: name.to_string(),
            origin: TestOrigin::Fixed,
            uses: BTreeSet::new(),
            is_green_at_base: false,
        }
    }

    fn result(check: &str, end: CheckEnd, tests: &[(&str, TestEnd)]) -> CheckResult {
        let mut result = CheckResult::of_engine(check, None, end, String::new());
        result.tests =
            tests.iter().map(|(name, end)| TestResult { name: name.to_string(), end: *end }).collect();
        result
    }

    // TE-06
    #[test]
    fn a_test_must_pass_in_the_other_build_and_not_only_not_fail() {
        let test = fixed("unit", "tests::a");
        let judged = |results: &[CheckResult]| not_passing(vec![&test], results).len();
        assert_eq!(judged(&[result("unit", CheckEnd::Passed, &[("tests::a", TestEnd::Passed)])]), 0);
        assert_eq!(judged(&[result("unit", CheckEnd::Failed, &[("tests::a", TestEnd::Failed)])]), 1);
        assert_eq!(judged(&[result("unit", CheckEnd::Failed, &[])]), 1, "it was not built");
        assert_eq!(judged(&[result("unit", CheckEnd::TimedOut, &[])]), 1);
        assert_eq!(judged(&[result("unit", CheckEnd::Passed, &[("tests::b", TestEnd::Passed)])]), 1);
        assert_eq!(judged(&[result("unit", CheckEnd::Cancelled, &[])]), 0);
        assert_eq!(judged(&[result("unit", CheckEnd::Environment, &[])]), 1);
        let other = result("other", CheckEnd::Failed, &[("tests::a", TestEnd::Failed)]);
        let own = result("unit", CheckEnd::Passed, &[("tests::a", TestEnd::Passed)]);
        assert_eq!(judged(&[other, own]), 0, "another check has a test of that name");
    }

    // TE-06
    #[test]
    fn a_test_that_expects_a_panic_may_be_about_the_checks_of_the_build() {
        let text = "mod tests {\n    #[test]\n    #[should_panic]\n    fn overflows() { add(255, 1); }\n\n    #[test]\n    \
                    fn adds() { assert_eq!(add(1, 1), 2); }\n}\n";
        let code = [BaseFile { path: "src/lib.rs".to_string(), text: text.to_string() }];
        assert!(expects_panic("tests::overflows", &code));
        assert!(expects_panic("sums::tests::overflows", &code));
        assert!(!expects_panic("tests::adds", &code));
        assert!(!expects_panic("more_tests::overflows", &code));
        assert!(!expects_panic("tests::overflows", &[]));
    }

    // TE-06
    #[test]
    fn only_code_that_can_see_a_failed_check_needs_another_build() {
        let before = "fn a(b: u8) -> u8 { b + 1 }\n";
        assert!(!may_see_checks(before, "fn a(b: u8) -> u8 { b.saturating_add(1) }\n"));
        assert!(may_see_checks(
            before,
            "fn a(b: u8) -> u8 { b + std::panic::catch_unwind(c).is_err() as u8 }\n"
        ));
        assert!(may_see_checks(before, "fn a(b: u8) -> u8 { debug_assert!(c()); b }\n"));
        let old = "fn a() { debug_assert!(true); }\n";
        assert!(!may_see_checks(old, &format!("{old}fn b() {{}}\n")), "it was there before");
    }
}
