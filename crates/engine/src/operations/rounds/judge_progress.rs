//! `judge-progress`: reports whether the last round gave a warning. The user must answer it even after deciding a
//! conflict.

use super::super::Done;
use super::RoundsSoFar;
use crate::site::{Job, Trouble};

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let RoundsSoFar { history, .. } = RoundsSoFar::of(job)?;
    Ok(Done::with_signal(if history.board()?.warns() { "warning" } else { "steady" }))
}
