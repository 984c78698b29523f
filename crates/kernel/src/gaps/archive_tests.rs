use super::super::gap::GapSeverity::{High, Low, Medium};
use super::super::gap::{GapId, GapStatus};
use super::super::sample::{
    board, disagrees, failed_round, grounds, id, names, new_gap, play, proposes, raises, reviews,
};
use super::super::{DecisionChoice, EngineerOutput, QuestionId, ReviewerOutput, close_round};
use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::string::ToString;
use std::vec;

fn request(round: u32) -> RollbackRequest {
    RollbackRequest {
        round,
        mode: RetryMode::SamePrompt,
        reason: "too abstract".into(),
        errors: vec![],
        adjustments: vec!["concrete examples".into()],
    }
}

/// Plays a round without new gaps: the low bits choose which of the first four workable gaps are proposed, the high
/// bits which of them are approved.
fn play_bits(board: &Board, bits: u8) -> Board {
    let workable: Vec<String> =
        board.unsettled().filter(|gap| gap.status.is_workable()).map(|gap| gap.id.to_string()).collect();
    let first: Vec<(usize, &str)> = workable.iter().map(String::as_str).take(4).enumerate().collect();
    let chosen = |wanted: &dyn Fn(usize) -> bool| -> Vec<&str> {
        first.iter().filter(|(n, _)| wanted(*n)).map(|(_, gap)| *gap).collect()
    };
    let bit = |n: usize| bits >> n & 1 == 1;
    let proposed = chosen(&bit);
    let approved = chosen(&|n| bit(n) && bit(n + 4));
    let revised = chosen(&|n| bit(n) && !bit(n + 4));
    play(board, proposes(&proposed), reviews(&approved, &revised)).board
}

fn four_gaps() -> Board {
    board(&[("A", High), ("A", Medium), ("A", Low), ("A", Low)])
}

// SR-11
#[test]
fn restoring_a_round_restores_statuses_and_decisions() {
    let mut rounds = Rounds::default();
    let start = four_gaps();
    rounds.start(&start);
    let review = ReviewerOutput { issues: vec![raises("GAP-A-001", High)], ..reviews(&[], &["GAP-A-001"]) };
    let one = play(&start, proposes(&["GAP-A-001"]), review).board;
    rounds.start(&one);
    let engineer = EngineerOutput { answers: vec![disagrees("ISSUE-R1-001")], ..EngineerOutput::default() };
    let mut two = play(&one, engineer, ReviewerOutput::default()).board;
    two.decide(&QuestionId("ISSUE-R1-001".into()), DecisionChoice::Stated(0), grounds()).unwrap();
    rounds.start(&two);

    let restored = rounds.restore(&two, request(2)).unwrap();
    assert_eq!(Board { max_rounds: one.max_rounds, ..restored.clone() }, one);
    assert_eq!((restored.round(), restored.decisions().len()), (2, 0));
    assert_eq!(restored.gap(&id("GAP-A-001")).unwrap().status, GapStatus::NeedsRevision);
    let archived = &rounds.rollbacks()[0];
    assert_eq!(archived.rounds.iter().map(|r| r.round).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(archived.rounds[1].end.decisions().len(), 1);
    assert_eq!(archived.cause, RollbackCause::Requested(request(2)));
}

// SR-02, SR-11
#[test]
fn ids_assigned_before_a_rollback_are_not_reused() {
    let mut rounds = Rounds::default();
    let start = four_gaps();
    rounds.start(&start);
    let found = || ReviewerOutput {
        new_gaps: vec![new_gap("A", Low)],
        issues: vec![raises("GAP-A-001", Low)],
        ..reviews(&[], &[])
    };
    let first = play(&start, EngineerOutput::default(), found());
    assert_eq!(names(&first.row.new), ["GAP-A-005"]);
    let restored = rounds.restore(&first.board, request(1)).unwrap();
    let again = play(&restored, EngineerOutput::default(), found());
    assert_eq!(names(&again.row.new), ["GAP-A-006"]);
    let issues: Vec<_> = again.board.issues().map(|issue| issue.id.to_string()).collect();
    assert_eq!(issues, ["ISSUE-R1-002"]);
}

// CORE-11, SR-11
#[test]
fn a_rollback_resets_the_round_number_but_does_not_refund_rounds() {
    let mut rounds = Rounds::default();
    let mut board = four_gaps();
    for _ in 1..=3 {
        rounds.start(&board);
        board = play_bits(&board, 0b0001);
    }
    let restored = rounds.restore(&board, request(3)).unwrap();
    assert_eq!((restored.round(), restored.max_rounds()), (3, 10), "a repeated round has a separate limit");
    rounds.start(&restored);
    let restored = rounds.restore(&restored, request(1)).unwrap();
    assert_eq!((restored.round(), restored.max_rounds(), restored.rounds_left()), (1, 8, 8));
}

// SR-11
#[test]
fn two_rollbacks_per_round_and_five_per_run_are_the_limits() {
    let mut rounds = Rounds::default();
    let mut board = four_gaps();
    let mut roll_back = |rounds: &mut Rounds, to: u32| {
        while board.round() <= to {
            rounds.start(&board);
            board = play_bits(&board, 0b0001);
        }
        rounds.restore(&board, request(to)).map(|restored| board = restored)
    };
    for to in [3, 3] {
        roll_back(&mut rounds, to).unwrap();
    }
    let error = roll_back(&mut rounds, 3).unwrap_err();
    assert_eq!(error, RollbackError::RoundLimit { round: 3, limit: 2 });
    for to in [2, 2, 1] {
        roll_back(&mut rounds, to).unwrap();
    }
    assert_eq!(roll_back(&mut rounds, 1), Err(RollbackError::RunLimit { round: 1, limit: 5 }));
    assert_eq!(rounds.rollbacks().len(), 5);
}

// SR-11
#[test]
fn the_best_attempt_has_the_highest_weighted_net_and_is_the_latest_on_a_tie() {
    let mut rounds = Rounds::default();
    let start = four_gaps();
    let mut board = start;
    for bits in [0b0010_0010, 0b0001_0001, 0b0001_0001] {
        rounds.start(&board);
        let played = play_bits(&board, bits);
        board = match rounds.restore(&played, request(1)) {
            Ok(restored) => restored,
            Err(RollbackError::RoundLimit { .. }) => played,
            Err(other) => panic!("{other}"),
        };
    }
    assert_eq!(
        rounds.best(&board, 1),
        Some(RoundAttempt { round: 1, until: 1, rollback: None, weighted_net: 4 })
    );
    assert_eq!(rounds.proceed_with_best(&board, 1).unwrap(), board);
}

// SR-11
#[test]
fn without_rollbacks_left_the_run_continues_with_the_best_attempt() {
    let mut rounds = Rounds::default();
    let start = four_gaps();
    let [poor, good, mut none] = [0b0010_0010, 0b0011_0011, 0b0000_0001].map(|bits| play_bits(&start, bits));
    for played in [&poor, &good] {
        rounds.start(&start);
        assert_eq!(rounds.proceed_with_best(played, 1), Err(RollbackError::StillAllowed { round: 1 }));
        assert_eq!(rounds.restore(played, request(1)).unwrap(), start);
    }
    rounds.start(&start);
    assert_eq!(
        rounds.best(&none, 1),
        Some(RoundAttempt { round: 1, until: 1, rollback: Some(2), weighted_net: 6 })
    );
    none.add(new_gap("A", Low)).unwrap();
    let mut adopted = rounds.proceed_with_best(&none, 1).unwrap();
    assert!(adopted.gaps().eq(good.gaps()) && adopted.rows() == good.rows());
    assert_eq!(adopted.add(new_gap("A", Low)).unwrap(), id("GAP-A-006"));
    let last = rounds.rollbacks().last().unwrap();
    assert_eq!((&last.cause, &last.rounds[0].end), (&RollbackCause::BestAdopted, &none));
}

// SR-11
#[test]
fn an_attempt_that_builds_on_other_rounds_is_never_the_best() {
    let mut rounds = Rounds::default();
    let start = four_gaps();
    rounds.start(&start);
    let one = play_bits(&start, 0b0000_0001);
    rounds.start(&one);
    let good = play_bits(&one, 0b0001_0001);
    assert_eq!(rounds.restore(&good, request(2)).unwrap(), one);
    rounds.start(&one);
    assert_eq!(rounds.best(&one, 2).unwrap().weighted_net, 4);
    let start = rounds.restore(&one, request(1)).unwrap();
    rounds.start(&start);
    let other = play_bits(&start, 0b0000_0010);
    rounds.start(&other);
    let poor = play_bits(&other, 0b0000_0001);
    assert_eq!(
        rounds.best(&poor, 2),
        Some(RoundAttempt { round: 2, until: 2, rollback: None, weighted_net: 0 })
    );
}

// SR-11
#[test]
fn a_skipped_round_is_recorded_and_not_counted() {
    let mut rounds = Rounds::default();
    let start = four_gaps();
    rounds.start(&start);
    let one = play_bits(&start, 0b0001);
    let restored = rounds.restore(&one, RollbackRequest { mode: RetryMode::Skip, ..request(1) }).unwrap();
    assert_eq!((restored.round(), restored.rows()[0].state), (2, RoundState::Skipped));
    assert_eq!(restored.rounds_left(), 10);
}

#[test]
fn a_round_that_has_not_started_cannot_be_restored() {
    let mut rounds = Rounds::default();
    let start = four_gaps();
    rounds.start(&start);
    assert_eq!(rounds.restore(&start, request(2)), Err(RollbackError::NotBegun { round: 2 }));
    assert!(rounds.rollbacks().is_empty());
}

// SR-11
#[test]
fn an_attempt_counts_even_if_its_engineers_failed_at_first() {
    let mut rounds = Rounds::default();
    let start = four_gaps();
    rounds.start(&start);
    let failed = close_round(&start, &failed_round(&start)).unwrap().board;
    rounds.start(&failed);
    let good = play_bits(&failed, 0b0001_0001);
    let again = rounds.restore(&good, request(1)).unwrap();
    rounds.start(&again);
    let poor = play_bits(&again, 0b0000_0001);
    let best = rounds.best(&poor, 1).unwrap();
    assert_eq!(best, RoundAttempt { round: 1, until: 2, rollback: Some(1), weighted_net: 4 });
    let adopted = rounds.adopt_best(&poor, 1).unwrap();
    assert_eq!((adopted.round(), adopted.rows()), (3, good.rows()));
    assert_eq!(rounds.started().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn failed_attempts_are_never_the_best() {
    let start = four_gaps();
    let failed = close_round(&start, &failed_round(&start)).unwrap().board;
    assert_eq!(Rounds::default().best(&failed, 1), None);
}

// SR-12
#[test]
fn starting_a_round_again_after_a_crash_keeps_its_first_board() {
    let mut rounds = Rounds::default();
    let start = four_gaps();
    rounds.start(&start);
    let mut later = start.clone();
    later.narrow("asked during the round");
    rounds.start(&later);
    assert_eq!(rounds.restore(&later, request(1)).unwrap(), start);
}

// SR-15
#[test]
fn each_archived_round_has_a_separate_folder() {
    assert_eq!(archive_name(3, 1), "round_003_rolled_back_1");
}

proptest! {
    // SR-11
    #[test]
    fn restore_then_replay_gives_the_same_board(bits in prop::collection::vec(any::<u8>(), 1..6), at in 0..6usize) {
        let mut rounds = Rounds::default();
        let mut board = four_gaps();
        for bits in &bits {
            rounds.start(&board);
            board = play_bits(&board, *bits);
        }
        let at = at % bits.len();
        let mut replayed = rounds.restore(&board, request(at as u32 + 1)).unwrap();
        prop_assert_eq!(replayed.round() as usize, at + 1);
        for bits in &bits[at..] {
            rounds.start(&replayed);
            replayed = play_bits(&replayed, *bits);
        }
        prop_assert_eq!(Board { max_rounds: board.max_rounds, ..replayed }, board);
    }

    // SR-02, SR-11
    #[test]
    fn no_order_of_rounds_and_rollbacks_deletes_a_board_or_reuses_an_id(
        moves in prop::collection::vec((any::<u8>(), 0..3usize, 0..8u32), 1..12)
    ) {
        let mut rounds = Rounds::default();
        let mut board = four_gaps();
        let mut seen: BTreeSet<GapId> = board.gaps().map(|gap| gap.id.clone()).collect();
        for (bits, found, back) in moves {
            rounds.start(&board);
            board = play_bits(&board, bits);
            for _ in 0..found {
                let id = board.add(new_gap("A", Low)).unwrap();
                prop_assert!(seen.insert(id));
            }
            let before = board.clone();
            if let Ok(restored) = rounds.restore(&board, request(back)) {
                prop_assert_eq!(restored.round(), back);
                prop_assert_eq!(&rounds.rollbacks().last().unwrap().rounds.last().unwrap().end, &before);
                board = restored;
            }
        }
        prop_assert!(rounds.rollbacks().len() <= 5);
    }
}
