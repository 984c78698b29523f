//! Facts: what the host observed with an event, such as evidence, artifacts and telemetry. The journal stores
//! facts with their event, so every projection can be rebuilt from the journal.

use crate::proof::ChangeProof;
use remand_kernel::change::Digest;
use remand_kernel::event::Risk;
use remand_kernel::evidence::{RowPhase, Tier};
use remand_kernel::finding::Severity;
use remand_kernel::program::Confidence;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Identifies a run. Ids sort by time and are valid in branch, tag and folder names.
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

/// Identifies a blob by the hash of its content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub [u8; 32]);

/// The facts of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The inputs of the run. Only the first event of a run has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<RunOpening>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The telemetry of the dispatch or operation that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Telemetry>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// What happened to the run's work, as the operation that ended reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// The tree that the baseline checks of a task were measured on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_tree: Option<String>,
    /// Why the contract refused the result of the dispatch that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub malformed: Option<MalformedCause>,
    /// What shows that the tests of the checked change can fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<ChangeProof>,
    /// The hosts that checks and programs of git asked for, by program.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, AskedHosts>,
}

/// What happened to a run's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Delivery {
    Committed {
        commit: String,
        branch: String,
        /// The path in the repository, if the work is one document.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The files that differ from the base of the run; empty in runs of earlier versions.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<String>,
    },
    /// No commit was made: a hook refused, or the work does not pass.
    Refused {
        reason: String,
        /// The line of the hook's output that says why it refused; empty if the hook printed nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hook: Option<String>,
    },
    /// The work is left uncommitted; these commands take or discard it.
    HandedOver {
        reason: String,
        take: String,
        discard: String,
        /// As in `Refused`, if a hook refused the commit before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hook: Option<String>,
        /// As in `Committed`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<String>,
    },
    /// The run changed nothing.
    Nothing,
}

impl Delivery {
    /// Why the work is not committed; `None` if it is.
    pub fn why_not_committed(&self) -> Option<String> {
        match (self.refusing_hook(), self) {
            (Some(hook), _) => Some(Delivery::hook_said(hook)),
            (None, Delivery::Refused { reason, .. } | Delivery::HandedOver { reason, .. }) => {
                Some(reason.clone())
            }
            (None, Delivery::Nothing) => Some("the run changed nothing".to_string()),
            (None, Delivery::Committed { .. }) => None,
        }
    }

    /// The message of the hook that refused the commit, if a hook did.
    pub fn refusing_hook(&self) -> Option<&str> {
        match self {
            Delivery::Refused { hook, .. } | Delivery::HandedOver { hook, .. } => hook.as_deref(),
            Delivery::Committed { .. } | Delivery::Nothing => None,
        }
    }

    /// The refusal of a hook in words.
    pub fn hook_said(line: &str) -> String {
        match line.trim() {
            "" => "the commit hook refused without a message".to_string(),
            line => format!("the hook said: {line}"),
        }
    }
}

/// Why a contract refused a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MalformedCause {
    /// There is no result.
    Missing,
    /// It is too short to be meaningful.
    TooShort,
    /// It covers none of the assigned gaps.
    UnassignedGap,
    /// It does not have the form that the contract demands.
    WrongForm,
}

/// The inputs of a run when it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOpening {
    /// The request in the user's words, or the name of the subject's file; secrets are redacted.
    pub request: String,
    /// The file that the run is about, relative to the root of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A few words of the subject, valid in task ids and file names.
    pub slug: String,
    /// The commit that the run starts from.
    pub base: String,
    pub branch: String,
    /// The blob with workflow, compiled program, roles and checks.
    pub pinned: BlobId,
    /// The Remand version that opened the run.
    pub version: String,
    /// Who asked for the run, and through what if not on a command line; `None` in journals of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The user's checkout when the run started; `None` in journals of versions that inspected it later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutFacts>,
}

/// The state of the user's checkout when a run started, as seen on the user's machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckoutFacts {
    /// The branch that was checked out; `None` for a detached HEAD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<CheckoutFinding>,
}

/// One property of a checkout that matters to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutFinding {
    pub kind: CheckoutFindingKind,
    /// The property as a sentence for people.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckoutFindingKind {
    Dirty,
    DetachedHead,
    OnDefaultBranch,
    /// A merge, a rebase or the like was not finished.
    InProgress,
    /// The content of submodules is missing.
    Submodules,
    /// Files are kept by Git LFS.
    Lfs,
    SparseCheckout,
    ShallowClone,
}

/// One row of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// `None` for the whole run. A baseline of the whole run counts for every task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub phase: RowPhase,
    pub name: String,
    pub tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// At most 500 characters; `output` has the full text.
    pub snippet: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<BlobId>,
    pub passed: bool,
    /// A reviewer's verdict, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    pub round: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// The verification iteration, from 1; 0 for the baseline.
    pub iteration: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collected: Option<u32>,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The results of individual tests, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<BlobId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<Reuse>,
}

/// Whether a result of a check can be reused. The key is a hash of everything that the result depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reuse {
    /// The result is valid for every check with the same key.
    Kept { key: BlobId },
    /// No result is valid for the key any more: the check turned out to depend on something else.
    Withdrawn { key: BlobId },
    /// Nothing ran; the result comes from an earlier row.
    Taken { run: RunId, seq: u64, at: Millis },
}

/// A version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub name: String,
    /// The part, such as a focus or a task; empty for the whole artifact.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    pub digest: Digest,
    pub blob: BlobId,
    /// The phase and role that wrote it.
    pub by: String,
    /// `yaml`, `md`, `patch`, `txt`.
    pub format: String,
}

/// The report of one dispatch: what it did and used.
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
    /// The result as the agent left it, valid or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<BlobId>,
    /// The answer found in the agent's output, if there is no result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<BlobId>,
    /// The git trees before and after the dispatch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Exit status of the process; the negated signal number if a signal ended it; `None` if the engine killed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// `None` if the agent does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenCounts>,
    /// The price that the cost was computed from; `None` if the agent reported the cost, or the cost is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// The bytes that the agent was given, by section.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub brief: BTreeMap<String, u64>,
    /// The hosts that the agent asked for; `None` if its network was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contacts: Option<AskedHosts>,
}

/// The hosts that a program asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AskedHosts {
    pub reached: BTreeMap<String, HostTraffic>,
    /// The names and addresses that it may not reach.
    pub refused: BTreeSet<String>,
    /// Whether there were more than `refused` holds.
    pub more: bool,
}

/// The bytes of all connections of a dispatch with one host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostTraffic {
    pub sent: u64,
    pub received: u64,
}

/// Tokens by kind, each counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenCounts {
    pub input: u64,
    pub output: u64,
    /// Tokens read from the service's cache.
    pub cached: u64,
    /// Tokens written to the service's cache.
    pub stored: u64,
}

impl TokenCounts {
    pub fn total(self) -> u64 {
        [self.input, self.output, self.cached, self.stored].into_iter().fold(0, u64::saturating_add)
    }

    /// The tokens added since an earlier count.
    #[must_use]
    pub fn since(self, before: TokenCounts) -> TokenCounts {
        TokenCounts {
            input: self.input.saturating_sub(before.input),
            output: self.output.saturating_sub(before.output),
            cached: self.cached.saturating_sub(before.cached),
            stored: self.stored.saturating_sub(before.stored),
        }
    }

    #[must_use]
    pub fn plus(self, more: TokenCounts) -> TokenCounts {
        TokenCounts {
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            cached: self.cached.saturating_add(more.cached),
            stored: self.stored.saturating_add(more.stored),
        }
    }
}

/// A note for a person to read later: a degradation, a violation, a concern, a lesson.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub kind: NoteKind,
    pub text: String,
    /// The files that it concerns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobId>,
    /// The decision that the text states; `None` for a sentence of the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// A decision of a role, as the decisions log keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decision {
    /// The role's own id, such as `D-1`; roles may use the same ids.
    pub id: String,
    pub title: String,
    /// Why a decision was needed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// The chosen alternative.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub selected: String,
    /// The alternatives that were not chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rationale: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub decided_by: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// Something that lowers the confidence.
    Degradation,
    /// A role exceeded its permissions; the blob is the diff that was undone.
    Violation,
    /// Pushback on the request.
    Concern,
    /// A warning about the checkout, a hook, or a limit that cannot be enforced.
    Warning,
    /// Something that the sandbox cannot enforce on this machine.
    Unenforced,
    /// A decision for the decisions log.
    Decision,
    /// A lesson for later runs in the same repository.
    Lesson,
    /// A test that passed at the baseline and fails now.
    Regression,
    /// A proposal to change instruction files; a human applies it.
    Proposal,
    /// A severity word that was translated to one of ours.
    Mapped,
    /// A dispatch that a crash interrupted and that was started again.
    Interrupted,
}

impl Note {
    /// A note with nothing but a text.
    pub fn new(kind: NoteKind, text: impl Into<String>) -> Note {
        Note { kind, text: text.into(), files: Vec::new(), blob: None, decision: None }
    }
}

impl Facts {
    /// The blobs that the facts refer to.
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
    /// The id of this content.
    pub fn of(bytes: &[u8]) -> BlobId {
        BlobId(*blake3::hash(bytes).as_bytes())
    }

    /// The id in hexadecimal digits.
    fn text(&self) -> String {
        let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
        self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
    }

    /// The kernel's digest of the content. Zero means "absent", so no content has it.
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
        let invalid = || NotABlobId(text.to_string());
        if text.len() != 64 || !text.is_ascii() {
            return Err(invalid());
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let half = |index: usize| char::from(text.as_bytes()[index]).to_digit(16).ok_or_else(invalid);
            *byte = (half(index * 2)? << 4 | half(index * 2 + 1)?) as u8;
        }
        Ok(BlobId(bytes))
    }
}

/// The string is not a blob id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a blob id: expected 64 hexadecimal digits")]
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
