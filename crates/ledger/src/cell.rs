//! Types of column values that the projection writes and the queries read.

use crate::column::{ColumnWord, column_words};
use remand_kernel::program::Action;
use remand_kernel::ruling::Disposition;
use serde::{Deserialize, Serialize};

/// The stage or outcome of a run: the one word that every command, page and JSON value uses for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStage {
    Running,
    /// The run waits for a human, and nothing else runs.
    Waiting,
    Paused,
    /// The run is not over, but no process drives it. The tables never hold this: see `Reader::with_drivers`.
    Interrupted,
    /// The work is committed on the branch of the run.
    Committed,
    /// The run did all its work and committed nothing. What to do with the work is up to the user.
    LeftToYou,
    Failed,
    /// A human or the workflow ended the run early.
    Stopped,
}

column_words! {
    RunStage {
        RunStage::Running => "running",
        RunStage::Waiting => "waiting",
        RunStage::Paused => "paused",
        RunStage::Interrupted => "interrupted",
        RunStage::Committed => "committed",
        RunStage::LeftToYou => "left-to-you",
        RunStage::Failed => "failed",
        RunStage::Stopped => "stopped",
    }
}

impl RunStage {
    /// The word for people.
    pub fn name(self) -> &'static str {
        match self {
            RunStage::LeftToYou => "left to you",
            RunStage::Running
            | RunStage::Waiting
            | RunStage::Paused
            | RunStage::Interrupted
            | RunStage::Committed
            | RunStage::Failed
            | RunStage::Stopped => self.word(),
        }
    }

    /// Whether the run has ended.
    pub fn is_over(self) -> bool {
        match self {
            RunStage::Running | RunStage::Waiting | RunStage::Paused | RunStage::Interrupted => false,
            RunStage::Committed | RunStage::LeftToYou | RunStage::Failed | RunStage::Stopped => true,
        }
    }

    /// Whether the run came to the end of its workflow, with or without a commit.
    pub fn is_finished(self) -> bool {
        matches!(self, RunStage::Committed | RunStage::LeftToYou)
    }
}

/// The action that a ruling took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RulingKind {
    Next,
    To,
    Remand,
    Restore,
    Return,
    Raise,
    Done,
    Fail,
    Stop,
    Ignore,
    /// The same seat was dispatched again.
    Retry,
    /// A human was asked whether to continue.
    Hold,
    Continue,
    Pause,
    Cancel,
    RollBack,
    RemoveApproach,
    Reattribute,
}

column_words! {
    RulingKind {
        RulingKind::Next => "next",
        RulingKind::To => "to",
        RulingKind::Remand => "remand",
        RulingKind::Restore => "restore",
        RulingKind::Return => "return",
        RulingKind::Raise => "raise",
        RulingKind::Done => "done",
        RulingKind::Fail => "fail",
        RulingKind::Stop => "stop",
        RulingKind::Ignore => "ignore",
        RulingKind::Retry => "retry",
        RulingKind::Hold => "hold",
        RulingKind::Continue => "continue",
        RulingKind::Pause => "pause",
        RulingKind::Cancel => "cancel",
        RulingKind::RollBack => "roll-back",
        RulingKind::RemoveApproach => "remove-approach",
        RulingKind::Reattribute => "reattribute",
    }
}

impl RulingKind {
    pub fn of(disposition: &Disposition) -> RulingKind {
        match disposition {
            Disposition::Follow { action, .. } => RulingKind::of_action(action),
            Disposition::Again { .. } | Disposition::Retry => RulingKind::Retry,
            Disposition::Hold => RulingKind::Hold,
            Disposition::GoOn => RulingKind::Continue,
            Disposition::Pause => RulingKind::Pause,
            Disposition::Cancel => RulingKind::Cancel,
            Disposition::RollBack { .. } => RulingKind::RollBack,
            Disposition::RemoveApproach { .. } => RulingKind::RemoveApproach,
            Disposition::Reattribute { .. } => RulingKind::Reattribute,
        }
    }

    fn of_action(action: &Action) -> RulingKind {
        match action {
            Action::Next => RulingKind::Next,
            Action::To(_) => RulingKind::To,
            Action::Remand(_) | Action::RemandInjector => RulingKind::Remand,
            Action::Restore(_) => RulingKind::Restore,
            Action::Return => RulingKind::Return,
            Action::Raise(_) => RulingKind::Raise,
            Action::Done => RulingKind::Done,
            Action::Fail => RulingKind::Fail,
            Action::Stop(_) => RulingKind::Stop,
            Action::Hold => RulingKind::Hold,
            Action::Ignore => RulingKind::Ignore,
        }
    }
}

/// How a correction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CorrectionEnd {
    /// The phase that reported the defect accepted the changed work.
    Corrected,
    /// The phase that reported the defect accepted the unchanged work: it was not a defect.
    Withdrawn,
    /// The defect was reported again for the new work.
    ReportedAgain,
    /// The defect was passed on when work was sent further back.
    PassedOn,
    /// The same report was sent again, for example with a human's guidance.
    SentAgain,
}

column_words! {
    CorrectionEnd {
        CorrectionEnd::Corrected => "corrected",
        CorrectionEnd::Withdrawn => "withdrawn",
        CorrectionEnd::ReportedAgain => "reported-again",
        CorrectionEnd::PassedOn => "passed-on",
        CorrectionEnd::SentAgain => "sent-again",
    }
}

/// An option that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateOption {
    pub name: String,
    /// The action of its route, as written in a workflow file; `None` for the options of a hold.
    pub action: Option<String>,
}

/// An option that the workflow has, but that is not offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithheldOption {
    pub name: String,
    /// The exhausted budget, if it is the reason.
    pub exhausted: Option<String>,
}

/// The id of the dispatch of `command` that event `seq` records as interrupted. The command stays open until a
/// later dispatch completes it.
pub fn interruption_id(command: &str, seq: u64) -> String {
    format!("{command}~{seq}")
}
