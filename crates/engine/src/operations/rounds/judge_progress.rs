//! `judge-progress`: whether the last round warns. After a decision on a conflict, the user answers the warning too.

use super::super::Done;
use super::RoundsSoFar;
use crate::site::{Job, Trouble};

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let RoundsSoFar { history, .. } = RoundsSoFar::of(job)?;
    Ok(Done::with_signal(if history.board()?.warns() { "warning" } else { "steady" }))
}
