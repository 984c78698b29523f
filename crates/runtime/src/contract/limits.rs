//! How large a result may be. What is beyond a limit is refused by name, never cut.

/// The limits for one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the result's text.
    pub bytes: usize,
    /// Lists and mappings inside each other.
    pub depth: usize,
    /// Entries of lists and mappings, over the whole document.
    pub nodes: usize,
    /// Findings in one result.
    pub findings: usize,
    /// Problems told to an agent at once.
    pub problems: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 1 << 20, depth: 32, nodes: 200_000, findings: 10_000, problems: 20 }
    }
}
