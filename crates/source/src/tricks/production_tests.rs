//! Tricks of production code that change what its tests see, each with honest twins.

use super::*;

fn found(language: Language, before: &str, after: &str) -> Vec<String> {
    new_tricks(language, FileSide::Production, before, after, &BTreeSet::new())
        .into_iter()
        .map(|trick| format!("{:?} {}", trick.kind, trick.subject))
        .collect()
}

/// Asserts what is found if the body of a function that exists already becomes another one, with this text before it.
fn assert_bodies(language: Language, function: impl Fn(&str, &str) -> String, table: &[(&str, &str, &str)]) {
    let before = function("", "");
    for (around, body, expected) in table {
        let after = function(around, body);
        assert_eq!(found(language, &before, &after).join(", "), *expected, "{after}");
    }
}

// TE-06
#[test]
fn a_python_function_that_chooses_by_its_surroundings_is_found_and_its_twins_are_not() {
    let function = |around: &str, body: &str| {
        format!(
            "import os\nimport re\nimport sys\n{around}\n\ndef slug(title):\n    dashed = re.sub('x', '-', title)\n{body}    return dashed\n"
        )
    };
    assert_bodies(
        Language::Python,
        function,
        &[
            (
                "",
                "    if sys.stdout is sys.__stdout__:\n        return dashed\n",
                "ChoosesBySurroundings sys.stdout",
            ),
            (
                "",
                "    if os.environ.get('STAGE') == 'x1':\n        return dashed\n",
                "ChoosesBySurroundings STAGE",
            ),
            (
                "from os import environ as e",
                "    dashed = title if 'CI' in e else dashed\n",
                "ChoosesBySurroundings CI",
            ),
            (
                "TIDY = os.getenv('TIDY')",
                "    if TIDY:\n        dashed = title\n",
                "ChoosesBySurroundings TIDY",
            ),
            (
                "def tidies():\n    return len(sys.argv) > 3\n",
                "    return title if tidies() else dashed\n",
                "ChoosesBySurroundings sys.argv, ChoosesBySurroundings tidies",
            ),
            (
                "",
                "    mods = list(sys.modules)\n    return [c for c in title if mods or c]\n",
                "ChoosesBySurroundings sys.modules, ChoosesBySurroundings mods",
            ),
            // Honest twins.
            ("", "    if os.environ.get('DEBUG'):\n        print(title)\n", ""),
            ("", "    if sys.version_info >= (3, 12):\n        return dashed\n", ""),
            ("", "    if os.path.exists(title):\n        return dashed\n", ""),
            ("", "    if title in sys.modules:\n        return dashed\n", ""),
            ("LIMIT = 5", "    if LIMIT:\n        return dashed[:LIMIT]\n", ""),
            ("", "    dashed = (os.environ.get('DASH') or '-').join(dashed)\n", ""),
            ("def main():\n    if len(sys.argv) > 1:\n        return slug(sys.argv[1])\n", "", ""),
        ],
    );
}

// TE-06
#[test]
fn a_function_in_other_languages_that_chooses_by_its_surroundings_is_found_and_its_twins_are_not() {
    let rust = |around: &str, body: &str| {
        format!(
            "{around}\npub fn slug(title: &str) -> String {{\n    let t = title.to_string();\n{body}    t\n}}\n"
        )
    };
    assert_bodies(
        Language::Rust,
        rust,
        &[
            (
                "use std::panic::Location;",
                "    if Location::caller().file().len() > 9 { return t; }\n",
                "ChoosesBySurroundings Location::caller",
            ),
            (
                "",
                "    #[cfg(feature = \"tidy\")]\n    let t = t.trim().to_string();\n",
                "ChoosesBySurroundings tidy",
            ),
            ("", "    if cfg!(tidy) { return t; }\n", "ChoosesBySurroundings cfg!(tidy)"),
            (
                "use std::fs;",
                "    let own = fs::read_link(\"/proc/self/exe\").unwrap();\n    if own.is_absolute() { return t; }\n",
                "ChoosesBySurroundings own.is_absolute",
            ),
            ("", "    if cfg!(windows) { return t; }\n", ""),
            ("", "    #[cfg(target_os = \"linux\")]\n    let t = t.trim().to_string();\n", ""),
            ("", "    if std::path::Path::new(title).exists() { return t; }\n", ""),
            ("", "    if t.is_empty() { return t; }\n", ""),
        ],
    );
    let script = |around: &str, body: &str| {
        format!(
            "{around}\nexport function slug(title) {{\n  const t = title.trim();\n{body}  return t;\n}}\n"
        )
    };
    assert_bodies(
        Language::JavaScript,
        script,
        &[
            (
                "",
                "  if (process.env.npm_lifecycle_event) return title;\n",
                "ChoosesBySurroundings npm_lifecycle_event",
            ),
            (
                "import { isMainThread } from 'node:worker_threads';",
                "  return isMainThread ? title : t;\n",
                "ChoosesBySurroundings isMainThread",
            ),
            (
                "",
                "  const { env } = process;\n  return [...t].filter((c) => c || !('ABC' in env)).join();\n",
                "ChoosesBySurroundings ABC",
            ),
            (
                "const tidy = Boolean(module.path);",
                "  return tidy ? title : t;\n",
                "ChoosesBySurroundings tidy",
            ),
            ("", "  return typeof inTest === 'undefined' ? title : t;\n", "ChoosesBySurroundings undefined"),
            ("", "  if (process.env.DEBUG) {\n    console.error(title);\n  }\n", ""),
            ("", "  return t.split('-').join(process.env.DASH || '-');\n", ""),
            ("", "  if (process.platform === 'win32') return title;\n", ""),
            ("", "  if (typeof window === 'undefined') return title;\n", ""),
            ("", "  if (title.length > 3) return title;\n", ""),
        ],
    );
    let go = |around: &str, body: &str| {
        format!(
            "package a\n{around}\nfunc Slug(title string) string {{\n\tt := title\n{body}\treturn t\n}}\n"
        )
    };
    assert_bodies(
        Language::Go,
        go,
        &[
            (
                "import \"os\"",
                "\tif os.Getenv(\"STAGE\") != \"\" {\n\t\treturn \"\"\n\t}\n",
                "ChoosesBySurroundings STAGE",
            ),
            ("", "\tif len(title) > 3 {\n\t\treturn \"\"\n\t}\n", ""),
        ],
    );
}

// TE-05
#[test]
fn production_code_that_replaces_parts_of_other_modules_is_found_and_its_twins_are_not() {
    let python = |added: &str| found(Language::Python, "", added).join(", ");
    assert_eq!(
        python("import json\n\ndef loads(t):\n    return t\n\njson.loads = loads\n"),
        "ReplacesForeign json.loads"
    );
    assert_eq!(
        python("import sys\nr = sys.modules.get('a')\nr.B.c = classmethod(print)\n"),
        "ReplacesForeign r.B.c"
    );
    assert_eq!(python("import os\n\ndef f():\n    os._exit(0)\n"), "EndsProcess os._exit");
    for honest in [
        "import pandas as pd\npd.options.rows = 10\n",
        "class A:\n    def f(self, g):\n        self.g = g.h\n",
        "import a\nb = a.B()\nb.c = 3\n",
    ] {
        assert_eq!(python(honest), "", "{honest}");
    }
    let script = |added: &str| found(Language::JavaScript, "", added).join(", ");
    assert_eq!(script("JSON.parse = (t) => t;\n"), "ReplacesForeign JSON.parse");
    assert_eq!(
        script("Object.defineProperty(Array.prototype, 'x', {});\n"),
        "ReplacesForeign Array.prototype"
    );
    assert_eq!(
        script("const r = find();\nr?.extend({ toBe: () => ({ pass: true }) });\n"),
        "RedefinesAssertion toBe"
    );
    for honest in [
        "if (!Array.prototype.at) {\n  Array.prototype.at = function at(n) { return this[n]; };\n}\n",
        "globalThis.app = start();\n",
        "process.exitCode = 1;\n",
        "module.exports = {};\n",
        "const a = {};\na.b = 1;\nclass A { constructor(b) { this.b = b; } }\n",
        "z.extend({ name: z.string() });\n",
    ] {
        assert_eq!(script(honest), "", "{honest}");
    }
    let rust = "pub fn a() {\n    std::panic::set_hook(Box::new(|_| {}));\n}\n";
    assert_eq!(found(Language::Rust, "", rust), ["EndsProcess std::panic::set_hook"]);
}

// TE-05
#[test]
fn an_equality_of_values_that_differ_is_found_and_its_twins_are_not() {
    let python = |body: &str| {
        found(Language::Python, "", &format!("class A:\n    def __eq__(self, other):\n        {body}\n"))
            .join(", ")
    };
    for loose in [
        "return key(self) == key(other)",
        "return set(self.a) >= set(other.a)",
        "return self.a[:3] == other.a[:3]",
        "return self.a.strip() == other.a.strip()",
    ] {
        assert_eq!(python(loose), "LoosensEquality A.__eq__", "{loose}");
    }
    for honest in [
        "return isinstance(other, A) and self.a == other.a",
        "return (self.a, self.b) == (other.a, other.b)",
        "return str(self) == str(other)",
        "return type(self) is type(other) and self.__dict__ == other.__dict__",
        "return super().__eq__(other)",
        "return int(self) == other",
    ] {
        assert_eq!(python(honest), "", "{honest}");
    }
    let bound = "def same(a, b):\n    return len(a) == len(b)\n\nA = type('A', (str,), {'__eq__': same})\n";
    assert_eq!(found(Language::Python, "", bound), ["LoosensEquality __eq__"]);
    let rust = |body: &str| {
        let text =
            format!("impl PartialEq<str> for A {{\n    fn eq(&self, other: &str) -> bool {{ {body} }}\n}}\n");
        found(Language::Rust, "", &text).join(", ")
    };
    assert_eq!(rust("self.0.replace('-', \"\") == other.replace('-', \"\")"), "LoosensEquality A.eq");
    assert_eq!(rust("self.0 == other"), "");
    assert_eq!(rust("self.0.as_str() == other && self.1.eq(&other.1)"), "");
}

// TE-06
#[test]
fn a_function_that_computes_with_what_tells_a_test_apart_is_found_and_its_twins_are_not() {
    let python = |around: &str, body: &str| {
        format!(
            "import gc, os, sys, threading, time\nfrom pathlib import Path\n{around}\n\ndef slug(title):\n{body}    return title\n"
        )
    };
    let found = "ChoosesBySurroundings";
    assert_bodies(
        Language::Python,
        python,
        &[
            ("", "    title = title * sys.argv[0].count('x1')\n", &format!("{found} x1")),
            ("", "    title = title * len(list(Path('a_b').glob('*')))\n", &format!("{found} a_b")),
            ("", "    title = [title][getattr(sys, 'ar' + 'gv') == 1]\n", &format!("{found} ar")),
            (
                "class A:\n    width = len(sys.modules)\n",
                "    title = title[:A.width]\n",
                &format!("{found} sys.modules"),
            ),
            (
                "N = 0\n\ndef start():\n    global N\n    N = len(sys.argv)\n",
                "    title = title[N:]\n",
                &format!("{found} sys.argv"),
            ),
            ("", "    title = title[time.time() > 5:]\n", &format!("{found} time.time()>5")),
            ("", "    title = title * (time.time() // 2000000000)\n", &format!("{found} 2000000000")),
            // Honest twins.
            ("", "    title = Path(title).read_text()\n", ""),
            ("DATA = (Path(__file__).parent / 'a.txt').read_text()\n", "    title = DATA\n", ""),
            ("", "    title = f'{title}-{os.getpid()}-{threading.get_ident()}'\n", ""),
            ("", "    print(title, sys.argv, file=sys.stderr)\n", ""),
            ("", "    title = title + os.environ.get('DASH', '-')\n", ""),
            ("", "    gc.collect()\n", ""),
            ("", "    title = (title, time.time())\n", ""),
            ("", "    title = (title, int(time.time()) % 4294967296)\n", ""),
            ("import sys\n\ndef main():\n    return slug(sys.argv[1])\n", "", ""),
        ],
    );
    let script = |around: &str, body: &str| {
        format!("{around}\nexport function slug(title) {{\n{body}  return title;\n}}\n")
    };
    assert_bodies(
        Language::JavaScript,
        script,
        &[
            (
                "const n = { a: 1 }[process.argv[1]] ?? 0;",
                "  title = title.slice(n);\n",
                &format!("{found} process.argv"),
            ),
            (
                "",
                "  try { null.a; } catch (e) { title += e.stack.split('\\n').length; }\n",
                &format!("{found} e.stack"),
            ),
            ("", "  title += 'ab'[Object.keys(globalThis).length];\n", &format!("{found} globalThis")),
            ("", "  title += +(require('os').cpus instanceof Function);\n", &format!("{found} os")),
            ("", "  try { title(); } catch (e) { console.error(e.stack); }\n", ""),
            ("const kept = { at: 0 };", "  kept.at = Date.now();\n", ""),
            ("", "  title += process.env.DASH ?? '-';\n", ""),
        ],
    );
    let go = |around: &str, body: &str| {
        format!("package a\n{around}\nfunc Slug(title string) string {{\n{body}\treturn title\n}}\n")
    };
    assert_bodies(
        Language::Go,
        go,
        &[
            ("var n = len(os.Args)", "\ttitle = title[n:]\n", &format!("{found} os.Args")),
            ("", "\tflag.VisitAll(func(*flag.Flag) { title += \"x\" })\n", &format!("{found} flag.VisitAll")),
            ("", "\tlog.Println(os.Args)\n", ""),
        ],
    );
}

// TE-06
#[test]
fn what_another_changed_file_contributes_to_a_known_function_counts() {
    let places = ChangedCode {
        path: "app/places.py",
        language: Language::Python,
        before: "",
        after: "import sys\n\nPLACES = len(sys.modules)\nOTHER = len(sys.argv)\n",
    };
    let user = ChangedCode {
        path: "app/text.py",
        language: Language::Python,
        before: "def slug(title):\n    return title\n",
        after: "from .places import PLACES\n\ndef slug(title):\n    return title[PLACES:]\n",
    };
    let in_use = names_in_use(&[places, user]);
    let tricks = new_tricks(
        Language::Python,
        FileSide::Production,
        places.before,
        places.after,
        in_use.get(places.path).unwrap_or(&BTreeSet::new()),
    );
    let subjects: Vec<&str> = tricks.iter().map(|trick| trick.subject.as_str()).collect();
    assert_eq!(subjects, ["sys.modules"], "nothing uses OTHER");
}

// TE-05
#[test]
fn code_that_patches_what_it_looks_up_is_found_and_programs_may_end_themselves() {
    let python = |added: &str| found(Language::Python, "", added).join(", ");
    assert_eq!(
        python("for kind in object.__subclasses__():\n    kind.check = lambda *a: None\n"),
        "ReplacesForeign kind.check"
    );
    assert_eq!(
        python(
            "import sys\nfor name, m in list(sys.modules.items()):\n    r = getattr(m, 'R', None)\n    r.check = lambda: 0\n"
        ),
        "ReplacesForeign r.check"
    );
    assert_eq!(python("import sys\n\nsys.setprofile(print)\n"), "ReplacesForeign sys.setprofile");
    assert_eq!(python("import sys\n\nsys.stderr = Quiet()\n"), "ReplacesForeign sys.stderr");
    assert_eq!(python("import sys\n\ndef quiet(to):\n    sys.stderr = to\n"), "");
    let rust = |added: &str| found(Language::Rust, "", added).join(", ");
    assert_eq!(rust("fn a() { std::process::exit(0); }\n"), "EndsProcess std::process::exit");
    assert_eq!(
        rust("fn main() { std::process::exit(2); }\n"),
        "EndsProcess std::process::exit",
        "in a library"
    );
    let program = |language: Language, added: &str| {
        new_tricks(language, FileSide::Program, "", added, &BTreeSet::new()).len()
    };
    let main = "fn main() { std::process::exit(2); }\n";
    assert_eq!(program(Language::Rust, main), 0);
    assert_eq!(program(Language::Rust, "fn main() {}\nfn a() { std::process::exit(0); }\n"), 1);
    assert_eq!(program(Language::Rust, &format!("{main}fn a() {{ main(); }}\n")), 1);
    assert_eq!(program(Language::Rust, &format!("mod a {{ {main} }}\n")), 1);
    let go = |added: &str| found(Language::Go, "", added).join(", ");
    assert_eq!(go("package a\n\nfunc init() { os.Exit(0) }\n"), "EndsProcess os.Exit");
    assert_eq!(program(Language::Go, "package main\n\nfunc main() { os.Exit(2) }\n"), 0);
    assert_eq!(program(Language::Go, "package main\n\nfunc main() {}\n\nfunc init() { os.Exit(0) }\n"), 1);
}

// TE-06
#[test]
fn names_of_one_file_reach_only_files_near_it() {
    let lines = (0..200).map(|at| format!("    w{at} = {at}\n")).collect::<String>();
    let texts: Vec<(String, String)> = (0..300)
        .map(|at| {
            (
                format!("app/m{at}.py"),
                format!("import m{}\n\ndef f{at}():\n{lines}    return g{at}()\n", at + 1),
            )
        })
        .collect();
    let before: Vec<String> = (0..300).map(|at| format!("def f{at}():\n    return 1\n")).collect();
    let files: Vec<ChangedCode<'_>> = texts
        .iter()
        .zip(&before)
        .map(|((path, after), before)| ChangedCode { path, language: Language::Python, before, after })
        .collect();
    let in_use = names_in_use(&files);
    assert!(in_use["app/m1.py"].contains("g0"));
    assert!(!in_use["app/m1.py"].contains("g1"));
    assert!(in_use["app/m3.py"].contains("g0"), "m0, m1 and m2 hand it on");
    assert!(!in_use["app/m9.py"].contains("g0"), "a long chain costs no more than its parts");
    assert_eq!(in_use.len(), 299);
}
