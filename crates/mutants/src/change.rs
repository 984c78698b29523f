//! The lines of a change that may alter behaviour. Comments, layout, renamed names and moved functions do not.

use crate::function::function_at;
use remand_source::{Language, ParsedSource};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tree_sitter::Node;

/// A file before and after a change.
#[derive(Clone, Copy, Debug)]
pub struct ChangedSource<'f> {
    pub path: &'f Path,
    /// `None` if the file is new.
    pub before: Option<&'f str>,
    pub after: &'f str,
}

/// The lines of each file, from 1, that may behave differently now. A removal is on the lines around it.
pub fn behaviour_lines(files: &[ChangedSource<'_>]) -> Vec<BTreeSet<usize>> {
    let read: Vec<FileTokens> = files
        .iter()
        .map(|file| {
            let before = file.before.and_then(|text| Tokens::read(file.path, text));
            (before, Tokens::read(file.path, file.after))
        })
        .collect();
    let functions = |tokens: fn(&FileTokens) -> Option<&Tokens>| -> BTreeSet<&[String]> {
        read.iter().filter_map(tokens).flat_map(Tokens::functions).collect()
    };
    let (old, new) = (functions(|file| file.0.as_ref()), functions(|file| file.1.as_ref()));
    let kept: BTreeSet<&[String]> = old.intersection(&new).copied().collect();
    let renamed = Renamed::find(&read);
    read.iter()
        .map(|(before, after)| changed_lines(before.as_ref(), after.as_ref(), &kept, &renamed))
        .collect()
}

/// The tokens of a file before and after the change.
type FileTokens = (Option<Tokens>, Option<Tokens>);

/// The identifiers that the change brings: no file had them before.
pub fn added_names(files: &[ChangedSource<'_>]) -> BTreeSet<String> {
    let mut added = identifiers(files.iter().map(|file| (file.path, file.after)));
    // A new file can be imported by its name.
    let stems = files.iter().filter(|file| file.before.is_none()).filter_map(|file| file.path.file_stem());
    added.extend(stems.map(|stem| stem.to_string_lossy().into_owned()));
    let before = identifiers(files.iter().filter_map(|file| Some((file.path, file.before?))));
    added.retain(|name| !before.contains(name));
    added
}

fn identifiers<'f>(texts: impl Iterator<Item = (&'f Path, &'f str)>) -> BTreeSet<String> {
    let read = texts.filter_map(|(path, text)| Tokens::read(path, text));
    read.flat_map(|tokens| tokens.texts).filter(|token| is_identifier(token)).collect()
}

fn changed_lines(
    before: Option<&Tokens>,
    after: Option<&Tokens>,
    kept: &BTreeSet<&[String]>,
    renamed: &Renamed<'_>,
) -> BTreeSet<usize> {
    let Some(after) = after else { return BTreeSet::new() };
    let (old, _) = before.map_or_else(Default::default, |before| before.without(kept));
    let old: Vec<&str> = old.into_iter().map(|token| renamed.apply(token)).collect();
    let (new, lines) = after.without(kept);
    let mut changed = BTreeSet::new();
    for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
        match operation {
            DiffOp::Equal { .. } => {}
            // The code around a removal is what behaves differently.
            DiffOp::Delete { new_index, .. } => {
                changed.extend(lines.get(new_index.saturating_sub(1)));
                changed.extend(lines.get(new_index));
            }
            DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                changed.extend(&lines[new_index..new_index + new_len]);
            }
        }
    }
    changed
}

/// The tokens of a text without comments, each with its line.
#[derive(Clone, Debug, Default)]
struct Tokens {
    texts: Vec<String>,
    lines: Vec<usize>,
    /// The ranges of functions.
    functions: Vec<std::ops::Range<usize>>,
    /// The names that the text declares.
    declared: BTreeSet<String>,
}

enum Visit<'t> {
    Enter(Node<'t>),
    LeaveBlock(usize),
    LeaveFunction(usize),
}

impl Tokens {
    fn read(path: &Path, text: &str) -> Option<Tokens> {
        let language = Language::of(path).filter(|language| language.is_code())?;
        let source = ParsedSource::parse(language, text)?;
        let mut found = Tokens::default();
        let mut pending = vec![Visit::Enter(source.root())];
        while let Some(visit) = pending.pop() {
            let node = match visit {
                Visit::Enter(node) if node.kind().contains("comment") => continue,
                Visit::Enter(node) => node,
                Visit::LeaveBlock(line) => {
                    found.push("}", line);
                    continue;
                }
                Visit::LeaveFunction(start) => {
                    found.functions.push(start..found.texts.len());
                    continue;
                }
            };
            let line = node.start_position().row + 1;
            if function_at(&source, node).is_some() {
                pending.push(Visit::LeaveFunction(found.texts.len()));
            }
            // In Python, layout alone decides what belongs to a block.
            if language == Language::Python && node.kind() == "block" {
                found.push("{", line);
                pending.push(Visit::LeaveBlock(node.end_position().row + 1));
            }
            if node.child_count() == 0 || node.kind().contains("string") && !has_code(node) {
                found.push(source.text_of(node), line);
                if declares(node) {
                    found.declared.insert(source.text_of(node).to_string());
                }
                continue;
            }
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            pending.extend(children.into_iter().rev().map(Visit::Enter));
        }
        Some(found)
    }

    fn functions(&self) -> impl Iterator<Item = &[String]> {
        self.functions.iter().map(|function| &self.texts[function.clone()])
    }

    /// The tokens outside these functions, with their lines.
    fn without(&self, functions: &BTreeSet<&[String]>) -> (Vec<&str>, Vec<usize>) {
        let mut is_kept = vec![true; self.texts.len()];
        for function in
            self.functions.iter().filter(|function| functions.contains(&self.texts[(*function).clone()]))
        {
            is_kept[function.clone()].fill(false);
        }
        let rest = (0..self.texts.len()).filter(|at| is_kept[*at]);
        rest.map(|at| (self.texts[at].as_str(), self.lines[at])).unzip()
    }

    fn push(&mut self, text: &str, line: usize) {
        if !text.trim().is_empty() {
            self.texts.push(text.to_string());
            self.lines.push(line);
        }
    }
}

/// Whether a string contains expressions.
fn has_code(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .any(|child| matches!(child.kind(), "interpolation" | "template_substitution"))
}

/// Whether a node is the name in a declaration.
fn declares(node: Node<'_>) -> bool {
    let Some(parent) = node.parent().filter(|_| node.kind().contains("identifier")) else { return false };
    let is = |field: &str| parent.child_by_field_name(field) == Some(node);
    let kind = parent.kind();
    is("name") && !kind.contains("call") && !kind.contains("scoped") && kind != "keyword_argument"
        || is("pattern")
        || is("left") && kind.contains("assignment")
        || kind.contains("parameter")
        || kind == "expression_list"
            && parent.parent().is_some_and(|above| above.kind() == "short_var_declaration")
}

/// Names that the change replaces everywhere by new ones.
#[derive(Debug, Default)]
struct Renamed<'t>(BTreeMap<&'t str, &'t str>);

impl<'t> Renamed<'t> {
    fn find(files: &'t [FileTokens]) -> Renamed<'t> {
        let declared = |tokens: fn(&FileTokens) -> Option<&Tokens>| -> BTreeSet<&str> {
            files
                .iter()
                .filter_map(tokens)
                .flat_map(|tokens| tokens.declared.iter().map(String::as_str))
                .collect()
        };
        let (old, new) = (declared(|file| file.0.as_ref()), declared(|file| file.1.as_ref()));
        let mut renamed = BTreeMap::new();
        let mut ambiguous = BTreeSet::new();
        for (before, after) in files.iter().filter_map(|(before, after)| before.as_ref().zip(after.as_ref()))
        {
            if before.texts.len() != after.texts.len() {
                continue;
            }
            for (one, other) in before.texts.iter().zip(&after.texts).filter(|(one, other)| one != other) {
                let (one, other) = (one.as_str(), other.as_str());
                let is_new_name = old.contains(one)
                    && !new.contains(one)
                    && new.contains(other)
                    && !old.contains(other)
                    && is_identifier(one)
                    && is_identifier(other);
                if !is_new_name || *renamed.entry(one).or_insert(other) != other {
                    ambiguous.insert(one);
                }
            }
        }
        renamed.retain(|one, _| !ambiguous.contains(one));
        let targets: Vec<&str> = renamed.values().copied().collect();
        renamed.retain(|_, other| targets.iter().filter(|target| *target == other).count() == 1);
        Renamed(renamed)
    }

    fn apply(&self, token: &'t str) -> &'t str {
        self.0.get(token).copied().unwrap_or(token)
    }
}

fn is_identifier(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && token.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, before: &str, after: &str) -> Vec<usize> {
        let file = ChangedSource { path: Path::new(path), before: Some(before), after };
        behaviour_lines(&[file]).into_iter().flatten().collect()
    }

    const PYTHON: &str = "def fee(weight):\n    base = 2\n    if weight > 3:\n        base += 1\n    return base\n\n\ndef half(a):\n    return a / 2\n";
    const RUST: &str = "fn fee(weight: u32) -> u32 {\n    let base = 2;\n    base + weight\n}\n\nfn half(a: u32) -> u32 {\n    a / 2\n}\n";

    // TE-04
    #[test]
    fn only_changed_code_may_behave_differently() {
        assert_eq!(lines("a.py", PYTHON, &PYTHON.replace("> 3", ">= 3")), [3]);
        assert_eq!(lines("a.rs", RUST, &RUST.replace("a / 2", "a / 3")), [7]);
        let added = format!("{PYTHON}\n\ndef third(a):\n    return a / 3\n");
        assert_eq!(lines("a.py", PYTHON, &added), [12, 13]);
        assert_eq!(lines("a.py", PYTHON, &PYTHON.replace("        base += 1\n", "        pass\n")), [4]);
        let removed = RUST.replace("    let base = 2;\n    base + weight", "    weight");
        assert_eq!(lines("a.rs", RUST, &removed), [1, 2]);
        let dedented = PYTHON.replace("        base += 1\n", "        pass\n    base += 1\n");
        assert!(
            !lines("a.py", &PYTHON.replace("base += 1", "pass\n        base += 1"), &dedented).is_empty()
        );
    }

    // TE-04
    #[test]
    fn comments_layout_renames_and_moves_keep_the_behaviour() {
        let comment = PYTHON.replace("    base = 2\n", "    # Two.\n\n    base = 2  # two\n");
        let layout = RUST.replace(
            "fn half(a: u32) -> u32 {\n    a / 2\n}",
            "/// Half.\nfn half(\n    a: u32\n) -> u32 { a / 2 }",
        );
        let moved = "def half(a):\n    return a / 2\n\n\ndef fee(weight):\n    base = 2\n    if weight > 3:\n        base += 1\n    return base\n";
        for (path, before, after) in [
            ("a.py", PYTHON, comment.as_str()),
            ("a.rs", RUST, layout.as_str()),
            ("a.py", PYTHON, moved),
            ("a.py", PYTHON, &PYTHON.replace("base", "sum")),
            ("a.rs", RUST, &RUST.replace("half", "halved").replace("weight", "grams")),
        ] {
            assert_eq!(lines(path, before, after), Vec::<usize>::new(), "{after}");
        }
        let to = [
            ChangedSource {
                path: Path::new("a.rs"),
                before: Some(RUST),
                after: &RUST[..RUST.find("fn half").unwrap_or(0)],
            },
            ChangedSource {
                path: Path::new("b.rs"),
                before: None,
                after: &RUST[RUST.find("fn half").unwrap_or(0)..],
            },
        ];
        let found = behaviour_lines(&to);
        assert!(found[1].is_empty(), "{found:?}");
    }

    // TE-04
    #[test]
    fn another_function_in_place_of_a_called_one_is_no_rename() {
        assert_eq!(lines("a.py", "def f(a):\n    return min(a)\n", "def f(a):\n    return max(a)\n"), [2]);
        let before = "def f(a, b):\n    return a\n";
        assert_eq!(lines("a.py", before, "def f(a, b):\n    return b\n"), [2]);
    }

    // TE-03
    #[test]
    fn added_names_are_those_that_no_file_had() {
        let files = [
            ChangedSource {
                path: Path::new("a.py"),
                before: Some(PYTHON),
                after: &PYTHON.replace("half", "third"),
            },
            ChangedSource {
                path: Path::new("pkg/tolls.py"),
                before: None,
                after: "def fee(weight):\n    return weight\n",
            },
        ];
        let expected = BTreeSet::from(["third".to_string(), "tolls".to_string()]);
        assert_eq!(added_names(&files), expected);
    }
}
