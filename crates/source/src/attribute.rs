//! Rust attributes that mark tests and test-only items.

/// The last path segments of attributes that make a function a test.
const TEST_ATTRIBUTES: [&str; 6] = ["test", "rstest", "test_case", "case", "wasm_bindgen_test", "quickcheck"];

/// Whether an attribute, without brackets and spaces, makes a function a test.
pub(crate) fn is_test(attribute: &str) -> bool {
    let path = attribute.split(['(', '=']).next().unwrap_or_default();
    TEST_ATTRIBUTES.contains(&path.rsplit("::").next().unwrap_or_default())
}

/// An attribute without brackets and spaces: `ignore` for `#[ignore]`.
pub(crate) fn inner(attribute: &str) -> String {
    let text: String = attribute.split_whitespace().collect();
    text.trim_start_matches(['#', '!']).trim_start_matches('[').trim_end_matches(']').to_string()
}

/// Whether an attribute is a `cfg` that is true only in tests: `test` itself, or `all(…)` with `test` in it.
pub(crate) fn is_test_only(attribute: &str) -> bool {
    let bare: String = unless_commented(attribute).chars().filter(|c| !c.is_whitespace()).collect();
    bare.strip_prefix("#[cfg(").and_then(|rest| rest.strip_suffix(")]")).is_some_and(requires_test)
}

fn requires_test(condition: &str) -> bool {
    if condition == "test" {
        return true;
    }
    let all = condition.strip_prefix("all(").and_then(|rest| rest.strip_suffix(')'));
    all.is_some_and(|parts| split(parts).into_iter().any(requires_test))
}

/// Splits at commas outside parentheses and string literals.
fn split(parts: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted, mut start) = (0_usize, false, 0);
    let mut found = Vec::new();
    for (at, c) in parts.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth = depth.saturating_sub(1),
            ',' if !is_quoted && depth == 0 => {
                found.push(&parts[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&parts[start..]);
    found
}

/// The attribute, or an empty string if it contains a comment; such an attribute is ignored.
fn unless_commented(attribute: &str) -> &str {
    if attribute.contains("//") || attribute.contains("/*") { "" } else { attribute }
}
