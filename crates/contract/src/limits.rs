//! Size limits of a result. A result above a limit is rejected with a message that names it, and never truncated.

/// The limits for one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultLimits {
    /// Length of the result's text, in bytes.
    pub bytes: usize,
    /// Nesting of lists and mappings.
    pub depth: usize,
    /// Entries of all lists and mappings in the document.
    pub nodes: usize,
    /// Findings in the result.
    pub findings: usize,
    /// Problems reported to an agent in one retry.
    pub problems: usize,
}

impl Default for ResultLimits {
    fn default() -> ResultLimits {
        ResultLimits { bytes: 1 << 20, depth: 32, nodes: 200_000, findings: 10_000, problems: 20 }
    }
}
