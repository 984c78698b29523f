//! One notice.

use remand_ledger::query::RunStage;
use remand_ledger::{LimitKind, Millis, RunId};
use serde::{Deserialize, Serialize};

/// The kind of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeKind {
    /// A gate waits for an answer.
    Gate,
    /// Most of a limit is used.
    Limit,
    /// The run is over.
    Over,
    /// An agent prints nothing.
    Silent,
    /// The user tries the channels.
    Test,
}

impl NoticeKind {
    pub fn name(self) -> &'static str {
        match self {
            NoticeKind::Gate => "gate",
            NoticeKind::Limit => "limit",
            NoticeKind::Over => "over",
            NoticeKind::Silent => "silent",
            NoticeKind::Test => "test",
        }
    }
}

/// Something that the user wants to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunNotice {
    /// Unique for what it is about: the same gate has the same id in every process.
    pub id: String,
    pub kind: NoticeKind,
    pub run: RunId,
    pub workflow: String,
    /// The name of the repository's folder.
    pub repository: String,
    pub at: Millis,
    /// One line, without text of the run.
    pub title: String,
    /// The command to run next.
    pub next: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<AskingGate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<NearLimit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<RunStage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<SilentAgent>,
    /// Text of the run, if the user wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<NoticeTexts>,
}

/// The gate of a notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskingGate {
    pub gate: String,
    pub phase: String,
    pub options: Vec<String>,
    pub default: Option<String>,
    pub mandatory: bool,
}

/// The limit of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearLimit {
    pub limit: LimitKind,
    /// Since a human last granted more.
    pub used: u64,
    pub amount: u64,
}

/// The agent of a notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilentAgent {
    pub dispatch: String,
    /// The number of the attempt at this dispatch, since a restart is another agent.
    pub number: u64,
    pub phase: String,
    pub role: String,
    pub silent_ms: u64,
}

/// Text of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeTexts {
    pub request: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl RunNotice {
    /// The part of the id that names a file.
    pub fn key(&self) -> &str {
        self.id.rsplit_once('/').map_or(self.id.as_str(), |(_, key)| key)
    }

    /// Several lines for people.
    pub fn body(&self) -> String {
        let mut lines = vec![format!("{} · {} · run {}", self.repository, self.workflow, self.run)];
        if let Some(gate) = &self.gate {
            lines.push(format!("options: {}", gate.options.join(", ")));
        }
        if let Some(texts) = &self.texts {
            lines.push(texts.request.clone());
            lines.extend(texts.question.clone().into_iter().chain(texts.reason.clone()));
        }
        if !self.next.is_empty() {
            lines.push(self.next.clone());
        }
        lines.join("\n")
    }
}
