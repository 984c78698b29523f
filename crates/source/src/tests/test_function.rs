//! A function that is a test, or that tests may call.

use crate::ParsedSource;
use tree_sitter::Node;

/// A function; its body is read later.
#[derive(Clone, Debug)]
pub struct TestFunction<'t> {
    pub path: Vec<String>,
    pub is_test: bool,
    pub line: usize,
    pub markers: Markers,
    pub body: Node<'t>,
}

/// Markers on a function, or on a scope around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markers {
    /// Markers that disable a test.
    pub off: Vec<String>,
    /// Markers that turn a failure into a pass.
    pub inverted: Vec<String>,
    /// Markers that keep other tests from running.
    pub alone: Vec<String>,
}

impl Markers {
    /// Adds the markers of an inner scope.
    pub fn with_inner(&self, inner: Markers) -> Markers {
        let joined = |outer: &[String], inner: Vec<String>| outer.iter().cloned().chain(inner).collect();
        Markers {
            off: joined(&self.off, inner.off),
            inverted: joined(&self.inverted, inner.inverted),
            alone: joined(&self.alone, inner.alone),
        }
    }
}

/// The scopes around a node, with their markers.
#[derive(Clone, Debug, Default)]
pub struct TestScope {
    pub path: Vec<String>,
    pub markers: Markers,
}

impl TestScope {
    /// The next inner scope.
    pub fn inner(&self, name: &str, markers: Markers) -> TestScope {
        let path = self.path.iter().cloned().chain([name.to_string()]).collect();
        TestScope { path, markers: self.markers.with_inner(markers) }
    }

    /// A function in this scope.
    pub fn function<'t>(
        &self,
        name: &str,
        markers: Markers,
        is_test: bool,
        node: Node<'t>,
        body: Node<'t>,
    ) -> TestFunction<'t> {
        let TestScope { path, markers } = self.inner(name, markers);
        TestFunction { path, is_test, line: node.start_position().row + 1, markers, body }
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
