//! The operations that the engine performs itself. This is the only list of them.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

macro_rules! operations {
    ($($variant:ident = $name:literal,)*) => {
        /// An operation of the engine, by the name that workflow files use.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum EngineOperation {
            $(#[serde(rename = $name)] $variant,)*
        }

        impl EngineOperation {
            pub const ALL: &'static [EngineOperation] = &[$(EngineOperation::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(EngineOperation::$variant => $name,)* }
            }
        }
    };
}

operations! {
    Prepare = "prepare",
    Sanity = "sanity",
    FocusAreas = "focus-areas",
    Baseline = "baseline",
    TakeChange = "take-change",
    QuickChecks = "quick-checks",
    Checks = "checks",
    Integrate = "integrate",
    Merge = "merge",
    TakeBack = "take-back",
    ProposeInstructions = "propose-instructions",
    ApproveInstructions = "approve-instructions",
    Bundle = "bundle",
    Commit = "commit",
    HandOver = "hand-over",
    LogDefects = "log-defects",
    StartIssue = "start-issue",
    FileSubIssues = "file-sub-issues",
    CheckStubs = "check-stubs",
    VerifyRed = "verify-red",
    EntryCheck = "entry-check",
    WriteManifest = "write-manifest",
    WriteTaskFix = "write-task-fix",
    ApplyCosmetic = "apply-cosmetic",
    CloseIssue = "close-issue",
    CommentIssue = "comment-issue",
    BackToTodo = "back-to-todo",
    DiscardWorkTree = "discard-work-tree",
    LookBack = "look-back",
    RecordApproach = "record-approach",
    OpenBoard = "open-board",
    RecordDecision = "record-decision",
    JudgeProgress = "judge-progress",
    AssignGaps = "assign-gaps",
    BlockExternal = "block-external",
    CloseRound = "close-round",
    AddGaps = "add-gaps",
    NarrowGaps = "narrow-gaps",
    AcceptComplexity = "accept-complexity",
    KeepBest = "keep-best",
    WriteSpec = "write-spec",
    WriteDraft = "write-draft",
}

impl fmt::Display for EngineOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not the name of an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine has no operation `{name}`")]
pub struct UnknownOperation {
    pub name: String,
}

impl FromStr for EngineOperation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<EngineOperation, UnknownOperation> {
        let found = EngineOperation::ALL.iter().copied().find(|operation| operation.name() == name);
        found.ok_or_else(|| UnknownOperation { name: String::from(name) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn an_operation_is_written_as_its_name_in_json_and_in_text() {
        for operation in EngineOperation::ALL {
            let stored = serde_json::to_string(operation).unwrap();
            assert_eq!(stored, format!("\"{operation}\""));
            assert_eq!(serde_json::from_str::<EngineOperation>(&stored).unwrap(), *operation);
            assert_eq!(operation.name().parse(), Ok(*operation));
        }
        assert!("fly".parse::<EngineOperation>().is_err());
    }
}
