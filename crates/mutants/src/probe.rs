//! Probes: copies of changed files in which changed functions fail as soon as they run, to see which tests reach them.

use crate::Mutant;
use crate::source_file::AlteredSource;
use remand_source::{Language, ParsedSource};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// The text of a file in which the functions of these mutants fail when they run; `None` if no function is known.
pub fn probe(file: &AlteredSource<'_>, mutants: &[&Mutant]) -> Option<String> {
    let source = ParsedSource::parse(Language::of(file.path)?, file.text)?;
    let mut entries: Vec<Entry> = Vec::new();
    for mutant in mutants.iter().filter(|mutant| mutant.path == file.path) {
        let entry = body_around(&source, mutant).and_then(|body| entry(&source, body))?;
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    // An inner function is entered only through the outer one, which fails first.
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.start));
    let mut text = file.text.to_string();
    let mut replaced = BTreeSet::new();
    for Entry { start, end, text: failing } in entries {
        if replaced.range(start..end).next().is_none() {
            text.replace_range(start..end, &failing);
            replaced.insert(start);
        }
    }
    (!replaced.is_empty() && text != file.text).then_some(text)
}

/// Text that replaces a range, mostly an empty one at the start of a body.
#[derive(PartialEq, Eq)]
struct Entry {
    start: usize,
    end: usize,
    text: String,
}

/// The body of the innermost named function around a mutant.
fn body_around<'t>(source: &'t ParsedSource<'_>, mutant: &Mutant) -> Option<Node<'t>> {
    let mut node = source.root().descendant_for_byte_range(mutant.range.start, mutant.range.end);
    while let Some(at) = node {
        if let Some(function) = crate::function::function_at(source, at)
            && let Some(body) = function.code.child_by_field_name("body")
            && body.start_byte() <= mutant.range.start
        {
            return Some(body);
        }
        node = at.parent();
    }
    None
}

fn entry(source: &ParsedSource<'_>, body: Node<'_>) -> Option<Entry> {
    let inside = |text: &str| {
        let start = body.start_byte() + 1;
        Some(Entry { start, end: start, text: text.to_string() })
    };
    match (source.language(), body.kind()) {
        (Language::Rust, "block") => inside(" if true { panic!(\"reached\"); } "),
        (Language::Go, "block") => inside(" if true { panic(\"reached\") }; "),
        (Language::Python, "block") => {
            let first = body.named_child(0)?;
            let line_start = source.slice(0, first.start_byte()).rfind('\n').map_or(0, |at| at + 1);
            let indent = source.slice(line_start, first.start_byte());
            let is_alone = indent.chars().all(char::is_whitespace);
            let start = first.start_byte();
            let text = if is_alone {
                format!("raise SystemError('reached')\n{indent}")
            } else {
                "raise SystemError('reached'); ".to_string()
            };
            Some(Entry { start, end: start, text })
        }
        (_, "statement_block") => inside(" throw new Error(\"reached\"); "),
        (Language::JavaScript | Language::TypeScript | Language::Tsx, _) => Some(Entry {
            start: body.start_byte(),
            end: body.end_byte(),
            text: "(() => { throw new Error(\"reached\"); })()".to_string(),
        }),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::path::Path;

    fn probed(path: &str, text: &str) -> String {
        let lines: BTreeSet<usize> = (1..=text.lines().count()).collect();
        let file = AlteredSource { path: Path::new(path), text, lines: &lines };
        let mutants = crate::mutants(&[file]);
        let of_functions: Vec<&Mutant> =
            mutants.iter().filter(|mutant| !mutant.function.is_empty()).collect();
        let probed = probe(&file, &of_functions).unwrap();
        let language = Language::of(Path::new(path)).unwrap();
        assert_eq!(ParsedSource::parse(language, &probed).unwrap().errors(), [], "{probed}");
        probed
    }

    // TE-04
    #[test]
    fn changed_functions_fail_as_soon_as_they_run() {
        assert_eq!(
            probed(
                "a.py",
                "def f(a):\n    if a > 1:\n        return a\n    return 2\n\ndef g(a): return a + 1\n"
            ),
            "def f(a):\n    raise SystemError('reached')\n    if a > 1:\n        return a\n    return 2\n\n\
             def g(a): raise SystemError('reached'); return a + 1\n"
        );
        assert_eq!(
            probed("a.rs", "fn f(a: u8) -> u8 {\n    a + 1\n}\n"),
            "fn f(a: u8) -> u8 { if true { panic!(\"reached\"); } \n    a + 1\n}\n"
        );
        assert_eq!(
            probed("a.ts", "const f = (a: number) => a + 1;\nfunction g(a: number) { return a * 2; }\n"),
            "const f = (a: number) => (() => { throw new Error(\"reached\"); })();\n\
             function g(a: number) { throw new Error(\"reached\");  return a * 2; }\n"
        );
        assert_eq!(
            probed("a.go", "package a\n\nfunc F(a int) int { return a + 1 }\n"),
            "package a\n\nfunc F(a int) int { if true { panic(\"reached\") };  return a + 1 }\n"
        );
    }
}
