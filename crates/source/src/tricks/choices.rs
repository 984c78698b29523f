//! Choices of production code by what is around the program. A function that gives another result under a test runner must
//! choose, and nothing that it is given can decide it.

use super::ambient::{self, Imports};
use super::{Trick, TrickKind, compact, line, nodes, unquoted, values};
use crate::{Language, ParsedSource};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// The choices that functions in `known` depend on, directly or through other definitions of the file, and the values that
/// they take from what tells a test apart.
pub fn choices(
    source: &ParsedSource<'_>,
    imports: &Imports,
    known: &BTreeSet<String>,
    is_test: impl Fn(Node<'_>) -> bool,
) -> Vec<Trick> {
    let module = Names::of_module(source, imports);
    let used = used_names(source, known);
    let mut found = Vec::new();
    for (owner, root) in parts(source) {
        let is_used = owner.iter().any(|name| used.contains(name));
        let writes =
            || nodes(root).filter_map(|it| written_name(source, it)).any(|name| used.contains(&name));
        if is_test(root) || !(is_used || writes()) {
            continue;
        }
        let names = module.inside(source, imports, root);
        if let Some(date) = ambient::fixed_date(source, imports, root).filter(|date| !is_test(*date)) {
            let (subject, names) = (source.text_of(date).to_string(), vec!["clock".to_string()]);
            found.push(Trick { kind: TrickKind::ChoosesBySurroundings, line: line(date), subject, names });
        }
        for node in nodes(root).filter(|node| !is_test(*node)) {
            let read = match build_condition(source, node) {
                Some(condition) => Some((condition, node)),
                None => chosen(source, node).and_then(|atom| {
                    let read = names.reads(source, imports, atom);
                    let clock = || ambient::compares_clock(source, imports, atom).then_some(atom);
                    let realm = || {
                        let is_own =
                            names.is_given(source, atom) || !values::is_of_realm(source, imports, atom);
                        (!is_own).then_some(atom)
                    };
                    Some((read.or_else(clock).or_else(realm)?, atom))
                }),
            };
            let taken = || {
                let is_given = |it: Node<'_>| names.is_given(source, it);
                let is_ambient = |name: &str| names.ambient.contains(name);
                let read = values::taken(source, imports, node, is_given, is_ambient)?;
                (!is_in_choice(source, read, root)).then_some((node, read))
            };
            let read = read.or_else(taken);
            if let Some((read, atom)) = read {
                let subject = subject(source, atom, read);
                let mut known_as = called(source, atom);
                known_as.push(subject.clone());
                if ambient::compares_clock(source, imports, atom) {
                    known_as.push("clock".to_string());
                }
                let kind = TrickKind::ChoosesBySurroundings;
                let trick = Trick { kind, line: line(node), subject, names: known_as };
                // The parts of a condition say the same as the whole.
                if !found.contains(&trick) {
                    found.push(trick);
                }
            }
        }
    }
    found
}

/// The names of the functions of a file.
pub fn function_names(source: &ParsedSource<'_>) -> BTreeSet<String> {
    nodes(source.root()).filter_map(|node| function_name(source, node)).collect()
}

fn function_name(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    let is_function = match node.kind() {
        "function_item"
        | "function_definition"
        | "function_declaration"
        | "method_definition"
        | "method_declaration"
        | "generator_function_declaration" => true,
        "variable_declarator" => node.child_by_field_name("value").is_some_and(is_closure),
        _ => false,
    };
    let name = node.child_by_field_name("name").filter(|_| is_function)?;
    Some(source.text_of(name).to_string())
}

fn is_closure(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "arrow_function" | "function_expression" | "closure_expression" | "lambda" | "func_literal"
    )
}

/// The outermost functions and the other statements of a file, each with the names that it defines.
fn parts<'t>(source: &'t ParsedSource<'_>) -> Vec<(Vec<String>, Node<'t>)> {
    let mut found = Vec::new();
    let mut pending = vec![source.root()];
    while let Some(node) = pending.pop() {
        let is_container = matches!(
            node.kind(),
            "module"
                | "program"
                | "source_file"
                | "impl_item"
                | "trait_item"
                | "mod_item"
                | "declaration_list"
                | "class_definition"
                | "class_declaration"
                | "class_body"
                | "decorated_definition"
                | "export_statement"
                | "lexical_declaration"
                | "variable_declaration"
                | "block"
        );
        if is_container {
            let mut cursor = node.walk();
            pending.extend(node.named_children(&mut cursor));
            continue;
        }
        let mut names: Vec<String> = function_name(source, node).into_iter().collect();
        if names.is_empty() {
            names = bindings(source, node).into_iter().flat_map(|(names, _)| names).collect();
            names.extend(nodes(node).filter_map(|inner| function_name(source, inner)));
            names.extend(exported_names(source, node));
        }
        found.push((names, node));
    }
    found
}

/// Whether an expression is a part of a condition, which is judged as a whole.
fn is_in_choice(source: &ParsedSource<'_>, node: Node<'_>, root: Node<'_>) -> bool {
    std::iter::successors(Some(node), Node::parent)
        .take_while(|outer| *outer != root)
        .any(|outer| chosen(source, outer).is_some())
}

/// The names that a statement such as `exports.name = value` gives to other files.
fn exported_names(source: &ParsedSource<'_>, statement: Node<'_>) -> Vec<String> {
    let Some(assignment) = statement.named_child(0).filter(|it| it.kind() == "assignment_expression") else {
        return Vec::new();
    };
    let left = assignment.child_by_field_name("left");
    if !left.is_some_and(|left| {
        ["exports", "module.exports"].iter().any(|it| compact(source, left).starts_with(it))
    }) {
        return Vec::new();
    }
    let names = nodes(assignment).filter(|it| it.kind() == "property_identifier");
    names.map(|it| source.text_of(it).to_string()).collect()
}

/// All names that the functions in `known` use, directly or through other definitions of the file.
pub fn used_names(source: &ParsedSource<'_>, known: &BTreeSet<String>) -> BTreeSet<String> {
    let parts = parts(source);
    let variables: BTreeSet<String> = parts
        .iter()
        .filter(|(_, node)| function_name(source, *node).is_none())
        .flat_map(|(names, _)| names.iter().cloned())
        .collect();
    let parts: Vec<(Vec<String>, BTreeSet<String>, BTreeSet<String>)> = parts
        .into_iter()
        .map(|(names, node)| {
            let inside = nodes(node).filter_map(|inner| identifier(source, inner)).collect();
            let written = nodes(node).filter_map(|inner| written_name(source, inner));
            (names, inside, written.filter(|name| variables.contains(name)).collect())
        })
        .collect();
    let mut used = known.clone();
    loop {
        let size = used.len();
        for (names, inside, written) in &parts {
            let writes = || written.iter().any(|name| used.contains(name));
            if names.iter().any(|name| used.contains(name)) || writes() {
                used.extend(inside.iter().cloned());
                used.extend(names.iter().cloned());
            }
        }
        if used.len() == size {
            return used;
        }
    }
}

/// The variable that an expression changes, by an assignment or by a method such as `store`.
fn written_name(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    const CHANGING: [&str; 14] = [
        "store",
        "set",
        "swap",
        "replace",
        "push",
        "append",
        "extend",
        "insert",
        "add",
        "update",
        "get_or_init",
        "fetch_add",
        "fetch_or",
        "fetch_sub",
    ];
    let target = match node.kind() {
        "assignment"
        | "assignment_expression"
        | "assignment_statement"
        | "augmented_assignment"
        | "augmented_assignment_expression"
        | "compound_assignment_expr" => node.child_by_field_name("left")?,
        "call" | "call_expression" => {
            let function = node.child_by_field_name("function")?;
            let name = compact(source, function);
            let (_, method) = name.rsplit_once('.')?;
            CHANGING.contains(&method).then_some(function)?
        }
        _ => return None,
    };
    nodes(target).find(|it| it.kind() == "identifier").map(|it| source.text_of(it).to_string())
}

fn identifier(source: &ParsedSource<'_>, node: Node<'_>) -> Option<String> {
    matches!(
        node.kind(),
        "identifier"
            | "shorthand_property_identifier"
            | "shorthand_property_identifier_pattern"
            | "self"
            | "this"
            | "field_identifier"
            | "property_identifier"
    )
    .then(|| source.text_of(node).to_string())
}

/// The names that a node binds, each list with what they are bound to.
fn bindings<'t>(source: &ParsedSource<'_>, root: Node<'t>) -> Vec<(Vec<String>, Vec<Node<'t>>)> {
    let names = |node: Option<Node<'t>>| -> Vec<String> {
        let inner = node.into_iter().flat_map(nodes);
        inner
            .filter(|it| !matches!(it.kind(), "property_identifier" | "field_identifier"))
            .filter_map(|it| identifier(source, it))
            .collect()
    };
    let mut found = Vec::new();
    for node in nodes(root) {
        let field = |name| node.child_by_field_name(name);
        let bound = match node.kind() {
            "assignment"
            | "assignment_expression"
            | "assignment_statement"
            | "short_var_declaration"
            | "for_in_clause"
            | "for_statement"
            | "for_in_statement"
            | "range_clause" => (names(field("left")), field("right")),
            "let_declaration" | "let_condition" | "for_expression" => {
                (names(field("pattern")), field("value"))
            }
            "variable_declarator"
            | "const_item"
            | "static_item"
            | "named_expression"
            | "var_spec"
            | "const_spec" => (names(field("name")), field("value")),
            "as_pattern" => (names(field("alias")), node.named_child(0)),
            "match_arm" => (
                names(field("pattern")),
                node.parent().and_then(|it| it.parent()?.child_by_field_name("value")),
            ),
            // What a closure is called with comes from whatever calls it.
            kind if is_closure(node) || kind == "arrow_function" => {
                let call = std::iter::successors(node.parent(), Node::parent)
                    .take(3)
                    .find(|outer| matches!(outer.kind(), "call_expression" | "call"));
                let receiver = call.and_then(|call| call.child_by_field_name("function"));
                (names(field("parameters").or_else(|| field("parameter"))), receiver)
            }
            _ => continue,
        };
        if let (bound, Some(value)) = bound {
            found.push((bound, vec![value]));
        }
    }
    found
}

/// Where names get their values from.
#[derive(Clone, Debug, Default)]
struct Names {
    /// From what is around the program.
    ambient: BTreeSet<String>,
    /// From the parameters of the function.
    given: BTreeSet<String>,
}

impl Names {
    /// The names of the module, and the functions that read something around the program and are given nothing.
    fn of_module(source: &ParsedSource<'_>, imports: &Imports) -> Names {
        let mut names = Names::default();
        for _ in 0..4 {
            for (owner, root) in parts(source) {
                let is_read = names.reads(source, imports, root).is_some();
                let is_function = nodes(root).any(|node| function_name(source, node).is_some());
                let takes = nodes(root).take(4).find_map(|node| node.child_by_field_name("parameters"));
                if is_read && (!is_function || takes.is_some_and(|it| it.named_child_count() == 0)) {
                    names.ambient.extend(owner);
                }
            }
        }
        names
    }

    /// The names inside a part of the file.
    fn inside(&self, source: &ParsedSource<'_>, imports: &Imports, root: Node<'_>) -> Names {
        let mut names = self.clone();
        for node in nodes(root) {
            let parameters =
                node.child_by_field_name("parameters").or_else(|| node.child_by_field_name("receiver"));
            let Some(parameters) = parameters.filter(|_| !is_closure(node) || node.parent() == Some(root))
            else {
                continue;
            };
            let mut cursor = parameters.walk();
            for parameter in parameters.named_children(&mut cursor) {
                let default =
                    parameter.child_by_field_name("value").or_else(|| parameter.child_by_field_name("right"));
                let is_ambient = default.is_some_and(|it| self.reads(source, imports, it).is_some());
                let own = nodes(parameter)
                    .filter(|it| default.is_none_or(|default| !is_within(*it, default)))
                    .filter_map(|it| identifier(source, it));
                if is_ambient { names.ambient.extend(own) } else { names.given.extend(own) }
            }
        }
        names.given.extend(["self", "this", "cls"].map(String::from));
        let bindings = bindings(source, root);
        for _ in 0..4 {
            for (bound, values) in &bindings {
                if values.iter().any(|value| names.is_given(source, *value)) {
                    names.given.extend(bound.iter().filter(|name| !names.ambient.contains(*name)).cloned());
                } else if values.iter().any(|value| names.reads(source, imports, *value).is_some()) {
                    names.ambient.extend(bound.iter().cloned());
                }
            }
        }
        names
    }

    fn is_given(&self, source: &ParsedSource<'_>, node: Node<'_>) -> bool {
        nodes(node)
            .filter(|it| !matches!(it.kind(), "property_identifier" | "field_identifier"))
            .filter_map(|it| identifier(source, it))
            .any(|name| self.given.contains(&name))
    }

    /// What an expression reads around the program, if nothing that the function is given takes part.
    fn reads<'t>(&self, source: &ParsedSource<'_>, imports: &Imports, node: Node<'t>) -> Option<Node<'t>> {
        if self.is_given(source, node) {
            return None;
        }
        ambient::reads(source, imports, node, (&self.ambient, &self.given))
    }
}

fn is_within(node: Node<'_>, outer: Node<'_>) -> bool {
    outer.start_byte() <= node.start_byte() && node.end_byte() <= outer.end_byte()
}

/// The smallest condition that a node is: something is done or not, or has one value or another, as it is true or false.
fn chosen<'t>(source: &ParsedSource<'_>, node: Node<'t>) -> Option<Node<'t>> {
    let outer = node.parent()?;
    let is_field = |name| outer.child_by_field_name(name) == Some(node);
    let is_condition = match outer.kind() {
        "if_statement" | "elif_clause" | "if_expression" | "while_statement" | "while_expression"
        | "ternary_expression" | "do_statement" => is_field("condition"),
        "conditional_expression" => outer.named_child(1) == Some(node),
        "match_expression" | "switch_statement" | "let_condition" | "expression_switch_statement" => {
            is_field("value")
        }
        "match_statement" => is_field("subject"),
        "match_pattern" => is_field("condition"),
        "if_clause" | "not_operator" => true,
        "boolean_operator" | "binary_expression" => {
            let operator = outer.child_by_field_name("operator").map(|it| source.text_of(it));
            match operator {
                Some("&&" | "and") => true,
                // The left side may be a value, and the right side its default.
                Some("||" | "or") => !is_field("left") || decides(outer),
                _ => false,
            }
        }
        "unary_expression" => source.text_of(outer).starts_with('!'),
        "assert_statement" => false,
        _ => false,
    };
    let compares = match node.kind() {
        "comparison_operator" => true,
        "binary_expression" => {
            let operator = node.child_by_field_name("operator").map(|it| source.text_of(it));
            matches!(
                operator,
                Some("==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" | "in" | "instanceof")
            )
        }
        _ => false,
    };
    let is_compound = match node.kind() {
        "boolean_operator" | "not_operator" | "let_condition" | "let_chain" => true,
        "binary_expression" => !compares,
        "unary_expression" => source.text_of(node).starts_with('!'),
        _ => false,
    };
    ((is_condition || compares) && !is_compound && !only_logs(node) && !is_main(source, node)).then_some(node)
}

/// Whether something is done or not as a compound expression is true or false.
fn decides(node: Node<'_>) -> bool {
    let is_compound = |kind: &str| {
        matches!(
            kind,
            "parenthesized_expression"
                | "binary_expression"
                | "boolean_operator"
                | "unary_expression"
                | "not_operator"
        )
    };
    let mut inner = node;
    while let Some(outer) = inner.parent().filter(|outer| is_compound(outer.kind())) {
        inner = outer;
    }
    inner.parent().is_some_and(|outer| {
        outer.child_by_field_name("condition") == Some(inner)
            || outer.kind() == "if_clause"
            || (outer.kind() == "conditional_expression" && outer.named_child(1) == Some(inner))
    })
}

/// Whether an `if` without `else` depends on a node, and does nothing but call something.
fn only_logs(node: Node<'_>) -> bool {
    let outer = std::iter::successors(node.parent(), Node::parent).find(|outer| {
        !matches!(
            outer.kind(),
            "parenthesized_expression"
                | "binary_expression"
                | "boolean_operator"
                | "unary_expression"
                | "not_operator"
                | "comparison_operator"
        )
    });
    let Some(outer) = outer.filter(|outer| matches!(outer.kind(), "if_statement" | "if_expression")) else {
        return false;
    };
    let Some(body) = outer.child_by_field_name("consequence") else { return false };
    let mut cursor = body.walk();
    let calls = |statement: Node<'_>| {
        let inner = statement.named_child(0).unwrap_or(statement);
        statement.kind() == "expression_statement"
            && matches!(inner.kind(), "call" | "call_expression" | "macro_invocation")
    };
    outer.child_by_field_name("alternative").is_none()
        && !is_within(node, body)
        && body.named_children(&mut cursor).all(calls)
}

/// `if __name__ == "__main__"`
fn is_main(source: &ParsedSource<'_>, node: Node<'_>) -> bool {
    compact(source, node).replace('\'', "\"") == "__name__==\"__main__\""
}

/// An attribute by which the build decides whether there is an item or a statement.
fn build_condition<'t>(source: &ParsedSource<'_>, node: Node<'t>) -> Option<Node<'t>> {
    if source.language() != Language::Rust || node.kind() != "attribute_item" {
        return None;
    }
    let text = compact(source, node);
    (text.starts_with("#[cfg(") && !ambient::is_platform_condition(&text)).then_some(node)
}

/// The names of what an expression depends on, directly or through variables: texts that it looks for, and members.
fn called(source: &ParsedSource<'_>, atom: Node<'_>) -> Vec<String> {
    let bindings = bindings(source, source.root());
    let mut found = Vec::new();
    let mut pending = vec![atom];
    let mut seen: BTreeSet<String> = BTreeSet::new();
    while let Some(part) = pending.pop() {
        for node in nodes(part) {
            match node.kind() {
                "string" | "string_literal" | "interpreted_string_literal" | "raw_string_literal" => {
                    let text = unquoted(source, node);
                    let last = text.rsplit('/').next().unwrap_or(text);
                    found.extend(
                        [text, last].iter().filter(|text| text.len() > 2).map(|text| text.to_string()),
                    );
                }
                "property_identifier" | "field_identifier" => found.push(source.text_of(node).to_string()),
                _ => {}
            }
            if node.parent().is_some_and(|outer| outer.child_by_field_name("attribute") == Some(node)) {
                found.push(source.text_of(node).to_string());
            }
            let Some(name) = identifier(source, node).filter(|name| seen.insert(name.clone())) else {
                continue;
            };
            let bound = bindings.iter().filter(|(names, _)| names.contains(&name));
            pending.extend(bound.flat_map(|(_, values)| values.iter().copied()));
        }
    }
    // A plain word, such as that of a method, means anything.
    found.retain(|name| !["get", "exists", "name", "argv", "env", "environ"].contains(&name.as_str()));
    found
}

/// How people call what a choice depends on: by the text that it looks for, or by its name.
fn subject(source: &ParsedSource<'_>, atom: Node<'_>, read: Node<'_>) -> String {
    let is_name =
        |text: &&str| text.len() > 1 && text.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
    let mut literals = nodes(atom).filter(|inner| {
        matches!(
            inner.kind(),
            "string" | "string_literal" | "interpreted_string_literal" | "raw_string_literal"
        )
    });
    let literal = literals.find_map(|inner| Some(unquoted(source, inner)).filter(is_name));
    literal.map_or_else(
        || {
            let read = compact(source, read);
            read.strip_prefix("process.env.").map(str::to_string).unwrap_or(read)
        },
        str::to_string,
    )
}
