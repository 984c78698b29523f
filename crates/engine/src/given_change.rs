//! A change that somebody made, which a run judges instead of making one.

use remand_git::CommitId;
use remand_reports::{ChangeSource, TestRelease};
use serde::{Deserialize, Serialize};

/// The artifact that describes the judged change.
pub const ARTIFACT: &str = "change";

/// A change as the run pins it. The base of the run is the base of the change, so settings, checks and tests come from there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenChange {
    pub source: ChangeSource,
    /// The commits that the run merges onto the base, in this order.
    pub parts: Vec<ChangePart>,
    /// The commit that was checked out; its checkout needs no other one to reproduce a defect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_out: Option<CommitId>,
    /// What the change is for, in the words of the user who has it judged. Tests that it names may change.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub purpose: String,
    /// The tests and files that may change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<TestRelease>,
}

/// One commit of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangePart {
    /// As the user named it.
    pub name: String,
    pub commit: CommitId,
}
