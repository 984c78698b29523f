//! Another build of Rust tests: without debug assertions and checks of arithmetic. Code that sees whether these are on could do
//! the work for tests only.

use remand_checks::{CheckSpec, Parser};

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

#[cfg(test)]
mod tests {
    use super::*;

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
