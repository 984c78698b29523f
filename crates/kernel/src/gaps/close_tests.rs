use super::super::gap::BlockedOn;
use super::super::gap::GapSeverity::{High, Low};
use super::super::sample::{board, failed_round, id, new_gap, play, proposal, proposes, reviews, round};
use super::super::{BoardRules, Unplaced};
use super::*;
use insta::assert_snapshot;
use std::vec;

// SR-09
#[test]
fn settled_gaps_and_a_clean_review_complete_the_refinement() {
    let start = board(&[("A", High), ("A", Low)]);
    let closed =
        play(&start, proposes(&["GAP-A-001", "GAP-A-002"]), reviews(&["GAP-A-001", "GAP-A-002"], &[]));
    assert_eq!((closed.end, closed.placements.len()), (RoundEnd::Complete, 2));
    assert_snapshot!(closed.explanation, @"round 1 completes the refinement: all 2 gaps are settled and the last review is clean");
}

// SR-05
#[test]
fn a_review_without_checks_is_never_clean() {
    let start = board(&[("A", High)]);
    let silent = ReviewerOutput { checks: vec![], ..reviews(&["GAP-A-001"], &[]) };
    let closed = play(&start, proposes(&["GAP-A-001"]), silent);
    assert_eq!(closed.end, RoundEnd::Converging);
    let final_review = play(&closed.board, EngineerOutput::default(), reviews(&[], &[]));
    assert_eq!(final_review.end, RoundEnd::Complete);
}

// SR-04
#[test]
fn a_round_with_a_failed_engineer_does_not_count_and_two_in_a_row_are_reported() {
    let start = board(&[("A", High)]);
    let one = close_round(&start, &failed_round(&start)).unwrap();
    assert_eq!(
        (one.end, one.row.state, one.board.rounds_left()),
        (RoundEnd::Stalled, RoundState::Failed, 10)
    );
    let two = close_round(&one.board, &failed_round(&one.board)).unwrap();
    assert_eq!(two.end, RoundEnd::Empty);
    assert_eq!(two.notices, [Notice::EngineerFailed { why: "no file".into(), in_a_row: 2 }]);
    let three = play(&two.board, proposes(&["GAP-A-001"]), reviews(&[], &["GAP-A-001"]));
    assert_eq!(
        (three.end, three.board.failed_in_a_row, three.board.rounds_left()),
        (RoundEnd::Stalled, 0, 9)
    );
}

// SR-04
#[test]
fn a_failed_reviewer_leaves_proposals_unreviewed_and_the_round_counts() {
    let start = board(&[("A", High)]);
    let mut input = round(&start, proposes(&["GAP-A-001"]), ReviewerOutput::default());
    input.reviewer = ReviewerTurn::Failed { why: "no answer".into() };
    let closed = close_round(&start, &input).unwrap();
    assert_eq!(closed.board.gap(&id("GAP-A-001")).unwrap().status, GapStatus::Proposed);
    assert_eq!((closed.end, closed.board.rounds_left()), (RoundEnd::Stalled, 9));
    let unreviewed = vec![id("GAP-A-001")];
    assert_eq!(closed.notices, [Notice::ReviewerFailed { why: "no answer".into(), unreviewed }]);
    let next = play(&closed.board, EngineerOutput::default(), reviews(&["GAP-A-001"], &[]));
    assert_eq!(next.end, RoundEnd::Complete);
}

// SR-04 SR-07
#[test]
fn a_round_whose_reviewer_failed_is_not_a_stall() {
    let start = board(&[("A", High)]);
    let one = play(&start, proposes(&["GAP-A-001"]), reviews(&[], &["GAP-A-001"]));
    assert_eq!(one.row.state, RoundState::Stalled(1));
    let mut input = round(&one.board, proposes(&["GAP-A-001"]), ReviewerOutput::default());
    input.reviewer = ReviewerTurn::Failed { why: "no answer".into() };
    let two = close_round(&one.board, &input).unwrap();
    assert_eq!((two.row.state, two.end), (RoundState::Unreviewed, RoundEnd::Stalled));
    assert_eq!(two.board.rounds_left(), 8, "the round counts");
    let three = play(&two.board, EngineerOutput::default(), reviews(&[], &["GAP-A-001"]));
    assert_eq!(three.row.state, RoundState::Warning(2), "two rounds with a review and without progress");
}

#[test]
fn a_review_of_a_failed_engineer_is_refused() {
    let start = board(&[("A", High)]);
    let input = RoundInput { reviewer: ReviewerTurn::Delivered(reviews(&[], &[])), ..failed_round(&start) };
    assert_eq!(close_round(&start, &input), Err(CloseError::ReviewOfFailure { round: 1 }));
}

// SR-06
#[test]
fn an_empty_round_is_complete_waiting_or_empty_depending_on_the_gaps() {
    let play_empty = |board: &Board| play(board, EngineerOutput::default(), reviews(&[], &[])).end;
    let mut start = board(&[("A", High)]);
    assert_eq!(play_empty(&start), RoundEnd::Empty);
    let on = BlockedOn::External("the vendor".into());
    start.move_gap(&id("GAP-A-001"), GapMove::Block(on), Actor::Engine, "").unwrap();
    assert_eq!(play_empty(&start), RoundEnd::Waiting);
    start.move_gap(&id("GAP-A-001"), GapMove::Waive, Actor::User, "").unwrap();
    assert_eq!(play_empty(&start), RoundEnd::Complete);
}

// SR-06
#[test]
fn a_round_that_only_blocked_a_gap_continues_with_the_others() {
    let mut start = board(&[("A", High), ("A", Low)]);
    let on = BlockedOn::External("the vendor".into());
    start.move_gap(&id("GAP-A-001"), GapMove::Block(on), Actor::Engine, "").unwrap();
    let one = play(&start, EngineerOutput::default(), ReviewerOutput::default());
    assert_eq!(one.end, RoundEnd::Stalled);
    let two = play(&one.board, EngineerOutput::default(), ReviewerOutput::default());
    assert_eq!(two.end, RoundEnd::Empty);
}

// SR-06
#[test]
fn a_missing_final_review_makes_the_round_empty() {
    let start = Board::open(vec![], BoardRules::default()).unwrap();
    let mut input = round(&start, EngineerOutput::default(), ReviewerOutput::default());
    input.reviewer = ReviewerTurn::Skipped;
    let closed = close_round(&start, &input).unwrap();
    assert_eq!(closed.end, RoundEnd::Empty);
    assert_snapshot!(closed.explanation, @"round 1 is empty: no gap is open, but the final clean review is missing");
}

// SR-13
#[test]
fn of_two_overlapping_proposals_the_one_for_the_worse_gap_is_placed_and_the_other_is_revised() {
    let start = board(&[("A", Low), ("A", High)]);
    let proposals = vec![proposal("GAP-A-001", "Retries", "none"), proposal("GAP-A-002", "retries", "three")];
    let engineer = EngineerOutput { proposals, ..EngineerOutput::default() };
    let closed = play(&start, engineer, reviews(&["GAP-A-001", "GAP-A-002"], &[]));
    assert_eq!(closed.placements.iter().map(|p| p.text.as_str()).collect::<Vec<_>>(), ["three"]);
    assert_eq!(closed.board.gap(&id("GAP-A-001")).unwrap().status, GapStatus::NeedsRevision);
    let last = closed.board.transitions().iter().find(|t| t.to == GapStatus::NeedsRevision).unwrap();
    assert_snapshot!(last.why, @"GAP-A-002 and GAP-A-001 both write section `Retries`");
}

// SR-13
#[test]
fn two_proposals_for_one_section_overlap_whatever_they_call_it() {
    let start = board(&[("A", Low), ("A", High)]);
    let names = ["Retries", "Errors > Again"];
    let proposals = vec![proposal("GAP-A-001", names[0], "none"), proposal("GAP-A-002", names[1], "three")];
    let engineer = EngineerOutput { proposals, ..EngineerOutput::default() };
    let mut input = round(&start, engineer, reviews(&["GAP-A-001", "GAP-A-002"], &[]));
    assert!(close_round(&start, &input).unwrap().overlaps.is_empty());
    for name in names {
        input.places.learn(name, vec!["errors".into(), "again".into()]);
    }
    assert_eq!(close_round(&start, &input).unwrap().overlaps.len(), 1);
}

// SR-13
#[test]
fn equal_text_for_two_gaps_is_placed_once_and_resolves_both() {
    let start = board(&[("A", Low), ("A", High)]);
    let proposals =
        vec![proposal("GAP-A-001", "Retries", "three"), proposal("GAP-A-002", "Retries", "three")];
    let engineer = EngineerOutput { proposals, ..EngineerOutput::default() };
    let closed = play(&start, engineer, reviews(&["GAP-A-001", "GAP-A-002"], &[]));
    assert_eq!((closed.end, closed.placements.len(), closed.row.resolved.len()), (RoundEnd::Complete, 1, 2));
}

// SR-17
#[test]
fn text_that_cannot_be_placed_goes_back_to_the_engineer() {
    let start = board(&[("A", Low)]);
    let mut input = round(&start, proposes(&["GAP-A-001"]), reviews(&["GAP-A-001"], &[]));
    input.unplaced = vec![Unplaced { gap: id("GAP-A-001"), why: "no such section".into() }];
    let closed = close_round(&start, &input).unwrap();
    assert!(closed.placements.is_empty());
    assert_eq!(closed.board.gap(&id("GAP-A-001")).unwrap().status, GapStatus::NeedsRevision);
    input.unplaced[0].gap = id("GAP-A-009");
    assert_eq!(close_round(&start, &input), Err(CloseError::NotPlaceable { gap: id("GAP-A-009") }));
}

// SR-02
#[test]
fn resolving_a_gap_unblocks_those_that_waited_for_it() {
    let mut start = board(&[("A", Low), ("A", Low)]);
    super::super::sample::block_on_gap(&mut start, "GAP-A-002", "GAP-A-001");
    let closed = play(&start, proposes(&["GAP-A-001"]), reviews(&["GAP-A-001"], &[]));
    assert_eq!(closed.board.gap(&id("GAP-A-002")).unwrap().status, GapStatus::Open);
}

#[test]
fn a_repeated_or_late_round_is_refused() {
    let start = board(&[("A", High)]);
    let input = round(&start, proposes(&["GAP-A-001"]), reviews(&[], &["GAP-A-001"]));
    let closed = close_round(&start, &input).unwrap();
    assert_eq!(close_round(&closed.board, &input), Err(CloseError::OtherRound { given: 1, expected: 2 }));
}

#[test]
fn the_error_about_an_unknown_gap_or_issue_names_it() {
    let start = board(&[("A", High)]);
    let error = close_round(&start, &round(&start, proposes(&["GAP-B-001"]), reviews(&[], &[]))).unwrap_err();
    assert_snapshot!(error, @"GAP-B-001 is not on the board: use the id that the engine assigned");
    let engineer =
        EngineerOutput { answers: vec![super::super::sample::disagrees("ISSUE-R7-001")], ..proposes(&[]) };
    let error = close_round(&start, &round(&start, engineer, reviews(&[], &[]))).unwrap_err();
    assert_snapshot!(error, @"ISSUE-R7-001 was never raised: use the ids from the review");
}

// SR-09
#[test]
fn the_last_allowed_round_is_reported() {
    let mut board = board(&[("A", High)]);
    let mut reported = vec![];
    for _ in 0..10 {
        let closed = play(&board, proposes(&["GAP-A-001"]), reviews(&[], &["GAP-A-001"]));
        reported.push(closed.notices.contains(&Notice::RoundsSpent { max: 10 }));
        board = closed.board;
    }
    assert_eq!(reported.iter().position(|reported| *reported), Some(9));
}

// SR-07
#[test]
fn the_results_for_the_workflow_have_stable_names() {
    let words: Vec<String> = [
        RoundEnd::Complete,
        RoundEnd::Converging,
        RoundEnd::Stalled,
        RoundEnd::Warning,
        RoundEnd::Diverging,
        RoundEnd::Conflict,
        RoundEnd::Waiting,
        RoundEnd::Empty,
    ]
    .iter()
    .map(|end| serde_json::to_string(end).unwrap())
    .collect();
    assert_eq!(
        words.join(" "),
        r#""complete" "converging" "stalled" "warning" "diverging" "conflict" "waiting" "empty""#
    );
}

// SR-07
#[test]
fn stalled_warning_and_diverging_are_distinguished() {
    let start = board(&[("A", High)]);
    let one = play(&start, proposes(&["GAP-A-001"]), reviews(&[], &["GAP-A-001"]));
    let two = play(&one.board, proposes(&["GAP-A-001"]), reviews(&[], &["GAP-A-001"]));
    let review = ReviewerOutput { new_gaps: vec![new_gap("A", Low); 3], ..reviews(&[], &[]) };
    let three = play(&two.board, EngineerOutput::default(), review);
    assert_eq!([one.end, two.end, three.end], [RoundEnd::Stalled, RoundEnd::Warning, RoundEnd::Diverging]);
}
