//! What a round has to do: its gaps in batches, and what it is told of a round that it does again.

use remand_kernel::gaps::{
    Assignment, Board, GapId, RetryMode, RollbackCause, RollbackRequest, Rounds, Wait, Work, assign,
};

/// The work of the round under way.
#[derive(Clone, Debug)]
pub struct Task {
    pub open: Open,
    /// Proposals of earlier rounds that nobody reviewed.
    pub review_first: Vec<GapId>,
    pub batches: Vec<Batch>,
    /// What a human said when the round was rolled back.
    pub retry: Option<RollbackRequest>,
}

/// Whether there is something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open {
    Work,
    AllBlocked(Vec<Wait>),
    Nothing,
}

/// Gaps that one engineer is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub id: String,
    pub gaps: Vec<GapId>,
}

impl Task {
    /// The work of the board's round, in at most so many batches.
    pub fn of(board: &Board, rounds: &Rounds, most: usize) -> Task {
        let retry = retry_of(board, rounds).cloned();
        let (open, work) = match assign(board) {
            Assignment::Work(work) => (Open::Work, work),
            Assignment::AllBlocked { waits } => (Open::AllBlocked(waits), nothing()),
            Assignment::NoneOpen => (Open::Nothing, nothing()),
        };
        let propose = match &retry {
            Some(request) if request.mode == RetryMode::Narrowed => narrowed(&work.propose, request),
            Some(_) | None => work.propose.clone(),
        };
        let batches = batches(&work, &propose, most);
        Task { open, review_first: work.review_first, batches, retry }
    }

    /// The gaps of one batch.
    pub fn batch(&self, id: &str) -> &[GapId] {
        self.batches.iter().find(|batch| batch.id == id).map_or(&[], |batch| &batch.gaps)
    }
}

/// The request by which the round under way is done again: of the newest rollback, while no round has counted since.
pub fn retry_of<'r>(board: &Board, rounds: &'r Rounds) -> Option<&'r RollbackRequest> {
    let last = rounds.rollbacks().last()?;
    let RollbackCause::Requested(request) = &last.cause else { return None };
    let counted = board.rows().iter().any(|row| row.round >= last.to && row.state.counts());
    (!counted && board.round() >= last.to).then_some(request)
}

fn nothing() -> Work {
    Work { review_first: Vec::new(), propose: Vec::new(), batches: Vec::new() }
}

/// Fewer gaps: those that the human named, or the more urgent half.
fn narrowed(propose: &[GapId], request: &RollbackRequest) -> Vec<GapId> {
    let said = format!("{} {}", request.reason, request.adjustments.join(" "));
    let named: Vec<GapId> = propose.iter().filter(|gap| said.contains(&gap.to_string())).cloned().collect();
    let half = propose.len().div_ceil(2);
    if named.is_empty() { propose[..half].to_vec() } else { named }
}

/// The batches that still have a gap to propose for. Beyond the most, a batch joins the smallest one before it.
fn batches(work: &Work, propose: &[GapId], most: usize) -> Vec<Batch> {
    let mut parts: Vec<Vec<GapId>> = Vec::new();
    for part in &work.batches {
        let part: Vec<GapId> = part.iter().filter(|gap| propose.contains(gap)).cloned().collect();
        if part.is_empty() {
            continue;
        }
        let smallest = (0..parts.len()).min_by_key(|at| parts[*at].len());
        match smallest {
            Some(at) if parts.len() >= most => parts[at].extend(part),
            Some(_) | None => parts.push(part),
        }
    }
    let named = |(at, gaps): (usize, Vec<GapId>)| Batch { id: format!("batch-{}", at + 1), gaps };
    parts.into_iter().enumerate().map(named).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use remand_kernel::gaps::{GapSeverity, NewGap, Rules};

    fn board(sections: &[&str]) -> Board {
        let gap = |section: &&str| NewGap {
            category: "FLOW".to_string(),
            severity: GapSeverity::High,
            claim: "unsaid".to_string(),
            sections: vec![(*section).to_string()],
            split_from: None,
            waits_for: None,
        };
        Board::open(sections.iter().map(gap).collect(), Rules::default()).unwrap()
    }

    fn ids(gaps: &[GapId]) -> Vec<String> {
        gaps.iter().map(ToString::to_string).collect()
    }

    fn request(mode: RetryMode, reason: &str) -> RollbackRequest {
        let (errors, adjustments) = (Vec::new(), Vec::new());
        RollbackRequest { round: 1, mode, reason: reason.to_string(), errors, adjustments }
    }

    // SR-13
    #[test]
    fn more_independent_parts_than_engineers_are_put_together() {
        let task = Task::of(&board(&["A", "B", "C", "D"]), &Rounds::default(), 3);
        let sizes: Vec<usize> = task.batches.iter().map(|batch| batch.gaps.len()).collect();
        assert_eq!(sizes, [2, 1, 1]);
        assert_eq!(ids(task.batch("batch-1")), ["GAP-FLOW-001", "GAP-FLOW-004"]);
    }

    // SR-11
    #[test]
    fn a_narrowed_retry_takes_the_gaps_that_were_named_or_the_more_urgent_half() {
        let board = board(&["A", "B", "C"]);
        for (reason, wanted) in [
            ("too much at once", vec!["GAP-FLOW-001", "GAP-FLOW-002"]),
            ("only GAP-FLOW-003 matters", vec!["GAP-FLOW-003"]),
        ] {
            let mut rounds = Rounds::default();
            rounds.start(&board);
            let again = rounds.restore(&board, request(RetryMode::Narrowed, reason)).unwrap();
            let task = Task::of(&again, &rounds, 3);
            let given: Vec<String> = task.batches.iter().flat_map(|batch| ids(&batch.gaps)).collect();
            assert_eq!(given, wanted, "{reason}");
        }
    }

    // SR-11
    #[test]
    fn the_retry_is_told_the_reason_and_later_rounds_are_not() {
        let board = board(&["A"]);
        let mut rounds = Rounds::default();
        rounds.start(&board);
        let again = rounds.restore(&board, request(RetryMode::SamePrompt, "too abstract")).unwrap();
        assert_eq!(retry_of(&again, &rounds).map(|told| told.reason.as_str()), Some("too abstract"));
        let skipped = {
            let mut rounds = Rounds::default();
            rounds.start(&board);
            rounds.restore(&board, request(RetryMode::Skip, "leave it out")).unwrap()
        };
        assert_eq!(skipped.round(), 2);
    }
}
