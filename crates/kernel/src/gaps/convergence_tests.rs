use super::super::gap::GapSeverity::{self, Critical, High, Low, Medium};
use super::super::sample::{board, board_with, failed_round, id, names, new_gap, play, proposes, reviews};
use super::super::{
    Actor, BoardRules, EngineerOutput, GapMove, NewGap, ReviewerOutput, Weights, close_round,
};
use super::*;
use insta::assert_snapshot;
use proptest::prelude::*;

fn finds(gaps: &[GapSeverity]) -> EngineerOutput {
    let new_gaps = gaps.iter().map(|severity| new_gap("N", *severity)).collect();
    EngineerOutput { new_gaps, ..EngineerOutput::default() }
}

// SR-07
#[test]
fn the_table_shows_every_round_and_marks_those_that_do_not_count() {
    let start = board(&[("A", High), ("A", High), ("A", Low), ("A", Low)]);
    let one = play(&start, proposes(&["GAP-A-001"]), reviews(&["GAP-A-001"], &[]));
    let engineer = EngineerOutput { new_gaps: std::vec![new_gap("N", Low)], ..proposes(&["GAP-A-003"]) };
    let two = play(&one.board, engineer, reviews(&["GAP-A-003"], &[]));
    let three = close_round(&two.board, &failed_round(&two.board)).unwrap();
    let four = play(&three.board, proposes(&["GAP-A-004"]), reviews(&[], &["GAP-A-004"]));
    let five = play(&four.board, finds(&[Low, Low, Low]), ReviewerOutput::default());
    assert_snapshot!(table(five.board.rows()), @"
    | Round | Start | Resolved | New | Set aside | End | Net | Weighted | State                |
    | ----: | ----: | -------: | --: | --------: | --: | --: | -------: | -------------------- |
    |     1 |     4 |        1 |   0 |         0 |   3 |  +1 |       +4 | converging           |
    |     2 |     3 |        1 |   1 |         0 |   3 |   0 |        0 | stalled (1)          |
    |     3 |     3 |        0 |   0 |         0 |   3 |   0 |        0 | failed, not counted  |
    |     4 |     3 |        0 |   0 |         0 |   3 |   0 |        0 | stalled (2), warning |
    |     5 |     3 |        0 |   3 |         0 |   6 |  -3 |       -3 | diverging            |
    ");
    assert_snapshot!(four.explanation, @"round 4 stalls (2 in a row): weighted net 0 is not above 0; resolved none, new none");
    assert_snapshot!(five.explanation, @"round 5 diverges: net -3 is below -2; resolved none, new GAP-N-002, GAP-N-003, GAP-N-004");
}

// SR-07
#[test]
fn a_stall_depends_on_weights_and_divergence_on_counts() {
    let start = board(&[("A", Low), ("A", Low), ("A", Low)]);
    let engineer =
        EngineerOutput { new_gaps: std::vec![new_gap("N", High)], ..proposes(&["GAP-A-001", "GAP-A-002"]) };
    let row = play(&start, engineer, reviews(&["GAP-A-001", "GAP-A-002"], &[])).row;
    assert_eq!((row.net, row.weighted_net, row.state), (1, -2, RoundState::Stalled(1)));
    let row = play(&start, finds(&[Critical, Critical]), ReviewerOutput::default()).row;
    assert_eq!((row.net, row.weighted_net, row.state), (-2, -16, RoundState::Stalled(1)));
}

// SR-07
#[test]
fn progress_resets_the_count_of_stalls() {
    let start = board(&[("A", Medium), ("A", Low)]);
    let stalled = play(&start, proposes(&["GAP-A-001"]), reviews(&[], &["GAP-A-001"]));
    let progress = play(&stalled.board, proposes(&["GAP-A-001"]), reviews(&["GAP-A-001"], &[]));
    let again = play(&progress.board, proposes(&["GAP-A-002"]), reviews(&[], &["GAP-A-002"]));
    let states: Vec<_> = again.board.rows().iter().map(|row| row.state).collect();
    assert_eq!(states, [RoundState::Stalled(1), RoundState::Converging, RoundState::Stalled(1)]);
}

// SR-07
#[test]
fn a_gap_split_from_another_counts_as_new() {
    let start = board(&[("A", High)]);
    let split = NewGap { split_from: Some(id("GAP-A-001")), ..new_gap("A", High) };
    let engineer = EngineerOutput { new_gaps: std::vec![split], ..proposes(&["GAP-A-001"]) };
    let row = play(&start, engineer, reviews(&["GAP-A-001"], &[])).row;
    assert_eq!((names(&row.new), row.weighted_net), (std::vec!["GAP-A-002".into()], 0));
}

// SR-07
#[test]
fn gaps_that_the_user_sets_aside_are_not_progress() {
    let mut start = board(&[("A", High), ("A", Low)]);
    start.move_gap(&id("GAP-A-002"), GapMove::Defer, Actor::User, "later").unwrap();
    let row = play(&start, proposes(&["GAP-A-001"]), reviews(&[], &["GAP-A-001"])).row;
    assert_eq!((row.start, row.set_aside.len(), row.end, row.net), (2, 1, 1, 0));
}

// SR-07
#[test]
fn thresholds_are_configurable() {
    let thresholds = Thresholds {
        weights: Weights { low: 3, ..Weights::default() },
        stall_at: 3,
        warn_at: 1,
        diverge_below: -5,
    };
    let start = board_with(&[("A", Low), ("A", Low)], BoardRules { thresholds, ..BoardRules::default() });
    let row = play(&start, proposes(&["GAP-A-001"]), reviews(&["GAP-A-001"], &[])).row;
    assert_eq!((row.weighted_net, row.state), (3, RoundState::Warning(1)));
    let row = play(&start, finds(&[Low, Low, Low]), ReviewerOutput::default()).row;
    assert_eq!((row.net, row.state), (-3, RoundState::Warning(1)));
}

proptest! {
    // SR-07
    #[test]
    fn the_rows_add_up(rounds in prop::collection::vec((any::<bool>(), 0..4usize, any::<bool>()), 1..6)) {
        let mut board = board(&[("A", High), ("A", Low), ("A", Medium), ("A", Low), ("A", Low), ("A", Low)]);
        for (resolve, found, narrow) in rounds {
            if narrow {
                board.narrow("smaller");
            }
            let gap = board.unsettled().find(|gap| gap.status.is_workable()).map(|gap| gap.id.to_string());
            let gaps: Vec<&str> = gap.as_deref().into_iter().filter(|_| resolve).collect();
            let engineer = EngineerOutput { new_gaps: finds(&[Low, Medium, High][..found.min(3)]).new_gaps, ..proposes(&gaps) };
            board = play(&board, engineer, reviews(&gaps, &[])).board;
        }
        let mut end = 6;
        for row in board.rows() {
            prop_assert_eq!(row.start, end);
            let gone = row.resolved.len() + row.set_aside.len();
            prop_assert_eq!(row.end as usize, row.start as usize + row.new.len() - gone);
            end = row.end;
        }
    }
}
