//! The expected outcome of a case, as checkable facts.
//!
//! Some facts hold for every case and are never stated: the checkout, the home and everything outside are as
//! before, no process is left, no terminal escape is printed, the ledger passes its audit, and a commit passes the oracle.

use remand_ledger::fact::NoteKind;
use serde::{Deserialize, Deserializer};

/// The expected state at the end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Must {
    /// The exit code of the last command: any of these.
    #[serde(deserialize_with = "one_or_more")]
    pub exit: Vec<i32>,
    pub commit: Commit,
    /// A signal that the run must have ruled on, such as `circle`.
    #[serde(default)]
    pub because: Option<String>,
    /// The maximum number of dispatches.
    #[serde(default)]
    pub dispatches: Option<u64>,
    #[serde(default)]
    pub records: Vec<ExpectedRecord>,
    #[serde(default)]
    pub never: Vec<Never>,
}

/// Whether the run commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Commit {
    None,
    /// The run makes a commit that passes the oracle.
    Good,
}

/// Something that the ledger must contain.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedRecord {
    /// A violation whose text or paths contain this text.
    Violation(String),
    Note(ExpectedNote),
    /// A finding whose claim contains this text.
    Finding(String),
    /// A check that failed after a change.
    FailedCheck(String),
    /// A dispatch without a result, and its reason.
    Failure(ExpectedFailure),
    /// A ruling that followed this signal of this phase.
    Ruling(ExpectedRuling),
    /// An open gate.
    OpenGate(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedNote {
    pub kind: NoteKind,
    pub says: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFailure {
    pub role: String,
    /// Such as `violation` or `malformed`.
    pub kind: String,
    /// A string that the reason contains.
    #[serde(default)]
    pub says: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRuling {
    pub phase: String,
    pub signal: String,
    /// A string that the explanation contains.
    #[serde(default)]
    pub why: String,
    /// A budget that was used up.
    #[serde(default)]
    pub spent: Option<String>,
}

/// Something that must not happen.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Never {
    /// A string in anything that the engine stores or prints, except work trees.
    Kept(String),
    /// A file at this path.
    File(String),
    /// A path in the commit.
    Committed(String),
    /// A path that the commit changes.
    Changed(String),
    /// A string in the prompt of a dispatch.
    Prompted(String),
    /// A ruling that followed this signal.
    Signal(String),
    /// A dispatch of this role.
    Role(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(i32),
    More(Vec<i32>),
}

fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i32>, D::Error> {
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(code) => vec![code],
        OneOrMore::More(codes) => codes,
    })
}
