//! Operations on the gap board, one per file. Each reads the history of the rounds from the ledger, lets the kernel
//! compute the new board, and writes it.

mod accept_complexity;
mod add_gaps;
mod assign_gaps;
mod block_external;
mod close_round;
mod judge_progress;
mod keep_best;
mod narrow_gaps;
mod open_board;
mod questions;
mod record_decision;
mod write_up;

pub use accept_complexity::run as accept_complexity;
pub use add_gaps::run as add_gaps;
pub use assign_gaps::run as assign_gaps;
pub use block_external::run as block_external;
pub use close_round::run as close_round;
pub use judge_progress::run as judge_progress;
pub use keep_best::run as keep_best;
pub use narrow_gaps::run as narrow_gaps;
pub use open_board::run as open_board;
pub use record_decision::run as record_decision;
pub use write_up::{write_draft, write_spec};

use super::Done;
use crate::rounds::{RoundHistory, documents};
use crate::site::{Job, Trouble};
use remand_kernel::change::Digest;
use remand_kernel::gaps::{Acceptable, AddError, Board, CloseError, MoveError};
use remand_ledger::fact::Artifact;
use remand_ledger::{BlobId, Reader};

/// The rounds so far, and the ledger that they come from.
struct RoundsSoFar {
    reader: Reader,
    history: RoundHistory,
}

impl RoundsSoFar {
    fn of(job: &Job) -> Result<RoundsSoFar, Trouble> {
        let reader = job.site.reader()?;
        let history = RoundHistory::read(&reader, &job.site.run, &job.site.pinned)?;
        Ok(RoundsSoFar { reader, history })
    }
}

/// The last answered gate, which led to this operation.
/// Writes the board. Sets the flags of this phase to true if the board is acceptable, which means that no critical or
/// blocking gap is open; otherwise to false.
fn write_board(job: &Job, board: &Board, done: &mut Done) -> Result<(), Trouble> {
    let flags = job.program.phase(job.id.phase).sets.iter();
    let is_acceptable = matches!(board.acceptable(), Acceptable::Yes { .. });
    done.report.flags.extend(flags.map(|flag| (job.program.flags[flag.index()].clone(), is_acceptable)));
    let text = serde_json::to_string_pretty(board)
        .map_err(|error| Trouble::denied(format!("the board cannot be written: {error}")))?;
    write(job, "gaps", "json", &text, done);
    Ok(())
}

fn write_decisions(job: &Job, board: &Board, done: &mut Done) {
    write(job, "decisions", "md", &documents::decisions(board), done);
}

/// Writes a new version of an artifact. Returns the digest of its content.
fn write(job: &Job, name: &str, format: &str, text: &str, done: &mut Done) -> Digest {
    let blob = job.site.blob(text);
    let digest = blob.id.digest();
    set_current(job, name, format, blob.id, digest, done);
    done.blobs.push(blob);
    digest
}

/// Makes a blob the current version of an artifact. The kernel sees it as written only if the content changed.
fn set_current(job: &Job, name: &str, format: &str, blob: BlobId, digest: Digest, done: &mut Done) {
    done.facts.artifacts.push(Artifact {
        name: name.to_string(),
        part: String::new(),
        digest,
        blob,
        by: job.phase().to_string(),
        format: format.to_string(),
    });
    let current = job.program.artifact_named(name).map(|id| job.state.digest(id));
    if current != Some(digest) {
        done.report.wrote.push((name.to_string(), digest));
    }
}

impl From<AddError> for Trouble {
    fn from(error: AddError) -> Trouble {
        Trouble::denied(error.to_string())
    }
}

impl From<MoveError> for Trouble {
    fn from(error: MoveError) -> Trouble {
        Trouble::denied(error.to_string())
    }
}

impl From<CloseError> for Trouble {
    fn from(error: CloseError) -> Trouble {
        Trouble::denied(error.to_string())
    }
}
