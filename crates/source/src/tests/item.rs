//! One test, from its text.

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestItem {
    /// The names of modules, classes or groups around it, and its own last.
    pub path: Vec<String>,
    /// From 1.
    pub line: usize,
    /// The mark that disables it.
    pub off: Vec<String>,
    /// The mark that turns a failure into a pass.
    pub inverted: Vec<String>,
    /// The mark that keeps other tests from running.
    pub alone: Vec<String>,
    /// Its own assertions, and those of functions in the same text that it calls.
    pub assertions: Vec<Assertion>,
    /// The number of statements in its body.
    pub statements: usize,
    /// Whether it may return before some of its assertions.
    pub leaves_early: bool,
    /// The tokens of the body, without comments.
    pub tokens: Vec<String>,
}

/// One assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Its tokens, without comments.
    pub text: String,
    pub strength: Strength,
    /// The tolerance in billionths, if it states one.
    pub tolerance: Option<u64>,
}

/// The strength of an assertion, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It cannot fail.
    Void,
    /// Something is true or present.
    Presence,
    /// An order, an inequality, a part.
    Loose,
    /// An exact value.
    Exact,
}

impl TestItem {
    /// Its own name.
    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// Its qualified name for display.
    pub fn full_name(&self) -> String {
        self.path.join("::")
    }

    /// The number of its assertions with at least this strength.
    pub fn at_least(&self, strength: Strength) -> usize {
        self.assertions.iter().filter(|assertion| assertion.strength >= strength).count()
    }
}
