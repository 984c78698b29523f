//! Returned values, each replaced by one near it.
//!
//! Where types are declared, the near value is written for the type. In Python and JavaScript, code in the mutant looks at the
//! value when it is returned.

mod dynamic;
mod go;
mod rust;

use crate::mutant::{MutantKind, quote};
use crate::proposal::{Alteration, Spot};
use remand_source::Language;
use tree_sitter::Node;

pub fn propose(spot: &Spot<'_>, found: &mut Vec<Alteration>) {
    let values = match spot.language() {
        Language::Rust => rust::returned(spot),
        Language::Go => go::returned(spot),
        Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx => {
            dynamic::returned(spot)
        }
        Language::C | Language::Cpp | Language::Java | Language::Yaml | Language::Json | Language::Toml => {
            Vec::new()
        }
    };
    for Near { value, replacement } in values.into_iter().filter(|near| spot.is_changed(near.value)) {
        let words = format!("a value near {} was returned", quote(spot.text_of(value)));
        found.push(spot.altered(MutantKind::Returned, value, replacement, words));
    }
}

/// A returned expression and the expression for a value near it.
struct Near<'s> {
    value: Node<'s>,
    replacement: String,
}
