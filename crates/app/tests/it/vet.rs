//! `remand vet`: the verdict about changes that anybody made, in repositories of three languages.

use crate::place::{Place, Shown, shown, with_rust};
use crate::rehearsed::{Script, finding, review, role};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One edit of a change.
pub enum Edit {
    Replace(&'static str, &'static str, &'static str),
    Write(&'static str, &'static str),
    Delete(&'static str),
}

use Edit::{Delete, Replace, Write};

/// A branch, and what must be said about it.
pub struct Change {
    pub name: &'static str,
    pub edits: &'static [Edit],
    pub arguments: &'static [&'static str],
    pub exit: i32,
    /// The rule of the finding that the report names first; empty if it names none.
    pub rule: &'static str,
    /// The file that the report names.
    pub file: &'static str,
}

/// A repository with a history.
pub struct Story {
    pub files: &'static [(&'static str, &'static str)],
    pub changes: &'static [Change],
    /// The rule and the file of what is named if `renames-pieces` and `uses-pieces` are merged, which pass apart.
    pub together: (&'static str, &'static str),
}

pub const CI: (&str, &str) = (
    ".github/workflows/ci.yml",
    "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v5\n      - run: make test\n",
);

pub const NEW_CI: Edit = Replace(".github/workflows/ci.yml", "make test", "make test || true");

pub const PYTHON: Story = Story {
    together: ("test-new-red", "cart/receipt.py"),
    files: &[
        ("pyproject.toml", "[project]\nname = \"cart\"\nversion = \"1.0.0\"\n"),
        (".gitignore", "__pycache__/\nbuild/\n"),
        CI,
        ("cart/__init__.py", ""),
        (
            "cart/price.py",
            "\"\"\"Prices in cents.\"\"\"\n\n\ndef net(items):\n    return sum(price * count for price, count in items)\n\n\n\
             def gross(items, rate):\n    return net(items) + net(items) * rate // 100\n\n\n\
             def pieces(items):\n    return sum(count for _, count in items)\n",
        ),
        ("tests/__init__.py", ""),
        (
            "tests/test_price.py",
            "import unittest\n\nfrom cart import price\n\n\nclass PriceTest(unittest.TestCase):\n    \
             def test_net(self):\n        self.assertEqual(price.net([(100, 2), (50, 1)]), 250)\n\n    \
             def test_gross(self):\n        self.assertEqual(price.gross([(100, 1)], 19), 119)\n",
        ),
    ],
    changes: &[
        Change {
            name: "regression",
            edits: &[Replace("cart/price.py", "price * count for", "price for")],
            arguments: &[],
            exit: 10,
            rule: "test-regressed",
            file: "tests/test_price.py",
        },
        Change {
            name: "deleted-test",
            edits: &[
                Replace("cart/price.py", "// 100", "// 10"),
                Replace(
                    "tests/test_price.py",
                    "\n    def test_gross(self):\n        self.assertEqual(price.gross([(100, 1)], 19), 119)\n",
                    "",
                ),
            ],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "tests/test_price.py",
        },
        Change {
            name: "weakened-test",
            edits: &[Replace(
                "tests/test_price.py",
                "self.assertEqual(price.gross([(100, 1)], 19), 119)",
                "self.assertTrue(price.gross([(100, 1)], 19))",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "tests/test_price.py",
        },
        Change {
            name: "flaky-test",
            edits: &[Write(
                "tests/test_steady.py",
                "import pathlib\nimport unittest\n\nSEEN = pathlib.Path(\"build/seen\")\n\n\n\
                 class SteadyTest(unittest.TestCase):\n    def test_steady(self):\n        was_seen = SEEN.exists()\n        \
                 SEEN.parent.mkdir(exist_ok=True)\n        SEEN.touch()\n        self.assertTrue(was_seen)\n",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-flaky",
            file: "tests/test_steady.py",
        },
        Change {
            name: "other-ci",
            edits: &[NEW_CI],
            arguments: &[],
            exit: 10,
            rule: "settings-changed",
            file: ".github/workflows/ci.yml",
        },
        Change {
            name: "released-ci",
            edits: &[NEW_CI],
            arguments: &["--release", ".github/workflows/ci.yml"],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "refactoring",
            edits: &[
                Replace(
                    "cart/price.py",
                    "return net(items) + net(items) * rate // 100",
                    "return with_tax(net(items), rate)",
                ),
                Replace(
                    "cart/price.py",
                    "def gross",
                    "def with_tax(amount, rate):\n    return amount + amount * rate // 100\n\n\ndef gross",
                ),
            ],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "renames-pieces",
            edits: &[Replace("cart/price.py", "def pieces(", "def quantity(")],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "uses-pieces",
            edits: &[
                Write(
                    "cart/receipt.py",
                    "from cart import price\n\n\ndef line(items):\n    return f\"{price.pieces(items)} pieces\"\n",
                ),
                Write(
                    "tests/test_receipt.py",
                    "import unittest\n\nfrom cart import receipt\n\n\nclass ReceiptTest(unittest.TestCase):\n    \
                     def test_line(self):\n        self.assertEqual(receipt.line([(100, 2)]), \"2 pieces\")\n",
                ),
            ],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
    ],
};

const NODE: Story = Story {
    together: ("test-new-red", "test/link.test.js"),
    files: &[
        (
            "package.json",
            "{\n  \"name\": \"slug\",\n  \"version\": \"1.0.0\",\n  \"type\": \"module\",\n  \
             \"scripts\": { \"test\": \"node --test\" }\n}\n",
        ),
        (".gitignore", "node_modules/\nbuild/\n"),
        CI,
        (
            "src/slug.js",
            "export function slug(title) {\n  return title.toLowerCase().split(/\\W+/).filter(Boolean).join(\"-\");\n}\n\n\
             export function initial(title) {\n  return title.charAt(0);\n}\n",
        ),
        (
            "test/slug.test.js",
            "import assert from \"node:assert/strict\";\nimport { test } from \"node:test\";\n\nimport { slug } from \"../src/slug.js\";\n\n\
             test(\"words are joined\", () => {\n  assert.equal(slug(\"Hello, World\"), \"hello-world\");\n});\n\n\
             test(\"nothing stays nothing\", () => {\n  assert.equal(slug(\"\"), \"\");\n});\n",
        ),
    ],
    changes: &[
        Change {
            name: "regression",
            edits: &[Replace("src/slug.js", ".filter(Boolean)", ".filter((word) => word.length > 5)")],
            arguments: &[],
            exit: 10,
            rule: "test-regressed",
            file: "test/slug.test.js",
        },
        Change {
            name: "deleted-test",
            edits: &[Delete("test/slug.test.js")],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "test/slug.test.js",
        },
        Change {
            name: "weakened-test",
            edits: &[Replace(
                "test/slug.test.js",
                "test(\"words are joined\"",
                "test.skip(\"words are joined\"",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "test/slug.test.js",
        },
        Change {
            name: "flaky-test",
            edits: &[Write(
                "test/steady.test.js",
                "import assert from \"node:assert/strict\";\nimport fs from \"node:fs\";\n\
                 import { test } from \"node:test\";\n\ntest(\"steady\", () => {\n  \
                 const was = fs.existsSync(\"build/seen\");\n  fs.mkdirSync(\"build\", { recursive: true });\n  \
                 fs.writeFileSync(\"build/seen\", \"\");\n  assert.ok(was);\n});\n",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-flaky",
            file: "test/steady.test.js",
        },
        Change {
            name: "other-ci",
            edits: &[NEW_CI],
            arguments: &[],
            exit: 10,
            rule: "settings-changed",
            file: ".github/workflows/ci.yml",
        },
        Change {
            name: "refactoring",
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
            ],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "renames-pieces",
            edits: &[Replace("src/slug.js", "function initial(", "function letter(")],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "uses-pieces",
            edits: &[
                Write(
                    "src/link.js",
                    "import { initial } from \"./slug.js\";\n\nexport function link(title) {\n  return `/posts/${initial(title)}`;\n}\n",
                ),
                Write(
                    "test/link.test.js",
                    "import assert from \"node:assert/strict\";\nimport { test } from \"node:test\";\n\nimport { link } from \"../src/link.js\";\n\n\
                     test(\"a link has the letter\", () => {\n  assert.equal(link(\"A b\"), \"/posts/A\");\n});\n",
                ),
            ],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
    ],
};

const RUST: Story = Story {
    together: ("check-failed", "tests/counted.rs"),
    files: &[
        ("Cargo.toml", "[package]\nname = \"ledger\"\nversion = \"1.0.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 3\n\n[[package]]\nname = \"ledger\"\nversion = \"1.0.0\"\n"),
        (".gitignore", "target/\n"),
        CI,
        (
            "src/lib.rs",
            "//! Balances of accounts.\n\n/// The sum of all entries.\npub fn balance(entries: &[i64]) -> i64 {\n    entries.iter().sum()\n}\n\n\
             /// The number of entries.\npub fn count(entries: &[i64]) -> usize {\n    entries.len()\n}\n",
        ),
        (
            "tests/balance.rs",
            "use ledger::balance;\n\n#[test]\nfn entries_are_added() {\n    assert_eq!(balance(&[5, -2]), 3);\n}\n\n\
             #[test]\nfn nothing_is_zero() {\n    assert_eq!(balance(&[]), 0);\n}\n",
        ),
    ],
    changes: &[
        Change {
            name: "regression",
            edits: &[Replace(
                "src/lib.rs",
                "entries.iter().sum()",
                "entries.iter().map(|entry| entry.abs()).sum()",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-regressed",
            file: "tests/balance.rs",
        },
        Change {
            name: "deleted-test",
            edits: &[Replace(
                "tests/balance.rs",
                "#[test]\nfn nothing_is_zero() {\n    assert_eq!(balance(&[]), 0);\n}\n",
                "",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "tests/balance.rs",
        },
        Change {
            name: "weakened-test",
            edits: &[Replace(
                "tests/balance.rs",
                "assert_eq!(balance(&[5, -2]), 3)",
                "let _ = balance(&[5, -2])",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-weakened",
            file: "tests/balance.rs",
        },
        Change {
            name: "flaky-test",
            edits: &[Write(
                "tests/steady.rs",
                "#[test]\nfn steady() {\n    let seen = std::path::Path::new(\"target/seen\");\n    let was_seen = seen.exists();\n    \
                 std::fs::write(seen, \"\").unwrap();\n    assert!(was_seen);\n}\n",
            )],
            arguments: &[],
            exit: 10,
            rule: "test-flaky",
            file: "tests/steady.rs",
        },
        Change {
            name: "other-ci",
            edits: &[NEW_CI],
            arguments: &[],
            exit: 10,
            rule: "settings-changed",
            file: ".github/workflows/ci.yml",
        },
        Change {
            name: "refactoring",
            edits: &[Replace(
                "src/lib.rs",
                "entries.iter().sum()",
                "entries.iter().fold(0, |sum, entry| sum + entry)",
            )],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "renames-pieces",
            edits: &[Replace("src/lib.rs", "pub fn count", "pub fn number")],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
        Change {
            name: "uses-pieces",
            edits: &[Write(
                "tests/counted.rs",
                "#[test]\nfn entries_are_counted() {\n    assert_eq!(ledger::count(&[1, -2]), 2);\n}\n",
            )],
            arguments: &[],
            exit: 0,
            rule: "",
            file: "",
        },
    ],
};

/// A repository with the files of a story on `main` and one branch per change. No agent is installed.
pub fn told(story: &Story) -> Place {
    let place = Place::new().without_agents();
    place.git(&["checkout", "-q", "main"]);
    place.git(&["rm", "-rq", "."]);
    for (path, text) in story.files {
        place.write(path, text);
    }
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "The project as it is"]);
    for change in story.changes {
        place.git(&["checkout", "-q", "-b", change.name, "main"]);
        for edit in change.edits {
            apply(&place, edit);
        }
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", change.name]);
    }
    place.git(&["checkout", "-q", "main"]);
    place
}

fn apply(place: &Place, edit: &Edit) {
    match edit {
        Write(path, text) => place.write(path, text),
        Delete(path) => fs::remove_file(place.project().join(path)).expect("a file"),
        Replace(path, from, to) => {
            let text = fs::read_to_string(place.project().join(path)).expect("a file");
            assert!(text.contains(from), "{path} contains {from}");
            place.write(path, &text.replacen(from, to, 1));
        }
    }
}

fn vet(place: &Place, arguments: &[&str]) -> Shown {
    let mut command = place.command(&[&["vet"], arguments].concat());
    with_rust(&mut command);
    shown(command)
}

pub fn vet_json(place: &Place, arguments: &[&str]) -> (i32, Value) {
    let shown = vet(place, &[arguments, &["--format", "json"]].concat());
    let report = serde_json::from_str(&shown.out).unwrap_or_else(|_| panic!("{}{}", shown.out, shown.err));
    (shown.code, report)
}

/// The rule and the file of the finding that a report names first.
fn named(report: &Value) -> (&str, &str) {
    let look = &report["look"];
    let findings = report["findings"].as_array().expect("findings");
    let first = findings.iter().find(|finding| finding["claim"] == look["sentence"]).expect("a finding");
    (first["rule"].as_str().expect("a rule"), look["place"]["file"].as_str().unwrap_or_default())
}

/// Judges every branch of a story, and the merge of two that pass apart.
pub fn judge(place: &Place, story: &Story) {
    for change in story.changes {
        let (code, report) = vet_json(place, &[&[change.name], change.arguments].concat());
        let shown = format!("{}: {report:#}", change.name);
        assert_eq!(code, change.exit, "{shown}");
        let verdict = if change.exit == 0 { "pass" } else { "fail" };
        assert_eq!(report["verdict"], verdict, "{shown}");
        assert_eq!(report["look"].is_null(), change.exit == 0, "{shown}");
        if !change.rule.is_empty() {
            assert_eq!(named(&report), (change.rule, change.file), "{shown}");
        }
        if change.rule == "test-regressed" {
            let command = report["look"]["command"].as_str().expect("a command");
            place.git(&["checkout", "-q", change.name]);
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).current_dir(place.project()).stdin(Stdio::null());
            let reproduced = shell.output().expect("a shell");
            place.git(&["checkout", "-q", "main"]);
            assert!(!reproduced.status.success(), "`{command}` reproduces the failure");
        }
    }
    let (code, report) = vet_json(place, &["--merge-of", "renames-pieces", "uses-pieces"]);
    assert_eq!(code, 10, "red together: {report:#}");
    assert_eq!(named(&report), story.together, "{report:#}");
    let command = report["look"]["command"].as_str().expect("a command");
    let head = &report["change"]["head"].as_str().expect("a commit")[..12];
    assert!(command.starts_with(&format!("git checkout --detach {head} && ")), "{command}");
}

// BY-02
#[test]
fn changes_of_a_python_repository_get_their_verdicts() {
    judge(&told(&PYTHON), &PYTHON);
}

// BY-02
#[test]
fn changes_of_a_node_repository_get_their_verdicts() {
    judge(&told(&NODE), &NODE);
}

// BY-02
#[test]
fn changes_of_a_rust_repository_get_their_verdicts() {
    judge(&told(&RUST), &RUST);
}

/// A Python repository whose branch `work` holds one edit of `sums/add.py`.
fn with_edit(from: &str, to: &str) -> Place {
    let place = Place::new().without_agents();
    let text = fs::read_to_string(place.project().join("sums/add.py")).expect("a file");
    place.write("sums/add.py", &text.replace(from, to));
    place
}

// BY-02
#[test]
fn a_change_is_judged_wherever_it_is_and_the_checkout_stays_as_it_is() {
    let place = with_edit("a + b", "a - b");
    let status = place.git(&["status", "--porcelain"]);
    let of = |arguments: &[&str]| vet_json(&place, arguments).0;
    assert_eq!(of(&["--uncommitted"]), 10);
    assert_eq!(of(&["--staged"]), 0, "nothing is staged");
    let patch = place.write_outside("change.patch", &place.git(&["diff"]));
    assert_eq!(place.git(&["status", "--porcelain"]), status);
    place.git(&["add", "-A"]);
    assert_eq!(of(&["--staged"]), 10);
    place.git(&["reset", "-q", "--hard"]);
    assert_eq!(of(&["--patch", &patch]), 10);
    place.git(&["apply", &patch]);
    place.git(&["commit", "-qam", "minus"]);
    for arguments in [&[][..], &["work"], &["main..work"], &["main...HEAD"], &["--base", "main"]] {
        assert_eq!(of(arguments), 10, "{arguments:?}");
    }
    let audit = vet(&place, &["--audit"]);
    assert_eq!((audit.code, audit.out.starts_with("FAIL  work: ")), (0, true), "{}{}", audit.out, audit.err);
    let quiet = place.remand(&["audit"]);
    assert_eq!(quiet.code, 0, "the ledger is sound: {}{}", quiet.out, quiet.err);
    let wrong = vet(&place, &["nowhere"]);
    assert_eq!(wrong.code, 1, "{}{}", wrong.out, wrong.err);
}

// BY-02
#[test]
fn the_settings_of_the_base_judge_and_not_those_of_the_change() {
    let place = with_edit("a + b", "a - b");
    place.write("remand.toml", "[checks]\ndetect = false\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "Judges itself"]);
    let (code, report) = vet_json(&place, &[]);
    assert_eq!(code, 10, "{report:#}");
    place.write("remand.toml", "this is not TOML");
    place.git(&["commit", "-qam", "Breaks the settings"]);
    assert_eq!(vet_json(&place, &[]).0, 10, "broken settings of the change do not matter");
}

// BY-02
#[test]
fn what_nothing_proves_is_unmeasured_and_what_cannot_run_is_blocked() {
    let place = Place::new().without_agents();
    place.git(&["checkout", "-q", "main"]);
    place.git(&["rm", "-rq", "sums", "tests", "pyproject.toml"]);
    place.git(&["commit", "-qm", "Only words"]);
    place.git(&["checkout", "-q", "-b", "words"]);
    place.write("README.md", "# other words\n");
    place.git(&["commit", "-qam", "words"]);
    let (code, report) = vet_json(&place, &[]);
    assert_eq!((code, &report["verdict"]), (11, &Value::from("unmeasured")), "{report:#}");
    assert!(report["look"]["sentence"].as_str().is_some_and(|text| text.contains("[checks]")), "{report:#}");

    let place = Place::new().without_agents();
    place.git(&["checkout", "-q", "main"]);
    place.write("remand.toml", "[checks.absent]\ncommand = \"absent-program --check\"\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "A check that cannot run"]);
    place.git(&["checkout", "-q", "-B", "work"]);
    place.write("sums/add.py", "def add(a, b):\n    return b + a\n");
    place.git(&["commit", "-qam", "b + a"]);
    let (code, report) = vet_json(&place, &[]);
    assert_eq!((code, &report["verdict"]), (12, &Value::from("blocked")), "{report:#}");
    assert!(report["reason"].as_str().is_some_and(|reason| reason.contains("absent-program")), "{report:#}");
    let runs = place.remand(&["runs"]);
    assert!(!runs.out.contains("waiting"), "no run waits for anybody: {}", runs.out);
}

// BY-02
#[test]
fn a_secret_fails_a_change_and_is_never_shown() {
    let place = Place::new().without_agents();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    place.write("sums/remote.py", &format!("\n\nTOKEN = \"{key}\"\n"));
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "a token"]);
    let (code, report) = vet_json(&place, &[]);
    assert_eq!(code, 10, "{report:#}");
    assert_eq!(
        report["secrets"][0]["place"],
        serde_json::json!({"file": "sums/remote.py", "symbol": "", "line": 3})
    );
    assert!(!report.to_string().contains(&key));
}

// BY-02 TE-03
#[test]
fn the_report_says_what_the_tests_of_a_change_prove() {
    let place = Place::new().without_agents();
    place.write("sums/sub.py", "def sub(a, b):\n    return a - b\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "Subtraction"]);
    let (code, report) = vet_json(&place, &[]);
    assert_eq!(code, 0, "{report:#}");
    assert!(report["reason"].as_str().is_some_and(|reason| reason.contains("no test notices")), "{report:#}");
    assert_eq!(report["proofs"]["mutants"][0]["fate"]["kind"], "not-reached", "{report:#}");
    assert_eq!(report["proofs"]["mutants"][0]["place"]["file"], "sums/sub.py", "{report:#}");
    place.write(
        "tests/test_sub.py",
        "import unittest\n\nfrom sums.sub import sub\n\n\nclass SubTest(unittest.TestCase):\n    \
         def test_subtracts(self):\n        self.assertEqual(sub(3, 2), 1)\n",
    );
    place.git(&["add", "-A"]);
    place.git(&["commit", "-qm", "Its test"]);
    let shown = vet(&place, &[]);
    assert!(shown.out.contains("1 of 1 new, changed or fixed tests can fail"), "{}", shown.out);
    assert!(shown.out.contains("nothing is worse than at the base"), "{}", shown.out);
    let (code, unproven) = vet_json(&place, &["--prove=off"]);
    assert_eq!((code, unproven["proofs"].is_null()), (0, true), "{unproven:#}");
}

// BY-02
#[test]
fn an_agent_reviews_on_request() {
    let place = Place::new().without_agents();
    place.write("sums/add.py", "def add(a, b):\n    return b + a\n");
    place.git(&["commit", "-qam", "b + a"]);
    let defect = finding("R1", "major", "adding words joins them");
    let cases = [
        (review("code", "general", "approve", &[]), 0, "pass"),
        (review("code", "general", "needs-revision", &[defect]), 10, "fail"),
        (Value::from("nothing of use"), 12, "blocked"),
    ];
    for (says, code, verdict) in cases {
        let script = Script::of([role("reviewer").says(says)]).text();
        let agent = format!("rehearsal:{}", place.write_outside("reviewer.yaml", &script));
        let (ended, report) = vet_json(&place, &["--review", "--agent", &agent]);
        assert_eq!((ended, &report["verdict"]), (code, &Value::from(verdict)), "{report:#}");
        assert_eq!(report["workflow"], "vet-review");
        if code == 10 {
            assert_eq!(named(&report), ("review", "sums/sub.py"), "{report:#}");
            assert_eq!(report["look"]["sentence"], "adding words joins them");
            assert!(
                report["look"]["command"].as_str().is_some_and(|command| command.starts_with("git diff "))
            );
        }
    }
    assert_eq!(vet(&place, &["--agent", "nobody"]).code, 2, "an agent without a review has nothing to do");
}

// BY-02
#[test]
fn only_the_user_who_has_a_change_judged_releases_its_tests() {
    let place = Place::new().without_agents();
    place.write("tests/test_add.py", "import unittest\n\n\nclass OtherTest(unittest.TestCase):\n    def test_other(self):\n        self.assertEqual(1 + 1, 2)\n");
    place.git(&["commit", "-qam", "Other tests\n\nReleases: tests/test_add.py\nThe test test_adds may go."]);
    let (code, report) = vet_json(&place, &[]);
    assert_eq!((code, named(&report)), (10, ("test-weakened", "tests/test_add.py")), "{report:#}");
    let (code, report) = vet_json(&place, &["--release", "tests/test_add.py"]);
    assert_eq!((code, &report["releases"][0]["by"]), (0, &Value::from("ada")), "{report:#}");
}

// BY-02
#[test]
fn a_change_without_a_base_names_both_sides() {
    let place = Place::new().without_agents();
    place.git(&["checkout", "-q", "--orphan", "lone"]);
    place.git(&["commit", "-qm", "From nothing"]);
    let shallow = place.state().join("../shallow");
    let from = format!("file://{}", place.project().display());
    place.git(&["clone", "-q", "--depth", "1", "--no-single-branch", &from, &shallow.display().to_string()]);
    let shallow = shallow.display().to_string();
    for (arguments, sides) in [
        (&["vet"][..], "`main` and `lone`"),
        (&["vet", "main..lone"], "`main` and `lone`"),
        (&["-C", &shallow, "vet", "origin/main..origin/lone"], "`origin/main` and `origin/lone`"),
    ] {
        let refused = place.remand(arguments);
        let why = format!("{sides} have no commit in common");
        assert!(refused.code == 1 && refused.err.contains(&why), "{}{}", refused.out, refused.err);
        assert!(refused.err.contains("git fetch --unshallow"), "{}", refused.err);
    }
    let empty = place.write_outside("empty.patch", "");
    place.git(&["checkout", "-q", "work"]);
    assert_eq!(vet(&place, &["--patch", &empty]).code, 0, "a patch without content changes nothing");
}

/// The folder of the tools that tests run for real.
pub fn tools() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools");
    std::env::var_os("REMAND_TEST_TOOLS").map_or(built, PathBuf::from)
}

/// Runs a script with the Python that has the readers of other people.
fn python(script: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(tools().join("venv/bin/python"));
    let output = command.arg("-c").arg(script).args(arguments).output().expect("Python runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

// BY-02
#[test]
fn other_programs_read_the_report() {
    let place = with_edit("a + b", "a - b");
    place.git(&["commit", "-qam", "minus"]);
    let files: Vec<String> = ["sarif", "junit", "in-toto", "markdown", "github"]
        .map(|form| place.write_outside(form, ""))
        .to_vec();
    let forms = ["sarif", "junit", "in-toto", "markdown", "github"];
    let reports: Vec<String> =
        forms.iter().zip(&files).map(|(form, file)| format!("{form}={file}")).collect();
    let mut arguments = Vec::new();
    reports.iter().for_each(|report| arguments.extend(["--report", report.as_str()]));
    let seal = place.project().join("../sealed").display().to_string();
    arguments.extend(["--bundle", seal.as_str()]);
    let (code, first) = vet_json(&place, &arguments);
    assert_eq!(code, 10, "{first:#}");
    let [sarif, junit, in_toto, markdown, github] = files.as_slice() else { panic!("five files") };

    // The validator of Microsoft.
    let log = place.write_outside("validated.sarif", "");
    let validator = tools().join("npm/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    let validated = Command::new(validator)
        .args(["validate", sarif, "--log", "ForceOverwrite", "--output", &log])
        .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
        .output()
        .expect("the validator runs");
    let said = String::from_utf8_lossy(&validated.stdout).into_owned();
    assert!(said.contains("Analysis completed successfully"), "{said}");
    assert!(!said.contains(": error "), "{said}");
    let value: Value = serde_json::from_str(&fs::read_to_string(sarif).expect("SARIF")).expect("JSON");
    let result = &value["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "test-regressed");
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "tests/test_add.py");
    assert_eq!(result["partialFingerprints"]["remandFinding/v1"], first["findings"][0]["identity"]);

    // A change that only moves code has the same fingerprint, also from a reused result.
    let (_, again) = vet_json(&place, &[]);
    assert_eq!(again["findings"], first["findings"]);
    assert_eq!(again["checks"][0]["origin"]["kind"], "reused", "{again:#}");
    place.write("tests/__init__.py", "# moved\n");
    place.git(&["commit", "-qam", "more"]);
    let (_, moved) = vet_json(&place, &[]);
    assert_eq!(moved["findings"][0]["identity"], first["findings"][0]["identity"]);

    let read = python(
        "import sys, junitparser\n\
         xml = junitparser.JUnitXml.fromfile(sys.argv[1])\n\
         cases = [(suite.name, case.name, [type(r).__name__ for r in case.result]) for suite in xml for case in suite]\n\
         print(xml.failures, [case for case in cases if case[0] == 'unittest'])",
        &[junit],
    );
    assert_eq!(read, "3 [('unittest', 'tests.test_add.AddTest.test_adds', ['Failure'])]");

    let key = first_key(&seal);
    let read = python(
        "import json, sys\n\
         from securesystemslib.dsse import Envelope\n\
         from securesystemslib.signer import SSlibKey\n\
         from google.protobuf import json_format\n\
         from in_toto_attestation.v1.statement import Statement\n\
         from in_toto_attestation.v1 import statement_pb2\n\
         from in_toto_attestation.predicates.test_result.v0 import test_result_pb2\n\
         value = json.load(open(sys.argv[1]))\n\
         value['signatures'] = {s['keyid']: s for s in value['signatures']} and value['signatures']\n\
         envelope = Envelope.from_dict(value)\n\
         key = SSlibKey(sys.argv[2], 'ed25519', 'ed25519', {'public': sys.argv[2]})\n\
         envelope.verify([key], 1)\n\
         payload = json.loads(envelope.payload)\n\
         Statement.copy_from_pb(json_format.ParseDict(payload, statement_pb2.Statement())).validate()\n\
         result = json_format.ParseDict(payload['predicate'], test_result_pb2.TestResult())\n\
         print(result.result, list(result.failed_tests), payload['subject'][0]['digest']['gitCommit'])",
        &[in_toto, &key],
    );
    let head = first["change"]["head"].as_str().expect("a commit");
    assert_eq!(read, format!("FAILED ['unittest: tests.test_add.AddTest.test_adds'] {head}"));

    let page = fs::read_to_string(markdown).expect("Markdown");
    assert!(page.starts_with("## Remand: fail — work\n"), "{page}");
    let annotations = fs::read_to_string(github).expect("annotations");
    assert!(annotations.starts_with("::error file=tests/test_add.py,line="), "{annotations}");
    let sealed = place.remand(&["evidence", "--verify", &seal]);
    assert_eq!(sealed.code, 0, "{}{}", sealed.out, sealed.err);
}

/// The public key in the manifest of a sealed folder.
fn first_key(seal: &str) -> String {
    let text = fs::read_to_string(Path::new(seal).join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    manifest["key"].as_str().expect("a key").to_string()
}

fn hook(place: &Place, message: &str) -> Shown {
    let mut command = place.command(&["vet", "--hook"]);
    let file = place.write_outside("hook.json", message);
    command.stdin(fs::File::open(file).expect("a file"));
    shown(command)
}

// BY-02
#[test]
fn a_stop_hook_says_once_what_is_missing() {
    let place = with_edit("a + b", "a - b");
    let first = hook(&place, r#"{"hook_event_name": "Stop", "stop_hook_active": false}"#);
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    let said: Value = serde_json::from_str(&first.out).expect("JSON");
    assert_eq!(said["decision"], "block");
    let reason = said["reason"].as_str().expect("a reason");
    assert!(reason.contains("tests/test_add.py:") && reason.contains("Reproduce: "), "{reason}");
    for message in [r#"{"stop_hook_active": true}"#, r#"{"stop_hook_active": false}"#, ""] {
        let again = hook(&place, message);
        assert_eq!((again.code, again.out.as_str()), (0, ""), "{message}: {}", again.err);
    }
    let other = hook(&place, r#"{"session_id": "other"}"#);
    assert!(other.out.contains("\"block\""), "another session has not been told: {}{}", other.out, other.err);
    place.write("sums/add.py", "def add(a, b):\n    return b + a\n");
    let fixed = hook(&place, "");
    assert_eq!((fixed.code, fixed.out.as_str()), (0, ""), "{}", fixed.err);
}
