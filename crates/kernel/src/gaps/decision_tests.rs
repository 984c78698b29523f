use super::super::gap::GapSeverity::{self, Critical, High, Low, Medium};
use super::super::gap::GapStatus;
use super::super::sample::{board, disagrees, grounds, id, issue_id, play, proposes, raises, reviews, round};
use super::super::{
    Autonomy, ClosedRound, EngineerAnswer, EngineerOutput, Notice, ReviewerOutput, RoundEnd, close_round,
};
use super::*;
use std::vec;

/// Plays round 1: the engineer makes a proposal for GAP-A-001, and the reviewer raises one issue of this severity.
fn play_dispute(severity: GapSeverity) -> ClosedRound {
    let review =
        ReviewerOutput { issues: vec![raises("GAP-A-001", severity)], ..reviews(&[], &["GAP-A-001"]) };
    play(&board(&[("A", High), ("A", Low)]), proposes(&["GAP-A-001"]), review)
}

fn answers(answers: Vec<EngineerAnswer>) -> EngineerOutput {
    EngineerOutput { answers, ..EngineerOutput::default() }
}

// SR-10
#[test]
fn disagreement_with_a_serious_issue_about_an_open_gap_is_a_conflict() {
    for severity in [High, Critical] {
        let first = play_dispute(severity);
        assert_eq!(first.end, RoundEnd::Stalled);
        let second = play(&first.board, answers(vec![disagrees("ISSUE-R1-001")]), ReviewerOutput::default());
        assert_eq!(
            (second.end, second.conflicts.as_slice()),
            (RoundEnd::Conflict, &[issue_id("ISSUE-R1-001")][..])
        );
        let conflict = second.board.undecided().next().unwrap();
        assert_eq!(
            conflict.positions.iter().map(|p| (p.by, p.text.as_str())).collect::<Vec<_>>(),
            [
                (Actor::Reviewer, "too vague"),
                (Actor::Engineer, "it is enough: the caller knows"),
                (Actor::Engineer, "make it configurable"),
            ]
        );
        assert_eq!(second.explanation, "round 2 needs a decision about ISSUE-R1-001 (GAP-A-001)");
    }
}

// SR-10
#[test]
fn disagreement_with_a_lesser_issue_is_only_recorded() {
    let second = play(
        &play_dispute(Medium).board,
        answers(vec![disagrees("ISSUE-R1-001")]),
        ReviewerOutput::default(),
    );
    assert!(second.conflicts.is_empty());
    assert!(matches!(
        second.board.issues().next().unwrap().state,
        IssueState::Answered(Stance::Disagree { .. })
    ));
}

// SR-10
#[test]
fn disagreement_about_a_gap_that_is_then_accepted_is_not_a_conflict() {
    let engineer = EngineerOutput { answers: vec![disagrees("ISSUE-R1-001")], ..proposes(&["GAP-A-001"]) };
    let second = play(&play_dispute(High).board, engineer, reviews(&["GAP-A-001"], &[]));
    assert_eq!((second.end, second.conflicts.len()), (RoundEnd::Converging, 0));
}

// SR-10
#[test]
fn disagreement_with_a_new_proposal_waits_for_its_review() {
    let engineer = EngineerOutput { answers: vec![disagrees("ISSUE-R1-001")], ..proposes(&["GAP-A-001"]) };
    let unreviewed = play(&play_dispute(High).board, engineer, ReviewerOutput::default());
    assert!(unreviewed.conflicts.is_empty());
    let refused = play(&unreviewed.board, proposes(&["GAP-A-002"]), reviews(&["GAP-A-002"], &["GAP-A-001"]));
    assert_eq!(refused.end, RoundEnd::Conflict);
}

// SR-10
#[test]
fn an_ignored_issue_must_be_answered_and_a_second_silence_is_a_conflict() {
    let first = play_dispute(High);
    assert!(first.must_answer.is_empty());
    let second = play(&first.board, proposes(&["GAP-A-002"]), reviews(&[], &["GAP-A-002"]));
    assert_eq!((second.must_answer.as_slice(), second.conflicts.len()), (&[issue_id("ISSUE-R1-001")][..], 0));
    let third = play(&second.board, proposes(&["GAP-A-002"]), reviews(&[], &["GAP-A-002"]));
    assert_eq!((third.end, third.must_answer.len()), (RoundEnd::Conflict, 0));
    assert_eq!(third.board.undecided().next().unwrap().cause, ConflictCause::Silence);
    assert_eq!(third.board.undecided().next().unwrap().positions.len(), 2);
}

// SR-10
#[test]
fn an_engineer_who_was_not_asked_about_a_gap_is_not_silent_on_it() {
    let mut board = play_dispute(High).board;
    for _ in 0..3 {
        let mut input = round(&board, proposes(&["GAP-A-002"]), reviews(&[], &["GAP-A-002"]));
        input.asked = vec![id("GAP-A-002")];
        let closed = close_round(&board, &input).unwrap();
        assert!(closed.must_answer.is_empty() && closed.conflicts.is_empty());
        board = closed.board;
    }
}

// SR-10
#[test]
fn silence_on_a_lesser_issue_is_ignored() {
    let mut board = play_dispute(Low).board;
    for _ in 0..3 {
        let closed = play(&board, proposes(&["GAP-A-002"]), reviews(&[], &["GAP-A-002"]));
        assert!(closed.must_answer.is_empty() && closed.conflicts.is_empty());
        board = closed.board;
    }
}

// SR-10
#[test]
fn disagreement_with_more_than_half_of_the_issues_is_reported() {
    let review = ReviewerOutput {
        issues: vec![raises("GAP-A-001", Low), raises("GAP-A-001", Low), raises("GAP-A-001", Low)],
        ..reviews(&[], &["GAP-A-001"])
    };
    let first = play(&board(&[("A", High)]), proposes(&["GAP-A-001"]), review);
    let notices = |issues: &[&str]| {
        let engineer = answers(issues.iter().map(|issue| disagrees(issue)).collect());
        play(&first.board, engineer, ReviewerOutput::default()).notices
    };
    assert_eq!(notices(&["ISSUE-R1-001"]), []);
    assert_eq!(notices(&["ISSUE-R1-001", "ISSUE-R1-003"]), [Notice::MostDisagreed { disagreed: 2, of: 3 }]);
}

// SR-10
#[test]
fn without_a_user_the_gap_is_blocked_on_the_decision_and_others_continue() {
    let first = play_dispute(High);
    let engineer = EngineerOutput { answers: vec![disagrees("ISSUE-R1-001")], ..proposes(&["GAP-A-002"]) };
    let mut input = round(&first.board, engineer, reviews(&["GAP-A-002"], &[]));
    input.autonomy = Autonomy::Autonomous;
    let second = close_round(&first.board, &input).unwrap();
    // No other gap is left here, so the round waits.
    assert_eq!(second.end, RoundEnd::Waiting);
    let gap = second.board.gap(&id("GAP-A-001")).unwrap();
    assert_eq!(gap.waits_for, Some(BlockedOn::Decision(QuestionId("ISSUE-R1-001".into()))));
}

// SR-10
#[test]
fn a_decision_unblocks_the_gap_and_binds_the_next_engineer() {
    let second =
        play(&play_dispute(High).board, answers(vec![disagrees("ISSUE-R1-001")]), ReviewerOutput::default());
    let mut board = second.board;
    let about = QuestionId("ISSUE-R1-001".into());
    board.decide(&about, DecisionChoice::Stated(2), grounds()).unwrap();
    assert_eq!(board.gap(&id("GAP-A-001")).unwrap().status, GapStatus::Open);
    let binding: Vec<_> = board.binding(&id("GAP-A-001")).map(|d| d.choice.as_str()).collect();
    assert_eq!(binding, ["make it configurable"]);
    assert!(matches!(
        board.decide(&about, DecisionChoice::Stated(0), grounds()),
        Err(DecisionError::Taken { .. })
    ));

    let third = play(&board, answers(vec![disagrees("ISSUE-R1-001")]), ReviewerOutput::default());
    assert!(third.conflicts.is_empty());
    assert_eq!(third.notices, [Notice::DecisionStands { issue: issue_id("ISSUE-R1-001") }]);
}

#[test]
fn a_decision_chooses_a_stated_position_or_writes_one() {
    let second =
        play(&play_dispute(High).board, answers(vec![disagrees("ISSUE-R1-001")]), ReviewerOutput::default());
    let about = QuestionId("ISSUE-R1-001".into());
    let mut board = second.board.clone();
    assert!(matches!(
        board.decide(&about, DecisionChoice::Stated(3), grounds()),
        Err(DecisionError::NoSuchPosition { .. })
    ));
    assert!(matches!(
        board.decide(&about, DecisionChoice::Written(" ".into()), grounds()),
        Err(DecisionError::Empty { .. })
    ));
    assert!(matches!(
        board.decide(&QuestionId("colour".into()), DecisionChoice::Written("red".into()), grounds()),
        Err(DecisionError::Unasked { .. })
    ));
    assert_eq!(board, second.board);
    board.decide(&about, DecisionChoice::Written("both".into()), grounds()).unwrap();
    assert_eq!(board.decisions()[0].choice, "both");
}

#[test]
fn a_gap_with_two_conflicts_stays_blocked_until_both_are_decided() {
    let review = ReviewerOutput {
        issues: vec![raises("GAP-A-001", High), raises("GAP-A-001", High)],
        ..reviews(&[], &["GAP-A-001"])
    };
    let first = play(&board(&[("A", High)]), proposes(&["GAP-A-001"]), review);
    let engineer = answers(vec![disagrees("ISSUE-R1-001"), disagrees("ISSUE-R1-002")]);
    let mut board = play(&first.board, engineer, ReviewerOutput::default()).board;
    for (issue, status) in [("ISSUE-R1-001", GapStatus::Blocked), ("ISSUE-R1-002", GapStatus::Open)] {
        board.decide(&QuestionId(issue.into()), DecisionChoice::Stated(0), grounds()).unwrap();
        assert_eq!(board.gap(&id("GAP-A-001")).unwrap().status, status);
    }
}

// SR-06
#[test]
fn a_gap_blocked_on_a_question_is_unblocked_by_its_decision() {
    let mut board = board(&[("A", Low)]);
    let about = QuestionId("licence".into());
    board
        .move_gap(&id("GAP-A-001"), GapMove::Block(BlockedOn::Decision(about.clone())), Actor::Engine, "")
        .unwrap();
    board.decide(&about, DecisionChoice::Written("MIT".into()), grounds()).unwrap();
    assert_eq!(board.gap(&id("GAP-A-001")).unwrap().status, GapStatus::Open);
}
