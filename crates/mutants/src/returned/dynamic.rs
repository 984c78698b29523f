//! Returned values in Python, JavaScript and TypeScript, whose types are known only when the code runs.

use super::Near;
use crate::proposal::Spot;
use remand_source::Language;

/// A Python function that returns a value near its argument.
const PYTHON: &str = "lambda v: (not v) if isinstance(v, bool) else 0 if v is None else v + 1 \
     if hasattr(v, '__int__') and hasattr(v, '__add__') else v + 'x' if isinstance(v, str) else v + b'x' \
     if isinstance(v, bytes) else type(v)(list(v)[:-1] if v else [None]) \
     if type(v) in (list, tuple, set, frozenset) else (dict(list(v.items())[:-1]) if v else {None: None}) \
     if type(v) is dict else v";

/// The body of a JavaScript function `near` that returns a value near its argument `v`.
const SCRIPT: &str = "{ const of = typeof v; if (of === 'boolean') return !v; if (of === 'number') return v + 1; \
     if (of === 'bigint') return v + BigInt(1); if (of === 'string') return v + 'x'; \
     if (v === null || v === undefined) return 0; if (Array.isArray(v)) return v.length ? v.slice(0, -1) : [null]; \
     if (v instanceof Promise) return v.then(near); if (Object.getPrototypeOf(v) === Object.prototype) { \
     const all = Object.entries(v); return all.length ? Object.fromEntries(all.slice(0, -1)) : { x: 1 }; } return v; }";

pub fn returned<'s>(spot: &Spot<'s>) -> Vec<Near<'s>> {
    let value = match spot.node.kind() {
        "return_statement" => spot.node.named_child(0).filter(|value| !value.kind().contains("comment")),
        "arrow_function" => spot.field("body").filter(|body| body.kind() != "statement_block"),
        "lambda" => spot.field("body"),
        _ => None,
    };
    let Some(value) = value else { return Vec::new() };
    let text = spot.text_of(value);
    let replacement = match spot.language() {
        Language::Python => format!("({PYTHON})(({text}))"),
        Language::JavaScript => format!("(function near(v) {SCRIPT})({text})"),
        _ => format!("(function near(v: any): any {SCRIPT})({text})"),
    };
    vec![Near { value, replacement }]
}
