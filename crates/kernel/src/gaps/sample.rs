//! Small boards and outputs for the tests of this module.

use alloc::vec::Vec;
use std::string::ToString;
use std::vec;

use super::*;

pub fn id(text: &str) -> GapId {
    text.parse().unwrap()
}

pub fn issue_id(text: &str) -> ReviewIssueId {
    text.parse().unwrap()
}

pub fn new_gap(category: &str, severity: GapSeverity) -> NewGap {
    NewGap {
        category: category.into(),
        severity,
        claim: "unsaid".into(),
        sections: vec![],
        split_from: None,
        waits_for: None,
    }
}

pub fn board(gaps: &[(&str, GapSeverity)]) -> Board {
    board_with(gaps, BoardRules::default())
}

pub fn board_with(gaps: &[(&str, GapSeverity)], rules: BoardRules) -> Board {
    Board::open(gaps.iter().map(|(category, severity)| new_gap(category, *severity)).collect(), rules)
        .unwrap()
}

pub fn proposal(gap: &str, section: &str, text: &str) -> Proposal {
    Proposal {
        gap: id(gap),
        solution: "say it".into(),
        section: section.into(),
        replaces: "".into(),
        text: text.into(),
    }
}

pub fn block_on_gap(board: &mut Board, gap: &str, on: &str) {
    board.move_gap(&id(gap), GapMove::Block(BlockedOn::Gap(id(on))), Actor::Engine, "waits").unwrap();
}

/// Proposals for gaps, each for a separate section.
pub fn proposes(gaps: &[&str]) -> EngineerOutput {
    let proposals = gaps.iter().map(|gap| proposal(gap, gap, gap)).collect();
    EngineerOutput { proposals, ..EngineerOutput::default() }
}

/// A review with one check that approves some proposals and sends others back.
pub fn reviews(approved: &[&str], revised: &[&str]) -> ReviewerOutput {
    let approvals =
        approved.iter().map(|gap| ProposalVerdict { gap: id(gap), judgement: ReviewerJudgement::Approved });
    let rejections = revised.iter().map(|gap| ProposalVerdict {
        gap: id(gap),
        judgement: ReviewerJudgement::NeedsRevision("vague".into()),
    });
    ReviewerOutput {
        verdicts: approvals.chain(rejections).collect(),
        checks: vec!["examples".into()],
        ..ReviewerOutput::default()
    }
}

pub fn round(board: &Board, engineer: EngineerOutput, reviewer: ReviewerOutput) -> RoundInput {
    RoundInput {
        round: board.round(),
        engineer: EngineerTurn::Delivered(engineer),
        asked: board.gaps().map(|gap| gap.id.clone()).collect(),
        reviewer: ReviewerTurn::Delivered(reviewer),
        autonomy: Autonomy::Interactive,
        unplaced: vec![],
        places: SectionPaths::default(),
    }
}

pub fn play(board: &Board, engineer: EngineerOutput, reviewer: ReviewerOutput) -> ClosedRound {
    close_round(board, &round(board, engineer, reviewer)).unwrap()
}

pub fn failed_round(board: &Board) -> RoundInput {
    RoundInput {
        round: board.round(),
        engineer: EngineerTurn::Failed { why: "no file".into() },
        asked: vec![],
        reviewer: ReviewerTurn::Skipped,
        autonomy: Autonomy::Interactive,
        unplaced: vec![],
        places: SectionPaths::default(),
    }
}

pub fn raises(gap: &str, severity: GapSeverity) -> NewIssue {
    NewIssue { gap: id(gap), severity, concern: "too vague".into(), trade_off: "".into() }
}

pub fn disagrees(issue: &str) -> EngineerAnswer {
    let stance = Stance::Disagree {
        position: "it is enough".into(),
        rationale: "the caller knows".into(),
        alternative: "make it configurable".into(),
        trade_off: "".into(),
        alternative_trade_off: "".into(),
    };
    EngineerAnswer { issue: issue_id(issue), stance }
}

pub fn grounds() -> Grounds {
    Grounds { reason: "simpler".into(), by: "user".into(), at: "2026-01-09".into() }
}

pub fn names(ids: &[GapId]) -> Vec<std::string::String> {
    ids.iter().map(ToString::to_string).collect()
}
