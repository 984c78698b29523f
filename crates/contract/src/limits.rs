//! Size limits of a result. A result that exceeds a limit is rejected, never truncated, and the message names the limit.

/// The limits for one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultLimits {
    /// The length of the result's text, in bytes.
    pub bytes: usize,
    /// The nesting depth of lists and mappings.
    pub depth: usize,
    /// The number of entries in all lists and mappings of the document.
    pub nodes: usize,
    /// The number of findings in the result.
    pub findings: usize,
    /// The number of problems that are reported to an agent in one retry.
    pub problems: usize,
}

impl Default for ResultLimits {
    fn default() -> ResultLimits {
        ResultLimits { bytes: 1 << 20, depth: 32, nodes: 200_000, findings: 10_000, problems: 20 }
    }
}
