//! Rounds on a gap board, computed from the journal.
//!
//! The ledger is the only store: [`RoundHistory`] is built from the journal whenever it is needed, and the documents for
//! people are rendered from it. `remand_kernel::gaps` computes the effects of a round on the gaps.

mod awaited;
mod given_gaps;
mod history;
mod placement;
mod replay;
mod round_task;
mod sheet;
mod turns;

pub mod documents;

pub use given_gaps::{GAPS_FILE, GivenGaps, GivenGapsError};
pub use history::RoundHistory;
pub use placement::{PlacementError, place_text, resolve_sections};
pub use replay::schema_of;
pub use round_task::{Batch, OpenWork, RoundTask, retry_of};
pub use sheet::{DocumentVersion, FailedDispatch, RoundSheet};
pub use turns::RoundTurns;
