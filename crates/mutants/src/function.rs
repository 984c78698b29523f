//! Functions that can be named, in every language.

use remand_source::ParsedSource;
use tree_sitter::Node;

/// The node that has the name, the parameters and the body of a function.
#[derive(Clone, Copy)]
pub struct FunctionNode<'t> {
    pub name: Node<'t>,
    /// Holds parameters, result and body.
    pub code: Node<'t>,
}

/// The function that a node declares.
pub fn function_at<'t>(source: &'t ParsedSource<'_>, node: Node<'t>) -> Option<FunctionNode<'t>> {
    let name = node.child_by_field_name("name");
    match node.kind() {
        "function_item"
        | "function_declaration"
        | "generator_function_declaration"
        | "method_definition"
        | "method_declaration" => Some(FunctionNode { name: name?, code: node }),
        "function_definition" if source.language() == remand_source::Language::Python => {
            Some(FunctionNode { name: name?, code: node })
        }
        "variable_declarator" => {
            let code = node.child_by_field_name("value")?;
            matches!(code.kind(), "arrow_function" | "function_expression")
                .then_some(FunctionNode { name: name?, code })
        }
        _ => None,
    }
}
