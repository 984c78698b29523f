//! The statements of a block.

use super::test_function::children;
use tree_sitter::Node;

/// The statements of a block; some grammars have a list node in between.
pub(super) fn statements(body: Node<'_>) -> Vec<Node<'_>> {
    let is_code = |node: &Node<'_>| !node.kind().contains("comment");
    let inside: Vec<Node<'_>> = children(body).into_iter().filter(is_code).collect();
    match inside.as_slice() {
        [list] if list.kind() == "statement_list" => children(*list).into_iter().filter(is_code).collect(),
        _ => inside
            .into_iter()
            .filter(|node| !matches!(node.kind(), "pass_statement" | "empty_statement"))
            .collect(),
    }
}

pub(super) fn is_return(statement: Node<'_>) -> bool {
    let is_return_node = |node: Node<'_>| matches!(node.kind(), "return_statement" | "return_expression");
    is_return_node(statement)
        || statement.kind() == "expression_statement" && statement.named_child(0).is_some_and(is_return_node)
}
