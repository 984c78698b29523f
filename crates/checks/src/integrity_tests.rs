#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;

const TEST: &str = "def test_adds():\n    assert add(1, 2) == 3\n";

fn edited(path: &str, before: Option<&str>, after: Option<&str>) -> Edited {
    Edited { path: path.to_string(), before: before.map(str::to_string), after: after.map(str::to_string) }
}

fn before_change(had_tests: HadTests) -> BeforeChange {
    BeforeChange {
        had_tests,
        was_red: true,
        failed: Vec::new(),
        folders: BTreeSet::from([String::new()]),
        files: Vec::new(),
    }
}

fn judged(edited: &[Edited], announced: &Announced) -> (Vec<String>, Vec<String>) {
    let found = integrity(edited, announced, &before_change(HadTests::Yes));
    (found.findings.into_iter().map(|finding| finding.id).collect(), found.notes)
}

// CORE-21
#[test]
fn a_removed_test_is_a_critical_finding_with_its_location() {
    let change = [edited("tests/test_a.py", Some(TEST), None)];
    let found = integrity(&change, &Announced::default(), &before_change(HadTests::Yes));
    let finding = &found.findings[0];
    assert_eq!(
        (finding.id.as_str(), finding.severity),
        ("tests:tests/test_a.py:test_adds", Severity::Critical)
    );
    assert_eq!((finding.place.file.as_str(), finding.place.line), ("tests/test_a.py", 1));
    assert!(
        finding.claim.contains("is removed") && finding.recommendation.contains("removes_tests"),
        "{finding:?}"
    );
}

// CORE-21
#[test]
fn a_test_whose_removal_is_announced_is_a_note() {
    let change = [edited("tests/test_a.py", Some(TEST), Some(""))];
    let plans = ["test_adds", "tests/test_a.py::test_adds", "tests/test_a.py", "tests/"];
    for entry in plans {
        let announced = Announced { tests: vec![entry.to_string()], ..Announced::default() };
        let (findings, notes) = judged(&change, &announced);
        assert_eq!((findings.len(), notes.len()), (0, 1), "{entry}: {findings:?}");
    }
    let request = |text: &str| Announced { request: text.to_string(), ..Announced::default() };
    assert_eq!(judged(&change, &request("Drop the test test_adds, it is obsolete")).0, Vec::<String>::new());
    for other in ["test_add", "tests/test_b.py", "test_adds_more"] {
        let announced =
            Announced { tests: vec![other.to_string()], request: other.to_string(), ..Announced::default() };
        assert_eq!(judged(&change, &announced).0.len(), 1, "{other}");
    }
}

// CORE-21
#[test]
fn a_moved_or_renamed_test_is_a_note_and_listed_as_renamed() {
    let moved = [edited("tests/test_a.py", Some(TEST), None), edited("tests/test_b.py", None, Some(TEST))];
    let found = integrity(&moved, &Announced::default(), &before_change(HadTests::Yes));
    assert_eq!((found.findings.len(), found.notes.len()), (0, 1), "{found:?}");
    let renamed = [edited("tests/test_a.py", Some(TEST), Some(&TEST.replace("test_adds", "test_sums")))];
    let found = integrity(&renamed, &Announced::default(), &before_change(HadTests::Yes));
    assert_eq!(found.renamed, [("test_adds".to_string(), "test_sums".to_string())]);
    assert_eq!(found.findings, []);
}

// CORE-21
#[test]
fn settings_that_decide_what_runs_need_the_plan_to_name_the_file() {
    let change = [edited("pytest.ini", Some("[pytest]\n"), Some("[pytest]\naddopts = --co\n"))];
    assert_eq!(judged(&change, &Announced::default()).0, ["settings:pytest.ini"]);
    let planned = Announced { files: vec!["pytest.ini".to_string()], ..Announced::default() };
    let (findings, notes) = judged(&change, &planned);
    assert_eq!((findings.len(), notes.len()), (0, 1));
    let added = [edited("jest.config.js", None, Some("module.exports = {}\n"))];
    assert_eq!(integrity(&added, &Announced::default(), &before_change(HadTests::No)).findings, []);
    assert_eq!(judged(&added, &Announced::default()).0, ["settings:jest.config.js"]);
}

#[test]
fn a_qualified_name_ends_with_the_name_of_its_test() {
    for (qualified, name) in [
        ("demo src/lib.rs tests::adds", "adds"),
        ("tests/test_a.py::TestA::test_adds[1-2]", "test_adds"),
        ("tests.test_a.TestA.test_adds", "test_adds"),
        ("sums > adds two", "adds two"),
        ("demo/sums.TestAdd", "TestAdd"),
    ] {
        assert!(ends_with_name(qualified, name), "{qualified}");
    }
    assert!(!ends_with_name("tests::not_adds", "adds"));
    let may_concern = |path: &str| may_concern_tests(Path::new(path), &BTreeSet::new());
    assert!(may_concern(".cargo/config.toml") && may_concern("a/package.json"));
    assert!(!may_concern("README.md") && !may_concern("a.yaml"));
}

// CORE-21
#[test]
fn a_failing_test_that_is_rewritten_to_pass_is_a_finding() {
    let text =
        |expected: &str| format!("test('keeps it', () => {{\n  assert.equal(a(), {expected});\n}});\n");
    let rewritten =
        [Edited { path: "a.test.js".to_string(), before: Some(text("1")), after: Some(text("undefined")) }];
    let announced = Announced::default();
    assert_eq!(integrity(&rewritten, &announced, &before_change(HadTests::Yes)).findings, []);
    let failing = BeforeChange { failed: vec!["keeps it".to_string()], ..before_change(HadTests::Yes) };
    let found = integrity(&rewritten, &announced, &failing).findings;
    assert_eq!(found.len(), 1, "{found:?}");
}

// CORE-21
#[test]
fn a_module_that_replaces_a_test_runner_is_a_finding() {
    for path in ["unittest/__main__.py", "pytest.py", "src/sitecustomize.py"] {
        let shadow = [Edited { path: path.to_string(), before: None, after: Some(String::new()) }];
        let found = integrity(&shadow, &Announced::default(), &before_change(HadTests::Yes)).findings;
        assert_eq!(found.len(), 1, "{path}");
    }
    let other = [Edited { path: "app/unittest.py".to_string(), before: None, after: Some(String::new()) }];
    assert_eq!(integrity(&other, &Announced::default(), &before_change(HadTests::Yes)).findings, []);
}

// TE-05 TE-06
#[test]
fn a_trick_is_a_finding_with_its_location_unless_the_plan_or_the_user_names_it() {
    let trick = [edited("tests/test_a.py", Some(TEST), Some(&format!("{TEST}\n\nimport os\nos._exit(0)\n")))];
    let found = integrity(&trick, &Announced::default(), &before_change(HadTests::No)).findings;
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(finding.id, "tricks:tests/test_a.py:os._exit");
    assert_eq!(
        (finding.severity, finding.place.line, is_about_tests(finding)),
        (Severity::Critical, 6, true)
    );
    let planned = Announced { tests: vec!["tests/test_a.py".to_string()], ..Announced::default() };
    assert_eq!(judged(&trick, &planned).0, Vec::<String>::new());

    let looks = [edited("app/core.py", Some("A = 1\n"), Some("A = 'pytest' in sys.modules\n"))];
    assert_eq!(judged(&looks, &Announced::default()).0, ["tricks:app/core.py:pytest in sys.modules"]);
    let asked = Announced { words: "Load the pytest plugin lazily.".to_string(), ..Announced::default() };
    let (findings, notes) = judged(&looks, &asked);
    assert_eq!((findings.len(), notes.len()), (0, 1));

    let replaced = [edited(
        "tests/test_a.py",
        Some(&format!("from sums import add\n\n{TEST}")),
        Some(&format!("def add(a, b):\n    return 3\n\n\n{TEST}")),
    )];
    let named = Announced { words: "Make add correct".to_string(), ..Announced::default() };
    assert_eq!(judged(&replaced, &named).0, ["tricks:tests/test_a.py:add"], "the request is about add");
}

// TE-05 TE-06
#[test]
fn honest_work_on_tests_has_no_finding() {
    let helped = "def check(a, b, c):\n    assert add(a, b) == c\n\n\ndef test_adds():\n    check(1, 2, 3)\n";
    let changes = [
        edited("tests/test_a.py", Some(TEST), Some(helped)),
        edited(
            "tests/conftest.py",
            None,
            Some("import pytest\n\n\n@pytest.fixture\ndef cart():\n    return []\n"),
        ),
        edited(
            "tests/test_b.py",
            None,
            Some("from sums import sub\n\n\ndef test_subs(cart):\n    assert sub(3, 2) == 1\n"),
        ),
        edited("sums/sub.py", None, Some("def sub(a, b):\n    return a - b\n")),
        edited("tests/golden/page.txt", None, Some("Total: 3\n")),
        edited(
            "src/lib.rs",
            None,
            Some("pub fn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { super::a(); }\n}\n"),
        ),
    ];
    assert_eq!(judged(&changes, &Announced::default()).0, Vec::<String>::new());
}

// TE-05
#[test]
fn a_choice_by_surroundings_is_a_finding_only_if_something_failed_before() {
    let before = "import os\n\ndef load(path):\n    return read(path)\n";
    let after = "import os\n\ndef load(path):\n    if os.environ.get('STAGE'):\n        return read(path)\n    return ''\n";
    let change = [edited("app/core.py", Some(before), Some(after))];
    let red = before_change(HadTests::Yes);
    let found = integrity(&change, &Announced::default(), &red);
    assert_eq!(found.findings.len(), 1, "{found:?}");
    let green = BeforeChange { was_red: false, ..red };
    let found = integrity(&change, &Announced::default(), &green);
    assert!(found.findings.is_empty(), "{found:?}");
    assert!(found.notes[0].ends_with("a reader must judge"), "{:?}", found.notes);
}

// TE-01
#[test]
fn a_request_to_remove_a_file_announces_the_removal_of_its_tests() {
    let removed = |path: &str, text: &str| edited(path, Some(text), None);
    let change = [
        removed("app/old.py", "def pence(text):\n    return 1\n"),
        removed(
            "tests/test_old.py",
            "from app.old import pence\n\n\ndef test_pence():\n    assert pence('1') == 1\n",
        ),
    ];
    let asked = |words: &str| {
        let announced =
            Announced { words: words.to_string(), request: words.to_string(), ..Announced::default() };
        judged(&change, &announced).0.len()
    };
    assert_eq!(asked("Remove app/old.py, which nobody uses."), 0);
    assert_eq!(asked("Remove tests/test_old.py."), 0);
    assert_eq!(asked("Remove old.py."), 1, "other files may have that name");
    assert_eq!(asked("Make app/old.py faster."), 1);
}

// TE-01
#[test]
fn a_request_about_a_source_file_releases_no_test_in_it() {
    let code = "pub fn slug() -> u8 {\n    1\n}\n";
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn slugs() {\n        assert_eq!(super::slug(), 1);\n    }\n}\n";
    let announced = |words: &str| Announced {
        words: words.to_string(),
        request: words.to_string(),
        ..Announced::default()
    };
    for words in [
        "Rename `short` in src/lib.rs to `slugify`",
        "Rewrite src/lib.rs without regular expressions",
        "Remove the cache from src/lib.rs",
        "Rewrite lib.rs",
    ] {
        let change = [edited("src/lib.rs", Some(&format!("{code}{tests}")), Some(code))];
        assert_eq!(judged(&change, &announced(words)).0.len(), 1, "{words}");
        let file = "import { slug } from '../slug.js';\ntest('slugs', () => { expect(slug()).toBe(1); });\n";
        let change = [edited("src/__tests__/lib.rs.test.js", Some(file), None)];
        assert_eq!(judged(&change, &announced(words)).0.len(), 1, "{words}");
    }
}

// TE-01
#[test]
fn a_request_to_remove_a_file_announces_nothing_about_another_file_of_that_name() {
    let code = "def pence(text):\n    return 1\n";
    let test = "from core.utils import pence\n\n\ndef test_pence():\n    assert pence('1') == 1\n";
    let change = [
        edited("src/legacy/utils.py", Some(code), None),
        edited("src/core/utils.py", Some(code), None),
        edited("tests/test_core.py", Some(test), None),
    ];
    let words = "Remove src/legacy/utils.py".to_string();
    let announced = Announced { words: words.clone(), request: words, ..Announced::default() };
    assert_eq!(judged(&change, &announced).0.len(), 1);
}

// CORE-21
#[test]
fn a_removed_helper_that_a_runner_lists_as_a_test_is_none() {
    let user = "import { load } from \"./support/load.js\";\n";
    let gone = |text: &str, after: &str| {
        let change = [
            edited("test/support/load.js", Some(text), None),
            edited("test/words.test.js", Some(user), Some(after)),
        ];
        integrity(&change, &Announced::default(), &before_change(HadTests::Yes)).removed
    };
    let none = Vec::<String>::new();
    let other = "import { load } from \"./support/texts.js\";\n";
    assert_eq!(gone("exports.load = () => 1;\n", other), ["test/support/load.js"]);
    assert_eq!(gone("assert.equal(load(), 1);\n", other), none);
    assert_eq!(gone("exports.load = () => 1;\n", user), none, "it is still imported");
    // A test of node-tap, which nothing imports.
    let change = [edited("test/words.js", Some("t.equal(words('a b'), 2);\n"), None)];
    let found = integrity(&change, &Announced::default(), &before_change(HadTests::Yes));
    assert_eq!(found.removed, none);
}
