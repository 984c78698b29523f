//! `accept-complexity`: the gaps are taken as they are, and the stalls so far are forgotten (SR-08).

use super::super::Done;
use super::{Sight, write_board};
use crate::workshop::{Job, Trouble};

pub fn run(job: &Job) -> Result<Done, Trouble> {
    let mut board = Sight::of(job)?.history.board()?.clone();
    board.accept_complexity();
    let mut done = Done::saying("accepted");
    write_board(job, &board, &mut done)?;
    Ok(done)
}
