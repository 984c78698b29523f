//! What the host observed about a change, for the detectors: trees, hunks and test results.

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A content hash, computed by the host. Equal content has an equal digest; zero means "absent".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub u64);

/// One hunk of a diff: the removed and the added lines, without context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hunk {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
}

/// What happened to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<Hunk>,
    /// True for logs, documents and generated files, which the detectors skip.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub generated: bool,
}

/// What one dispatch changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// The digest of the files that the role may change, after the dispatch.
    pub tree: Digest,
    pub files: Vec<FileChange>,
    /// What the agent tried, in its own words; compared only with earlier hypotheses of the same phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<String>,
    /// True if the engine restored these files; the change is then never a reversal.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub restored: bool,
}

/// How one test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestEnd {
    Passed,
    Failed,
    /// Passed and failed on the same tree; counts as neither.
    Flaky,
    /// Listed but not run, or expected to fail; counts as neither a pass nor a failure.
    Skipped,
}

/// One test as the engine ran it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResult {
    pub name: String,
    pub end: TestEnd,
}

/// A design approach: what it does, and the decisions it is based on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Approach {
    pub text: String,
    /// Decision ids, such as `DD-0075-001`.
    pub decisions: Vec<String>,
}
