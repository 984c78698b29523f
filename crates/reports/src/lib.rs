//! Reports about a judged change, for people and for other programs.
//!
//! The crate is pure: `ChangeReport` in, text out, the same text each time. It judges nothing and reads no file.

mod checked;
mod forms;
mod proofs;
mod report;

pub use checked::{CheckOrigin, CheckSummary, CheckVerdict, TestChange, TestSummary};
pub use forms::{PAYLOAD_TYPE, ReportForm, envelope, pre_authentication, statement};
pub use proofs::{MutantSummary, ProofSummary, ReportedFate, ReportedProof, ReportedTest};
pub use report::{
    ChangeReport, ChangeSource, ChangeVerdict, FindingSummary, FirstLook, JudgedChange, JudgedPart,
    OldTestsSummary, SecretSummary, TestRelease, Unmeasured, UnmeasuredKind,
};
