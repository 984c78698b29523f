use super::super::gap::GapSeverity::{High, Low};
use super::super::sample::{block_on_gap, board, id, proposal};
use super::*;
use insta::assert_snapshot;
use proptest::prelude::*;
use std::string::ToString;
use std::vec;

// SR-02
#[test]
fn every_transition_has_one_actor() {
    let table: String =
        GapStatus::ALL.iter().map(|from| std::format!("{from}: {}\n", legal_in_words(*from))).collect();
    assert_snapshot!(table, @"
    open: proposed by the engineer, blocked by the engine, deferred by the user, waived by the user
    proposed: accepted by the reviewer, needs-revision by the reviewer, blocked by the engine, deferred by the user, waived by the user
    accepted: resolved by the engine, needs-revision by the engine, blocked by the engine, deferred by the user, waived by the user
    needs-revision: proposed by the engineer, blocked by the engine, deferred by the user, waived by the user
    resolved: closed by the engine
    closed: none, the status is final
    blocked: open by the engine, deferred by the user, waived by the user
    deferred: none, the status is final
    waived: none, the status is final
    ");
    for from in GapStatus::ALL {
        for to in GapStatus::ALL {
            assert!(legal_moves(from).iter().filter(|(target, _)| *target == to).count() <= 1);
        }
    }
}

// SR-02
#[test]
fn every_move_is_recorded_with_actor_round_and_reason() {
    let mut board = board(&[("FLOW", High)]);
    let gap = id("GAP-FLOW-001");
    board
        .move_gap(&gap, GapMove::Propose(proposal("GAP-FLOW-001", "S", "t")), Actor::Engineer, "say it")
        .unwrap();
    board.move_gap(&gap, GapMove::Revise, Actor::Reviewer, "vague").unwrap();
    board
        .move_gap(&gap, GapMove::Propose(proposal("GAP-FLOW-001", "S", "t")), Actor::Engineer, "say more")
        .unwrap();
    board.move_gap(&gap, GapMove::Accept, Actor::Reviewer, "clear").unwrap();
    board.move_gap(&gap, GapMove::Resolve, Actor::Engine, "in S").unwrap();
    assert_eq!(board.close_resolved(), [gap]);
    let trace: String = board
        .transitions()
        .iter()
        .map(|t| std::format!("{} r{} {} -> {} {}: {}\n", t.gap, t.round, t.from, t.to, t.actor, t.why))
        .collect();
    assert_snapshot!(trace, @"
    GAP-FLOW-001 r1 open -> proposed engineer: say it
    GAP-FLOW-001 r1 proposed -> needs-revision reviewer: vague
    GAP-FLOW-001 r1 needs-revision -> proposed engineer: say more
    GAP-FLOW-001 r1 proposed -> accepted reviewer: clear
    GAP-FLOW-001 r1 accepted -> resolved engine: in S
    GAP-FLOW-001 r1 resolved -> closed engine: the refinement has ended
    ");
}

// SR-02
#[test]
fn a_move_by_the_wrong_actor_is_refused_with_the_legal_moves() {
    let mut board = board(&[("FLOW", High)]);
    let error = board.move_gap(&id("GAP-FLOW-001"), GapMove::Waive, Actor::Engineer, "too hard").unwrap_err();
    assert_snapshot!(error, @"the engineer cannot move GAP-FLOW-001 from open to waived; from open, legal moves are: proposed by the engineer, blocked by the engine, deferred by the user, waived by the user");
    assert!(board.transitions().is_empty());
}

#[test]
fn a_proposal_for_another_gap_is_refused() {
    let mut board = board(&[("A", Low), ("A", Low)]);
    let wanted = GapMove::Propose(proposal("GAP-A-002", "S", "t"));
    assert!(matches!(
        board.move_gap(&id("GAP-A-001"), wanted, Actor::Engineer, ""),
        Err(MoveError::OtherGap { .. })
    ));
}

// SR-02
#[test]
fn a_blocked_gap_is_unblocked_when_the_gap_it_waits_for_is_settled() {
    let mut board = board(&[("A", Low), ("A", Low)]);
    block_on_gap(&mut board, "GAP-A-002", "GAP-A-001");
    board.move_gap(&id("GAP-A-001"), GapMove::Defer, Actor::User, "later").unwrap();
    let gap = board.gap(&id("GAP-A-002")).unwrap();
    assert_eq!((gap.status, &gap.waits_for), (GapStatus::Open, &None));
    assert_snapshot!(board.transitions().last().unwrap().why, @"GAP-A-001 is settled");
}

#[test]
fn gaps_cannot_wait_for_each_other_in_a_circle() {
    let mut board = board(&[("A", Low), ("A", Low), ("A", Low)]);
    block_on_gap(&mut board, "GAP-A-001", "GAP-A-002");
    block_on_gap(&mut board, "GAP-A-002", "GAP-A-003");
    for on in ["GAP-A-001", "GAP-A-003"] {
        let wanted = GapMove::Block(BlockedOn::Gap(id(on)));
        let error = board.move_gap(&id("GAP-A-003"), wanted, Actor::Engine, "").unwrap_err();
        assert!(matches!(error, MoveError::Circle { .. }), "{error}");
    }
}

#[test]
fn a_gap_cannot_wait_for_a_settled_or_unknown_gap() {
    let mut board = board(&[("A", Low), ("A", Low)]);
    board.move_gap(&id("GAP-A-001"), GapMove::Waive, Actor::User, "").unwrap();
    let mut wait = |on: &str| {
        board
            .move_gap(&id("GAP-A-002"), GapMove::Block(BlockedOn::Gap(id(on))), Actor::Engine, "")
            .unwrap_err()
            .to_string()
    };
    assert!(wait("GAP-A-001").contains("which is settled"));
    assert!(wait("GAP-B-001").contains("not on the board"));
}

fn any_move() -> impl Strategy<Value = (usize, GapMove, Actor)> {
    let gap = |n: usize| id(&std::format!("GAP-A-00{}", n + 1));
    let moves = move |at: usize, on: usize| {
        vec![
            GapMove::Propose(proposal(&gap(at).to_string(), "S", "t")),
            GapMove::Accept,
            GapMove::Revise,
            GapMove::Resolve,
            GapMove::Close,
            GapMove::Block(BlockedOn::Gap(gap(on))),
            GapMove::Block(BlockedOn::External("x".into())),
            GapMove::Lift,
            GapMove::Defer,
            GapMove::Waive,
        ]
    };
    let actors = vec![Actor::Engineer, Actor::Reviewer, Actor::Engine, Actor::User];
    (0..3usize, 0..3usize, 0..10usize, prop::sample::select(actors))
        .prop_map(move |(at, on, n, actor)| (at, moves(at, on).swap_remove(n), actor))
}

proptest! {
    // SR-02
    #[test]
    fn no_sequence_of_moves_makes_an_illegal_transition(moves in prop::collection::vec(any_move(), 0..60)) {
        let mut board = board(&[("A", Low), ("A", High), ("A", Low)]);
        let ids: Vec<GapId> = board.gaps().map(|gap| gap.id.clone()).collect();
        for (at, wanted, actor) in moves {
            let before = board.clone();
            if board.move_gap(&ids[at], wanted, actor, "any").is_err() {
                prop_assert_eq!(&board, &before);
            }
            for gap in board.gaps() {
                prop_assert_eq!(gap.waits_for.is_some(), gap.status == GapStatus::Blocked);
            }
        }
        for gap in &ids {
            let mut status = GapStatus::Open;
            for transition in board.transitions().iter().filter(|t| t.gap == *gap) {
                prop_assert_eq!(transition.from, status);
                prop_assert!(legal_moves(transition.from).contains(&(transition.to, transition.actor)));
                status = transition.to;
            }
            prop_assert_eq!(board.gap(gap).unwrap().status, status);
        }
    }
}
