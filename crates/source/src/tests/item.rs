//! One test, as far as its text tells.

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestItem {
    /// The names around it, modules, classes or groups, and its own last.
    pub path: Vec<String>,
    /// From 1.
    pub line: usize,
    /// What keeps it from being run, as it is written.
    pub off: Vec<String>,
    /// What makes a failure a pass, as it is written.
    pub inverted: Vec<String>,
    /// What keeps other tests from being run, as it is written.
    pub alone: Vec<String>,
    /// Its own and those of functions of the same text that it calls.
    pub assertions: Vec<Assertion>,
    /// How many statements its body has.
    pub statements: usize,
    /// Whether it returns before assertions that stand below.
    pub leaves_early: bool,
    /// The words and signs of the body, without comments and blanks.
    pub tokens: Vec<String>,
}

/// One assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Without comments and blanks.
    pub text: String,
    pub strength: Strength,
    /// How far a number may be from the expected one, where that is written in it, in billionths.
    pub tolerance: Option<u64>,
}

/// How much an assertion says, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It cannot fail.
    Void,
    /// Something is true or there.
    Presence,
    /// An order, a difference, a part.
    Loose,
    /// A value.
    Exact,
}

impl TestItem {
    /// Its own name.
    pub fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// All its names, for people.
    pub fn full_name(&self) -> String {
        self.path.join("::")
    }

    /// How many of its assertions say at least this much.
    pub fn at_least(&self, strength: Strength) -> usize {
        self.assertions.iter().filter(|assertion| assertion.strength >= strength).count()
    }
}
