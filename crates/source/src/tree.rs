//! Source text with its syntax tree.

use crate::Language;
use tree_sitter::{Node, Parser, Tree};

/// Source text with its syntax tree.
#[derive(Clone, Debug)]
pub struct ParsedSource<'t> {
    language: Language,
    text: &'t str,
    tree: Tree,
}

impl<'t> ParsedSource<'t> {
    /// Parses a text; `None` if the grammar is incompatible with this build or the text is too long for the parser.
    pub fn parse(language: Language, text: &'t str) -> Option<ParsedSource<'t>> {
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).ok()?;
        let tree = parser.parse(text, None)?;
        Some(ParsedSource { language, text, tree })
    }

    pub fn language(&self) -> Language {
        self.language
    }

    /// The root of the syntax tree.
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The text of a node.
    pub fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text between two byte offsets.
    pub fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }
}
