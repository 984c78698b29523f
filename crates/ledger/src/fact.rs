//! What the host saw beside an event: evidence, artifacts, telemetry. Facts stand in the journal with their event,
//! so that every projection can be made again from it.

use remand_kernel::change::Digest;
use remand_kernel::evidence::{RowPhase, Tier};
use remand_kernel::finding::Severity;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Names a run: sortable by time, and fit for a branch, a tag and a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

/// Names a blob by its content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub [u8; 32]);

/// The facts of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// With the first event of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<Opened>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Of the dispatch that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Telemetry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// What a run was started with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The request as the user gave it, or what the file of the subject is called; secrets taken out.
    pub request: String,
    /// The file that the run is about, from the root of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A few words of the subject, fit for task ids and file names.
    pub slug: String,
    /// The commit that the run starts from.
    pub base: String,
    pub branch: String,
    /// Workflow, compiled program, roles and checks, pinned (CORE-18).
    pub pinned: BlobId,
    /// Version of the program that opened the run.
    pub version: String,
}

/// One row of evidence (EP-16).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// None for the whole run: rows of the baseline count for every task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub phase: RowPhase,
    pub name: String,
    pub tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// At most 500 characters; the whole is in `output`.
    pub snippet: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<BlobId>,
    pub passed: bool,
    /// Of a reviewer, as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    pub round: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// The verification iteration, from 1; 0 at the baseline.
    pub iteration: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collected: Option<u32>,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Results test by test, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<BlobId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<Reuse>,
}

/// What a row of evidence has to do with rows of other occasions. A key names all that a result depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reuse {
    /// The result holds wherever the key comes up again.
    Kept { key: BlobId },
    /// No result holds for the key any more: it was shown to depend on something else.
    Withdrawn { key: BlobId },
    /// Nothing was run: the result is that of an earlier row.
    Taken { run: RunId, seq: u64, at: Millis },
}

/// A version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub name: String,
    /// The part of it: a focus, a task; empty for the whole.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    pub digest: Digest,
    pub blob: BlobId,
    /// The phase and role that wrote it.
    pub by: String,
    /// `yaml`, `md`, `patch`, `txt`.
    pub format: String,
}

/// What one dispatch took and did (EP-26).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Telemetry {
    pub started_at: Millis,
    pub ended_at: Millis,
    pub driver: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// `DONE`, `NEEDS_REVISION` or `ERROR`.
    pub status: String,
    pub summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<BlobId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<BlobId>,
    /// The result as the agent left it, right or wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<BlobId>,
    /// The answer that was heard in its output, where there was no such result to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<BlobId>,
    /// The work tree before and after, as git knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Of its process; less than zero by the signal that ended it, none where the engine ended it before it had said
    /// its last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// None where the agent does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// The price that the cost was reckoned by; none where the agent told it, or nobody knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
}

/// Tokens by kind, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    /// Read from the service's cache.
    pub cached: u64,
    /// Written to the service's cache.
    pub stored: u64,
}

impl Tokens {
    pub fn all(self) -> u64 {
        [self.input, self.output, self.cached, self.stored].into_iter().fold(0, u64::saturating_add)
    }

    /// What came to an earlier count.
    #[must_use]
    pub fn since(self, before: Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_sub(before.input),
            output: self.output.saturating_sub(before.output),
            cached: self.cached.saturating_sub(before.cached),
            stored: self.stored.saturating_sub(before.stored),
        }
    }

    #[must_use]
    pub fn and(self, more: Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            cached: self.cached.saturating_add(more.cached),
            stored: self.stored.saturating_add(more.stored),
        }
    }
}

/// Something that is to be read later: a degradation, a violation, a concern, a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub kind: NoteKind,
    pub text: String,
    /// The files that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// Something that the run had to do without (EP-27).
    Degradation,
    /// A role stepped outside its permissions; with the diff that was undone.
    Violation,
    /// Pushback on the request.
    Concern,
    /// State of the checkout, a hook, a limit that could not be kept.
    Warning,
    /// For the decisions log (EP-22).
    Decision,
    /// For later runs of the same repository (EP-22).
    Lesson,
    /// A test that passed before and does not now.
    Regression,
    /// A proposal to change instruction files; never applied by itself.
    Proposal,
    /// A severity of the source's second list that was mapped (EP-07).
    Mapped,
    /// A dispatch that was interrupted by a crash and started again.
    Interrupted,
}

impl Facts {
    /// The blobs that the facts name.
    pub fn blobs(&self) -> impl Iterator<Item = BlobId> + '_ {
        let pinned = self.opened.iter().map(|opened| opened.pinned);
        let checks = self.checks.iter().flat_map(|check| check.output.into_iter().chain(check.tests));
        let artifacts = self.artifacts.iter().map(|artifact| artifact.blob);
        let telemetry = self.telemetry.iter().flat_map(|telemetry| {
            [telemetry.prompt, telemetry.output, telemetry.result, telemetry.answer].into_iter().flatten()
        });
        let notes = self.notes.iter().filter_map(|note| note.blob);
        pinned.chain(checks).chain(artifacts).chain(telemetry).chain(notes)
    }
}

impl BlobId {
    /// The name of this content.
    pub fn of(bytes: &[u8]) -> BlobId {
        BlobId(*blake3::hash(bytes).as_bytes())
    }

    /// The name in hexadecimal digits.
    fn text(&self) -> String {
        let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
        self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
    }

    /// The digest under which the kernel knows the content. Zero stands for "absent", so no content has it.
    pub fn digest(&self) -> Digest {
        let mut head = [0; 8];
        head.copy_from_slice(&self.0[..8]);
        Digest(u64::from_le_bytes(head).max(1))
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({self})")
    }
}

impl std::str::FromStr for BlobId {
    type Err = NotABlobId;

    fn from_str(text: &str) -> Result<BlobId, NotABlobId> {
        let refuse = || NotABlobId(text.to_string());
        if text.len() != 64 || !text.is_ascii() {
            return Err(refuse());
        }
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let half = |at: usize| char::from(text.as_bytes()[at]).to_digit(16).ok_or_else(refuse);
            *byte = (half(at * 2)? << 4 | half(at * 2 + 1)?) as u8;
        }
        Ok(BlobId(bytes))
    }
}

/// A text that names no blob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no blob: 64 hexadecimal digits are expected")]
pub struct NotABlobId(pub String);

impl Serialize for BlobId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for BlobId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<BlobId, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
