//! A function that is a test, or that tests may call.

use crate::ParsedSource;
use tree_sitter::Node;

/// A function, before its body is read.
#[derive(Clone, Debug)]
pub struct TestFunction<'t> {
    pub path: Vec<String>,
    pub is_test: bool,
    pub line: usize,
    pub marks: Marks,
    pub body: Node<'t>,
}

/// Marks on a function, or on a scope around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub off: Vec<String>,
    pub inverted: Vec<String>,
    pub alone: Vec<String>,
}

impl Marks {
    /// These marks combined with those of an inner scope.
    pub fn and(&self, inner: Marks) -> Marks {
        let joined = |outer: &[String], inner: Vec<String>| outer.iter().cloned().chain(inner).collect();
        Marks {
            off: joined(&self.off, inner.off),
            inverted: joined(&self.inverted, inner.inverted),
            alone: joined(&self.alone, inner.alone),
        }
    }
}

/// The scopes around a node, with their marks.
#[derive(Clone, Debug, Default)]
pub struct Around {
    pub path: Vec<String>,
    pub marks: Marks,
}

impl Around {
    /// The next inner scope.
    pub fn within(&self, name: &str, marks: Marks) -> Around {
        let path = self.path.iter().cloned().chain([name.to_string()]).collect();
        Around { path, marks: self.marks.and(marks) }
    }

    pub fn draft<'t>(
        &self,
        name: &str,
        marks: Marks,
        is_test: bool,
        node: Node<'t>,
        body: Node<'t>,
    ) -> TestFunction<'t> {
        let Around { path, marks } = self.within(name, marks);
        TestFunction { path, is_test, line: node.start_position().row + 1, marks, body }
    }
}

/// The named children of a node.
pub fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// The text of a field of a node.
pub fn field<'s>(source: &'s ParsedSource<'_>, node: Node<'_>, name: &str) -> &'s str {
    node.child_by_field_name(name).map_or("", |node| source.text_of(node))
}
