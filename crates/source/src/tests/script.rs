//! Tests in JavaScript and TypeScript: calls of `test`, `it` and similar functions with a name and a function.

use super::test_function::{Around, Marks, TestFunction, children, field};
use crate::ParsedSource;
use tree_sitter::Node;

const TESTS: [&str; 8] = ["test", "it", "specify", "fit", "xit", "xtest", "xspecify", "ftest"];
const GROUPS: [&str; 8] =
    ["describe", "context", "suite", "fdescribe", "xdescribe", "xcontext", "fcontext", "xsuite"];

pub fn drafts<'t>(source: &'t ParsedSource<'_>) -> Vec<TestFunction<'t>> {
    let mut found = Vec::new();
    let mut open = vec![(source.root(), Around::default())];
    while let Some((node, around)) = open.pop() {
        if let Some(called) = Called::of(source, node) {
            let around_it = match called.kind {
                Kind::Group => Some(around.within(&called.name, called.marks.clone())),
                Kind::Test => None,
            };
            match (around_it, called.body) {
                (Some(inner), Some(body)) => open.push((body, inner)),
                (None, Some(body)) => found.push(around.draft(&called.name, called.marks, true, node, body)),
                // `it.todo("name")` has no body and never runs.
                (_, None) => {}
            }
            continue;
        }
        let body = node.child_by_field_name("body");
        match (node.kind(), body) {
            ("function_declaration" | "method_definition", Some(body)) => {
                found.push(around.draft(field(source, node, "name"), Marks::default(), false, node, body));
            }
            ("variable_declarator", _) => {
                let value = node.child_by_field_name("value");
                let function = value.filter(|value| value.kind().contains("function"));
                if let Some(body) = function.and_then(|function| function.child_by_field_name("body")) {
                    found.push(around.draft(
                        field(source, node, "name"),
                        Marks::default(),
                        false,
                        node,
                        body,
                    ));
                }
            }
            _ => {}
        }
        open.extend(children(node).into_iter().rev().map(|child| (child, around.clone())));
    }
    found.sort_by_key(|draft| draft.line);
    found
}

enum Kind {
    Test,
    Group,
}

struct Called<'t> {
    kind: Kind,
    name: String,
    marks: Marks,
    body: Option<Node<'t>>,
}

impl<'t> Called<'t> {
    fn of(source: &ParsedSource<'_>, node: Node<'t>) -> Option<Called<'t>> {
        if node.kind() != "call_expression" {
            return None;
        }
        let callee: String =
            source.text_of(node.child_by_field_name("function")?).split_whitespace().collect();
        // `test.each([…])("name", …)` and `` it.each`…` `` have their cases in the callee.
        let written = callee.split(['(', '`', '[']).next().unwrap_or_default().to_string();
        let mut words = written.split('.');
        let first = match words.next()? {
            "Deno" | "QUnit" | "t" => words.next()?,
            first => first,
        };
        let kind = if TESTS.contains(&first) {
            Kind::Test
        } else if GROUPS.contains(&first) {
            Kind::Group
        } else {
            return None;
        };
        let arguments = children(node.child_by_field_name("arguments")?);
        let name = arguments.first().filter(|name| name.kind().contains("string"))?;
        let function = arguments.iter().rev().find(|argument| argument.kind().contains("function"));
        let mut marks = Marks::default();
        for word in written.split('.').skip(1) {
            match word {
                "skip" | "todo" | "skipIf" | "runIf" => marks.off.push(written.clone()),
                "only" => marks.alone.push(written.clone()),
                "fails" | "failing" => marks.inverted.push(written.clone()),
                _ => {}
            }
        }
        if first.starts_with('x') {
            marks.off.push(written.clone());
        } else if first.starts_with('f') {
            marks.alone.push(written.clone());
        }
        for options in arguments.iter().filter(|argument| argument.kind() == "object") {
            options_marks(source, *options, &mut marks);
        }
        let name = source.text_of(*name).trim_matches(['"', '\'', '`']).to_string();
        Some(Called {
            kind,
            name,
            marks,
            body: function.and_then(|function| function.child_by_field_name("body")),
        })
    }
}

/// `{ skip: true }`, an option of the runners of Node.js and Deno.
fn options_marks(source: &ParsedSource<'_>, options: Node<'_>, marks: &mut Marks) {
    for pair in children(options) {
        let (key, value) = (field(source, pair, "key"), field(source, pair, "value"));
        let written = format!("{key}: {value}");
        match (key, value) {
            (_, "false") | (_, "undefined") => {}
            ("skip" | "todo" | "ignore", _) => marks.off.push(written),
            ("only", _) => marks.alone.push(written),
            _ => {}
        }
    }
}
