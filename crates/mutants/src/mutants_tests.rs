#![allow(clippy::unwrap_used)]

use crate::{AlteredSource, Mutant, MutantKind, can_mutate, mutants};
use std::collections::BTreeSet;
use std::path::Path;

fn of_lines(path: &str, text: &str, lines: impl IntoIterator<Item = usize>) -> Vec<Mutant> {
    let lines: BTreeSet<usize> = lines.into_iter().collect();
    mutants(&[AlteredSource { path: Path::new(path), text, lines: &lines }])
}

fn of(path: &str, text: &str) -> Vec<Mutant> {
    of_lines(path, text, 1..=text.lines().count())
}

fn sentences(mutants: &[Mutant]) -> Vec<String> {
    mutants.iter().map(Mutant::sentence).collect()
}

fn kinds(mutants: &[Mutant]) -> BTreeSet<MutantKind> {
    mutants.iter().map(|mutant| mutant.kind).collect()
}

/// The alterations, and the text of the lines that they change.
fn altered_lines(text: &str, mutants: &[Mutant]) -> Vec<String> {
    let altered = |mutant: &Mutant| {
        let after = mutant.apply(text);
        let differs = text.lines().zip(after.lines()).find(|(old, new)| old != new);
        differs.map(|(_, new)| new.trim().to_string()).unwrap_or_default()
    };
    mutants.iter().map(altered).collect()
}

const RUST: &str = "\
pub fn fee(weight: u32, zones: &[u32], log: &mut Vec<u32>) -> Option<u32> {
    if weight >= 20 && !zones.is_empty() {
        log.push(weight);
        return Some(weight * 2 + 5);
    }
    let last = zones.iter().max()?;
    Some(pick(weight, *last))
}
";

// TE-04
#[test]
fn rust_is_altered_by_every_kind() {
    let found = of("src/fee.rs", RUST);
    let lines = altered_lines(RUST, &found);
    for expected in [
        "if !(weight >= 20 && !zones.is_empty()) {",
        "if weight > 20 && !zones.is_empty() {",
        "if weight >= 20 || !zones.is_empty() {",
        "if weight >= 21 && !zones.is_empty() {",
        "if false { log.push(weight); }",
        "return Some(weight + 2 + 5);",
        "return Some(weight * 2 - 5);",
        "return (Some(weight * 2 + 5)).map(|near| u32::wrapping_add(near, 1));",
        "let last = zones.iter().min()?;",
        "Some(pick(*last, weight))",
        "(Some(pick(weight, *last))).map(|near| u32::wrapping_add(near, 1))",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected} is not in {lines:#?}");
    }
    let boundary = found.iter().find(|mutant| mutant.kind == MutantKind::Boundary).unwrap();
    assert_eq!(boundary.sentence(), "`>=` became `>` in `fee`, line 2");
}

// TE-04
#[test]
fn rust_results_become_values_near_them_by_their_type() {
    let near = |of_type: &str, value: &str| {
        let text = format!("fn f(a: bool) -> {of_type} {{\n    {value}\n}}\n");
        let found = of_lines("src/a.rs", &text, [2]);
        let returned: Vec<Mutant> =
            found.into_iter().filter(|mutant| mutant.kind == MutantKind::Returned).collect();
        altered_lines(&text, &returned).concat()
    };
    assert_eq!(near("bool", "a"), "!(a)");
    assert_eq!(near("String", "name(a)"), "format!(\"{}x\", name(a))");
    assert_eq!(near("&'static str", "NAME"), "&*Box::leak(format!(\"{}x\", NAME).into_boxed_str())");
    assert_eq!(near("f64", "half(a)"), "(half(a)) + 1.0");
    assert_eq!(near("io::Result<u8>", "Ok(1)"), "(Ok(1)).map(|near| u8::wrapping_add(near, 1))");
    assert_eq!(near("Result<u8, Error>", "Err(Error::Empty)"), "Ok(0)");
    assert_eq!(near("Option<u8>", "None"), "Some(0)");
    assert_eq!(near("Vec<u8>", "list(a)"), "{ let mut near: Vec<_> = list(a); near.pop(); near }");
    assert_eq!(
        near("(u8, String)", "pair(a)"),
        "{ let mut near: (u8, String) = pair(a); near.0 = u8::wrapping_add(near.0, 1); near }"
    );
    assert_eq!(near("Self", "a"), "", "a type that syntax does not show has no near value");
    assert_eq!(near("u8", "todo!()"), "");
}

// TE-04
#[test]
fn rust_values_of_branches_and_arms_are_returned_values() {
    let text = "fn f(a: u8) -> u8 {\n    match a {\n        0 => one(),\n        _ if a == 3 => {\n            two()\n        }\n        _ => loop {},\n    }\n}\n";
    let found = of("src/a.rs", text);
    let lines = altered_lines(text, &found);
    for expected in [
        "0 => u8::wrapping_add(one(), 1),",
        "u8::wrapping_add(two(), 1)",
        "_ if !(a == 3) => {",
        "_ if a != 3 => {",
        "1 => one(),",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected} is not in {lines:#?}");
    }
}

// TE-04
#[test]
fn test_code_and_code_without_behaviour_are_left_alone() {
    let rust = "#[derive(Debug)]\nstruct A([u8; 4]);\nuse a::b;\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert_eq!(1 + 1, 2); }\n}\n\
                fn f(a: u8) {\n    debug!(\"at {}\", a + 1);\n    assert!(a < 3);\n}\n";
    assert_eq!(sentences(&of("src/a.rs", rust)), Vec::<String>::new());
    let python = "import a\nfrom b import c\n\"\"\"Adds.\"\"\"\n\ndef f(a: int = None) -> int:\n    \"\"\"Adds.\"\"\"\n    logging.info(\"at %s\", a)\n\n\
                  if __name__ == \"__main__\":\n    f(1)\n\ndef test_f():\n    assert f(1) == 2\n";
    assert_eq!(sentences(&of("a.py", python)), Vec::<String>::new());
    let script = "\"use strict\";\nimport a from \"a\";\nconst b = require(\"b\");\n// 1 + 1\n";
    assert_eq!(sentences(&of("a.js", script)), Vec::<String>::new());
    let typed = "import type { A } from \"./a\";\ninterface B { c: \"one\" | 2 }\ntype D = \"x\";\n";
    assert_eq!(sentences(&of("a.ts", typed)), Vec::<String>::new());
    let go = "package a\n\nimport \"fmt\"\n\ntype A struct {\n\tB int `json:\"b\"`\n}\n";
    assert_eq!(sentences(&of("a.go", go)), Vec::<String>::new());
    for path in ["tests/test_a.py", "a_test.go", "src/a.test.ts", "a.d.ts", "README.md", "a.toml", "a.java"] {
        assert!(!can_mutate(Path::new(path)), "{path}");
    }
}

const PYTHON: &str = "\
class Cart:
    def total(self, items, rate=2):
        if not items or rate is None:
            raise ValueError(\"nothing to add\")
        self.seen += 1
        self.log.append(items)
        names = [item for item in sorted(items) if item.price >= 0]
        return sum(item.price for item in names) * rate
";

// TE-04
#[test]
fn python_is_altered_by_every_kind() {
    let found = of("cart.py", PYTHON);
    let lines = altered_lines(PYTHON, &found);
    for expected in [
        "def total(self, items, rate=3):",
        "if not (not items or rate is None):",
        "if not items and rate is None:",
        "if not items or rate is not None:",
        "pass",
        "self.seen -= 1",
        "names = [item for item in list(items) if item.price >= 0]",
        "names = [item for item in sorted(items) if item.price > 0]",
        "names = [item for item in sorted(items) if not (item.price >= 0)]",
        "return sum(item.price for item in names) + rate",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected} is not in {lines:#?}");
    }
    let removed: BTreeSet<usize> =
        found.iter().filter(|mutant| mutant.kind == MutantKind::Removed).map(|mutant| mutant.line).collect();
    assert_eq!(removed, BTreeSet::from([4, 5, 6]));
    let returned = found.iter().find(|mutant| mutant.kind == MutantKind::Returned).unwrap();
    assert_eq!(
        returned.sentence(),
        "a value near `sum(item.price for item in names) * rate` was returned in `Cart.total`, line 8"
    );
}

const SCRIPT: &str = "\
export class Cart {
  total(items, rate = 2) {
    if (!items.length || rate === undefined) throw new Error('nothing');
    this.seen += 1;
    this.log.push(items);
    for (let i = 0; i < items.length; i++) this.add(items[i], rate);
    return items.some((item) => item.price > 0) ? `${rate}` : rate - 1;
  }
}
export const half = (value) => value / 2;
";

// TE-04
#[test]
fn javascript_and_typescript_are_altered_by_every_kind() {
    let found = of("cart.mjs", SCRIPT);
    let lines = altered_lines(SCRIPT, &found);
    for expected in [
        "total(items, rate = 3) {",
        "if (!(!items.length || rate === undefined)) throw new Error('nothing');",
        "if (!items.length && rate === undefined) throw new Error('nothing');",
        "if (!items.length || rate !== undefined) throw new Error('nothing');",
        "if (!items.length || rate === undefined) ;",
        "this.seen -= 1;",
        "for (let i = 0; i <= items.length; i++) this.add(items[i], rate);",
        "for (let i = 0; i < items.length; i--) this.add(items[i], rate);",
        "for (let i = 0; i < items.length; i++) this.add(rate, items[i]);",
        "return items.every((item) => item.price > 0) ? `${rate}` : rate - 1;",
        "return items.some((item) => item.price >= 0) ? `${rate}` : rate - 1;",
        "return items.some((item) => item.price > 0) ? `${rate}x` : rate - 1;",
        "return !(items.some((item) => item.price > 0)) ? `${rate}` : rate - 1;",
        "export const half = (value) => value * 2;",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected} is not in {lines:#?}");
    }
    let typed = SCRIPT.replace("(items, rate = 2)", "(items: Item[], rate: number = 2): number | string");
    assert_eq!(kinds(&of("cart.ts", &typed)), kinds(&found));
    let near = of("cart.ts", &typed);
    let near = near.iter().find(|mutant| mutant.kind == MutantKind::Returned).unwrap();
    assert!(near.apply(&typed).contains("(function near(v: any): any {"));
}

const GO: &str = "\
package fee

func Fee(weight int, zones []string) (int, error) {
	if weight < 0 || len(zones) == 0 {
		return 0, ErrEmpty
	}
	seen++
	record(weight, seen)
	return weight*2 + 5, nil
}

func Names(all []string) []string { return filter(all) }
";

// TE-04
#[test]
fn go_is_altered_by_every_kind() {
    let found = of("fee.go", GO);
    let lines = altered_lines(GO, &found);
    for expected in [
        "if !(weight < 0 || len(zones) == 0) {",
        "if weight <= 0 || len(zones) == 0 {",
        "if weight < 0 && len(zones) == 0 {",
        "if weight < 0 || len(zones) != 0 {",
        "return 0, nil",
        "return (0) + 1, ErrEmpty",
        "seen--",
        "if false { seen++ }",
        "if false { record(weight, seen) }",
        "record(seen, weight)",
        "return weight+2 + 5, nil",
        "return (weight*2 + 5) + 1, nil",
        "func Names(all []string) []string { return func() []string { near := filter(all); if len(near) > 0 { return near[:len(near)-1] }; return near }() }",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected} is not in {lines:#?}");
    }
}

// TE-04
#[test]
fn only_changed_lines_are_altered() {
    let found = of_lines("src/fee.rs", RUST, [3]);
    assert_eq!(sentences(&found), ["`log.push(weight)` was removed in `fee`, line 3"]);
    assert_eq!(of_lines("src/fee.rs", RUST, []), []);
    let long = "def f(a):\n    return add(\n        a,\n        1,\n    )\n";
    let found = of_lines("a.py", long, [4]);
    assert!(found.iter().all(|mutant| mutant.line == 4), "{:?}", sentences(&found));
    assert_eq!(found[0].kind, MutantKind::Returned);
}

// TE-04
#[test]
fn the_first_mutants_are_spread_over_functions_and_lines() {
    let text =
        "def a(x):\n    y = x + 1\n    return y - 2\n\n\ndef b(x):\n    return x * 3\n\n\nLIMIT = 10\n";
    let found = of("a.py", text);
    let first: Vec<(String, usize)> =
        found.iter().take(6).map(|mutant| (mutant.function.clone(), mutant.line)).collect();
    let expected = [("a", 3), ("b", 7), ("", 10), ("a", 2), ("b", 7), ("a", 3)];
    assert_eq!(first, expected.map(|(function, line)| (function.to_string(), line)));
    assert_eq!(found, of("a.py", text), "the order is always the same");
}

// TE-04
#[test]
fn integers_keep_their_suffix_and_stay_in_their_type() {
    let text = "const A: u8 = 255;\nconst B: u32 = 1_000u32;\nconst C: u8 = 0x0f;\nconst D: f32 = 1.5f32;\n";
    assert_eq!(
        altered_lines(text, &of("src/a.rs", text)),
        ["const A: u8 = 254;", "const B: u32 = 1001u32;", "const C: u8 = 16;", "const D: f32 = 2.5f32;"]
    );
}

// TE-04
#[test]
fn every_mutant_parses() {
    let wide = "fn f(a: Option<u8>) -> u8 {\n    if let Some(b) = a && b > 1 {\n        return b;\n    }\n    let c = |d: u8| d + 1;\n    \
                let e = &raw const c;\n    c(2)\n}\n";
    assert!(!of("src/a.rs", wide).is_empty());
    for (path, text) in [("a.rs", RUST), ("a.py", PYTHON), ("a.js", SCRIPT), ("a.go", GO), ("a.rs", wide)] {
        let language = remand_source::Language::of(Path::new(path)).unwrap();
        for mutant in of(path, text) {
            let altered = mutant.apply(text);
            let errors = remand_source::ParsedSource::parse(language, &altered).unwrap().errors();
            assert_eq!(errors, [], "{}", mutant.sentence());
        }
    }
}
