use super::*;

const CODE: &str = "UNITS = {\"s\": 1}\n\n\ndef seconds(text):\n    return int(text[:-1]) * UNITS[text[-1]]\n\n\ndef minutes(text):\n    return seconds(text) / 60\n\n\nclass Clock:\n    def tick(self):\n        return 1\n";
const TESTS: &str = "import unittest\nfrom clocks.duration import seconds, minutes\n\n\ndef check(text, value):\n    assert seconds(text) == value\n\n\nclass DurationTest(unittest.TestCase):\n    def test_units_add_up(self):\n        check(\"1h30m\", 5400)\n\n    def test_a_half_minute_is_rounded(self):\n        self.assertEqual(minutes(\"30s\"), 1)\n\n    def test_add(self):\n        self.assertTrue(True)\n";

fn code() -> Vec<BaseFile> {
    let file = |path: &str, text: &str| BaseFile { path: path.into(), text: text.into() };
    vec![
        file("clocks/duration.py", CODE),
        file("tests/test_duration.py", TESTS),
        file("README.md", "# Clocks\n"),
    ]
}

fn edited(path: &str, before: Option<&str>, after: &str) -> Edited {
    Edited { path: path.into(), before: before.map(Into::into), after: Some(after.into()) }
}

const UNITS: &str = "tests.test_duration.DurationTest.test_units_add_up";
const ROUNDED: &str = "tests.test_duration.DurationTest.test_a_half_minute_is_rounded";

fn ruling_on(test: &str, request: &str, change: Option<&[Edited]>) -> (RedRuling, String) {
    let code = code();
    let context = RedContext {
        request,
        plan: "",
        other_tasks: "",
        code: &code,
        change,
        coverage: NewCoverage::Untested,
    };
    let mut ruled = rule_on_red_tests(&BTreeSet::from([test.to_string()]), &context);
    let RedTest { ruling, why, .. } = ruled.remove(0);
    (ruling, why)
}

/// A change of code that no test uses.
fn elsewhere() -> Vec<Edited> {
    vec![edited("clocks/zone.py", None, "def offset(zone):\n    return 0\n")]
}

// UP-05
#[test]
fn a_red_test_must_pass_if_the_request_names_it_its_file_its_code_a_value_or_the_same_words() {
    let wanted = [
        (UNITS, "Make test_units_add_up pass.", "the request names it"),
        (UNITS, "Look at tests/test_duration.py", "the request names its file tests/test_duration.py"),
        (UNITS, "see `test_duration.py`", "the request names its file tests/test_duration.py"),
        (UNITS, "Something in DurationTest is wrong", "the request names its group `DurationTest`"),
        (UNITS, "`seconds` is wrong for hours", "the request names `seconds`, which the test uses"),
        (UNITS, "seconds must accept hours", "the request names `seconds`, which the test uses"),
        (UNITS, "Read 1h30m as 5400", "the request names `1h30m`, a value of the test"),
        (UNITS, "A unit adds to the one before it", "the request names the same words (units)"),
        (
            ROUNDED,
            "Every half minute must be rounded",
            "the request names the same words (half, minute, rounded)",
        ),
        (ROUNDED, "Round the half of a minute", "the request names the same words (half, minute, rounded)"),
        (ROUNDED, "Fix the failing test.", "the request asks for passing tests"),
        (ROUNDED, "Make all tests pass", "the request asks for passing tests"),
        (ROUNDED, "CI is red", "the request asks for passing tests"),
        (ROUNDED, "Fix the tests", "the request asks for passing tests"),
    ];
    for (test, request, why) in wanted {
        for change in [None, Some(elsewhere())] {
            let ruled = ruling_on(test, request, change.as_deref());
            assert_eq!(ruled, (RedRuling::MustPass, why.to_string()), "{request}");
        }
    }
}

// UP-05
#[test]
fn a_red_test_may_stay_red_if_request_and_change_are_about_something_else() {
    let requests = [
        "Add a function `offset` for time zones",
        "Fix the offset of time zones and add a test",
        "offset must know summer time. Existing tests must still pass.",
        "Add offset to clocks/zone.py, with tests",
    ];
    for request in requests {
        for test in [UNITS, ROUNDED, "tests.test_duration.DurationTest.test_add"] {
            let (ruling, why) = ruling_on(test, request, Some(&elsewhere()));
            assert_eq!(ruling, RedRuling::MayStayRed, "{test}, {request}: {why}");
            assert_eq!(ruling_on(test, request, None).0, RedRuling::MayStayRed, "{request}");
        }
    }
}

// UP-05
#[test]
fn a_red_test_must_pass_if_the_change_touches_it_or_code_that_it_uses() {
    let request = "Time zones with an offset";
    let after = CODE.replace("[:-1])", "[:-1] or 0)");
    let touched = [edited("clocks/duration.py", Some(CODE), &after)];
    let by_helper = "the change touches `seconds`, which the test uses".to_string();
    assert_eq!(ruling_on(UNITS, request, Some(&touched)), (RedRuling::MustPass, by_helper));
    let (ruling, _) = ruling_on(ROUNDED, request, Some(&touched));
    assert_eq!(ruling, RedRuling::Unclear, "another function of the same file is another subject");

    let test = TESTS.replace("5400", "5401");
    let rewritten = [edited("tests/test_duration.py", Some(TESTS), &test)];
    let ruled = ruling_on(UNITS, request, Some(&rewritten));
    assert_eq!(ruled, (RedRuling::MustPass, "the change touches the test".to_string()));
    let added =
        TESTS.replace("    def test_add(", "    def test_zone(self):\n        pass\n\n    def test_add(");
    let beside = [edited("tests/test_duration.py", Some(TESTS), &added)];
    assert_ne!(ruling_on(UNITS, request, Some(&beside)).0, RedRuling::MustPass, "a new test next to it");
}

// UP-05
#[test]
fn a_change_without_code_excuses_no_red_test_unless_documents_were_asked_for() {
    let comment = CODE.replace("def seconds", "# Works.\ndef seconds");
    let lies = [
        vec![edited("clocks/duration.py", Some(CODE), &comment)],
        vec![edited("README.md", Some("# Clocks\n"), "# Clocks\n\nThey work.\n")],
        Vec::new(),
    ];
    for change in &lies {
        let (ruling, why) = ruling_on(UNITS, "Time should be understood in every form", Some(change));
        assert_eq!(ruling, RedRuling::MustPass, "{why}");
    }
    for request in ["Translate README.md", "Correct the typo in the title", "Say more in the README"] {
        assert_eq!(ruling_on(UNITS, request, Some(&lies[1])).0, RedRuling::MayStayRed, "{request}");
    }
}

// UP-05
#[test]
fn a_task_leaves_the_red_test_of_another_task_and_new_tests_show_what_a_change_is_about() {
    let code = code();
    let after = CODE.replace("[:-1])", "[:-1] or 0)");
    let touched = [edited("clocks/duration.py", Some(CODE), &after)];
    let tests = BTreeSet::from([UNITS.to_string()]);
    let mut context = RedContext {
        request: "",
        plan: "Prepare the parser",
        other_tasks: "seconds adds its units",
        code: &code,
        change: Some(&touched),
        coverage: NewCoverage::Untested,
    };
    assert_eq!(rule_on_red_tests(&tests, &context)[0].ruling, RedRuling::MayStayRed);
    context.plan = "test_units_add_up must pass";
    assert_eq!(rule_on_red_tests(&tests, &context)[0].ruling, RedRuling::MustPass);

    let elsewhere = elsewhere();
    let mut context = RedContext { change: Some(&elsewhere), plan: "Zones", other_tasks: "", ..context };
    assert_eq!(rule_on_red_tests(&tests, &context)[0].ruling, RedRuling::Unclear);
    context.coverage = NewCoverage::Tested;
    assert_eq!(rule_on_red_tests(&tests, &context)[0].ruling, RedRuling::MayStayRed);
}

// UP-05
#[test]
fn tests_are_found_by_the_names_of_their_runners() {
    let file = |path: &str, text: &str| BaseFile { path: path.into(), text: text.into() };
    let code = [
        file(
            "src/lib.rs",
            "pub fn slug(t: &str) -> String {\n    t.into()\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn a_run_becomes_one() {\n        assert_eq!(slug(\"a  b\"), \"a-b\");\n    }\n}\n",
        ),
        file("src/lru.js", "export class Lru {\n  get(key) {\n    return key;\n  }\n}\n"),
        file(
            "test/lru.test.js",
            "import { Lru } from \"../src/lru.js\";\ntest(\"reading an entry keeps it\", () => {\n  const cache = new Lru(2);\n  assert.equal(cache.get(\"a\"), 1);\n});\n",
        ),
        file("sum.go", "package sum\n\nfunc Sum(a int) int {\n\treturn a\n}\n"),
        file(
            "sum_test.go",
            "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tt.Run(\"zero\", func(t *testing.T) {\n\t\tif Sum(0) != 0 {\n\t\t\tt.Fatal()\n\t\t}\n\t})\n}\n",
        ),
        file("tests/test_x.py", "from x import broken\n\n\ndef test_y():\n    broken()\n"),
        file("x.py", "def broken():\n    pass\n"),
    ];
    let found = [
        ("textkit tests::a_run_becomes_one", "src/lib.rs", "slug"),
        ("reading an entry keeps it", "test/lru.test.js", "Lru"),
        ("lru > reading an entry keeps it", "test/lru.test.js", "get"),
        ("example.com/sum.TestSum/zero", "sum_test.go", "Sum"),
        ("tests/test_x.py::test_y[1-2]", "tests/test_x.py", "broken"),
        ("tests/test_x.py", "tests/test_x.py", "broken"),
        ("unittest.loader._FailedTest.tests.test_x", "tests/test_x.py", "broken"),
    ];
    for (name, path, used) in found {
        let subject = TestSubject::find(name, &code);
        assert_eq!(subject.files, [path], "{name}");
        assert!(subject.subjects.contains(used), "{name}: {subject:?}");
    }
    assert!(!TestSubject::find("nobody_knows_this", &code).is_found);
}
