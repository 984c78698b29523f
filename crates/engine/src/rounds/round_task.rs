//! The work of a round: its gaps in batches, and the rollback request if the round is a retry.

use remand_kernel::gaps::{
    Assignment, Board, GapId, RetryMode, RollbackCause, RollbackRequest, RoundWork, Rounds, Wait, assign,
};

/// The work of the current round.
#[derive(Clone, Debug)]
pub struct RoundTask {
    pub open: OpenWork,
    /// Unreviewed proposals of earlier rounds.
    pub review_first: Vec<GapId>,
    pub batches: Vec<Batch>,
    /// The request for the rollback, if the round is a retry.
    pub retry: Option<RollbackRequest>,
}

/// Whether gaps are left to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenWork {
    Work,
    AllBlocked(Vec<Wait>),
    Nothing,
}

/// The gaps for one engineer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub id: String,
    pub gaps: Vec<GapId>,
}

impl RoundTask {
    /// The work of the board's round, in at most `max` batches.
    pub fn of(board: &Board, rounds: &Rounds, max: usize) -> RoundTask {
        let retry = retry_of(board, rounds).cloned();
        let (open, work) = match assign(board) {
            Assignment::Work(work) => (OpenWork::Work, work),
            Assignment::AllBlocked { waits } => (OpenWork::AllBlocked(waits), no_work()),
            Assignment::NoneOpen => (OpenWork::Nothing, no_work()),
        };
        let propose = match &retry {
            Some(request) if request.mode == RetryMode::Narrowed => narrow(&work.propose, request),
            Some(_) | None => work.propose.clone(),
        };
        let batches = batches(&work, &propose, max);
        RoundTask { open, review_first: work.review_first, batches, retry }
    }

    /// The gaps of one batch.
    pub fn batch(&self, id: &str) -> &[GapId] {
        self.batches.iter().find(|batch| batch.id == id).map_or(&[], |batch| &batch.gaps)
    }
}

/// The last rollback request, if the current round is a retry after it; `None` if a round has counted since.
pub fn retry_of<'r>(board: &Board, rounds: &'r Rounds) -> Option<&'r RollbackRequest> {
    let last = rounds.rollbacks().last()?;
    let RollbackCause::Requested(request) = &last.cause else { return None };
    let counted = board.rows().iter().any(|row| row.round >= last.to && row.state.counts());
    (!counted && board.round() >= last.to).then_some(request)
}

fn no_work() -> RoundWork {
    RoundWork { review_first: Vec::new(), propose: Vec::new(), batches: Vec::new() }
}

/// The gaps that the human mentions by id; if there are none, the more urgent half.
fn narrow(propose: &[GapId], request: &RollbackRequest) -> Vec<GapId> {
    let note = format!("{} {}", request.reason, request.adjustments.join(" "));
    let mentioned: Vec<GapId> =
        propose.iter().filter(|gap| note.contains(&gap.to_string())).cloned().collect();
    let half = propose.len().div_ceil(2);
    if mentioned.is_empty() { propose[..half].to_vec() } else { mentioned }
}

/// The batches of gaps that need a proposal. Once there are `max` batches, further gaps join the smallest one.
fn batches(work: &RoundWork, propose: &[GapId], max: usize) -> Vec<Batch> {
    let mut parts: Vec<Vec<GapId>> = Vec::new();
    for part in &work.batches {
        let part: Vec<GapId> = part.iter().filter(|gap| propose.contains(gap)).cloned().collect();
        if part.is_empty() {
            continue;
        }
        let smallest = (0..parts.len()).min_by_key(|at| parts[*at].len());
        match smallest {
            Some(at) if parts.len() >= max => parts[at].extend(part),
            Some(_) | None => parts.push(part),
        }
    }
    let batch = |(at, gaps): (usize, Vec<GapId>)| Batch { id: format!("batch-{}", at + 1), gaps };
    parts.into_iter().enumerate().map(batch).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use remand_kernel::gaps::{BoardRules, GapSeverity, NewGap};

    fn board(sections: &[&str]) -> Board {
        let gap = |section: &&str| NewGap {
            category: "FLOW".to_string(),
            severity: GapSeverity::High,
            claim: "not stated".to_string(),
            sections: vec![(*section).to_string()],
            split_from: None,
            waits_for: None,
        };
        Board::open(sections.iter().map(gap).collect(), BoardRules::default()).unwrap()
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
    fn independent_parts_share_batches_when_there_are_more_parts_than_batches() {
        let task = RoundTask::of(&board(&["A", "B", "C", "D"]), &Rounds::default(), 3);
        let sizes: Vec<usize> = task.batches.iter().map(|batch| batch.gaps.len()).collect();
        assert_eq!(sizes, [2, 1, 1]);
        assert_eq!(ids(task.batch("batch-1")), ["GAP-FLOW-001", "GAP-FLOW-004"]);
    }

    // SR-11
    #[test]
    fn a_narrowed_retry_gets_the_gaps_that_the_human_mentions_or_the_more_urgent_half() {
        let board = board(&["A", "B", "C"]);
        for (reason, expected) in [
            ("too much at once", vec!["GAP-FLOW-001", "GAP-FLOW-002"]),
            ("only GAP-FLOW-003 matters", vec!["GAP-FLOW-003"]),
        ] {
            let mut rounds = Rounds::default();
            rounds.start(&board);
            let restored = rounds.restore(&board, request(RetryMode::Narrowed, reason)).unwrap();
            let task = RoundTask::of(&restored, &rounds, 3);
            let assigned: Vec<String> = task.batches.iter().flat_map(|batch| ids(&batch.gaps)).collect();
            assert_eq!(assigned, expected, "{reason}");
        }
    }

    // SR-11
    #[test]
    fn a_retry_gets_the_reason_of_the_rollback_and_a_skip_continues_with_the_next_round() {
        let board = board(&["A"]);
        let mut rounds = Rounds::default();
        rounds.start(&board);
        let restored = rounds.restore(&board, request(RetryMode::SamePrompt, "too abstract")).unwrap();
        assert_eq!(retry_of(&restored, &rounds).map(|request| request.reason.as_str()), Some("too abstract"));
        let skipped = {
            let mut rounds = Rounds::default();
            rounds.start(&board);
            rounds.restore(&board, request(RetryMode::Skip, "leave it out")).unwrap()
        };
        assert_eq!(skipped.round(), 2);
    }
}
