//! Tests that weakened tests are found, by language.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::*;
use std::path::Path;

fn file(path: &str, text: &str) -> TestFile {
    let source = ParsedSource::parse(Language::of(Path::new(path)).unwrap(), text).unwrap();
    assert_eq!(source.errors(), [], "{text}");
    TestFile { path: path.to_string(), tests: source.tests() }
}

fn kinds(path: &str, before: &str, after: &str) -> Vec<WeakeningKind> {
    compare(&[file(path, before)], &[file(path, after)]).into_iter().map(|found| found.kind).collect()
}

/// A short word for each kind.
fn word(kind: &WeakeningKind) -> &'static str {
    match kind {
        WeakeningKind::Removed => "removed",
        WeakeningKind::SwitchedOff(_) => "off",
        WeakeningKind::Inverted(_) => "inverted",
        WeakeningKind::Alone(_) => "alone",
        WeakeningKind::Emptied => "emptied",
        WeakeningKind::LeavesEarly => "early",
        WeakeningKind::Void(_) => "void",
        WeakeningKind::Fewer { .. } => "fewer",
        WeakeningKind::Weaker { .. } => "weaker",
        WeakeningKind::Wider(_) => "wider",
        WeakeningKind::Rewritten(_) => "rewritten",
        WeakeningKind::Renamed { .. } => "renamed",
    }
}

fn assert_kinds(path: &str, before: &str, table: &[(&str, &str)]) {
    assert_eq!(kinds(path, before, before), [], "{path}: an unchanged text is not weaker");
    for (after, expected) in table {
        let found: Vec<&str> = kinds(path, before, after).iter().map(word).collect();
        assert_eq!(found.join(" "), *expected, "{path}:\n{after}");
    }
}

// CORE-21
#[test]
fn a_weakened_rust_test_is_found() {
    let before = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n        \
                  assert!(near(0.1), \"near\");\n    }\n}\n";
    let source = |attributes: &str, body: &str| {
        format!(
            "#[cfg(test)]\nmod tests {{\n    {attributes}\n    fn adds() {{\n        {body}\n    }}\n}}\n"
        )
    };
    let whole = "assert_eq!(add(1, 2), 3); assert!(near(0.1), \"near\");";
    let table = [
        (String::new(), "removed"),
        (source("fn other() {}\n", whole), "removed"),
        (source("#[test]\n#[ignore]", whole), "off"),
        (source("#[test]\n#[ignore = \"slow\"]", whole), "off"),
        (source("#[test]\n#[cfg(any())]", whole), "off"),
        (source("#[test]\n#[should_panic]", whole), "inverted"),
        (source("#[test]", ""), "emptied"),
        (source("#[test]", "// nothing"), "emptied"),
        (source("#[test]", &format!("return;\n{whole}")), "early"),
        (source("#[test]", "assert_eq!(add(1, 2), 3);"), "fewer"),
        (source("#[test]", "assert_eq!(add(1, 2), add(1, 2)); assert!(near(0.1), \"near\");"), "void"),
        (source("#[test]", "assert_eq!(add(1, 2), 3); assert!(true);"), "void"),
        (source("#[test]", "assert_eq!(add(1, 2), 3); assert!(1 == 1);"), "void"),
        (source("#[test]", "if false { assert_eq!(add(1, 2), 3); assert!(near(0.1), \"near\"); }"), "void"),
        (source("#[test]", "assert!(add(1, 2).is_ok()); assert!(near(0.1), \"near\");"), "weaker"),
        (source("#[test]", "assert_eq!(add(1, 2), 4); assert!(near(0.1), \"near\");"), "rewritten"),
        (source("/// Adds.\n#[test]", &format!("// why\n{whole}")), ""),
        (source("#[test]", &format!("{whole} assert!(more());")), ""),
    ];
    let table: Vec<(&str, &str)> =
        table.iter().map(|(after, expected)| (after.as_str(), *expected)).collect();
    assert_kinds("src/lib.rs", before, &table);
}

// CORE-21
#[test]
fn tests_inside_macros_and_assertions_of_called_functions_count() {
    let before =
        "proptest! {\n    #[test]\n    fn holds(a in 0..9) {\n        prop_assert_eq!(f(a), a);\n    }\n}\n";
    let after =
        "proptest! {\n    #[test]\n    fn holds(a in 0..9) {\n        prop_assert!(true);\n    }\n}\n";
    assert_kinds("a.rs", before, &[("proptest! {}\n", "removed"), (after, "void")]);
    let direct = "#[test]\nfn a() {\n    assert_eq!(f(1), 1);\n    assert_eq!(f(2), 2);\n}\n";
    let helped = "fn both() {\n    assert_eq!(f(1), 1);\n    assert_eq!(f(2), 2);\n}\n#[test]\nfn a() {\n    both();\n}\n";
    let weakened = "fn both() {\n    assert_eq!(f(1), 1);\n}\n#[test]\nfn a() {\n    both();\n}\n";
    assert_kinds("a.rs", direct, &[(helped, "")]);
    assert_kinds("a.rs", helped, &[(weakened, "fewer")]);
}

// CORE-21
#[test]
fn a_weakened_python_test_is_found() {
    let before = "class TestSums:\n    def test_adds(self):\n        assert add(1, 2) == 3\n        assert add(2, 2) == 4\n";
    let body = "        assert add(1, 2) == 3\n        assert add(2, 2) == 4\n";
    let source = |head: &str, body: &str| format!("class TestSums:\n{head}    def test_adds(self):\n{body}");
    let table = [
        ("class TestSums:\n    pass\n".to_string(), "removed"),
        (source("", body).replace("test_adds", "adds"), "removed"),
        (source("    @pytest.mark.skip(reason=\"no\")\n", body), "off"),
        (source("    @unittest.skipIf(True, \"no\")\n", body), "off"),
        (format!("@unittest.skip('no')\n{before}"), "off"),
        (format!("pytestmark = pytest.mark.skip\n{before}"), "off"),
        (source("", &format!("        pytest.skip('no')\n{body}")), "off"),
        (source("    @pytest.mark.xfail\n", body), "inverted"),
        (source("", "        pass\n"), "emptied"),
        (source("", &format!("        return\n{body}")), "early"),
        (source("", "        assert add(1, 2) == 3\n"), "fewer"),
        (source("", "        assert add(1, 2) == 3\n        assert 1 == 1\n"), "void"),
        (source("", "        assert add(1, 2) == 3\n        assert add(2, 2) == 4 or True\n"), "void"),
        (
            source(
                "",
                "        try:\n            assert add(1, 2) == 3\n            assert add(2, 2) == 4\n        \
                 except AssertionError:\n            pass\n",
            ),
            "void",
        ),
        (source("", "        assert add(1, 2) == 3\n        assert add(2, 2)\n"), "weaker"),
        (
            source(
                "",
                "        assert add(1, 2) == 3\n        assert add(2, 2) == pytest.approx(4, abs=1)\n",
            ),
            "wider",
        ),
        (source("", "        assert add(1, 2) == 3\n        assert add(2, 2) == 5\n"), "rewritten"),
        (before.replace("test_adds", "test_sums"), "renamed"),
    ];
    let table: Vec<(&str, &str)> =
        table.iter().map(|(after, expected)| (after.as_str(), *expected)).collect();
    assert_kinds("tests/test_sums.py", before, &table);
    let before = "class T(unittest.TestCase):\n    def test_a(self):\n        self.assertAlmostEqual(a(), 1.0, places=7)\n";
    let table = [
        (before.replace("places=7", "places=1"), "wider"),
        (before.replace("self.assertAlmostEqual(a(), 1.0, places=7)", "self.assertTrue(True)"), "void"),
        (before.replace("self.assertAlmostEqual(a(), 1.0, places=7)", "self.assertIsNotNone(a())"), "weaker"),
        (before.replace("places=7", "places=8"), "rewritten"),
    ];
    let table: Vec<(&str, &str)> =
        table.iter().map(|(after, expected)| (after.as_str(), *expected)).collect();
    assert_kinds("tests/test_a.py", before, &table);
}

// CORE-21
#[test]
fn a_weakened_script_test_is_found() {
    let before = "describe('sums', () => {\n  it('adds', () => {\n    expect(add(1, 2)).toBe(3);\n    \
                  expect(list()).toContain(1);\n  });\n  it('more', () => { assert.strictEqual(f(), 1); });\n});\n";
    let changed = |from: &str, to: &str| before.replace(from, to);
    let table = [
        (changed("it('more', () => { assert.strictEqual(f(), 1); });", ""), "removed"),
        (changed("it('adds'", "it.skip('adds'"), "off"),
        (changed("it('adds'", "xit('adds'"), "off"),
        (changed("it('more'", "test('more', { skip: true }"), "off"),
        (changed("describe('sums'", "describe.skip('sums'"), "off off"),
        (changed("it('adds'", "it.only('adds'"), "alone"),
        (changed("it('adds'", "it.failing('adds'"), "inverted"),
        (changed("assert.strictEqual(f(), 1);", ""), "emptied"),
        (changed("    expect(add", "    return;\n    expect(add"), "early"),
        (changed("    expect(list()).toContain(1);\n", ""), "fewer"),
        (changed("expect(add(1, 2)).toBe(3)", "expect(true).toBe(true)"), "void"),
        (changed("expect(add(1, 2)).toBe(3)", "expect(add(1, 2)).toBeDefined()"), "weaker"),
        (changed("assert.strictEqual(f(), 1)", "assert.strictEqual(1, 1)"), "void"),
        (changed("assert.strictEqual(f(), 1)", "assert.ok(f())"), "weaker"),
        (changed("expect(add(1, 2)).toBe(3)", "expect(add(1, 2)).toBe(4)"), "rewritten"),
        (changed("it('adds'", "it('sums up'"), "renamed"),
    ];
    let table: Vec<(&str, &str)> =
        table.iter().map(|(after, expected)| (after.as_str(), *expected)).collect();
    assert_kinds("sums.test.js", before, &table);
    assert_kinds("sums.test.ts", before, &table);
}

// CORE-21
#[test]
fn a_weakened_go_test_is_found() {
    let before = "package sums\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\t\
                  t.Errorf(\"got %d\", got)\n\t}\n\trequire.Equal(t, Add(2, 2), 4)\n}\n";
    let changed = |from: &str, to: &str| before.replace(from, to);
    let table = [
        ("package sums\n".to_string(), "removed"),
        (changed("TestAdd", "testAdd"), "removed"),
        (changed("{\n\tif", "{\n\tt.Skip(\"later\")\n\tif"), "off"),
        (format!("//go:build never\n\n{before}"), "off"),
        (changed("{\n\tif", "{\n\treturn\n\tif"), "early"),
        (changed("\trequire.Equal(t, Add(2, 2), 4)\n", ""), "fewer"),
        (changed("got != 3", "got != got"), "void"),
        (changed("if got := Add(1, 2); got != 3", "if false"), "void"),
        (changed("require.Equal(t, Add(2, 2), 4)", "require.NotNil(t, Add(2, 2))"), "weaker"),
        (changed("require.Equal(t, Add(2, 2), 4)", "require.Equal(t, Add(2, 2), 5)"), "rewritten"),
        (changed("TestAdd", "TestSum"), "renamed"),
    ];
    let table: Vec<(&str, &str)> =
        table.iter().map(|(after, expected)| (after.as_str(), *expected)).collect();
    assert_kinds("sums_test.go", before, &table);
}

// CORE-21
#[test]
fn a_weakened_java_test_is_found() {
    let before = "class SumsTest {\n  @Test\n  void adds() {\n    assertEquals(3, Sums.add(1, 2));\n    \
                  assertThat(Sums.all()).isEqualTo(List.of(1));\n  }\n}\n";
    let changed = |from: &str, to: &str| before.replace(from, to);
    let table = [
        ("class SumsTest {}\n".to_string(), "removed"),
        (changed("  @Test\n", ""), "removed"),
        (changed("@Test", "@Test @Disabled(\"later\")"), "off"),
        (changed("class", "@Disabled class"), "off"),
        (changed("@Test", "@Test(expected = Exception.class)"), "inverted"),
        (changed("    assertEquals", "    assumeTrue(false);\n    assertEquals"), "off"),
        (changed("    assertEquals(3, Sums.add(1, 2));\n", ""), "fewer"),
        (changed("assertEquals(3, Sums.add(1, 2))", "assertEquals(3, 3)"), "void"),
        (changed("assertEquals(3, Sums.add(1, 2))", "assertTrue(true)"), "void"),
        (changed("assertEquals(3, Sums.add(1, 2))", "assertNotNull(Sums.add(1, 2))"), "weaker"),
        (changed("assertEquals(3, Sums.add(1, 2))", "assertEquals(4, Sums.add(1, 2))"), "rewritten"),
        (changed("void adds", "void sums"), "renamed"),
    ];
    let table: Vec<(&str, &str)> =
        table.iter().map(|(after, expected)| (after.as_str(), *expected)).collect();
    assert_kinds("src/test/java/SumsTest.java", before, &table);
}

// CORE-21
#[test]
fn a_test_that_moves_to_another_file_is_not_removed() {
    let text = "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
    let (emptied, moved) = (file("tests/a.rs", ""), file("tests/b.rs", text));
    let found = compare(&[file("tests/a.rs", text), file("tests/b.rs", "")], &[emptied.clone(), moved]);
    let kinds: Vec<&WeakeningKind> = found.iter().map(|found| &found.kind).collect();
    let [WeakeningKind::Renamed { file: to, .. }] = kinds[..] else { panic!("{kinds:?}") };
    assert_eq!(to, "tests/b.rs");
    let weakened = file("tests/b.rs", &text.replace("add(1, 2), 3", "3, 3"));
    let found = compare(&[file("tests/a.rs", text), file("tests/b.rs", "")], &[emptied, weakened]);
    assert_eq!(found.iter().map(|found| word(&found.kind)).collect::<Vec<_>>(), ["renamed", "void"]);
}

#[test]
fn a_test_that_was_disabled_before_and_a_new_one_are_not_weakened() {
    let off = "#[test]\n#[ignore]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
    assert_kinds("a.rs", off, &[(&off.replace("#[ignore]", "#[ignore = \"slow\"]"), "")]);
    assert_kinds("a.rs", "fn add() {}\n", &[("#[test]\n#[ignore]\nfn a() { assert!(true); }\n", "")]);
}

// TE-05
#[test]
fn assertions_that_no_longer_run_or_whose_failure_is_swallowed_are_void() {
    let table = |path: &str, before: &str, from: &str, table: &[(&str, &str)]| {
        let after: Vec<(String, &str)> =
            table.iter().map(|(to, expected)| (before.replace(from, to), *expected)).collect();
        let after: Vec<(&str, &str)> =
            after.iter().map(|(after, expected)| (after.as_str(), *expected)).collect();
        assert_kinds(path, before, &after);
    };
    let check = "assert_eq!(add(1, 2), 3);";
    let rust = "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
    let rust_table = [
        ("if std::env::var(\"STRICT\").is_ok() { assert_eq!(add(1, 2), 3); }", "void"),
        ("if cfg!(feature = \"strict\") { assert_eq!(add(1, 2), 3); }", "void"),
        ("if std::env::var(\"STRICT\").is_err() { return; } assert_eq!(add(1, 2), 3);", "early"),
        ("for _ in [] as [u8; 0] { } for _ in 0..0 { assert_eq!(add(1, 2), 3); }", "void"),
        ("let _ = std::panic::catch_unwind(|| { assert_eq!(add(1, 2), 3); });", "void"),
        ("catch_unwind(|| assert_eq!(add(1, 2), 3)).ok();", "void"),
        ("drop(catch_unwind(|| assert_eq!(add(1, 2), 3)));", "void"),
        ("let _ = || assert_eq!(add(1, 2), 3);", "void"),
        ("fn later() { assert_eq!(add(1, 2), 3); }", "void"),
        // Honest twins.
        ("for (a, b, c) in [(1, 2, 3)] { assert_eq!(add(a, b), c); } assert_eq!(add(1, 2), 3);", ""),
        ("let check = || assert_eq!(add(1, 2), 3); check();", ""),
        ("fn now() { assert_eq!(add(1, 2), 3); }\n    now();", ""),
        ("let result = catch_unwind(|| { assert_eq!(add(1, 2), 3); }); result.unwrap();", ""),
        ("if let Some(sum) = some() { assert_eq!(add(1, 2), 3); }", ""),
    ];
    table("tests/a.rs", rust, check, &rust_table);
    let python = "def test_adds():\n    assert add(1, 2) == 3\n";
    let python_table = [
        ("if os.environ.get('STRICT'):\n        assert add(1, 2) == 3", "void"),
        ("if not os.getenv('STRICT'):\n        return\n    assert add(1, 2) == 3", "early"),
        ("for wanted in []:\n        assert add(1, 2) == 3", "void"),
        ("while False:\n        assert add(1, 2) == 3", "void"),
        ("with contextlib.suppress(AssertionError):\n        assert add(1, 2) == 3", "void"),
        ("with suppress(BaseException):\n        assert add(1, 2) == 3", "void"),
        ("try:\n        assert add(1, 2) == 3\n    except Exception as error:\n        print(error)", "void"),
        ("try:\n        assert add(1, 2) == 3\n    finally:\n        return", "void"),
        ("def later():\n        assert add(1, 2) == 3", "void"),
        // Honest twins.
        ("with suppress(KeyError):\n        cleanup()\n    assert add(1, 2) == 3", ""),
        (
            "try:\n        assert add(1, 2) == 3\n    except AssertionError:\n        dump()\n        raise",
            "",
        ),
        ("try:\n        assert add(1, 2) == 3\n    finally:\n        close()", ""),
        ("for wanted in [3]:\n        assert add(1, 2) == 3", ""),
        ("def now():\n        assert add(1, 2) == 3\n    now()", ""),
        ("with open('a') as file:\n        assert add(1, 2) == 3", ""),
    ];
    table("tests/test_a.py", python, "assert add(1, 2) == 3", &python_table);
    let script = "test('adds', async () => {\n  expect(add(1, 2)).toBe(3);\n});\n";
    let script_table = [
        ("process.env.STRICT && expect(add(1, 2)).toBe(3);", "void"),
        ("if (process.env.STRICT) { expect(add(1, 2)).toBe(3); }", "void"),
        ("if (!process.env.STRICT) return;\n  expect(add(1, 2)).toBe(3);", "early"),
        ("for (const wanted of []) { expect(add(1, 2)).toBe(3); }", "void"),
        ("[].forEach(() => { expect(add(1, 2)).toBe(3); });", "void"),
        ("try { expect(add(1, 2)).toBe(3); } catch (error) { console.log(error); }", "void"),
        ("await run().then(() => { expect(add(1, 2)).toBe(3); }).catch(() => {});", "void"),
        ("const later = () => { expect(add(1, 2)).toBe(3); };", "void"),
        ("function later() { expect(add(1, 2)).toBe(3); }", "void"),
        // Honest twins.
        ("try { expect(add(1, 2)).toBe(3); } catch (error) { dump(); throw error; }", ""),
        ("[3].forEach(() => { expect(add(1, 2)).toBe(3); });", ""),
        ("const now = () => { expect(add(1, 2)).toBe(3); };\n  now();", ""),
        ("await run().then(() => { expect(add(1, 2)).toBe(3); });", ""),
        ("if (ready) { expect(add(1, 2)).toBe(3); }", ""),
    ];
    table("a.test.js", script, "expect(add(1, 2)).toBe(3);", &script_table);
    table("a.test.ts", script, "expect(add(1, 2)).toBe(3);", &script_table);
    let go = "package sums\n\nfunc TestAdd(t *testing.T) {\n\trequire.Equal(t, Add(1, 2), 3)\n}\n";
    let go_table = [
        ("if os.Getenv(\"STRICT\") != \"\" {\n\t\trequire.Equal(t, Add(1, 2), 3)\n\t}", "void"),
        ("if os.Getenv(\"STRICT\") == \"\" {\n\t\treturn\n\t}\n\trequire.Equal(t, Add(1, 2), 3)", "early"),
        ("for range items {\n\t\trequire.Equal(t, Add(1, 2), 3)\n\t}", ""),
    ];
    table("sums_test.go", go, "require.Equal(t, Add(1, 2), 3)", &go_table);
}

// CORE-21
#[test]
fn assertions_may_become_a_table_if_all_values_stay() {
    let before = "def test_adds():\n    assert add(1, 2) == 3\n    assert add(4, 5) == 9\n    assert add(6, 6) == 12\n";
    let table = |rows: &str| {
        format!("def test_adds():\n    for a, b, c in [{rows}]:\n        assert add(a, b) == c\n")
    };
    assert_kinds(
        "test_a.py",
        before,
        &[
            (&table("(1, 2, 3), (4, 5, 9), (6, 6, 12)"), "rewritten"),
            (&table("(1, 2, 3), (4, 5, 9)"), "fewer"),
            (&table("(1, 2, 3), (4, 5, 9), (6, 0, 12)"), "fewer"),
            ("def test_adds():\n    assert add(1, 2) == 3\n    a = (4, 5, 9, 6, 6, 12)\n", "fewer"),
        ],
    );
    let test = |body: &str| format!("#[test]\nfn adds() {{\n{body}}}\n");
    let rows = "[(1, 2, 3), (4, 5, 9)]";
    assert_kinds(
        "tests/a.rs",
        &test("assert_eq!(add(1, 2), 3);\nassert_eq!(add(4, 5), 9);\n"),
        &[
            (&test(&format!("for (a, b, c) in {rows} {{\nassert_eq!(add(a, b), c);\n}}\n")), "rewritten"),
            (
                &test(&format!("{rows}.iter().for_each(|(a, b, c)| {{ assert_eq!(add(*a, *b), *c); }});\n")),
                "rewritten",
            ),
            (&test(&format!("for row in {rows} {{\ndrop(row);\n}}\nassert_eq!(add(1, 2), 3);\n")), "fewer"),
            (&test(&format!("assert_eq!(add(1, 2), 3);\nfor row in {rows} {{\ndrop(row);\n}}\n")), "fewer"),
        ],
    );
    let script = |body: &str| format!("test('adds', () => {{\n{body}}});\n");
    assert_kinds(
        "a.test.js",
        &script("expect(add(1, 2)).toBe(3);\nexpect(add(4, 5)).toBe(9);\n"),
        &[
            (
                &script("for (const [a, b, c] of [[1, 2, 3], [4, 5, 9]]) {\nexpect(add(a, b)).toBe(c);\n}\n"),
                "rewritten",
            ),
            (
                &script("[[1, 2, 3], [4, 5, 9]].forEach(([a, b, c]) => expect(add(a, b)).toBe(c));\n"),
                "rewritten",
            ),
            (
                &script(
                    "for (const row of [[1, 2, 3], [4, 5, 9]]) {\nrow.pop();\n}\nexpect(add(1, 2)).toBe(3);\n",
                ),
                "fewer",
            ),
        ],
    );
}
