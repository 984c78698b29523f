//! The tests as they were before a change, on the changed code: what they catch, and what releases one.

use crate::place::Place;
use crate::rehearsed::{SUB, Script, TEST_SUB, implemented, role};
use crate::vet::Edit::{Delete, Replace, Write};
use crate::vet::{Change, Edit, Story, told, vet_json};
use remand_ledger::RunId;
use remand_ledger::query::CheckFilter;
use serde_json::{Value, json};

/// Requests that name what changes.
const NEW_TAX: &[&str] = &["--request", "The price of test_gross is 120 from now on"];
const RENAME: &[&str] = &["--request", "Rename net to subtotal"];

const CART: Story = Story {
    together: ("", ""),
    files: &[
        ("pyproject.toml", "[project]\nname = \"cart\"\nversion = \"1.0.0\"\n"),
        (".gitignore", "__pycache__/\n"),
        ("cart/__init__.py", ""),
        (
            "cart/price.py",
            "\"\"\"Prices in cents.\"\"\"\n\n\ndef net(items):\n    return sum(price * count for price, count in items)\n\n\n\
             def gross(items, rate):\n    return net(items) + net(items) * rate // 100\n\n\n\
             def discount(amount):\n    return amount * 9 // 10\n\n\n\
             def receipt(items):\n    return \"\".join(f\"{count} x {price}\\n\" for price, count in items)\n",
        ),
        ("tests/__init__.py", ""),
        ("tests/helpers.py", "def same(case, found, wanted):\n    case.assertEqual(found, wanted)\n"),
        ("tests/golden/receipt.txt", "2 x 100\n1 x 50\n"),
        (
            "tests/test_price.py",
            "import pathlib\nimport unittest\n\nfrom cart.price import discount, gross, net, receipt\nfrom tests.helpers import same\n\n\
             ITEMS = [(100, 2), (50, 1)]\n\n\nclass PriceTest(unittest.TestCase):\n    \
             def test_net(self):\n        same(self, net(ITEMS), 250)\n\n    \
             def test_gross(self):\n        self.assertEqual(gross([(50, 2)], 19), 119)\n\n    \
             def test_discount(self):\n        self.assertEqual(discount(100), 90)\n\n    \
             def test_receipt(self):\n        golden = pathlib.Path(__file__).parent / \"golden\" / \"receipt.txt\"\n        \
             self.assertEqual(receipt(ITEMS), golden.read_text())\n",
        ),
    ],
    changes: &[
        Change {
            name: "empties-the-helper",
            edits: &[
                Replace(
                    "cart/price.py",
                    "count in items)\n\n\ndef gross",
                    "count in items if count > 1)\n\n\ndef gross",
                ),
                Replace("tests/helpers.py", "case.assertEqual(found, wanted)", "case.assertIsNotNone(found)"),
            ],
            arguments: &[],
            exit: 10,
            rule: "`tests.test_price.PriceTest.test_net` as it was fails on the new code: AssertionError: 200 != 250",
            file: "",
        },
        Change {
            name: "edits-the-golden-file",
            edits: &[
                Replace("cart/price.py", "{count} x {price}", "{price} x {count}"),
                Write("tests/golden/receipt.txt", "100 x 2\n50 x 1\n"),
            ],
            arguments: &[],
            exit: 10,
            rule: "`tests.test_price.PriceTest.test_receipt` as it was fails on the new code",
            file: "",
        },
        Change {
            name: "expects-the-regression",
            edits: &[
                Replace("cart/price.py", "rate // 100", "rate // 95"),
                Replace("tests/test_price.py", "119)", "120)"),
            ],
            arguments: &[],
            exit: 10,
            rule: "`tests.test_price.PriceTest.test_gross` as it was fails on the new code: AssertionError: 120 != 119",
            file: "",
        },
        Change {
            name: "expects-what-the-request-names",
            edits: &[
                Replace("cart/price.py", "rate // 100", "rate // 95"),
                Replace("tests/test_price.py", "119)", "120)"),
            ],
            arguments: NEW_TAX,
            exit: 0,
            rule: "this is released, because the request names the new value `120`",
            file: "",
        },
        Change {
            name: "refactors-the-tests",
            edits: &[
                Replace("cart/price.py", "amount * 9 // 10", "amount - amount // 10"),
                Write(
                    "tests/helpers.py",
                    "def equal(case, found, wanted):\n    case.assertEqual(found, wanted, msg=\"a price\")\n",
                ),
                Replace("tests/test_price.py", "import same", "import equal"),
                Replace("tests/test_price.py", "same(self, net(ITEMS), 250)", "equal(self, net(ITEMS), 250)"),
            ],
            arguments: &[],
            exit: 0,
            rule: "4 of 4 tests pass as they were on the new code",
            file: "",
        },
        Change {
            name: "renames-unasked",
            edits: RENAMED,
            arguments: &[],
            exit: 10,
            rule: "`tests.test_price.PriceTest.test_net` as it was",
            file: "",
        },
        Change {
            name: "renames-as-asked",
            edits: RENAMED,
            arguments: RENAME,
            exit: 0,
            rule: "4 of 4 tests pass as they were on the new code",
            file: "",
        },
        Change {
            name: "renames-and-breaks",
            edits: &[
                Replace("cart/price.py", "def net(", "def subtotal("),
                Replace("cart/price.py", "net(items) + net(items)", "subtotal(items) + subtotal(items)"),
                Replace(
                    "cart/price.py",
                    "count in items)\n\n\ndef gross",
                    "count in items if count > 1)\n\n\ndef gross",
                ),
                Replace("tests/test_price.py", "gross, net, receipt", "gross, receipt, subtotal"),
                Replace("tests/test_price.py", "net(ITEMS), 250", "subtotal(ITEMS), 200"),
            ],
            arguments: RENAME,
            exit: 10,
            rule: "`tests.test_price.PriceTest.test_net` as it was fails on the new code: AssertionError: 200 != 250",
            file: "",
        },
        Change {
            name: "removes-as-asked",
            edits: &[
                Replace("cart/price.py", "def discount(amount):\n    return amount * 9 // 10\n\n\n", ""),
                Replace("tests/test_price.py", "discount, ", ""),
                Replace(
                    "tests/test_price.py",
                    "    def test_discount(self):\n        self.assertEqual(discount(100), 90)\n\n",
                    "",
                ),
            ],
            arguments: &["--request", "Remove the function discount"],
            exit: 0,
            rule: "3 of 4 tests pass as they were on the new code",
            file: "",
        },
        Change {
            name: "adds-a-golden-file",
            edits: &[
                Replace(
                    "cart/price.py",
                    "def discount",
                    "def summary(items):\n    return f\"{len(items)} items\\n\"\n\n\ndef discount",
                ),
                Write("tests/golden/summary.txt", "2 items\n"),
                Replace("tests/test_price.py", "net, receipt", "net, receipt, summary"),
                Replace(
                    "tests/test_price.py",
                    "    def test_discount",
                    "    def test_summary(self):\n        golden = pathlib.Path(__file__).parent / \"golden\" / \"summary.txt\"\n        \
                     self.assertEqual(summary(ITEMS), golden.read_text())\n\n    def test_discount",
                ),
            ],
            arguments: &[],
            exit: 0,
            rule: "4 of 4 tests pass as they were on the new code",
            file: "",
        },
    ],
};

const RENAMED: &[Edit] = &[
    Replace("cart/price.py", "def net(", "def subtotal("),
    Replace("cart/price.py", "net(items) + net(items)", "subtotal(items) + subtotal(items)"),
    Replace("tests/test_price.py", "gross, net, receipt", "gross, receipt, subtotal"),
    Replace("tests/test_price.py", "net(ITEMS)", "subtotal(ITEMS)"),
];

/// Judges each change of a story. `rule` is a part of what the report says about the tests as they were.
fn judge(story: &Story) -> Place {
    let place = told(story);
    for change in story.changes {
        let (code, report) = vet_json(&place, &[&[change.name], change.arguments].concat());
        let shown = format!("{}: {report:#}", change.name);
        assert_eq!(code, change.exit, "{shown}");
        let claims = report["findings"].as_array().into_iter().flatten().map(|finding| &finding["claim"]);
        let reasons = report["old_tests"].as_array().into_iter().flatten().map(|old| &old["reason"]);
        let said: Vec<&str> = claims.chain(reasons).filter_map(Value::as_str).collect();
        assert!(said.iter().any(|text| text.contains(change.rule)), "{}: {said:#?}\n{shown}", change.rule);
    }
    place
}

// TE-01 TE-02
#[test]
fn changes_of_a_python_repository_are_judged_by_the_tests_as_they_were() {
    judge(&CART);
}

const PARCEL: Story = Story {
    together: ("", ""),
    files: &[
        ("Cargo.toml", "[package]\nname = \"parcel\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"parcel\"\nversion = \"1.0.0\"\n"),
        (".gitignore", "target/\n"),
        (
            "src/lib.rs",
            "//! Parcels.\n\n/// The fee in euros.\npub fn fee(grams: u32) -> u32 {\n    if grams > 1000 { 8 } else { 5 }\n}\n\n\
             /// The label.\npub fn label(name: &str) -> String {\n    format!(\"To: {name}\")\n}\n\n\
             #[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn light_parcels() {\n        assert_eq!(fee(10), 5);\n    }\n}\n",
        ),
        (
            "tests/common/mod.rs",
            "pub fn check(found: u32, wanted: u32) {\n    assert_eq!(found, wanted);\n}\n",
        ),
        ("tests/golden/label.txt", "To: Ann\n"),
        (
            "tests/parcel.rs",
            "mod common;\n\nuse parcel::{fee, label};\n\n#[test]\nfn heavy_parcels() {\n    common::check(fee(2000), 8);\n}\n\n\
             #[test]\nfn labels() {\n    assert_eq!(label(\"Ann\"), include_str!(\"golden/label.txt\").trim_end());\n}\n",
        ),
    ],
    changes: &[
        Change {
            name: "empties-the-helper",
            edits: &[
                Replace("src/lib.rs", "{ 8 }", "{ 9 }"),
                Replace("tests/common/mod.rs", "assert_eq!(found, wanted)", "let _ = (found, wanted)"),
            ],
            arguments: &[],
            exit: 10,
            rule: "heavy_parcels` as it was fails on the new code: assertion `left == right` failed, left: 9, right: 8",
            file: "",
        },
        Change {
            name: "edits-the-golden-file",
            edits: &[
                Replace("src/lib.rs", "To: {name}", "For: {name}"),
                Write("tests/golden/label.txt", "For: Ann\n"),
            ],
            arguments: &[],
            exit: 10,
            rule: "labels` as it was fails on the new code",
            file: "",
        },
        Change {
            name: "edits-the-golden-file-as-asked",
            edits: &[
                Replace("src/lib.rs", "To: {name}", "For: {name}"),
                Write("tests/golden/label.txt", "For: Ann\n"),
            ],
            arguments: &["--request", "Labels say For instead of To"],
            exit: 0,
            rule: "this is released, because the request names the new value `For`",
            file: "",
        },
        Change {
            name: "expects-the-regression",
            edits: LIGHT_PARCELS_COST_SIX,
            arguments: &["--request", "Heavy parcels cost 8 as before; simplify the code"],
            exit: 10,
            rule: "light_parcels` as it was fails on the new code",
            file: "",
        },
        Change {
            name: "expects-what-the-request-names",
            edits: LIGHT_PARCELS_COST_SIX,
            arguments: &["--request", "Light parcels cost 6"],
            exit: 0,
            rule: "this is released, because the request names the new value `6`",
            file: "",
        },
        Change {
            name: "moves-the-tests",
            edits: &[
                Replace(
                    "src/lib.rs",
                    "if grams > 1000 { 8 } else { 5 }",
                    "match grams {\n        0..=1000 => 5,\n        _ => 8,\n    }",
                ),
                Delete("tests/parcel.rs"),
                Write(
                    "tests/delivery.rs",
                    "mod common;\n\nuse parcel::{fee, label};\n\n#[test]\nfn heavy_parcels() {\n    common::check(fee(2000), 8);\n}\n\n\
                     #[test]\nfn labels() {\n    assert_eq!(label(\"Ann\"), include_str!(\"golden/label.txt\").trim_end());\n}\n",
                ),
            ],
            arguments: &[],
            exit: 0,
            rule: "3 of 3 tests pass as they were on the new code",
            file: "",
        },
        Change {
            name: "renames-as-asked",
            edits: &[
                Replace("src/lib.rs", "pub fn fee", "pub fn postage"),
                Replace("src/lib.rs", "fee(10)", "postage(10)"),
                Replace("tests/parcel.rs", "{fee, label}", "{label, postage}"),
                Replace("tests/parcel.rs", "fee(2000)", "postage(2000)"),
            ],
            arguments: &["--request", "Rename the function fee to postage"],
            exit: 0,
            rule: "3 of 3 tests pass as they were on the new code",
            file: "",
        },
        Change {
            name: "adds-a-parameter",
            edits: EXPRESS,
            arguments: &[],
            exit: 10,
            rule: "heavy_parcels` as it was cannot be built with the new code: error[E0061]",
            file: "",
        },
        Change {
            name: "adds-the-parameter-that-was-asked-for",
            edits: EXPRESS,
            arguments: &["--request", "Give `fee` a parameter express, which doubles the fee"],
            exit: 0,
            rule: "1 of 3 tests pass as they were on the new code",
            file: "",
        },
        Change {
            name: "adds-the-parameter-and-breaks-the-label",
            edits: &[
                Replace(
                    "src/lib.rs",
                    "fee(grams: u32) -> u32 {\n    ",
                    "fee(grams: u32, express: bool) -> u32 {\n    (if express { 2 } else { 1 }) * ",
                ),
                Replace("src/lib.rs", "fee(10)", "fee(10, false)"),
                Replace("src/lib.rs", "To: {name}", "{name}"),
                Replace("tests/parcel.rs", "fee(2000)", "fee(2000, false)"),
                Write("tests/golden/label.txt", "Ann\n"),
            ],
            arguments: &["--request", "Give `fee` a parameter express, which doubles the fee"],
            exit: 10,
            rule: "labels` as it was fails on the new code",
            file: "",
        },
    ],
};

const LIGHT_PARCELS_COST_SIX: &[Edit] =
    &[Replace("src/lib.rs", "{ 5 }", "{ 6 }"), Replace("src/lib.rs", "fee(10), 5", "fee(10), 6")];

const EXPRESS: &[Edit] = &[
    Replace(
        "src/lib.rs",
        "fee(grams: u32) -> u32 {\n    ",
        "fee(grams: u32, express: bool) -> u32 {\n    (if express { 2 } else { 1 }) * ",
    ),
    Replace("src/lib.rs", "fee(10)", "fee(10, false)"),
    Replace("tests/parcel.rs", "fee(2000)", "fee(2000, false)"),
];

const SLUG: Story = Story {
    together: ("", ""),
    files: &[
        (
            "package.json",
            "{\n  \"name\": \"slug\",\n  \"version\": \"1.0.0\",\n  \"type\": \"module\",\n  \
             \"scripts\": { \"test\": \"node --test\" }\n}\n",
        ),
        (".gitignore", "node_modules/\n"),
        (
            "src/slug.js",
            "export function slug(title) {\n  return title.toLowerCase().split(/\\W+/).filter(Boolean).join(\"-\");\n}\n\n\
             export function path(title) {\n  return `/posts/${slug(title)}`;\n}\n",
        ),
        (
            "test/support/same.js",
            "import assert from \"node:assert/strict\";\n\nexport function same(found, wanted) {\n  assert.equal(found, wanted);\n}\n",
        ),
        ("test/golden/path.txt", "/posts/a-b\n"),
        (
            "test/slug.test.js",
            "import assert from \"node:assert/strict\";\nimport fs from \"node:fs\";\nimport { test } from \"node:test\";\n\n\
             import { path, slug } from \"../src/slug.js\";\nimport { same } from \"./support/same.js\";\n\n\
             test(\"words are joined\", () => {\n  same(slug(\"Hello, World\"), \"hello-world\");\n});\n\n\
             test(\"nothing stays nothing\", () => {\n  assert.equal(slug(\"\"), \"\");\n});\n\n\
             test(\"paths have a folder\", () => {\n  assert.equal(path(\"A b\"), fs.readFileSync(new URL(\"./golden/path.txt\", import.meta.url), \"utf8\").trim());\n});\n",
        ),
    ],
    changes: &[
        Change {
            name: "empties-the-helper",
            edits: &[
                Replace("src/slug.js", ".toLowerCase()", ""),
                Replace(
                    "test/support/same.js",
                    "assert.equal(found, wanted)",
                    "assert.equal(found.length, wanted.length)",
                ),
                Write("test/golden/path.txt", "/posts/A-b\n"),
            ],
            arguments: &[],
            exit: 10,
            rule: "words are joined` as it was fails on the new code: expected 'hello-world', found",
            file: "",
        },
        Change {
            name: "edits-the-golden-file",
            edits: &[Replace("src/slug.js", "/posts/", "/"), Write("test/golden/path.txt", "/a-b\n")],
            arguments: &[],
            exit: 10,
            rule: "paths have a folder` as it was fails on the new code",
            file: "",
        },
        Change {
            name: "expects-the-regression",
            edits: UNDERSCORES,
            arguments: &["--request", "Make slugs of empty titles empty"],
            exit: 10,
            rule: "words are joined` as it was fails on the new code: expected 'hello-world', found",
            file: "",
        },
        Change {
            name: "expects-what-the-request-names",
            edits: UNDERSCORES,
            arguments: &["--request", "Join words with `_` instead of `-`"],
            exit: 0,
            rule: "this is released, because the request names the new value",
            file: "",
        },
        Change {
            name: "refactors-the-tests",
            edits: &[
                Replace(
                    "src/slug.js",
                    "title.toLowerCase().split(/\\W+/).filter(Boolean).join",
                    "words(title).join",
                ),
                Replace(
                    "src/slug.js",
                    "export function slug",
                    "function words(title) {\n  return title.toLowerCase().split(/\\W+/).filter(Boolean);\n}\n\nexport function slug",
                ),
                Replace("test/support/same.js", "same(found, wanted)", "equal(found, wanted)"),
                Replace("test/slug.test.js", "{ same }", "{ equal }"),
                Replace("test/slug.test.js", "  same(", "  equal("),
            ],
            arguments: &[],
            exit: 0,
            rule: "4 of 4 tests pass as they were on the new code",
            file: "",
        },
        Change {
            name: "renames-as-asked",
            edits: &[
                Replace("src/slug.js", "function slug(", "function slugify("),
                Replace("src/slug.js", "${slug(title)}", "${slugify(title)}"),
                Replace("test/slug.test.js", "{ path, slug }", "{ path, slugify }"),
                Replace("test/slug.test.js", "same(slug(", "same(slugify("),
                Replace("test/slug.test.js", "equal(slug(", "equal(slugify("),
            ],
            arguments: &["--request", "Rename slug to slugify"],
            exit: 0,
            rule: "4 of 4 tests pass as they were on the new code",
            file: "",
        },
        Change {
            name: "renames-unasked",
            edits: &[
                Replace("src/slug.js", "function slug(", "function slugify("),
                Replace("src/slug.js", "${slug(title)}", "${slugify(title)}"),
                Replace("test/slug.test.js", "{ path, slug }", "{ path, slugify }"),
                Replace("test/slug.test.js", "same(slug(", "same(slugify("),
                Replace("test/slug.test.js", "equal(slug(", "equal(slugify("),
            ],
            arguments: &[],
            exit: 10,
            rule: "2 of 4 tests pass as they were on the new code",
            file: "",
        },
    ],
};

const UNDERSCORES: &[Edit] = &[
    Replace("src/slug.js", "join(\"-\")", "join(\"_\")"),
    Replace("test/slug.test.js", "\"hello-world\"", "\"hello_world\""),
    Write("test/golden/path.txt", "/posts/a_b\n"),
];

// TE-01 TE-02
#[test]
fn changes_of_a_rust_repository_are_judged_by_the_tests_as_they_were() {
    judge(&PARCEL);
}

// TE-01 TE-02
#[test]
fn changes_of_a_node_repository_are_judged_by_the_tests_as_they_were() {
    judge(&SLUG);
}

// TE-01
#[test]
fn a_run_sends_a_rewritten_expectation_back_and_commits_what_passes_as_it_was() {
    let place = Place::new();
    let rewrites = |from: &str, to: &str| {
        let (find, replace) = (format!("add(1, 2), {from})"), format!("add(1, 2), {to})"));
        json!({"patch": {"path": "tests/test_add.py", "find": find, "replace": replace}})
    };
    let first = role("implementer")
        .round(1)
        .writes("sums/add.py", "def add(a, b):\n    return a + b + 1\n")
        .does(rewrites("3", "4"))
        .writes("sums/sub.py", SUB)
        .writes("tests/test_sub.py", TEST_SUB);
    let second = role("implementer")
        .round(2)
        .given(&["as it was fails on the new code"])
        .does(rewrites("4", "3"))
        .writes("sums/add.py", "def add(a, b):\n    return b + a\n");
    let script = Script::quick().with(first.says(implemented(""))).with(second.says(implemented("")));

    let shown = place.quick(&script, &[]);

    assert_eq!(shown.code, 0, "{}{}", shown.out, shown.err);
    let (run, reader) = (place.latest().run, place.reader());
    let rows = reader.checks(&run, CheckFilter::default()).expect("rows");
    let ends: Vec<bool> =
        rows.iter().filter(|row| row.name == "old-tests:unittest").map(|row| row.passed).collect();
    assert_eq!(ends, [false, true], "{rows:#?}");
    let bundle = place.remand(&["evidence"]).out;
    assert!(bundle.contains("tests pass as they were on the new code"), "{bundle}");
}

// TE-01
#[test]
fn the_second_time_nothing_runs() {
    let place = told(&CART);
    // The old tests with the new name are the new tests, whose result is not one of the old tests.
    assert_eq!(vet_json(&place, &[&["renames-as-asked"], RENAME].concat()).0, 0);
    let (code, report) = vet_json(&place, &["renames-unasked"]);
    assert_eq!((code, &report["checks"][2]["name"]), (10, &json!("unittest")), "{report:#}");
    for is_reused in [false, true] {
        let (code, report) = vet_json(&place, &["refactors-the-tests"]);
        assert_eq!(code, 0, "{report:#}");
        let run = RunId(report["run"].as_str().expect("a run").to_string());
        let rows = place.reader().checks(&run, CheckFilter::default()).expect("rows");
        let row = rows.iter().find(|row| row.name == "old-tests:unittest").expect("a row");
        assert_eq!(row.origin.is_some(), is_reused, "{row:#?}");
    }
}
