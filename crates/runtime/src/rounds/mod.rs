//! Rounds on a gap board, as the ledger tells of them (SR).
//!
//! Nothing here is kept anywhere but in the ledger: [`History`] is made from the journal each time it is needed, and
//! what people read is rendered from it. What a round does to the gaps is reckoned by `remand_kernel::gaps`.

mod awaited;
mod given;
mod history;
mod outputs;
mod place;
mod sheet;
mod task;
mod teller;

pub mod documents;

pub use given::{GAPS_FILE, Given, GivenError};
pub use history::{History, Text};
pub use outputs::Turns;
pub use place::{Misplaced, places, put};
pub use sheet::{Mishap, Sheet};
pub use task::{Batch, Open, Task, retry_of};
pub use teller::schema_of;
