//! A text with its syntax tree.

use crate::Language;
use crate::error::{self, SyntaxError};
use tree_sitter::{Node, Parser, Tree};

/// A text with its syntax tree.
#[derive(Clone, Debug)]
pub struct Source<'t> {
    language: Language,
    text: &'t str,
    tree: Tree,
}

impl<'t> Source<'t> {
    /// Reads a text. None where the grammar does not fit this build, or the text is longer than the parser takes.
    pub fn parse(language: Language, text: &'t str) -> Option<Source<'t>> {
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).ok()?;
        let tree = parser.parse(text, None)?;
        Some(Source { language, text, tree })
    }

    pub fn language(&self) -> Language {
        self.language
    }

    /// What is no sentence of the language, in the order of the text.
    pub fn errors(&self) -> Vec<SyntaxError> {
        error::errors(self)
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    pub(crate) fn between(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The text of a node.
    pub(crate) fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text between two bytes.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }
}
