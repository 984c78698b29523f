//! The gap board of a simulated specification: how many gaps are open, and what a round does to them.

use crate::draws::{Drawn, Draws};
use crate::model::GapModel;
use remand_kernel::EngineOperation;

/// The gaps of a specification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GapBoard {
    pub open: u16,
    rounds: u16,
}

impl GapBoard {
    pub fn new(open: u16) -> GapBoard {
        GapBoard { open, rounds: 0 }
    }

    /// The result of an operation on the board; `None` if the result does not depend on it.
    pub fn operate(
        &mut self,
        operation: EngineOperation,
        model: GapModel,
        draws: Draws,
    ) -> Option<&'static str> {
        match operation {
            EngineOperation::AssignGaps => Some(if self.open == 0 { "none-open" } else { "assigned" }),
            EngineOperation::CloseRound => Some(self.close_round(model, draws)),
            EngineOperation::AddGaps => {
                self.open +=
                    1 + draws.count(model.new, Drawn::GapAppears, &[u64::MAX, u64::from(self.rounds)]);
                None
            }
            EngineOperation::NarrowGaps => {
                self.open = self.open.div_ceil(2);
                None
            }
            _ => None,
        }
    }

    fn close_round(&mut self, model: GapModel, draws: Draws) -> &'static str {
        self.rounds += 1;
        let round = u64::from(self.rounds);
        let closes = |gap: &u16| draws.happens(model.close, Drawn::GapCloses, &[round, u64::from(*gap)]);
        let closed = u16::try_from((0..self.open).filter(closes).count()).unwrap_or(u16::MAX);
        let new = draws.count(model.new * f64::from(closed), Drawn::GapAppears, &[round]);
        self.open = self.open - closed + new;
        if self.open == 0 {
            "complete"
        } else if draws.happens(model.conflict, Drawn::GapConflict, &[round]) {
            "conflict"
        } else if new > closed {
            "diverging"
        } else if closed == new {
            "stalled"
        } else {
            "converging"
        }
    }

    /// The number of batches that a round works on.
    pub fn batches(&self) -> u16 {
        self.open.min(3)
    }

    /// Whether no gap is left that must not be accepted.
    pub fn is_acceptable(&self) -> bool {
        self.open <= 1
    }
}
