//! Calls: replaced by their opposites, left out, or with swapped arguments.

use crate::mutant::MutantKind;
use crate::proposal::{Alteration, Spot, last_segment, parts};
use remand_source::Language;
use tree_sitter::Node;

/// Functions and methods with their opposites.
const OPPOSITES: [(&str, &str); 22] = [
    ("min", "max"),
    ("Min", "Max"),
    ("any", "all"),
    ("some", "every"),
    ("startswith", "endswith"),
    ("starts_with", "ends_with"),
    ("startsWith", "endsWith"),
    ("HasPrefix", "HasSuffix"),
    ("floor", "ceil"),
    ("Floor", "Ceil"),
    ("upper", "lower"),
    ("to_uppercase", "to_lowercase"),
    ("toUpperCase", "toLowerCase"),
    ("ToUpper", "ToLower"),
    ("lstrip", "rstrip"),
    ("trim_start", "trim_end"),
    ("trimStart", "trimEnd"),
    ("first", "last"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("union", "intersection"),
    ("saturating_sub", "saturating_add"),
];

/// Methods without arguments whose result has the type of their object.
const LEFT_OUT: [(&[Language], &[&str]); 3] = [
    (&[Language::Python], &["strip", "lstrip", "rstrip", "lower", "upper", "title", "casefold"]),
    (
        &[Language::JavaScript, Language::TypeScript, Language::Tsx],
        &[
            "trim",
            "trimStart",
            "trimEnd",
            "toLowerCase",
            "toUpperCase",
            "reverse",
            "toReversed",
            "toSorted",
            "sort",
        ],
    ),
    (&[Language::Rust], &["trim", "trim_start", "trim_end", "abs", "rev"]),
];

/// Functions of one argument, each with the function that replaces it; if that is empty, the argument alone remains.
const UNWRAPPED: [(Language, &str, &str); 6] = [
    (Language::Python, "sorted", "list"),
    (Language::Python, "reversed", "list"),
    (Language::Python, "abs", ""),
    (Language::Python, "round", ""),
    (Language::JavaScript, "Math.abs", ""),
    (Language::Go, "strings.TrimSpace", ""),
];

pub fn propose(spot: &Spot<'_>, found: &mut Vec<Alteration>) {
    if !matches!(spot.node.kind(), "call" | "call_expression") {
        return;
    }
    let Some(callee) = spot.field("function") else { return };
    let Some(arguments) = spot.field("arguments") else { return };
    if spot.is_changed(callee) {
        found.extend(opposite(spot, callee));
        found.extend(without_call(spot, callee, arguments));
    }
    if spot.is_changed(arguments) {
        found.extend(swapped(spot, arguments));
    }
}

fn opposite(spot: &Spot<'_>, callee: Node<'_>) -> Option<Alteration> {
    let text = spot.text_of(callee);
    let name = last_segment(text);
    let is_first = OPPOSITES.iter().find(|(one, _)| *one == name).map(|(_, other)| *other);
    let other = is_first.or_else(|| OPPOSITES.iter().find(|(_, two)| *two == name).map(|(one, _)| *one))?;
    let head = text.strip_suffix(name)?;
    let words = format!("`{name}` became `{other}`");
    let mut alteration = spot.altered(MutantKind::Call, callee, format!("{head}{other}"), words);
    alteration.line = callee.end_position().row + 1;
    Some(alteration)
}

fn without_call(spot: &Spot<'_>, callee: Node<'_>, arguments: Node<'_>) -> Option<Alteration> {
    let (text, given) = (spot.text_of(callee), parts(arguments));
    let language = spot.language();
    if let (Some((object, method)), true) = (text.rsplit_once('.'), given.is_empty()) {
        let may_leave = LEFT_OUT
            .iter()
            .any(|(languages, methods)| languages.contains(&language) && methods.contains(&method.trim()));
        if may_leave {
            let words = format!("`.{}()` was left out", method.trim());
            return Some(spot.altered(MutantKind::Call, spot.node, object.trim_end().to_string(), words));
        }
    }
    let family = if spot.is_script() { Language::JavaScript } else { language };
    let (_, _, other) = UNWRAPPED.iter().find(|(of, name, _)| *of == family && *name == text)?;
    let [argument] = given.as_slice() else { return None };
    if argument.kind() == "generator_expression" {
        return None;
    }
    let words = match *other {
        "" => format!("the call of `{text}` was left out"),
        other => format!("`{text}` became `{other}`"),
    };
    let replacement = format!("{other}({})", spot.text_of(*argument));
    Some(spot.altered(MutantKind::Call, spot.node, replacement, words))
}

fn swapped(spot: &Spot<'_>, arguments: Node<'_>) -> Option<Alteration> {
    let given = parts(arguments);
    let [first, second, ..] = given.as_slice() else { return None };
    let is_plain = |node: &Node<'_>| {
        !matches!(node.kind(), "keyword_argument" | "list_splat" | "dictionary_splat" | "spread_element")
            && !node.kind().contains("function")
            && !node.kind().contains("closure")
            && !node.kind().contains("string")
            && !node.kind().contains("type")
    };
    let (one, two) = (spot.text_of(*first), spot.text_of(*second));
    if !is_plain(first) || !is_plain(second) || one == two {
        return None;
    }
    let head = &spot.text_of(arguments)[..first.start_byte() - arguments.start_byte()];
    let between = spot.source.slice(first.end_byte(), second.start_byte());
    let tail = spot.source.slice(second.end_byte(), arguments.end_byte());
    Some(spot.becomes(MutantKind::Swapped, arguments, format!("{head}{two}{between}{one}{tail}")))
}
