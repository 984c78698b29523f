//! What a run tells its user while nobody watches, and the forms that receivers expect.
//!
//! Nothing here sends anything. A notice names run, workflow, phase and options; text of the run is in it only on request.

mod due;
mod form;
mod notice;
mod sequence;
mod signature;

pub use due::{NoticeContext, due, terminal_seq};
pub use form::{FormedNotice, NoticeForm};
pub use notice::{AskingGate, NearLimit, NoticeKind, NoticeTexts, RunNotice, SilentAgent};
pub use sequence::TerminalSequence;
pub use signature::{SIGNATURE_HEADER, signature};
