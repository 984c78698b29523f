//! A run on an issue of a Rust crate, with tests and code in one file.

use super::rework::diagnosis;
use crate::issue_script::{
    arguments, made, on_branch, one_task, operation_results, place, reviewed, split, task, tested,
};
use crate::place::{Place, shown, with_rust};
use crate::rehearsed::role;
use serde_json::{Value, json};

const LIB: &str = "pub fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }
}
";

const STUB: &str = "\npub fn sub(a: i64, b: i64) -> i64 {\n    todo!()\n}\n";

/// The tracker, and a crate with one file.
fn crate_place() -> Place {
    let place = place();
    place.git(&["rm", "-rq", "sums", "tests", "pyproject.toml"]);
    place.write("Cargo.toml", "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    place.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"sums\"\nversion = \"0.1.0\"\n");
    place.write(".gitignore", "target/\n");
    place.write("src/lib.rs", LIB);
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "A crate"]);
    place
}

/// The same result with the paths of the only file.
fn in_only_file(said: Value) -> Value {
    let text =
        said.to_string().replace("sums/sub.py", "src/lib.rs").replace("tests/test_sub.py", "src/lib.rs");
    serde_json::from_str(&text.replace("test_subtracts", "subtracts")).expect("JSON")
}

/// A command that replaces text in the file, and fails if the text is missing.
fn edit_command(from: &str, to: &str) -> String {
    format!("grep -qF '{from}' src/lib.rs && sed -i 's/{from}/{to}/' src/lib.rs")
}

// OT-05 OT-12 OT-13 OT-15 OT-16
#[test]
fn tests_next_to_the_code_are_red_without_the_code_that_make_wrote_in_the_same_file() {
    let place = crate_place();
    let with_stub = LIB.replacen("}\n", &format!("}}\n{STUB}"), 1);
    let new =
        "mod tests {\\n    #[test]\\n    fn subtracts() {\\n        assert_eq!(sub(3, 2), 2);\\n    }\\n";
    let mut only = task("task-1", "Subtract", &["src/lib.rs"], &[], &["AC-1"]);
    only["signatures"] = json!(["pub fn sub(a: i64, b: i64) -> i64"]);
    let given_up = json!({
        "verdict": "incomplete", "hypothesis": "The test cannot be right.",
        "changes": [{"file": "src/lib.rs", "what": "sub"}],
    });
    let script = one_task()
        .with(role("plan/split").says(split(&[only], true)))
        .with(
            role("make/stubs").writes("src/lib.rs", &with_stub).says(in_only_file(made("Signatures only."))),
        )
        .with(
            role("test")
                .round(1)
                .runs(&edit_command("mod tests {", new))
                .says(in_only_file(tested("ready", "stub"))),
        )
        .with(role("make").round(1).runs(&edit_command("todo!()", "2 + a - a + b - b")).says(given_up))
        .with(role("check/diagnosis").says(in_only_file(diagnosis("test-design", "test"))))
        .with(role("check/code").says(in_only_file(reviewed("acceptable", &[]))))
        .with(
            role("test")
                .round(2)
                .runs(&edit_command("sub(3, 2), 2", "sub(3, 2), 1"))
                .says(in_only_file(tested("ready", "stub"))),
        )
        .with(
            role("make")
                .round(2)
                .runs(&edit_command("todo!()", "a - b"))
                .says(in_only_file(made("Subtract."))),
        );
    let words = arguments(&place, "ABC-1", &script);
    let mut command = place.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    with_rust(&mut command);
    let shown = shown(command);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(operation_results(&place, "red"), ["red", "red"]);
    assert_eq!(operation_results(&place, "entry"), ["ready", "ready"]);
    let code = on_branch(&place, "src/lib.rs");
    assert!(code.contains("    a - b\n") && code.contains("assert_eq!(sub(3, 2), 1);"), "{code}");
    assert!(!code.contains("todo!()") && !code.contains("2 + a"), "{code}");
}
