//! Each trick is found, and its honest twin is not.

use super::*;

fn found(language: Language, side: FileSide, before: &str, after: &str) -> Vec<String> {
    new_tricks(language, side, before, after, &BTreeSet::new())
        .into_iter()
        .map(|trick| format!("{:?} {}", trick.kind, trick.subject))
        .collect()
}

/// Asserts what is found in test code that is added to a test file with this start.
fn assert_tests(language: Language, start: &str, table: &[(&str, &str)]) {
    assert_eq!(found(language, FileSide::Tests, start, start), Vec::<String>::new());
    for (added, expected) in table {
        let after = format!("{start}{added}\n");
        let found = found(language, FileSide::Tests, start, &after).join(", ");
        assert_eq!(found, *expected, "{after}");
    }
}

// TE-05
#[test]
fn tricks_in_rust_tests_are_found_and_their_twins_are_not() {
    let start = "use textkit::slug;\n\n#[test]\nfn lowers() {\n    assert_eq!(slug(\"A\"), \"a\");\n}\n";
    assert_tests(
        Language::Rust,
        start,
        &[
            ("macro_rules! assert_eq { ($($any:tt)*) => {}; }", "RedefinesAssertion assert_eq!"),
            ("macro_rules! panic { ($($any:tt)*) => {}; }", "RedefinesAssertion panic!"),
            ("use crate::common::assert_eq;", "RedefinesAssertion assert_eq!"),
            ("use common::check as assert_eq;", "RedefinesAssertion assert_eq!"),
            ("fn done() { std::process::exit(0); }", "EndsProcess std::process::exit"),
            (
                "struct Any;\nimpl PartialEq for Any { fn eq(&self, _: &Any) -> bool { true } }",
                "AlwaysEqual eq",
            ),
            ("fn slug(_: &str) -> &str { \"a\" }", "ReplacesSubject slug"),
            // Honest twins.
            ("macro_rules! assert_close { ($a:expr, $b:expr) => { assert!(($a - $b).abs() < 1e-9) }; }", ""),
            ("use pretty_assertions::assert_eq;", ""),
            ("fn check(text: &str) { assert_eq!(slug(text), text); }", ""),
            (
                "struct One(u8);\nimpl PartialEq for One { fn eq(&self, o: &One) -> bool { self.0 == o.0 } }",
                "",
            ),
            ("use crate::common::{numbers, words};", ""),
            ("mod common { pub fn slug_of(n: u8) -> String { n.to_string() } }", ""),
        ],
    );
    let file = |inside: &str| {
        format!(
            "pub fn slug(t: &str) -> String {{ t.into() }}\n\n#[cfg(test)]\nmod tests {{\n    use super::*;\n    {inside}\n    \
                 #[test]\n    fn lowers() {{ assert_eq!(slug(\"A\"), \"a\"); }}\n}}\n"
        )
    };
    let inside = |text: &str| found(Language::Rust, FileSide::Production, &file(""), &file(text)).join(", ");
    assert_eq!(inside("fn slug(_: &str) -> String { \"a\".into() }"), "ReplacesSubject slug");
    assert_eq!(inside("macro_rules! assert_eq { ($($a:tt)*) => {}; }"), "RedefinesAssertion assert_eq!");
    assert_eq!(inside("fn sample() -> String { \"a\".into() }"), "");
}

// TE-05
#[test]
fn tricks_in_python_tests_are_found_and_their_twins_are_not() {
    let start = "import unittest\nimport pytest\nimport sums\nfrom sums import add, store\n\n\nclass T(unittest.TestCase):\n    \
                 def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n        self.assertEqual(sums.add(1, 1), 2)\n\n\n";
    assert_tests(
        Language::Python,
        start,
        &[
            (
                "unittest.TestCase.assertEqual = lambda *_: None",
                "RedefinesAssertion unittest.TestCase.assertEqual",
            ),
            (
                "setattr(unittest.TestCase, \"assertEqual\", print)",
                "RedefinesAssertion unittest.TestCase.assertEqual",
            ),
            (
                "class Base(unittest.TestCase):\n    def assertEqual(self, a, b):\n        pass",
                "RedefinesAssertion assertEqual",
            ),
            (
                "class Base(unittest.TestCase):\n    failureException = ValueError",
                "RedefinesAssertion failureException",
            ),
            ("AssertionError = ValueError", "RedefinesAssertion AssertionError"),
            ("pytest.raises = skip", "RedefinesAssertion pytest.raises"),
            ("import os\nos._exit(0)", "EndsProcess os._exit"),
            ("import sys\nsys.exit(0)", "EndsProcess sys.exit"),
            ("import atexit\natexit.register(print)", "EndsProcess atexit.register"),
            ("class Any:\n    def __eq__(self, other):\n        return True", "AlwaysEqual __eq__"),
            ("def add(a, b):\n    return 3", "ReplacesSubject add"),
            ("add = lambda a, b: 3", "ReplacesSubject add"),
            ("sums.add = lambda a, b: 3", "PatchesSubject add"),
            (
                "@pytest.fixture(autouse=True)\ndef f(monkeypatch):\n    monkeypatch.setattr(sums, \"add\", three)",
                "PatchesSubject add",
            ),
            (
                "@mock.patch(\"sums.add\", return_value=3)\ndef test_b(_):\n    assert add(1, 2) == 3",
                "PatchesSubject add",
            ),
            (
                "def load_tests(loader, tests, pattern):\n    return loader.suiteClass()",
                "HooksRunner load_tests",
            ),
            ("from hooks import pytest_collection_modifyitems", "HooksRunner pytest_collection_modifyitems"),
            ("pytest_runtest_call = print", "HooksRunner pytest_runtest_call"),
            // Honest twins.
            (
                "class Base(unittest.TestCase):\n    def assertMoney(self, a, b):\n        self.assertEqual(a, b)",
                "",
            ),
            ("@pytest.fixture\ndef cart():\n    return [1, 2]", ""),
            ("def make(a):\n    return [a]", ""),
            (
                "def test_c(monkeypatch):\n    monkeypatch.setattr(\"time.sleep\", print)\n    assert add(2, 2) == 4",
                "",
            ),
            (
                "def test_d(monkeypatch):\n    monkeypatch.setattr(sums, \"store\", {})\n    assert add(2, 2) == 4",
                "",
            ),
            ("def test_e(monkeypatch):\n    monkeypatch.setenv(\"A\", \"1\")\n    assert add(2, 2) == 4", ""),
            ("if __name__ == \"__main__\":\n    import sys\n    sys.exit(unittest.main())", ""),
            ("class Point:\n    def __eq__(self, other):\n        return self.x == other.x", ""),
            ("with pytest.raises(ValueError):\n    add(\"a\", 1)", ""),
        ],
    );
    let conftest = "@pytest.fixture(autouse=True)\ndef f(monkeypatch):\n    monkeypatch.setattr(\"sums.core.add\", three)\n";
    assert_eq!(found(Language::Python, FileSide::Tests, "", conftest), ["PatchesSubject add"]);
    let honest = conftest.replace("sums.core.add", "requests.get");
    assert_eq!(found(Language::Python, FileSide::Tests, "", &honest), Vec::<String>::new());
}

// TE-05
#[test]
fn tricks_in_script_tests_are_found_and_their_twins_are_not() {
    let start = "import { test, expect, vi } from 'vitest';\nimport assert from 'node:assert';\nimport * as sums from '../src/sums';\n\
                 import { add } from '../src/sums';\n\ntest('adds', () => { expect(add(1, 2)).toBe(3); assert.equal(add(1, 1), 2); });\n";
    let table = [
        ("assert.equal = () => {};", "RedefinesAssertion assert.equal"),
        ("globalThis.expect = () => proxy;", "RedefinesAssertion globalThis.expect"),
        ("expect.extend({ toBe() { return { pass: true }; } });", "RedefinesAssertion toBe"),
        ("Object.assign(assert, { equal() {} });", "RedefinesAssertion assert.*"),
        ("vi.mock('node:assert', () => ({}));", "RedefinesAssertion node:assert"),
        ("process.exit(0);", "EndsProcess process.exit"),
        ("process.exitCode = 0;", "EndsProcess process.exitCode"),
        ("process.on('uncaughtException', () => {});", "EndsProcess process.on uncaughtException"),
        ("vi.mock('../src/sums', () => ({ add: () => 3 }));", "PatchesSubject add"),
        ("vi.spyOn(sums, 'add').mockReturnValue(3);", "PatchesSubject add"),
        // Honest twins.
        ("expect.extend({ toBeMoney(a) { return { pass: a > 0 }; } });", ""),
        ("vi.mock('../src/mail', () => ({ send: vi.fn() }));", ""),
        ("vi.spyOn(sums, 'add');", ""),
        ("vi.spyOn(console, 'log').mockImplementation(() => {});", ""),
        ("const numbers = () => [1, 2];", ""),
        ("vi.useFakeTimers();", ""),
        ("process.on('warning', print);", ""),
    ];
    assert_tests(Language::TypeScript, start, &table);
    let redefined = start.replace("import { add } from '../src/sums';\n", "");
    let own = format!("{redefined}function add() {{ return 3; }}\n");
    assert_eq!(found(Language::JavaScript, FileSide::Tests, start, &own), ["ReplacesSubject add"]);
    let own = "const expect = (a) => ({ toBe() {} });\ntest('a', () => expect(1).toBe(2));\n";
    assert_eq!(found(Language::JavaScript, FileSide::Tests, "", own), ["RedefinesAssertion expect"]);
    let honest = "const { expect } = require('chai');\nconst assert = require('assert');\n";
    assert_eq!(found(Language::JavaScript, FileSide::Tests, "", honest), Vec::<String>::new());
}

// TE-05
#[test]
fn tricks_in_go_tests_are_found_and_their_twins_are_not() {
    let start =
        "package sums\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n\n";
    assert_tests(
        Language::Go,
        start,
        &[
            ("func TestMain(m *testing.M) {\n\tos.Exit(0)\n}", "HooksRunner TestMain, EndsProcess os.Exit"),
            ("func init() {\n\tos.Exit(0)\n}", "EndsProcess os.Exit"),
            ("func (a Any) Equal(b Any) bool { return true }", "AlwaysEqual Equal"),
            ("func TestMain(m *testing.M) {\n\tsetup()\n\tos.Exit(m.Run())\n}", ""),
        ],
    );
}

// TE-06
#[test]
fn production_code_that_looks_whether_it_is_tested_is_found_and_its_twin_is_not() {
    let production = |language, after: &str| found(language, FileSide::Production, "", after).join(", ");
    let rust = [
        ("#[cfg(not(test))]\nfn a() {}", "LooksForTests cfg(not(test))"),
        ("fn a() -> u8 { if cfg!(test) { 1 } else { 2 } }", "LooksForTests cfg!(test)"),
        (
            "fn a() -> u8 { if cfg!(debug_assertions) { 1 } else { 2 } }",
            "LooksForTests cfg(debug_assertions)",
        ),
        ("#[cfg(overflow_checks)]\nfn a() {}", "LooksForTests cfg(overflow_checks)"),
        ("fn a() -> bool { std::env::var(\"NEXTEST\").is_ok() }", "LooksForTests NEXTEST"),
        (
            "fn a() -> bool { if std::env::current_exe().unwrap().ends_with(\"deps\") { true } else { false } }",
            "LooksForTests std::env::current_exe",
        ),
        ("#[cfg(test)]\nmod tests { #[test]\n fn t() { assert!(super::a()); } }", ""),
        ("#![cfg_attr(not(test), no_std)]\nfn a() { debug_assert!(b()); }", ""),
        ("fn home() -> Option<String> { std::env::var(\"HOME\").ok() }", ""),
        ("/// Not for `cfg!(test)` or NEXTEST.\nfn a() {}", ""),
        (
            "fn a() -> bool { std::thread::current().name().is_some_and(|name| name != \"main\") }",
            "LooksForTests thread::current().name",
        ),
        ("fn a() -> bool { std::env::var_os(\"CARGO_PKG_NAME\").is_some() }", "LooksForTests CARGO_PKG_NAME"),
        (
            "fn a() -> u8 { if std::env::args().next().is_some_and(|path| path.contains(\"/deps/\")) { 1 } else { 2 } }",
            "LooksForTests /deps/",
        ),
        ("fn a() -> bool { std::path::Path::new(\"tests\").is_dir() }", "LooksForTests tests"),
        (
            "fn a() -> u8 { if std::env::vars().any(|(name, _)| name.len() == 18) { 1 } else { 2 } }",
            "LooksForTests env::vars",
        ),
        ("fn root() -> PathBuf { std::env::current_exe().unwrap() }", ""),
        ("fn version() -> &'static str { env!(\"CARGO_PKG_VERSION\") }", ""),
        ("fn main() { if std::env::args().any(|word| word == \"--help\") { help(); } }", ""),
        ("fn has_settings() -> bool { std::path::Path::new(\"settings.toml\").is_file() }", ""),
        ("fn log() { println!(\"{:?}\", std::thread::current().name()); }", ""),
    ];
    for (text, expected) in rust {
        assert_eq!(production(Language::Rust, text), expected, "{text}");
    }
    let python = [
        ("import sys\nFAKE = \"unittest\" in sys.modules", "LooksForTests unittest in sys.modules"),
        ("import sys\nif sys.modules.get('pytest'):\n    a()", "LooksForTests pytest in sys.modules"),
        (
            "import os\nif os.environ.get(\"PYTEST_CURRENT_TEST\"):\n    a()",
            "LooksForTests PYTEST_CURRENT_TEST",
        ),
        ("import sys\nif \"pytest\" in sys.argv[0]:\n    a()", "LooksForTests pytest in sys.argv"),
        ("def a():\n    return 3 if __debug__ else 4", "LooksForTests __debug__"),
        ("import sys\ndef a():\n    return sys._getframe(1)", "LooksForTests sys._getframe"),
        (
            "import sys\nfake = any(name.startswith(\"unit\" + \"test\") for name in sys.modules)",
            "LooksForTests all variables or modules",
        ),
        (
            "import traceback\nfake = any(\"test\" in frame.name for frame in traceback.extract_stack())",
            "LooksForTests extract_stack",
        ),
        (
            "import os\nif any(name[:3] == \"PYT\" for name in os.environ):\n    a()",
            "LooksForTests all variables or modules",
        ),
        ("import __main__\nif \"x\" in __main__.__file__:\n    a()", "LooksForTests __main__"),
        ("import os\nif os.path.isdir(\"tests\"):\n    a()", "LooksForTests tests"),
        ("import os\nif os.path.exists(path) and \"a\" + \"b\":\n    a()", ""),
        ("import sys\nif len(sys.argv) > 1 and sys.argv[1] == \"run\":\n    a()", ""),
        ("import os\nfor name in os.environ:\n    print(name)", ""),
        ("import sys\nprint(sys.modules[__name__])\nname = sys.argv[1]", ""),
        ("import os\nhome = os.environ.get(\"HOME\")", ""),
        ("def latest():\n    \"\"\"Also in pytest.\"\"\"\n    return test()", ""),
    ];
    for (text, expected) in python {
        assert_eq!(production(Language::Python, text), expected, "{text}");
    }
    let script = [
        ("if (process.env.NODE_ENV === 'test') a();", "LooksForTests NODE_ENV is test"),
        ("const fake = !!process.env.VITEST;", "LooksForTests VITEST"),
        ("const fake = process.env['JEST_WORKER_ID'] !== undefined;", "LooksForTests JEST_WORKER_ID"),
        ("if (typeof jest !== 'undefined') a();", "LooksForTests typeof jest"),
        ("if (globalThis.describe) a();", "LooksForTests the global describe"),
        ("if (import.meta.vitest) a();", "LooksForTests import.meta.vitest"),
        ("if ('__vitest_worker__' in globalThis) a();", "LooksForTests __vitest_worker__"),
        ("if ('jest' in globalThis) a();", "LooksForTests the global jest"),
        ("if (import.meta.env?.MODE === 'test') a();", "LooksForTests NODE_ENV is test"),
        ("const fake = new Error().stack?.includes('spec');", "LooksForTests newError().stack"),
        ("if (process.argv.some((word) => word.endsWith('.test.js'))) a();", "LooksForTests .test.js"),
        ("const fake = process.env['VI' + 'TEST'] !== undefined;", "LooksForTests VITEST"),
        ("log(new Error().stack);", ""),
        ("if (process.argv.includes('--verbose')) a();", ""),
        ("if (process.env.NODE_ENV === 'production') minify();", ""),
        ("if (/a/.test(name)) a();", ""),
        (
            "if (import.meta.vitest) { const { it, expect } = import.meta.vitest; it('a', () => { expect(a()).toBe(1); }); }",
            "",
        ),
        ("const port = process.env.PORT;", ""),
    ];
    for (text, expected) in script {
        assert_eq!(production(Language::TypeScript, text), expected, "{text}");
    }
    let go = [
        ("package a\nfunc A() bool { return testing.Testing() }", "LooksForTests testing.Testing()"),
        (
            "package a\nfunc A() bool { return flag.Lookup(\"test.v\") != nil }",
            "LooksForTests flag.Lookup(\"test.v\")",
        ),
        ("package a\nfunc A() string { return os.Args[0] }", ""),
    ];
    for (text, expected) in go {
        assert_eq!(production(Language::Go, text), expected, "{text}");
    }
}

// TE-05 TE-06
#[test]
fn what_was_there_before_the_change_is_not_new() {
    let before = "import sys\nFAKE = 'pytest' in sys.modules\n";
    let after = format!("# A comment above.\n{before}X = 1\n");
    assert_eq!(found(Language::Python, FileSide::Production, before, &after), Vec::<String>::new());
    let again = format!("{before}OTHER = 'pytest' in sys.modules\n");
    assert_eq!(found(Language::Python, FileSide::Production, before, &again).len(), 1);
}
