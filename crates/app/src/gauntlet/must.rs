//! What has to come of a case, as facts that can be looked up.
//!
//! Some facts are never stated, since they hold for every case: the checkout, the home and what lies beside them are as
//! before, no process is left, no terminal escape is printed, the ledger is sound, and a commit passes the oracle.

use remand_ledger::fact::NoteKind;
use serde::{Deserialize, Deserializer};

/// All that must be so in the end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Must {
    /// The exit code of the last command; of several, any.
    #[serde(deserialize_with = "one_or_more")]
    pub exit: Vec<i32>,
    pub commit: Commit,
    /// The signal of a ruling that the run must have come to, such as `circle`.
    #[serde(default)]
    pub because: Option<String>,
    /// The most dispatches that it may have taken.
    #[serde(default)]
    pub dispatches: Option<u64>,
    #[serde(default)]
    pub records: Vec<Record>,
    #[serde(default)]
    pub never: Vec<Never>,
}

/// Whether there is a commit in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Commit {
    None,
    /// One that passes the oracle.
    Good,
}

/// Something that must stand in the ledger.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// A violation whose text or paths hold this text.
    Violation(String),
    Note(NoteSaid),
    /// A finding whose claim holds this text.
    Finding(String),
    /// A check that failed after a change.
    FailedCheck(String),
    /// A dispatch that brought no result, and why.
    Failure(Failed),
    /// A ruling that followed this signal of this phase.
    Ruling(Ruled),
    /// A question that still waits for a human.
    OpenGate(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteSaid {
    pub kind: NoteKind,
    pub says: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    pub role: String,
    /// Such as `violation` or `malformed`.
    pub kind: String,
    /// A text that the reason holds.
    #[serde(default)]
    pub says: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruled {
    pub phase: String,
    pub signal: String,
    /// A text that the explanation holds.
    #[serde(default)]
    pub why: String,
    /// A budget that was used up.
    #[serde(default)]
    pub spent: Option<String>,
}

/// Something that must not be.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Never {
    /// A text in anything that the engine keeps or prints; work trees are the agents' own.
    Kept(String),
    /// A file at this path.
    File(String),
    /// A path in the commit.
    Committed(String),
    /// A path that the commit changes.
    Changed(String),
    /// A text in the prompt of a dispatch.
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
