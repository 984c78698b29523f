//! `status.md` with the gaps and the rounds, and `decisions.md`.

use super::super::history::RoundHistory;
use super::round::failure_list;
use super::{bullets, table};
use remand_contract::markdown::{cell, inline};
use remand_kernel::gaps::{
    BlockedOn, Board, Gap, RetryMode, RollbackCause, RoundRollback, archive_name, table as convergence,
};

pub fn status(history: &RoundHistory, board: &Board) -> String {
    let open = board.unsettled().count();
    let mut page = format!(
        "# Status\n\n**Rounds:** {} closed, at most {} · **Open gaps:** {open} of {}\n",
        board.rows().len(),
        board.max_rounds(),
        board.gaps().count()
    );
    if !board.rows().is_empty() {
        page.push_str(&format!("\n## Convergence\n\n{}", convergence(board.rows())));
    }
    page.push_str(&format!("\n## Gaps\n\n{}", gaps(board.gaps())));
    let waiting: Vec<String> = board
        .undecided()
        .map(|conflict| format!("{} about {}, since round {}", conflict.issue, conflict.gap, conflict.round))
        .collect();
    if !waiting.is_empty() {
        page.push_str(&format!("\n## Conflicts without a decision\n\n{}", bullets(waiting)));
    }
    for rollback in history.rounds.rollbacks() {
        page.push_str(&rollback_section(rollback));
    }
    let rolled_back = history.rolled_back.iter().map(|(_, sheet)| sheet);
    let sheets = rolled_back.chain(history.closed.values()).chain([&history.current]);
    let mut all_failures: Vec<_> = sheets.flat_map(|sheet| sheet.failures.iter().cloned()).collect();
    all_failures.sort_by_key(|dispatch| dispatch.at);
    page.push_str(&failure_list(&all_failures));
    page
}

fn gaps<'g>(gaps: impl Iterator<Item = &'g Gap>) -> String {
    let rows: Vec<Vec<String>> = gaps
        .map(|gap| {
            let waits = match &gap.waits_for {
                Some(BlockedOn::Gap(on)) => format!(" on {on}"),
                Some(BlockedOn::Decision(on)) => format!(" on the decision about {on}"),
                Some(BlockedOn::External(_)) => " on something external".to_string(),
                None => String::new(),
            };
            vec![
                gap.id.to_string(),
                gap.severity.to_string(),
                format!("{}{waits}", gap.status),
                gap.found_in.to_string(),
                cell(&gap.claim),
            ]
        })
        .collect();
    if rows.is_empty() {
        return "None.\n".to_string();
    }
    table(&["Gap", "Severity", "Status", "Round", "Claim"], &rows)
}

fn rollback_section(rollback: &RoundRollback) -> String {
    let kept: Vec<String> = rollback
        .rounds
        .iter()
        .map(|archived| format!("`{}/`", archive_name(archived.round, rollback.number)))
        .collect();
    let mut page = format!("\n## Round {} rolled back\n\n", rollback.to);
    match &rollback.cause {
        RollbackCause::BestAdopted => {
            page.push_str("**Reason:** no rollback was left, and an earlier attempt was better\n")
        }
        RollbackCause::Requested(request) => {
            let mode = match request.mode {
                RetryMode::SamePrompt => "with the same prompt",
                RetryMode::Narrowed => "with fewer gaps",
                RetryMode::ExtraContext => "with more context",
                RetryMode::Skip => "none, the round is skipped",
            };
            let reason = if request.reason.trim().is_empty() { "none given" } else { request.reason.trim() };
            page.push_str(&format!("**Reason:** {}\\\n**Retry:** {mode}\n", inline(reason)));
            if !request.adjustments.is_empty() {
                page.push_str(&format!(
                    "\nAdjustments:\n\n{}",
                    bullets(request.adjustments.iter().map(|adjustment| inline(adjustment)))
                ));
            }
        }
    }
    page.push_str(&format!("\nThe archived documents are in {}.\n", kept.join(", ")));
    page
}

/// Every decision: question, choice, reason, author and time.
pub fn decisions(board: &Board) -> String {
    let mut page = "# Decisions\n".to_string();
    if board.decisions().is_empty() {
        page.push_str("\nA human has not decided anything yet.\n");
    }
    for decision in board.decisions() {
        let gaps: Vec<String> = decision.gaps.iter().map(ToString::to_string).collect();
        page.push_str(&format!("\n## {}, round {}\n\n", decision.about, decision.round));
        let conflict = board.conflicts().find(|conflict| conflict.question() == decision.about);
        let positions = conflict.into_iter().flat_map(|conflict| &conflict.positions);
        let rows: Vec<Vec<String>> = positions
            .map(|position| {
                let chosen = if position.text == decision.choice { "chosen" } else { "" };
                let by = position.by.to_string();
                vec![by, cell(&position.text), cell(&position.trade_off), chosen.to_string()]
            })
            .collect();
        if !rows.is_empty() {
            page.push_str(&format!("{}\n", table(&["By", "Position", "Trade-off", ""], &rows)));
        }
        let grounds = &decision.grounds;
        let reason = if grounds.reason.is_empty() { "none given" } else { &grounds.reason };
        page.push_str(&format!(
            "**Gaps:** {}\\\n**Decision:** {}\\\n**Reason:** {}\\\n**Decided by:** {}, {}\n",
            gaps.join(", "),
            inline(&decision.choice),
            inline(reason),
            inline(&grounds.by),
            inline(&grounds.at)
        ));
    }
    page
}
