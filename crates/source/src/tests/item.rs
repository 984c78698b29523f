//! One test, as its source shows it.

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestItem {
    /// The names of the modules, classes or groups around the test, and then its name.
    pub path: Vec<String>,
    /// From 1.
    pub line: usize,
    /// Markers and calls that disable the test.
    pub off: Vec<String>,
    /// Markers that turn a failure into a pass.
    pub inverted: Vec<String>,
    /// Markers that keep other tests from running.
    pub alone: Vec<String>,
    /// The assertions of the test, and those of functions in the same file that it calls.
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
    /// In billionths; `None` if the assertion states no tolerance.
    pub tolerance: Option<u64>,
}

/// The strength of an assertion, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// Cannot fail.
    Void,
    /// Checks that something is true or present.
    Presence,
    /// Checks an order, an inequality or a part.
    Loose,
    /// Checks an exact value.
    Exact,
}

impl TestItem {
    /// Its name without the scopes around it.
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
