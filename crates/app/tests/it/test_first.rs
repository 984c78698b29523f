//! Tests first: stubs without logic, tests that fail for lack of the behaviour, and code that keeps the signatures.

use crate::place::{Place, Shown};
use crate::programs::desk::tools;
use crate::rehearsed::{Entry, REQUEST, SUB, Script, plan, role, task};
use serde_json::{Value, json};

const WORKFLOW: &str = include_str!("test_first.yaml");
const STUB: &str = "def sub(a, b):\n    raise NotImplementedError\n";

fn test(body: &str) -> String {
    format!(
        "import unittest\n\nfrom sums import sub as module\n\n\nclass SubTest(unittest.TestCase):\n    \
         def test_subtracts(self):\n        {body}\n"
    )
}

fn asserting() -> String {
    test("self.assertEqual(module.sub(3, 2), 1)")
}

fn done(verdict: &str, kind: &str) -> Value {
    json!({
        "verdict": verdict, "hypothesis": "There is no subtraction yet.",
        "changes": [{
            "file": "tests/test_sub.py", "what": "a test",
            "tests": [{"name": "test_subtracts", "criterion": "AC-1", "kind": kind}],
        }],
    })
}

fn made(hypothesis: &str) -> Value {
    json!({
        "verdict": "done", "hypothesis": hypothesis,
        "changes": [{"file": "sums/sub.py", "what": "sub"}],
    })
}

/// All roles on one task; entries that a test adds decide what happens.
fn script(stubs: Stubs) -> Script {
    let files = [("sums/sub.py", "green"), ("sums/add.py", "yellow"), ("tests/test_sub.py", "green")];
    let mut task = task("task-1", &files, &[]);
    task["signatures"] = json!(["def sub(a, b)"]);
    (task["concerns"], task["lines"], task["work"]) = (json!(["subtraction"]), json!(12), json!(["runtime"]));
    task["relevant_context"] = json!([]);
    let mut split = plan(&[task]);
    split["flags"] = json!({"new-symbols": stubs == Stubs::Wanted});
    let made = made("Subtraction is like addition.");
    Script::of([
        role("plan").says(
            json!({"verdict": "done", "title": "Subtraction", "markdown": "# Subtraction\n\nAdd it.\n"}),
        ),
        role("plan/split").says(split),
        role("make/stubs").writes("sums/sub.py", STUB).says(made.clone()),
        role("test")
            .writes("tests/test_sub.py", &asserting())
            .says(done("ready", if stubs == Stubs::Wanted { "stub" } else { "missing behaviour" })),
        role("make").writes("sums/sub.py", SUB).says(made),
    ])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stubs {
    Wanted,
    None,
}

fn run(place: &Place, script: &Script) -> Shown {
    place.write(".remand/workflows/tests-first.yaml", WORKFLOW);
    let agent = format!("rehearsal:{}", place.write_outside("rehearsal.yaml", &script.text()));
    place.remand(&["run", REQUEST, "--workflow", "tests-first", "--agent", &agent])
}

/// The results of the operations of a phase, in order.
fn operation_results(place: &Place, phase: &str) -> Vec<String> {
    let rows = place.reader().operations(&place.latest().run).expect("operations");
    rows.into_iter().filter(|row| row.phase == phase).filter_map(|row| row.result).collect()
}

fn findings(place: &Place) -> String {
    place.remand(&["findings", "--json"]).out
}

// OT-12 OT-13 OT-15
#[test]
fn the_engine_sees_stubs_then_failing_tests_then_code() {
    let place = Place::new();
    let shown = run(&place, &script(Stubs::Wanted));
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(operation_results(&place, "check-stubs"), ["sound"]);
    assert_eq!(operation_results(&place, "red"), ["red"]);
    assert_eq!(operation_results(&place, "entry"), ["ready"]);
    assert_eq!(operation_results(&place, "green"), ["passed"]);
    let branch = place.latest().branch;
    assert_eq!(place.git(&["show", &format!("{branch}:sums/sub.py")]), SUB);
    assert!(place.git(&["show", &format!("{branch}:tests/test_sub.py")]).contains("assertEqual"));
}

// OT-13
#[test]
fn a_stub_with_logic_or_another_signature_is_sent_back() {
    let place = Place::new();
    let wrong = |text: &str, round: u32| -> Entry {
        let made = json!({"verdict": "done", "changes": [{"file": "sums/sub.py", "what": "sub"}]});
        role("make/stubs").round(round).writes("sums/sub.py", text).says(made)
    };
    let shown = run(&place, &script(Stubs::Wanted).with(wrong(SUB, 1)));
    assert_eq!(operation_results(&place, "check-stubs"), ["unsound", "sound"], "{}{}", shown.out, shown.err);
    assert!(findings(&place).contains("the body of `sub` is not a stub"), "{}", findings(&place));

    let place = Place::new();
    let other = "def sub(a, b, c):\n    raise NotImplementedError\n";
    let shown = run(&place, &script(Stubs::Wanted).with(wrong(other, 1)));
    assert_eq!(operation_results(&place, "check-stubs"), ["unsound", "sound"], "{}{}", shown.out, shown.err);
    let found = findings(&place);
    assert!(found.contains("`def sub(a, b, c)` is not among the signatures of the plan"), "{found}");
    assert!(found.contains("`def sub(a, b)`, which the plan names, is missing"), "{found}");
}

// OT-13
#[test]
fn a_test_that_reaches_no_stub_is_rejected() {
    let place = Place::new();
    let structural = role("test").round(1).writes("tests/test_sub.py", &test("self.assertTrue(module.sub)"));
    let elsewhere = role("test").round(2).writes("tests/test_sub.py", &test("self.assertEqual(1, 2)"));
    let script = script(Stubs::Wanted)
        .with(structural.says(done("ready", "stub")))
        .with(elsewhere.says(done("ready", "stub")));
    let shown = run(&place, &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(operation_results(&place, "red"), ["structural-only", "wrong-failure", "red"]);
    assert!(findings(&place).contains("but not at a stub"), "{}", findings(&place));
}

// OT-12
#[test]
fn a_test_that_passes_already_or_is_broken_is_not_red() {
    let place = Place::new();
    let green = role("test").round(1).writes("tests/test_sub.py", "import unittest\n\nfrom sums.add import add\n\n\nclass SubTest(unittest.TestCase):\n    def test_subtracts(self):\n        self.assertEqual(add(1, 1), 2)\n");
    let broken = role("test").round(2).writes("tests/test_sub.py", "import nothing_of_this_name\n");
    let good = role("test").round(3).writes(
        "tests/test_sub.py",
        "import unittest\n\nimport sums.add\n\n\nclass SubTest(unittest.TestCase):\n    def test_subtracts(self):\n        \
         self.assertEqual(sums.add.sub(3, 2), 1)\n",
    );
    let made = json!({"verdict": "done", "changes": [{"file": "sums/sub.py", "what": "sub"}]});
    let script = script(Stubs::None)
        .with(green.says(done("ready", "assertion")))
        .with(broken.says(done("ready", "missing behaviour")))
        .with(good.says(done("ready", "missing behaviour")))
        .with(
            role("make")
                .writes("sums/sub.py", SUB)
                .runs("printf '\\ndef sub(a, b):\\n    return a - b\\n' >> sums/add.py")
                .says(made),
        );
    let shown = run(&place, &script);
    assert_eq!(
        operation_results(&place, "red"),
        ["already-green", "wrong-failure", "red"],
        "{}{}",
        shown.out,
        shown.err
    );
    assert_eq!(operation_results(&place, "entry"), ["ready"]);
}

// OT-12 OT-15
#[test]
fn a_new_test_that_is_skipped_is_neither_red_nor_green() {
    let marked = |mark: &str| {
        asserting().replace("    def test_subtracts", &format!("    {mark}\n    def test_subtracts"))
    };
    let place = Place::new();
    let skipped = role("test").round(1).writes("tests/test_sub.py", &marked("@unittest.skip('later')"));
    let inverted = role("test").round(2).writes("tests/test_sub.py", &marked("@unittest.expectedFailure"));
    let script = script(Stubs::Wanted)
        .with(skipped.says(done("ready", "stub")))
        .with(inverted.says(done("ready", "stub")))
        .with(
            role("make")
                .round(1)
                .writes(
                    "sums/sub.py",
                    &format!(
                        "import unittest\n\n\n{}",
                        STUB.replace("NotImplementedError", "unittest.SkipTest(\"later\")")
                    ),
                )
                .says(made("First.")),
        )
        .with(role("make").round(2).writes("sums/sub.py", SUB).says(made("Second.")));
    let shown = run(&place, &script);
    assert_eq!(
        operation_results(&place, "red"),
        ["wrong-failure", "wrong-failure", "red"],
        "{}{}",
        shown.out,
        shown.err
    );
    assert_eq!(operation_results(&place, "green"), ["failed", "passed"], "{}{}", shown.out, shown.err);
    assert!(findings(&place).contains("is skipped or expected to fail"), "{}", findings(&place));
}

// OT-12 OT-13
#[test]
fn typescript_tests_are_red_according_to_the_report_of_their_runner() {
    if std::env::var("REMAND_TEST_WITHOUT").is_ok_and(|without| without.split(',').any(|name| name == "npm"))
    {
        eprintln!("NOT TESTED: vitest, since REMAND_TEST_WITHOUT names npm");
        return;
    }
    let modules = tools().join("npm/node_modules");
    assert!(
        modules.is_dir(),
        "vitest is missing: `tools/toolchains` installs it; REMAND_TEST_WITHOUT=npm goes without"
    );
    let place = Place::new();
    place.git(&["rm", "-q", "-r", "pyproject.toml", "sums", "tests"]);
    place.write(
        "package.json",
        r#"{"name": "sums", "type": "module", "scripts": {"test": "vitest --globals"}}"#,
    );
    place.write(".gitignore", "node_modules\n");
    place.write("src/add.ts", "export function add(a: number, b: number): number {\n  return a + b;\n}\n");
    place.write(
        "test/add.test.ts",
        "import { add } from '../src/add';\n\ntest('adds', () => expect(add(1, 2)).toBe(3));\n",
    );
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "TypeScript"]);
    std::os::unix::fs::symlink(modules, place.project().join("node_modules")).expect("a link");

    let code = |body: &str| format!("export function sub(a: number, b: number): number {{\n  {body}\n}}\n");
    let test = |title: &str, body: &str| {
        format!("import {{ sub }} from '../src/sub';\n\n{title}('subtracts', () => {{\n  {body}\n}});\n")
    };
    let writing = |round: u32, text: &str| {
        role("test").round(round).writes("test/sub.test.ts", text).says(json!({
            "verdict": "ready", "hypothesis": "There is no subtraction yet.",
            "changes": [{
                "file": "test/sub.test.ts", "what": "a test",
                "tests": [{"name": "subtracts", "criterion": "AC-1", "kind": "stub"}],
            }],
        }))
    };
    let made = json!({
        "verdict": "done", "hypothesis": "Subtraction is like addition.",
        "changes": [{"file": "src/sub.ts", "what": "sub"}],
    });
    let mut task = task("task-1", &[("src/sub.ts", "green"), ("test/sub.test.ts", "green")], &[]);
    task["signatures"] = json!(["export function sub(a: number, b: number): number"]);
    (task["concerns"], task["lines"], task["work"]) = (json!(["subtraction"]), json!(12), json!(["runtime"]));
    task["relevant_context"] = json!([]);
    let mut split = plan(&[task]);
    split["flags"] = json!({"new-symbols": true});
    let script = Script::of([
        role("plan").says(
            json!({"verdict": "done", "title": "Subtraction", "markdown": "# Subtraction\n\nAdd it.\n"}),
        ),
        role("plan/split").says(split),
        role("make/stubs")
            .writes("src/sub.ts", &code("throw new Error(\"not implemented\");"))
            .says(made.clone()),
        writing(1, &test("test.skip", "expect(sub(3, 2)).toBe(1);")),
        writing(2, &test("test", "expect(1).toBe(2);")),
        writing(3, &test("test", "expect(sub(3, 2)).toBe(1);")),
        role("make").writes("src/sub.ts", &code("return a - b;")).says(made),
    ]);
    let shown = run(&place, &script);
    assert_eq!(
        operation_results(&place, "red"),
        ["wrong-failure", "wrong-failure", "red"],
        "{}{}",
        shown.out,
        shown.err
    );
    let found = findings(&place);
    assert!(found.contains("is skipped or expected to fail"), "{found}");
    assert!(found.contains("fails (assertion), but not at a stub"), "{found}");
    assert_eq!(operation_results(&place, "entry"), ["ready"]);
    assert_eq!(operation_results(&place, "green"), ["passed"], "{}{}", shown.out, shown.err);
}

// OT-15
#[test]
fn tests_that_fail_differently_than_at_handover_or_break_others_are_unfit() {
    let place = Place::new();
    let shown = run(
        &place,
        &script(Stubs::Wanted)
            .with(role("test").writes("tests/test_sub.py", &asserting()).says(done("ready", "assertion"))),
    );
    assert_eq!(operation_results(&place, "entry"), ["unfit"], "{}{}", shown.out, shown.err);
    assert!(
        findings(&place).contains("should fail by assertion according to its author"),
        "{}",
        findings(&place)
    );

    let place = Place::new();
    let breaking = role("test")
        .writes("tests/test_sub.py", &asserting())
        .writes("tests/test_add.py", "import unittest\n\nfrom sums.add import add\n\n\nclass AddTest(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(1, 2), 4)\n");
    let shown = run(&place, &script(Stubs::Wanted).with(breaking.says(done("ready", "stub"))));
    assert_eq!(operation_results(&place, "entry"), ["unfit"], "{}{}", shown.out, shown.err);
    assert!(findings(&place).contains("passed at the base and does not pass now"), "{}", findings(&place));
}

// OT-13
#[test]
fn a_signature_that_changes_after_the_stubs_fails_the_gate() {
    let place = Place::new();
    let made = |round: u32, text: &str| {
        let made = json!({
            "verdict": "done", "hypothesis": format!("Try {round}."),
            "changes": [{"file": "sums/sub.py", "what": "sub"}],
        });
        role("make").round(round).writes("sums/sub.py", text).says(made)
    };
    let script = script(Stubs::Wanted).with(made(1, "def sub(a, b, c=0):\n    return a - b - c\n"));
    let shown = run(&place, &script);
    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    assert_eq!(operation_results(&place, "green"), ["failed", "passed"]);
    let found = findings(&place);
    assert!(found.contains("as `def sub(a, b)`, and it is `def sub(a, b, c=0)` now"), "{found}");
}
