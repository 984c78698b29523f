#![allow(clippy::unwrap_used)]

use super::*;
use remand_kernel::gaps::{
    Autonomy, BoardRules, EngineerAnswer, EngineerOutput, EngineerTurn, GapSeverity, GapStatus, NewGap,
    NewIssue, Proposal, ProposalVerdict, ReviewerJudgement, ReviewerOutput, ReviewerTurn, RoundInput,
    SectionPaths, Stance, close_round,
};

/// A board with one conflict, about `ISSUE-R1-001`.
fn board_with_conflict() -> Board {
    let gap = NewGap {
        category: "FLOW".to_string(),
        severity: GapSeverity::High,
        claim: "How often?".to_string(),
        sections: Vec::new(),
        split_from: None,
        waits_for: None,
    };
    let board = Board::open(vec![gap], BoardRules::default()).unwrap();
    let id: GapId = "GAP-FLOW-001".parse().unwrap();
    let proposal = Proposal {
        gap: id.clone(),
        solution: "thrice".to_string(),
        section: "Retries".to_string(),
        replaces: String::new(),
        text: "Three times.".to_string(),
    };
    let review = ReviewerOutput {
        verdicts: vec![ProposalVerdict {
            gap: id.clone(),
            judgement: ReviewerJudgement::NeedsRevision("too few".to_string()),
        }],
        issues: vec![NewIssue {
            gap: id.clone(),
            severity: GapSeverity::High,
            concern: "Five".to_string(),
            trade_off: String::new(),
        }],
        checks: vec!["numbers".to_string()],
        new_gaps: Vec::new(),
    };
    let first = EngineerOutput { proposals: vec![proposal], ..EngineerOutput::default() };
    let board = close_round(&board, &round(1, first, ReviewerTurn::Delivered(review))).unwrap().board;
    let stance = Stance::Disagree {
        position: "Three".to_string(),
        rationale: "it is enough".to_string(),
        alternative: "Configurable".to_string(),
        trade_off: String::new(),
        alternative_trade_off: String::new(),
    };
    let answer = EngineerAnswer { issue: "ISSUE-R1-001".parse().unwrap(), stance };
    let second = EngineerOutput { answers: vec![answer], ..EngineerOutput::default() };
    close_round(&board, &round(2, second, ReviewerTurn::Skipped)).unwrap().board
}

fn round(round: u32, engineer: EngineerOutput, reviewer: ReviewerTurn) -> RoundInput {
    RoundInput {
        round,
        engineer: EngineerTurn::Delivered(engineer),
        asked: vec!["GAP-FLOW-001".parse().unwrap()],
        reviewer,
        autonomy: Autonomy::Interactive,
        unplaced: Vec::new(),
        places: SectionPaths::default(),
    }
}

fn decide(board: &mut Board, line: &str) -> Result<(), String> {
    let statement = Statement::parse(line, board)?;
    let grounds = Grounds { reason: statement.reason.clone(), by: "ada".to_string(), at: "now".to_string() };
    statement.apply(board, grounds)
}

// SR-10
#[test]
fn a_position_is_chosen_by_its_number_and_binds() {
    for line in
        ["ISSUE-R1-001: 3 because it suits both", "3 because it suits both", "(3), because it suits both"]
    {
        let mut board = board_with_conflict();
        decide(&mut board, line).unwrap();
        let decision = &board.decisions()[0];
        assert_eq!(
            (decision.choice.as_str(), decision.grounds.reason.as_str()),
            ("Configurable", "it suits both")
        );
        assert_eq!(board.gap(&"GAP-FLOW-001".parse().unwrap()).unwrap().status, GapStatus::Open);
    }
}

// SR-10
#[test]
fn a_new_position_may_be_written() {
    let mut board = board_with_conflict();
    decide(&mut board, "ISSUE-R1-001: Four times, then fail").unwrap();
    assert_eq!(board.decisions()[0].choice, "Four times, then fail");
}

// SR-10
#[test]
fn a_line_without_an_id_continues_the_line_before_it() {
    let note = "ISSUE-R1-001: use a queue\nand drop on overflow\n\nGAP-FLOW-001: defer";
    assert_eq!(statements(note), ["ISSUE-R1-001: use a queue and drop on overflow", "GAP-FLOW-001: defer"]);
}

// SR-02
#[test]
fn the_user_may_set_a_gap_aside() {
    for (line, status) in [
        ("GAP-FLOW-001: waive because out of scope", GapStatus::Waived),
        ("GAP-FLOW-001: defer", GapStatus::Deferred),
    ] {
        let mut board = board_with_conflict();
        decide(&mut board, line).unwrap();
        let transition = board.transitions().last().unwrap();
        assert_eq!((transition.to, transition.actor), (status, Actor::User));
    }
}

// CORE-09
#[test]
fn an_answer_that_decides_nothing_says_why_and_changes_nothing() {
    let before = board_with_conflict();
    for (line, expected) in [
        ("9", "has no position"),
        ("0", "from 1"),
        ("ISSUE-R7-001: 1", "nothing is waiting"),
        ("GAP-FLOW-009: waive", "not on the board"),
        ("ISSUE-R1-001: waive", "only a gap"),
    ] {
        let mut board = before.clone();
        let why = decide(&mut board, line).unwrap_err();
        assert!(why.contains(expected), "{line}: {why}");
        assert_eq!(board, before);
    }
}
