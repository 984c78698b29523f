#![allow(clippy::unwrap_used)]

use super::*;
use crate::action::CheckAction;
use crate::integrity::Announced;
use crate::red::BaseFile;
use crate::result::CheckEnd;
use crate::sides::{BaseSources, ChangedFile, FileVersion, Half, Sides};
use crate::spec::CheckSpec;
use remand_kernel::change::TestResult;
use remand_kernel::evidence::Tier;
use std::path::Path;

struct Base(Vec<BaseFile>);

impl BaseSources for Base {
    fn text(&self, path: &str) -> Option<String> {
        self.0.iter().find(|file| file.path == path).map(|file| file.text.clone())
    }

    fn code(&self) -> Vec<BaseFile> {
        self.0.iter().filter(|file| file.path.ends_with(".py")).cloned().collect()
    }
}

fn result(ends: &[(&str, TestEnd)], output: &str) -> CheckResult {
    let failed = ends.iter().any(|(_, end)| *end != TestEnd::Passed);
    let end = if failed { CheckEnd::Failed } else { CheckEnd::Passed };
    CheckResult {
        exit_code: Some(i32::from(failed)),
        tests: ends.iter().map(|(name, end)| TestResult { name: name.to_string(), end: *end }).collect(),
        output: output.as_bytes().to_vec(),
        ..CheckResult::of_engine("pytest", Some(Tier::Two), end, String::new())
    }
}

const FEE: &str = "def fee(weight):\n    return 5\n";
const TESTS: &str = "from fee import fee\n\nHEAVY = 8\n\ndef test_light_parcel():\n    assert fee(1) == 5\n\ndef test_heavy():\n    assert fee(30) == HEAVY\n";
const LIGHT: &str = "tests/test_fee.py::test_light_parcel";
const HEAVY: &str = "tests/test_fee.py::test_heavy";

/// The sides of a change of `fee.py` and of its tests.
fn change(code: &str, tests: &str) -> (Sides, Base) {
    let base = Base(
        [("fee.py", FEE), ("tests/test_fee.py", TESTS)]
            .map(|(path, text)| BaseFile { path: path.to_string(), text: text.to_string() })
            .to_vec(),
    );
    let file = |path: &str, before: &str, after: &str| ChangedFile {
        path: path.to_string(),
        base: FileVersion::Text(before.to_string()),
        head: FileVersion::Text(after.to_string()),
    };
    let spec = CheckSpec::new("pytest", Tier::Two, CheckAction::argv(&["pytest"])).parsed_by(Parser::Pytest);
    let changed = vec![file("fee.py", FEE, code), file("tests/test_fee.py", TESTS, tests)];
    (Sides::find(changed, &[spec], &base), base)
}

/// Why a test that fails as it was is released.
fn why(
    words: &str,
    announced: &[&str],
    (code, tests): (&str, &str),
    (name, message): (&str, &str),
) -> Option<String> {
    let (sides, base) = change(code, tests);
    let names = GoneNames::find(&sides, words);
    let now = result(&[(name, TestEnd::Failed)], &format!("FAILED {name} - {message}\n"));
    let head = result(&[(LIGHT, TestEnd::Passed), (HEAVY, TestEnd::Passed)], "");
    let announced = Announced {
        tests: announced.iter().map(|name| name.to_string()).collect(),
        request: words.to_string(),
        words: words.to_string(),
        ..Announced::default()
    };
    let broken = broken(&BTreeSet::from([name.to_string()]), Parser::Pytest, &now, &head);
    let release = Release {
        announced: &announced,
        words,
        names: &names,
        sides: &sides,
        code: &base.code(),
        parser: Parser::Pytest,
        head: &head,
        now: &now,
    };
    assert_eq!(broken.len(), 1);
    release.why(&broken[0])
}

// TE-01
#[test]
fn what_passed_must_pass_and_what_failed_only_if_it_must_now() {
    let base = [result(&[("a", TestEnd::Passed), ("b", TestEnd::Failed), ("c", TestEnd::Flaky)], "")];
    let names = |must_pass: &[&str]| -> Vec<String> {
        let must_pass = must_pass.iter().map(|name| name.to_string()).collect();
        expected("pytest", &base, &must_pass).into_iter().collect()
    };
    assert_eq!(names(&[]), ["a"]);
    assert_eq!(names(&["b", "c"]), ["a", "b"]);
    assert!(expected("other", &base, &BTreeSet::new()).is_empty());
}

// TE-01
#[test]
fn a_test_that_fails_or_is_gone_is_named_with_what_the_runner_says() {
    let expected = ["a", "b", "c", "d"].map(str::to_string).into();
    let now = result(
        &[("a", TestEnd::Failed), ("b", TestEnd::Skipped), ("d", TestEnd::Flaky)],
        "FAILED a - assert 1 == 2\n",
    );
    let head = result(&[], "");
    let clauses: Vec<String> =
        broken(&expected, Parser::Pytest, &now, &head).iter().map(BrokenTest::clause).collect();
    assert_eq!(
        clauses,
        [
            "`a` as it was fails on the new code: assert 1 == 2",
            "`b` as it was is skipped on the new code",
            "`c` as it was no longer runs with the new code",
        ]
    );
    let head = CheckResult { listing: TestListing::Members, ..head };
    assert_eq!(broken(&expected, Parser::Pytest, &now, &head).len(), 2, "`c` may belong to another member");
}

// TE-01
#[test]
fn a_new_value_is_released_only_by_words_that_name_it_and_what_it_is_about() {
    let (code, tests) = (FEE.replace('5', "6"), TESTS.replace("== 5", "== 6"));
    let released = |words: &str| why(words, &[], (&code, &tests), (LIGHT, "assert 6 == 5")).is_some();
    for words in [
        "A light parcel costs 6",
        "The fee is 6 instead of 5",
        "fee(1) must be 6",
        "Rewrite test_light_parcel",
    ] {
        assert!(released(words), "{words}");
    }
    for words in
        ["Fix fee for heavy parcels", "fee must return 6 for 40", "Fix fee", "A light parcel costs 60"]
    {
        assert!(!released(words), "{words}");
    }
    let more = TESTS.replace("assert fee(1) == 5", "assert fee(1) == 6 or True");
    assert_eq!(why("A light parcel costs 6", &[], (&code, &more), (LIGHT, "assert 6 == 5")), None);
    let listed = why("", &["test_light_parcel"], (&code, &tests), (LIGHT, "assert 6 == 5"));
    assert_eq!(listed.as_deref(), Some("it is released by name"));
}

// TE-01
#[test]
fn a_new_value_is_released_with_a_new_name_of_its_test() {
    let (code, tests) =
        (FEE.replace('5', "6"), TESTS.replace("== 5", "== 6").replace("light_parcel", "small_parcel"));
    let (sides, base) = change(&code, &tests);
    let words = "A light parcel costs 6";
    let failed = |tests: &[(&str, TestEnd)]| result(tests, &format!("FAILED {LIGHT} - assert 6 == 5\n"));
    let now = failed(&[(LIGHT, TestEnd::Failed)]);
    let why = |new_name: &str| {
        let head = result(&[(new_name, TestEnd::Passed)], "");
        let broken = broken(&BTreeSet::from([LIGHT.to_string()]), Parser::Pytest, &now, &head);
        let release = Release {
            announced: &Announced::default(),
            words,
            names: &GoneNames::find(&sides, words),
            sides: &sides,
            code: &base.code(),
            parser: Parser::Pytest,
            head: &head,
            now: &now,
        };
        release.why(&broken[0])
    };
    assert_eq!(
        why("tests/test_fee.py::test_small_parcel").as_deref(),
        Some("the request names the new value `6`")
    );
    assert_eq!(why("tests/test_fee.py::test_other"), None, "the renamed test does not pass");
}

// TE-01
#[test]
fn a_request_to_remove_a_file_releases_the_tests_of_its_code() {
    let file = |path: &str, text: &str| ChangedFile {
        path: path.to_string(),
        base: FileVersion::Text(text.to_string()),
        head: FileVersion::Absent,
    };
    let sides = Sides::find(vec![file("app/prices.py", FEE)], &[], &Base(Vec::new()));
    let why = |words: &str| {
        GoneNames::find(&sides, words).why_released(&BTreeSet::from(["fee".to_string()]), words)
    };
    assert!(why("Remove app/prices.py") == Some("the request asks to remove `app/prices.py`".to_string()));
    assert!(why("Nobody needs it: delete app/prices.py").is_some());
    assert_eq!(why("Delete prices.py"), None, "other files may have that name");
    assert_eq!(why("Make app/prices.py faster"), None);
    let both = vec![file("app/prices.py", FEE), file("core/prices.py", FEE)];
    let sides = Sides::find(both, &[], &Base(Vec::new()));
    let words = "Remove app/prices.py";
    let uses = BTreeSet::from(["fee".to_string()]);
    assert_eq!(GoneNames::find(&sides, words).why_released(&uses, words), None, "core/prices.py has it too");
}

// TE-01
#[test]
fn a_value_in_a_constant_is_released_like_one_in_the_test() {
    let (code, tests) = (FEE.replace('5', "9"), TESTS.replace("HEAVY = 8", "HEAVY = 9"));
    let of = |words: &str| why(words, &[], (&code, &tests), (HEAVY, "assert 9 == 8"));
    assert_eq!(of("30 kg cost 9").as_deref(), Some("the request names the new value `9`"));
    assert_eq!(of("Fix the fee of 30 kg"), None);
}

// TE-01
#[test]
fn removed_code_and_new_parameters_release_tests_that_cannot_call_them() {
    let gone = ("def cost(weight):\n    return 5\n", TESTS);
    let error = (LIGHT, "NameError: name 'fee' is not defined");
    assert!(why("Remove fee", &[], gone, error).is_some());
    assert_eq!(why("Fix fee", &[], gone, error), None);
    assert_eq!(why("Remove fee", &[], gone, (LIGHT, "assert 6 == 5")), None, "an assertion is about a value");
    let wider = ("def fee(weight, express):\n    return 5\n", TESTS);
    let error = (LIGHT, "TypeError: fee() missing 1 required positional argument");
    assert!(why("Give fee a parameter express", &[], wider, error).is_some());
    assert_eq!(why("Fix fee", &[], wider, error), None);
}

// TE-01
#[test]
fn a_renaming_that_the_request_names_is_applied_to_the_old_tests() {
    let of = |words: &str| {
        let (sides, _) = change("def cost(weight):\n    return 5\n", &TESTS.replace("fee(", "cost("));
        let names = GoneNames::find(&sides, words);
        let sides = sides.adapted(|language, text| names.renamed_in(language, text));
        sides.with_tests_of(Half::Base).mixed.get(Path::new("tests/test_fee.py")).cloned()
    };
    let renamed = of("Rename fee to cost").unwrap();
    assert!(renamed.contains("from fee import cost") && renamed.contains("assert cost(1) == 5"), "{renamed}");
    assert_eq!(of("Make fee faster"), None);
}

// TE-01
#[test]
fn data_that_the_request_asks_to_update_counts_in_its_new_version() {
    let base = Base(Vec::new());
    let text = |text: &str| FileVersion::Text(text.to_string());
    let file = ChangedFile { path: "tests/golden/report.txt".to_string(), base: text("a"), head: text("b") };
    let sides = Sides::find(vec![file], &[], &base);
    let accepted = |words: &str, tests: &[&str]| {
        let tests = tests.iter().map(|name| name.to_string()).collect();
        accepted_files(&sides, &Announced { tests, ..Announced::default() }, words).len()
    };
    assert_eq!(accepted("Say EUR and update report.txt", &[]), 1);
    assert_eq!(accepted("Match report.txt", &[]), 0);
    assert_eq!(accepted("", &["tests/golden/"]), 1);
    let sides = sides.clone().accepting(["tests/golden/report.txt".to_string()]);
    assert!(sides.with_tests_of(Half::Base).is_empty());
}
