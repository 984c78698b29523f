//! A function of a source text that is a test, or that tests may call.

use crate::Source;
use tree_sitter::Node;

/// A function, before its body is read.
#[derive(Clone, Debug)]
pub struct Draft<'t> {
    pub path: Vec<String>,
    pub is_test: bool,
    pub line: usize,
    pub marks: Marks,
    pub body: Node<'t>,
}

/// What is written on a function, or on what is around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub off: Vec<String>,
    pub inverted: Vec<String>,
    pub alone: Vec<String>,
}

impl Marks {
    /// These and those of what is inside.
    pub fn and(&self, inner: Marks) -> Marks {
        let joined = |outer: &[String], inner: Vec<String>| outer.iter().cloned().chain(inner).collect();
        Marks {
            off: joined(&self.off, inner.off),
            inverted: joined(&self.inverted, inner.inverted),
            alone: joined(&self.alone, inner.alone),
        }
    }
}

/// The names around a place, and the marks on them.
#[derive(Clone, Debug, Default)]
pub struct Around {
    pub path: Vec<String>,
    pub marks: Marks,
}

impl Around {
    /// One name further in.
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
    ) -> Draft<'t> {
        let Around { path, marks } = self.within(name, marks);
        Draft { path, is_test, line: node.start_position().row + 1, marks, body }
    }
}

/// The named children of a node.
pub fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// The text of a field of a node.
pub fn field<'s>(source: &'s Source<'_>, node: Node<'_>, name: &str) -> &'s str {
    node.child_by_field_name(name).map_or("", |node| source.text_of(node))
}
